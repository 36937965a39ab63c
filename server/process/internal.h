/* What the files of the supervisor share; nobody else includes it. */
#ifndef SERVER_PROCESS_INTERNAL_H
#define SERVER_PROCESS_INTERNAL_H

#include "server/process/spawn.h"
#include "server/process/supervise.h"

enum ending { NOT_ENDING, ENDING_EOF, ENDING_TERM, ENDING_KILL };

struct supervise {
    struct loop *loop;
    struct supervise_events events;
    struct supervise_limits limits;
    struct wire_request request;
    struct transcript transcript;
    struct wire_reader *reader;
    struct spawned process;
    struct loop_source *channel_source, *output_source, *exit_source;
    struct loop_source *deadline_timer, *ending_timer;
    bool by_socket, replay, pid_known;
    bool exited, told; /* told: ended() was called */
    enum ending ending;
    int64_t started_ns, ending_ns, phase_deadline_ns[RL_PHASES_MAX];
    size_t phase; /* of the suite's; 0 in a probe */
    char what[128], backend[16];
    bool result, final, failed; /* final: result or error has come */
    struct rl_err error;
    int wait_status;
    bool wait_status_known;
};

/* server/process/ending.c */
/* The first failure is the cause; later ones follow from it and are not kept. */
void supervise_set_failure(struct supervise *s, const struct rl_err *why);
/* No longer watched, and closed. */
void supervise_close(struct supervise *s, struct loop_source **source, int *fd);
/* Closes our end of the stream and waits for the exit. */
void supervise_begin_ending(struct supervise *s);
void supervise_on_ending(void *arg); /* the timer of that */
/* The process has exited, and all that it left was read: its end is told once its group is empty. May free s. */
void supervise_gone(struct supervise *s);

/* server/process/lines.c */
const char *supervise_phase_name(const struct supervise *s); /* of the current one */
/* One line of the stream; for wire_reader_new. */
int supervise_on_line(void *arg, const struct wire_line *line, struct rl_err *err);
/* Makes phase the current one: its time runs from its first progress line. */
void supervise_enter_phase(struct supervise *s, size_t phase);
/* Sets the timer to when the current phase, or the whole, is to be over. */
void supervise_arm_deadline(struct supervise *s);

#endif
