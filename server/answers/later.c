/* See server/answers/later.h. */
#include "server/answers/later.h"

#include "server/request/auth.h"

_Static_assert(WORK_SHARE_SIZE >= AUTH_NAME_SIZE, "whose turn an item takes is an auth_principal's share");

struct http_later answer_later(struct work_item *item, answer_of_item *answer_of)
{
    return (struct http_later){.wait = work_queue_wait, .answer = answer_of, .free = work_queue_leave, .arg = item};
}

int answer_by_item(const struct answers *answers, struct work_item *item, bool is_much, answer_of_item *answer_of,
                   struct http_answer *answer, struct rl_err *err)
{
    int rc;
    if (is_much && !answers->shutting_down) {
        answer->later = answer_later(item, answer_of);
        return 0;
    }
    if (is_much) {
        rc = rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    } else {
        work_queue_run_here(item);
        rc = answer_of(item, answer, err);
    }
    item->what.free(item->what.arg);
    return rc;
}
