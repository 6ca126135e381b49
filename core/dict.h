/* dict: the server's chained hash table in two halves, with its order of visits to the bucket (7.0
 * dict.c; engine facts section 1). T0 is the table in use; while rehashing, entries move bucket by
 * bucket from T0 to T1 and new ones go to T1. Invariants: a key is in at most one bucket; used[]
 * counts them; buckets of T0 below rehash_index are empty; sizes are powers of two; T1 exists only
 * while rehashing. The dict owns its bucket arrays, not the entries. It charges rehash work to the
 * meter and its arrays and entries to the ledger, at the server's sizes (8 bytes a bucket, 24 an
 * entry before rounding). Which operations step the rehash is part of the contract: each of find,
 * add and delete does one dict_step first, find and delete only when the dict holds something;
 * dict_random does one; scan and bucket walks do none. */
#ifndef LAPSE_CORE_DICT_H
#define LAPSE_CORE_DICT_H

#include "base.h"
#include "cost.h"
#include "entry.h"
#include "keys.h"
#include "memory.h"
#include "rng.h"

/* How a generation sizes a growing table: the least power of two >= used * grow_factor +
 * grow_addend. 6.0 and later: used + 1; up to 5.0: 2 * used. They part only when a long rehash has
 * let a table overfill. */
struct dict_policy {
    uint32_t grow_factor;
    uint32_t grow_addend;
    uint32_t frozen_below_ratio; /* while a child saves, a rehash moves nothing unless one table is
                                    at least so many times the other: 5 since 7.0.8; 0: it goes on
                                    (engine facts 1.6.5, 1.6.6) */
};

struct dict {
    enum dict_kind kind;
    struct entries *entries;
    const struct keys *keys;
    struct cpu *cpu;
    struct memory *memory;
    const struct dict_policy *policy;
    key_id *table[2];
    uint64_t used[2];
    int8_t exponent[2];    /* size is 1 << exponent; -1: no table */
    int64_t rehash_index;  /* next bucket of T0 to move; -1: not rehashing */
    uint32_t pause_rehash; /* > 0 while a scan is under way */
    const bool *child;     /* does a child save a snapshot? Each page that is touched then costs a
                              copy, so tables are left alone where possible. NULL: never */
};

void dict_init(struct dict *, enum dict_kind, struct entries *, const struct keys *, struct cpu *,
               struct memory *, const struct dict_policy *);

/* Drops both tables and takes every member out (FLUSHDB): the next insertion starts from four
 * buckets again. Not during a scan. */
void dict_clear(struct dict *);

static inline uint64_t dict_size(const struct dict *d, int table) {
    return d->exponent[table] < 0 ? 0 : UINT64_C(1) << d->exponent[table];
}
static inline uint64_t dict_slots(const struct dict *d) {
    return dict_size(d, 0) + dict_size(d, 1);
}
static inline uint64_t dict_used(const struct dict *d) { return d->used[0] + d->used[1]; }
static inline bool dict_rehashing(const struct dict *d) { return d->rehash_index >= 0; }

/* Same answer without a step or a charge: for observers and walkers. */
static inline bool dict_has(const struct dict *d, key_id id) {
    return entries_has(d->entries, id, d->kind);
}

/* Moves up to `buckets` non-empty buckets, passing at most ten times as many empty ones. True if
 * work remains; false too if a child keeps it from moving anything. */
bool dict_rehash(struct dict *, uint32_t buckets);

/* One rehash(1), if rehashing and not paused. */
static inline void dict_step(struct dict *d) {
    if (dict_rehashing(d) && d->pause_rehash == 0) dict_rehash(d, 1);
}

/* Is the key in? Steps the rehash once if the dict is not empty. An empty dict costs nothing.
 */
static inline bool dict_find(struct dict *d, key_id id) {
    if (dict_used(d) == 0) return false;
    dict_step(d);
    cpu_charge(d->cpu, COST_LOOKUP, 1);
    return dict_has(d, id);
}

/* Step, then the grow test, then, unless the key is in already, insertion at the head of its bucket
 * (of T1 while rehashing). Returns true if it was added. The grow test runs in both cases, as in
 * the server's add-or-find. Charges COST_INSERT for a key added to the keyspace, COST_DEADLINE_SET
 * for any call on the expires dict. */
bool dict_add(struct dict *, key_id);

/* Step if not empty, then unlink. Returns false if the key was not in. Charges COST_DELETE for a
 * key taken out of the keyspace; the expires dict's part is in that price. */
bool dict_delete(struct dict *, key_id);

/* A key drawn as the server's dictGetRandomKey does: random non-empty bucket, then random place in
 * its chain; so short chains are favoured. KEY_NONE if empty (then no step). */
key_id dict_random(struct dict *, struct rng *);

/* Batches of 100 buckets until done, or until more than 1 ms of wall clock has passed after a batch
 * (cron). */
void dict_rehash_for_1ms(struct dict *);

/* The cron's test, slots > 4 and used * 100 / slots < 10, and the shrink it starts: to the least
 * power of two >= max(used, 4), by rehashing. */
bool dict_wants_shrink(const struct dict *);
void dict_shrink(struct dict *);

/* Pre-sizes an empty dict, as loading a snapshot does: least power of two >= count. */
void dict_presize(struct dict *, uint64_t count);

/* The chain of bucket `index` of T0 or T1, head first. */
static inline key_id dict_bucket(const struct dict *d, int table, uint64_t index) {
    return d->table[table][index];
}
static inline key_id dict_next(const struct dict *d, key_id id) {
    return entries_at(d->entries, id)->link[d->kind];
}

/* A walk along the buckets knows its next keys long before it comes to them, and a key's entry lies
 * anywhere: without a hint each key waits for memory two or three times (entry, hash, bucket). So a
 * walk hints at the head of the chain DICT_HINT_FAR buckets on, and DICT_HINT_NEAR 8
 * where that entry has come, at what follows from it. Each does nothing else and may be left out.
 */
#define DICT_HINT_FAR  16
#define DICT_HINT_NEAR 8

static inline key_id dict_hint_head(const struct dict *d, int table, uint64_t index) {
    return index < dict_size(d, table) ? d->table[table][index] : KEY_NONE;
}

static inline void dict_hint_key(const struct dict *d, key_id id) {
    prefetch(entries_at(d->entries, id));
    keys_prefetch(d->keys, id);
}

/* The buckets that the key lies in, or would; its hash is read. */
static inline void dict_hint_place(const struct dict *d, key_id id) {
    for (int table = 0; table < 2; table++)
        if (d->table[table])
            prefetch(&d->table[table][keys_hash(d->keys, id) & (dict_size(d, table) - 1)]);
}

static inline void dict_hint_walk(const struct dict *d, int table, uint64_t index) {
    key_id far = dict_hint_head(d, table, index + DICT_HINT_FAR);
    if (far != KEY_NONE) dict_hint_key(d, far);
    key_id near = dict_hint_head(d, table, index + DICT_HINT_NEAR);
    key_id next = near != KEY_NONE ? dict_next(d, near) : KEY_NONE;
    if (next != KEY_NONE) dict_hint_key(d, next);
}

/* One call of SCAN's cursor walk in reverse-binary order: visits one bucket, or while rehashing the
 * bucket of the smaller table and all its expansions in the larger; returns the next cursor, 0 at
 * the end. `visit` may delete the key it is given. Contract: a key that is in from a cursor of 0
 * until the end is visited at least once, whatever resizes happen. */
uint64_t dict_scan(struct dict *, uint64_t cursor, void (*visit)(void *context, key_id),
                   void *context);

/* The walker: checks every invariant above against the buckets themselves; ASSERTs on the first
 * break. O(slots + keys). */
void dict_check(const struct dict *);

#endif
