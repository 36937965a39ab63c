/* Who asks, and what they may do. Rights are ordered: admin includes submit, submit includes read.
 *
 * A principal is a Unix peer's uid ("uid:1000"), a token's id ("token:ci") or "anonymous".
 * - Unix socket: the daemon's own user and root are admins; other users who may open the socket read and submit.
 * - TCP with a known token: the token's right. With an unknown one: nothing, even where no token is needed.
 * - TCP without a token: from loopback read, submit under open_loopback, and nothing under closed_loopback; from
 * elsewhere read under open_network, else nothing.
 */
#ifndef SERVER_REQUEST_AUTH_H
#define SERVER_REQUEST_AUTH_H

#include <stdbool.h>
#include <sys/types.h>

#include "gpu/base/err.h"

enum auth_right { AUTH_NONE, AUTH_READ, AUTH_SUBMIT, AUTH_ADMIN };

#define AUTH_NAME_SIZE 80

struct auth_principal {
    char id[AUTH_NAME_SIZE];
    /* Whose share of what is limited by caller: the id, or of an anonymous one the peer's name. */
    char share[AUTH_NAME_SIZE];
    enum auth_right right;
};

struct auth_peer {
    char name[AUTH_NAME_SIZE]; /* "uid:1000", "anonymous at 192.0.2.7" */
    bool is_unix;
    uid_t uid;     /* when is_unix */
    bool loopback; /* when not */
};

struct auth;

struct auth_config {
    const char *token_file; /* or NULL */
    bool open_loopback, closed_loopback, open_network;
};

/* The token file's lines are "ID RIGHT SHA256": an id of 1 to 64 characters of [A-Za-z0-9._-], read, submit or admin,
 * and the lower-case hex SHA-256 of the token; blanks, and a CR, may stand around them; '#' starts a comment line. A
 * file is refused that is none, that is of another user than the process's own and root, or that others than its owner
 * may write. RL_E_USAGE, with the line. */
int auth_new(const struct auth_config *config, struct auth **ret, struct rl_err *err);
void auth_free(struct auth *auth); /* accepts NULL */
/* authorization: the header's value or NULL. A scheme other than Bearer or an unknown token → RL_E_UNAUTHORIZED. Tokens
 * are compared by their hashes, all of them, in constant time. */
int auth_identify(const struct auth *auth, const struct auth_peer *peer, const char *authorization,
                  struct auth_principal *ret, struct rl_err *err);
/* RL_E_UNAUTHORIZED for an anonymous caller who lacks the right, RL_E_FORBIDDEN for a known one. */
int auth_require(const struct auth_principal *who, enum auth_right right, struct rl_err *err);

#endif
