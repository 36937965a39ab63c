/* Growable buffers with a maximum, and the arena. */
#include "gpu/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"

void rl_buf_init(struct rl_buf *buf, size_t max)
{
    *buf = (struct rl_buf){.max = max};
}

void rl_buf_free(struct rl_buf *buf)
{
    free(buf->data);
    *buf = (struct rl_buf){.max = buf->max};
}

/* Room for extra bytes and the NUL. */
static int reserve(struct rl_buf *buf, size_t extra)
{
    if (buf->failed)
        return -1;
    if (extra > buf->max || buf->len > buf->max - extra || buf->max == SIZE_MAX) {
        buf->failed = true;
        return -1;
    }
    size_t need = buf->len + extra + 1;
    if (need <= buf->cap)
        return 0;
    size_t cap = buf->cap < 64 ? 64 : buf->cap;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (cap > buf->max + 1)
        cap = buf->max + 1;
    char *data = realloc(buf->data, cap);
    if (data == NULL) {
        buf->failed = true;
        return -1;
    }
    buf->data = data;
    buf->cap = cap;
    buf->data[buf->len] = '\0';
    return 0;
}

int rl_buf_add(struct rl_buf *buf, const void *data, size_t len)
{
    if (reserve(buf, len) < 0)
        return -1;
    if (len > 0)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int rl_buf_puts(struct rl_buf *buf, const char *text)
{
    return rl_buf_add(buf, text, strlen(text));
}

int rl_buf_printf(struct rl_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        buf->failed = true;
        return -1;
    }
    if (reserve(buf, (size_t)length) < 0)
        return -1;
    va_start(args, fmt);
    vsnprintf(buf->data + buf->len, (size_t)length + 1, fmt, args);
    va_end(args);
    buf->len += (size_t)length;
    return 0;
}

void rl_buf_clear(struct rl_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

char *rl_buf_take(struct rl_buf *buf)
{
    char *data = buf->data != NULL ? buf->data : calloc(1, 1);
    *buf = (struct rl_buf){.max = buf->max};
    return data;
}

#define ARENA_ALIGN 16u
#define ARENA_BLOCK 4096u

struct block {
    struct block *next;
    size_t size, used;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

struct rl_arena {
    struct block *blocks; /* newest first; only the newest has room */
    size_t max, total;    /* total counts the blocks' data, so that padding cannot pass max either */
};

struct rl_arena *rl_arena_new(size_t max_bytes)
{
    struct rl_arena *arena = calloc(1, sizeof *arena);
    if (arena != NULL)
        arena->max = max_bytes;
    return arena;
}

void rl_arena_free(struct rl_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct block *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

static struct block *add_block(struct rl_arena *arena, size_t need)
{
    size_t room = arena->max - arena->total;
    if (need > room)
        return NULL;
    /* Blocks grow with the arena so that a big document takes a few of them, not thousands. */
    size_t size = arena->total > ARENA_BLOCK ? arena->total : ARENA_BLOCK;
    if (size > room)
        size = room;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct block))
        return NULL;
    struct block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->total += size;
    return block;
}

void *rl_arena_alloc(struct rl_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGN)
        return NULL;
    size_t need = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (need == 0)
        need = ARENA_ALIGN;
    struct block *block = arena->blocks;
    if (block == NULL || block->size - block->used < need)
        block = add_block(arena, need);
    if (block == NULL)
        return NULL;
    void *data = block->data + block->used;
    block->used += need;
    return data;
}

void *rl_arena_array(struct rl_arena *arena, size_t count, size_t size)
{
    uint64_t bytes;
    if (!rl_mul_u64(count, size, &bytes) || bytes > SIZE_MAX)
        return NULL;
    return rl_arena_alloc(arena, (size_t)bytes);
}

char *rl_arena_strdup(struct rl_arena *arena, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = rl_arena_alloc(arena, size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

char *rl_arena_printf(struct rl_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = length < 0 ? NULL : rl_arena_alloc(arena, (size_t)length + 1);
    if (text == NULL)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    return text;
}
