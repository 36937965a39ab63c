/* A run's table and CSV, made of its stored document. To parse that of a run of 512 kernels, 1.4 MB, takes some 50 ms:
 * such a one is made beside the loop (aside.h), LIMIT_VIEWS at once and the others in turn, while its client waits.
 * The loop reads the document, the thread parses it and writes the text, the loop answers. */
#ifndef SERVER_RUN_VIEW_H
#define SERVER_RUN_VIEW_H

#include <stdint.h>

#include "base/err.h"
#include "db/store.h"
#include "server/http.h"
#include "server/loop.h"
#include "server/routes.h"

struct run_views;
enum run_view_form { RUN_VIEW_TABLE, RUN_VIEW_CSV };

struct run_views *run_views_new(struct store *store, struct loop *loop); /* NULL when memory ran out */
/* Accepts NULL. Waits for what is being made; no answer may be waiting any more. */
void run_views_free(struct run_views *views);
/* Answers now, or sets answer->later; of a large run not while the daemon shuts down (RL_E_SHUTTING_DOWN): the library
 * cannot be stopped with a connection that waits. state: of a table, "warm", "cold" or "mixed"; NULL: the first of them
 * that a row has. RL_E_NOT_FOUND. */
int run_view(const struct routes *routes, int64_t run, enum run_view_form form, const char *state,
             struct http_answer *answer, struct rl_err *err);

#endif
