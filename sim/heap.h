/* heap: host memory for sim. Running out of it is not a condition that anything here can model, so
 * it is an ASSERT and no caller checks for NULL. Whoever is given a block frees it with free(). */
#ifndef LAPSE_SIM_HEAP_H
#define LAPSE_SIM_HEAP_H

#include <stdlib.h>
#include <string.h>

#include "base.h"

/* `count` items of `size` bytes, zeroed. */
static inline void *heap_zero(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    ASSERT(block);
    return block;
}

static inline void *heap_resize(void *block, size_t count, size_t size) {
    ASSERT(count <= SIZE_MAX / size);
    block = realloc(block, count ? count * size : 1);
    ASSERT(block);
    return block;
}

/* A NUL-terminated copy. */
static inline char *heap_text(const char *bytes, size_t length) {
    char *copy = heap_zero(length + 1, 1);
    if (length) memcpy(copy, bytes, length);
    return copy;
}

/* Room for one more item: capacities double from 8, so that a long list is copied a few times. */
static inline void *heap_grow(void *block, uint32_t *capacity, uint32_t count, size_t size) {
    if (count < *capacity) return block;
    ASSERT(*capacity <= UINT32_MAX / 2);
    *capacity = *capacity ? *capacity * 2 : 8;
    return heap_resize(block, *capacity, size);
}

#endif
