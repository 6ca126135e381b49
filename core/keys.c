#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"

#define KEYS_FIRST_CAPACITY 1024

static void *keys_move(const struct keys *keys, void *from, size_t size, uint64_t capacity) {
    void *to = pages_take(keys->pages, capacity * size);
    if (!from) return to;
    memcpy(to, from, keys->capacity * size);
    pages_give(keys->pages, from, keys->capacity * size);
    return to;
}

/* Slot 0 stands for KEY_NONE, so ids index the arrays directly. */
static void keys_resize(struct keys *keys, uint64_t capacity) {
    keys->hash = keys_move(keys, keys->hash, sizeof *keys->hash, capacity);
    keys->length = keys_move(keys, keys->length, sizeof *keys->length, capacity);
    keys->capacity = (uint32_t)capacity;
}

struct keys *keys_create(const uint8_t seed[SIPHASH_SEED_BYTES]) {
    return keys_create_in(NULL, seed);
}

struct keys *keys_create_in(const struct pages *pages, const uint8_t seed[SIPHASH_SEED_BYTES]) {
    struct keys *keys = calloc(1, sizeof *keys);
    ASSERT(keys);
    memcpy(keys->seed, seed, SIPHASH_SEED_BYTES);
    keys->pages = pages;
    keys_resize(keys, KEYS_FIRST_CAPACITY);
    keys->hash[KEY_NONE] = 0;
    keys->length[KEY_NONE] = 0;
    return keys;
}

void keys_destroy(struct keys *keys) {
    if (!keys) return;
    pages_give(keys->pages, keys->hash, keys->capacity * sizeof *keys->hash);
    pages_give(keys->pages, keys->length, keys->capacity * sizeof *keys->length);
    free(keys);
}

void keys_reserve(struct keys *keys, uint32_t count) {
    uint64_t needed = (uint64_t)keys->count + count + 1;
    ASSERT(needed <= (uint64_t)KEY_ID_MAX + 1);
    if (needed > keys->capacity) keys_resize(keys, needed);
}

/* Doubles where keys_reserve is exact: names that come one by one must not copy the arrays each
 * time. */
static void keys_grow(struct keys *keys) {
    ASSERT(keys->count < KEY_ID_MAX);
    uint64_t capacity = (uint64_t)keys->capacity * 2;
    uint64_t most = (uint64_t)KEY_ID_MAX + 1;
    keys_resize(keys, capacity < most ? capacity : most);
}

key_id keys_add(struct keys *keys, const char *name, size_t length) {
    ASSERT(length <= KEY_LENGTH_MAX);
    if (keys->count + 1 == keys->capacity) keys_grow(keys);
    key_id id = ++keys->count;
    keys->hash[id] = (uint32_t)siphash12(keys->seed, name, length);
    keys->length[id] = (uint16_t)length;
    return id;
}
