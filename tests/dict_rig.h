/* dict_rig: what the dict tests share: one dict with its ledger, its meter and a registry of keys,
 * and a way to find keys by the bucket they fall in. Owned by the test; rig_close also checks that
 * a cleared dict leaves nothing in the ledger. */
#ifndef LAPSE_TESTS_DICT_RIG_H
#define LAPSE_TESTS_DICT_RIG_H

#include <stdio.h>

#include "dict.h"
#include "support.h"

/* Enough names that any of 1024 buckets has some: 64 on average. */
#define RIG_KEYS 65536

struct rig {
    struct dict dict;
    struct entries entries;
    struct keys *keys;
    struct memory memory;
    struct cpu cpu;
    struct price_table prices; /* all 0 until a test sets one */
    struct dict_policy policy; /* used + 1, as 7.0 */
};

static inline void rig_open(struct rig *rig, enum dict_kind kind, const char *allocator) {
    *rig = (struct rig){.policy = {.grow_factor = 1, .grow_addend = 1}};
    struct rng rng = rng_seed(test_seed());
    uint8_t hash_seed[SIPHASH_SEED_BYTES];
    for (int i = 0; i < SIPHASH_SEED_BYTES; i++) hash_seed[i] = (uint8_t)rng_next(&rng);
    rig->keys = keys_create(hash_seed);
    for (uint32_t i = 1; i <= RIG_KEYS; i++) {
        char name[16];
        keys_add(rig->keys, name, (size_t)snprintf(name, sizeof name, "key:%u", i));
    }
    rig->cpu.prices = &rig->prices;
    memory_init(&rig->memory, allocator_find(allocator), 0);
    dict_init(&rig->dict, kind, &rig->entries, rig->keys, &rig->cpu, &rig->memory, &rig->policy);
}

static inline void rig_close(struct rig *rig) {
    dict_check(&rig->dict);
    dict_clear(&rig->dict);
    ck_assert_int_eq(rig->memory.used_bytes, 0);
    entries_release(&rig->entries);
    keys_destroy(rig->keys);
}

/* The nth key, from 0, that falls into this bucket of a table of `size` slots. */
static inline key_id rig_key(const struct rig *rig, uint32_t size, uint32_t bucket, uint32_t nth) {
    for (key_id id = 1; id <= RIG_KEYS; id++) {
        if ((keys_hash(rig->keys, id) & (size - 1)) == bucket && nth-- == 0) return id;
    }
    ck_abort_msg("too few keys for bucket %u of %u", bucket, size);
    return KEY_NONE;
}

static inline void rig_add(struct rig *rig, key_id id) { ck_assert(dict_add(&rig->dict, id)); }

/* A table of `size` slots with one key in each: full, and not rehashing yet. */
static inline void rig_fill(struct rig *rig, uint32_t size) {
    dict_presize(&rig->dict, size);
    for (uint32_t i = 0; i < size; i++) rig_add(rig, rig_key(rig, size, i, 0));
    ck_assert_uint_eq(dict_slots(&rig->dict), size);
}

/* A growing rehash from `size` to twice as much, at its very beginning: one key in each bucket of
 * T0 and one key, which is returned, in T1. */
static inline key_id rig_grow(struct rig *rig, uint32_t size) {
    rig_fill(rig, size);
    key_id last = rig_key(rig, size, 0, 1);
    rig_add(rig, last);
    ck_assert_int_eq(rig->dict.rehash_index, 0);
    return last;
}

/* Deletes without the step that a delete takes. */
static inline void rig_delete_unstepped(struct rig *rig, key_id id) {
    rig->dict.pause_rehash++;
    ck_assert(dict_delete(&rig->dict, id));
    rig->dict.pause_rehash--;
}

#endif
