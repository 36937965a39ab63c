/* Growable byte buffers with a maximum, and an arena: the only two ways in which memory of a
 * size that a client or file decides is taken. */
#ifndef RL_BASE_BUF_H
#define RL_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* data is always NUL-terminated when not NULL; len excludes the NUL. */
struct rl_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;  /* len never passes this */
    bool failed; /* sticky: an append would have passed max or memory ran out; content is cut */
};

void rl_buf_init(struct rl_buf *buf, size_t max);
void rl_buf_free(struct rl_buf *buf); /* accepts a zeroed or freed buffer */
/* Appends; on failure sets `failed`, leaves the content as it was and returns -1. */
int rl_buf_add(struct rl_buf *buf, const void *data, size_t len);
int rl_buf_puts(struct rl_buf *buf, const char *text);
int rl_buf_printf(struct rl_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rl_buf_clear(struct rl_buf *buf); /* len = 0, failed = false, memory kept */
char *rl_buf_take(struct rl_buf *buf); /* ownership of data to the caller (free); buf is
                                        * empty after; an empty buffer gives "", NULL only without memory */

/* An arena: many small allocations that live and die together; zeroed memory. */
struct rl_arena;
struct rl_arena *rl_arena_new(size_t max_bytes);           /* NULL when memory ran out */
void rl_arena_free(struct rl_arena *arena);                /* accepts NULL */
void *rl_arena_alloc(struct rl_arena *arena, size_t size); /* 16-aligned; NULL past max or out of memory */
void *rl_arena_array(struct rl_arena *arena, size_t count, size_t size); /* overflow-checked */
char *rl_arena_strdup(struct rl_arena *arena, const char *text);         /* NULL in gives NULL */
char *rl_arena_printf(struct rl_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
