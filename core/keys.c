#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"

#define KEYS_FIRST_CAPACITY 1024

/* Slot 0 stands for KEY_NONE, so ids index the arrays directly. */
static void keys_resize(struct keys *keys, uint64_t capacity) {
    keys->hash = realloc(keys->hash, capacity * sizeof *keys->hash);
    keys->length = realloc(keys->length, capacity * sizeof *keys->length);
    ASSERT(keys->hash && keys->length);
    keys->capacity = (uint32_t)capacity;
}

struct keys *keys_create(const uint8_t seed[SIPHASH_SEED_BYTES]) {
    struct keys *keys = calloc(1, sizeof *keys);
    ASSERT(keys);
    memcpy(keys->seed, seed, SIPHASH_SEED_BYTES);
    keys_resize(keys, KEYS_FIRST_CAPACITY);
    keys->hash[KEY_NONE] = 0;
    keys->length[KEY_NONE] = 0;
    return keys;
}

void keys_destroy(struct keys *keys) {
    if (!keys) return;
    free(keys->hash);
    free(keys->length);
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
