/* See server/request/auth.h. */
#include "server/request/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/hash.h"
#include "server/limits/limits.h"

#define TOKENS_MAX     1000u
#define TOKEN_LINE_MAX 256

struct token {
    char id[65];
    char sha256[65];
    enum auth_right right;
};

struct auth {
    struct token *tokens;
    size_t token_count;
    bool open_loopback, closed_loopback, open_network;
    uid_t uid;
};

static enum auth_right right_from_name(const char *name)
{
    if (!strcmp(name, "read"))
        return AUTH_READ;
    if (!strcmp(name, "submit"))
        return AUTH_SUBMIT;
    return !strcmp(name, "admin") ? AUTH_ADMIN : AUTH_NONE;
}

/* The next word of *cursor, cut off in place; NULL at the end. */
static char *next_word(char **cursor)
{
    char *word = *cursor + strspn(*cursor, " \t\r\n");
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, " \t\r\n");
    *cursor = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static int parse_token(char *line, int number, struct token *ret, struct rl_err *err)
{
    static const char id_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    char *cursor = line;
    char *id = next_word(&cursor), *right = next_word(&cursor), *hash = next_word(&cursor);
    if (!hash || next_word(&cursor))
        return rl_fail(err, RL_E_USAGE, "token-file", "line %d of the token file is not 'ID RIGHT SHA256'", number);
    size_t id_len = strlen(id);
    if (id_len > 64 || strspn(id, id_chars) != id_len)
        return rl_fail(err, RL_E_USAGE, "token-file",
                       "line %d of the token file: the id is not 1 to 64 characters of A-Z a-z 0-9 . _ -", number);
    if (right_from_name(right) == AUTH_NONE)
        return rl_fail(err, RL_E_USAGE, "token-file",
                       "line %d of the token file: the right '%.32s' is not read, submit or admin", number, right);
    if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
        return rl_fail(err, RL_E_USAGE, "token-file",
                       "line %d of the token file: the hash is not 64 lower-case hexadecimal digits", number);
    memcpy(ret->id, id, id_len + 1);
    memcpy(ret->sha256, hash, 65);
    ret->right = right_from_name(right);
    return 0;
}

static int add_token(struct auth *auth, const struct token *token, int number, struct rl_err *err)
{
    for (size_t i = 0; i < auth->token_count; i++)
        if (!strcmp(auth->tokens[i].id, token->id) || !strcmp(auth->tokens[i].sha256, token->sha256))
            return rl_fail(err, RL_E_USAGE, "token-file", "line %d of the token file repeats the id or hash of '%s'",
                           number, auth->tokens[i].id);
    if (auth->token_count == TOKENS_MAX)
        return rl_fail(err, RL_E_USAGE, "token-file", "the token file has more than %u tokens", TOKENS_MAX);
    struct token *grown = reallocarray(auth->tokens, auth->token_count + 1, sizeof(*grown));
    if (!grown)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the token file");
    auth->tokens = grown;
    auth->tokens[auth->token_count++] = *token;
    return 0;
}

static FILE *open_token_file(const char *path, struct rl_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a FIFO would wait for its writer */
    if (fd < 0 || fstat(fd, &st)) {
        rl_fail(err, RL_E_USAGE, "token-file", "cannot read the token file %s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        rl_fail(err, RL_E_USAGE, "token-file", "the token file %s is not a regular file", path);
    } else if (st.st_uid != 0 && st.st_uid != geteuid()) {
        /* whoever owns it decides who is an admin here */
        rl_fail(err, RL_E_USAGE, "token-file",
                "the token file %s belongs to user %lld, and has to be root's or this user's (%lld); use chown", path,
                (long long)st.st_uid, (long long)geteuid());
    } else if (st.st_mode & 022) {
        rl_fail(err, RL_E_USAGE, "token-file", "the token file %s may be written by others (mode %03o); use chmod go-w",
                path, (unsigned)st.st_mode & 0777u);
    } else {
        FILE *file = fdopen(fd, "r");
        if (file)
            return file;
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the token file");
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static int read_tokens(struct auth *auth, const char *path, struct rl_err *err)
{
    char line[TOKEN_LINE_MAX];
    FILE *file = open_token_file(path, err);
    int rc = -1;
    if (!file)
        return -1;
    for (int number = 1; fgets(line, sizeof(line), file); number++) {
        size_t len = strlen(line);
        struct token token;
        if (len == sizeof(line) - 1 && line[len - 1] != '\n') {
            rl_fail(err, RL_E_USAGE, "token-file", "line %d of the token file is longer than %d bytes", number,
                    TOKEN_LINE_MAX - 2);
            goto out;
        }
        if (line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#')
            continue;
        if (parse_token(line, number, &token, err) || add_token(auth, &token, number, err))
            goto out;
    }
    if (ferror(file)) {
        rl_fail(err, RL_E_USAGE, "token-file", "cannot read the token file %s: %s", path, strerror(errno));
        goto out;
    }
    if (auth->token_count == 0) {
        rl_fail(err, RL_E_USAGE, "token-file", "the token file %s has no token", path);
        goto out;
    }
    rc = 0;
out:
    fclose(file);
    return rc;
}

int auth_new(const struct auth_config *config, struct auth **ret, struct rl_err *err)
{
    struct auth *auth = calloc(1, sizeof(*auth));
    if (!auth)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory");
    auth->open_loopback = config->open_loopback;
    auth->closed_loopback = config->closed_loopback;
    auth->open_network = config->open_network;
    auth->uid = geteuid();
    if (config->token_file && read_tokens(auth, config->token_file, err)) {
        auth_free(auth);
        return -1;
    }
    *ret = auth;
    return 0;
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    free(auth->tokens);
    free(auth);
}

/* Takes the same time wherever the texts differ. */
static unsigned hash_differs(const char a[64], const char b[64])
{
    unsigned differs = 0;
    for (size_t i = 0; i < 64; i++)
        differs |= (unsigned)(unsigned char)a[i] ^ (unsigned)(unsigned char)b[i];
    return differs;
}

static int identify_token(const struct auth *auth, const char *authorization, struct auth_principal *ret,
                          struct rl_err *err)
{
    const struct token *found = NULL;
    char hash[65];
    if (strncasecmp(authorization, "Bearer ", 7))
        return rl_fail(err, RL_E_UNAUTHORIZED, "Authorization", "the Authorization header is not 'Bearer TOKEN'");
    /* Blanks and tabs around a field's value are no part of it (RFC 9110, 5.5); the library leaves those behind it. */
    const char *token = authorization + 7 + strspn(authorization + 7, " \t");
    size_t len = strlen(token);
    while (len > 0 && (token[len - 1] == ' ' || token[len - 1] == '\t'))
        len--;
    if (len == 0 || len > LIMIT_TOKEN_CHARACTERS)
        return rl_fail(err, RL_E_UNAUTHORIZED, "Authorization", "the token is not 1 to %u characters long",
                       LIMIT_TOKEN_CHARACTERS);
    rl_sha256_hex(token, len, hash);
    for (size_t i = 0; i < auth->token_count; i++)
        if (!hash_differs(hash, auth->tokens[i].sha256))
            found = &auth->tokens[i];
    if (!found)
        return rl_fail(err, RL_E_UNAUTHORIZED, "Authorization", "the token is not known");
    snprintf(ret->id, sizeof(ret->id), "token:%s", found->id);
    memcpy(ret->share, ret->id, sizeof(ret->share));
    ret->right = found->right;
    return 0;
}

int auth_identify(const struct auth *auth, const struct auth_peer *peer, const char *authorization,
                  struct auth_principal *ret, struct rl_err *err)
{
    if (authorization)
        return identify_token(auth, authorization, ret, err);
    memcpy(ret->share, peer->name, sizeof(ret->share));
    if (peer->is_unix) {
        snprintf(ret->id, sizeof(ret->id), "uid:%lld", (long long)peer->uid);
        ret->right = peer->uid == 0 || peer->uid == auth->uid ? AUTH_ADMIN : AUTH_SUBMIT;
        return 0;
    }
    snprintf(ret->id, sizeof(ret->id), "anonymous");
    if (peer->loopback)
        ret->right = auth->open_loopback ? AUTH_SUBMIT : auth->closed_loopback ? AUTH_NONE : AUTH_READ;
    else
        ret->right = auth->open_network ? AUTH_READ : AUTH_NONE;
    return 0;
}

int auth_require(const struct auth_principal *who, enum auth_right right, struct rl_err *err)
{
    static const char *const names[] = {"no right", "read", "submit", "admin"};
    static const char *const openings[] = {"", " or --open-network", ", or on this machine --open-loopback", ""};
    if (who->right >= right)
        return 0;
    if (!strcmp(who->id, "anonymous"))
        return rl_fail(err, RL_E_UNAUTHORIZED, NULL,
                       "this needs the %s right, which an anonymous caller does not have here; the operator gives it "
                       "by --token-file%s",
                       names[right], openings[right]);
    return rl_fail(err, RL_E_FORBIDDEN, NULL, "this needs the %s right; %s has %s", names[right], who->id,
                   names[who->right]);
}
