#include <signal.h>
#include <string.h>

#include "dict_rig.h"

/* The server's dict once more, written down from the engine facts (1.3 to 1.9) with arrays for
 * chains and no thought of speed. After each random operation the dict must hold the same keys in
 * the same buckets in the same order, and have cost and booked the same. */

#define KEYS      600
#define SLOTS     1024
#define CHAIN_MAX 64

struct half {
    uint32_t size; /* 0: no table */
    uint32_t used;
    uint32_t length[SLOTS];
    key_id chain[SLOTS][CHAIN_MAX]; /* head first */
};

static struct rig rig;
static struct dict *const d = &rig.dict;
static struct half t0, t1;
static int64_t index_; /* -1: not rehashing */
static uint32_t paused;
static uint64_t count[COST_COUNT];

static uint32_t slot_of(const struct half *half, key_id id) {
    return keys_hash(rig.keys, id) & (half->size - 1);
}

static void half_push(struct half *half, key_id id) {
    uint32_t slot = slot_of(half, id), length = half->length[slot]++;
    ck_assert_uint_lt(length, CHAIN_MAX);
    memmove(&half->chain[slot][1], &half->chain[slot][0], length * sizeof(key_id));
    half->chain[slot][0] = id;
    half->used++;
}

static int half_find(const struct half *half, key_id id) {
    if (half->size == 0) return -1;
    uint32_t slot = slot_of(half, id);
    for (uint32_t i = 0; i < half->length[slot]; i++) {
        if (half->chain[slot][i] == id) return (int)i;
    }
    return -1;
}

static bool half_remove(struct half *half, key_id id) {
    int at = half_find(half, id);
    if (at < 0) return false;
    uint32_t slot = slot_of(half, id), after = --half->length[slot] - (uint32_t)at;
    memmove(&half->chain[slot][at], &half->chain[slot][at + 1], after * sizeof(key_id));
    half->used--;
    return true;
}

static bool model_has(key_id id) { return half_find(&t0, id) >= 0 || half_find(&t1, id) >= 0; }

static bool model_rehash(uint32_t n) {
    if (index_ < 0) return false;
    uint32_t empties = 10 * n;
    while (n > 0 && t0.used != 0) {
        n--;
        while (t0.length[index_] == 0) {
            index_++;
            count[COST_REHASH_BUCKET]++;
            if (--empties == 0) return true;
        }
        for (uint32_t i = 0; i < t0.length[index_]; i++) half_push(&t1, t0.chain[index_][i]);
        count[COST_REHASH_KEY] += t0.length[index_];
        count[COST_REHASH_BUCKET]++;
        t0.used -= t0.length[index_];
        t0.length[index_++] = 0;
    }
    if (t0.used != 0) return true;
    t0 = t1;
    memset(&t1, 0, sizeof t1);
    index_ = -1;
    return false;
}

static void model_step(void) {
    if (paused == 0) model_rehash(1);
}

static void model_resize(uint32_t wanted) {
    uint32_t size = 4;
    while (size < wanted) size *= 2;
    if (index_ >= 0 || t0.used > wanted || size == t0.size) return;
    ck_assert_uint_le(size, SLOTS);
    if (t0.size == 0) {
        t0.size = size;
    } else {
        t1.size = size;
        index_ = 0;
    }
}

static bool model_find(key_id id) {
    if (t0.used + t1.used == 0) return false;
    model_step();
    count[COST_LOOKUP]++;
    return model_has(id);
}

static bool model_add(key_id id) {
    model_step();
    if (index_ < 0 && t0.used >= t0.size) {
        model_resize(t0.used * rig.policy.grow_factor + rig.policy.grow_addend);
    }
    bool added = !model_has(id);
    if (added) half_push(index_ >= 0 ? &t1 : &t0, id);
    if (d->kind == DICT_EXPIRES) count[COST_DEADLINE_SET]++;
    if (d->kind == DICT_MAIN && added) count[COST_INSERT]++;
    return added;
}

static bool model_delete(key_id id) {
    if (t0.used + t1.used == 0) return false;
    model_step();
    bool removed = half_remove(&t0, id) || half_remove(&t1, id);
    if (d->kind == DICT_MAIN && removed) count[COST_DELETE]++;
    return removed;
}

static key_id model_random(struct rng *rng) {
    if (t0.used + t1.used == 0) return KEY_NONE;
    model_step();
    for (;;) {
        uint64_t slot;
        const struct half *half = &t0;
        if (index_ >= 0) {
            slot = (uint64_t)index_ + rng_below(rng, t0.size + t1.size - (uint64_t)index_);
            if (slot >= t0.size) half = &t1, slot -= t0.size;
        } else {
            slot = rng_next(rng) & (t0.size - 1);
        }
        if (half->length[slot]) return half->chain[slot][rng_below(rng, half->length[slot])];
    }
}

static uint64_t model_spent_ps(void) {
    uint64_t ps = 0;
    for (int op = 0; op < COST_COUNT; op++) ps += count[op] * rig.prices.ps[op];
    return ps;
}

static int64_t model_wall_ms(void) {
    count[COST_CLOCK_READ]++;
    return (rig.cpu.began.wall_us + (int64_t)(model_spent_ps() / 1000000)) / 1000;
}

static void model_rehash_for_1ms(void) {
    if (paused > 0) return;
    int64_t start = model_wall_ms();
    while (model_rehash(100)) {
        if (model_wall_ms() - start > 1) return;
    }
}

static void assert_same_half(const struct half *half, int table) {
    ck_assert_uint_eq(dict_size(d, table), half->size);
    ck_assert_uint_eq(d->used[table], half->used);
    uint32_t differing = 0; /* one assertion for all: Check reports each to its parent */
    for (uint32_t slot = 0; slot < half->size; slot++) {
        key_id id = dict_bucket(d, table, slot);
        uint32_t i = 0;
        for (; i < half->length[slot] && id == half->chain[slot][i]; i++) id = dict_next(d, id);
        differing += i != half->length[slot] || id != KEY_NONE;
    }
    ck_assert_uint_eq(differing, 0);
}

static uint64_t usable(uint64_t bytes) {
    return bytes ? allocator_usable(rig.memory.allocator, bytes) : 0;
}

static void assert_same(void) {
    dict_check(d);
    assert_same_half(&t0, 0);
    assert_same_half(&t1, 1);
    ck_assert_int_eq(d->rehash_index, index_);
    ck_assert_uint_eq(rig.cpu.spent_ps, model_spent_ps());
    uint64_t tables = usable(8 * t0.size) + usable(8 * t1.size);
    uint64_t entries = (t0.used + t1.used) * usable(24);
    enum memory_class which = d->kind == DICT_MAIN ? MEMORY_MAIN_TABLES : MEMORY_EXPIRES_TABLES;
    ck_assert_int_eq(rig.memory.bytes[which], (int64_t)tables);
    ck_assert_int_eq(rig.memory.used_bytes, (int64_t)(tables + entries));
}

/* What cron and others do now and then. */
static void do_rarely(struct rng *rng) {
    uint32_t buckets = (uint32_t)rng_below(rng, 20);
    switch (rng_below(rng, 5)) {
    case 0:
        ck_assert(dict_rehash(d, buckets) == model_rehash(buckets));
        break;
    case 1:
        dict_shrink(d);
        if (t0.size) model_resize(t0.used > 4 ? t0.used : 4);
        break;
    case 2:
        dict_rehash_for_1ms(d);
        model_rehash_for_1ms();
        break;
    case 3:
        if (!rng_chance(rng, 1, 10)) break;
        paused = d->pause_rehash = paused ? 0 : 1;
        break;
    case 4:
        if (paused || !rng_chance(rng, 1, 40)) break;
        dict_clear(d);
        memset(&t0, 0, sizeof t0);
        memset(&t1, 0, sizeof t1);
        index_ = -1;
    }
}

/* `growing` of 8 operations on keys that come or go are additions. */
static void do_one(struct rng *rng, uint64_t growing) {
    key_id id = 1 + (key_id)rng_below(rng, KEYS);
    uint64_t kind = rng_below(rng, 8);
    struct rng copy = *rng;
    switch (kind) {
    case 0:
        ck_assert(dict_find(d, id) == model_find(id));
        break;
    case 1:
        ck_assert_uint_eq(dict_random(d, &copy), model_random(rng));
        break;
    case 2:
        do_rarely(rng);
        break;
    default:
        if (rng_chance(rng, growing, 8)) {
            ck_assert(dict_add(d, id) == model_add(id));
        } else {
            ck_assert(dict_delete(d, id) == model_delete(id));
        }
    }
    ck_assert(dict_has(d, id) == model_has(id));
}

/* Bits of the loop's number: which dict, which generation's growth, which allocator. */
START_TEST(any_sequence_leaves_the_buckets_costs_and_ledger_of_the_plain_model) {
    rig_open(&rig, _i & 1 ? DICT_EXPIRES : DICT_MAIN, _i & 4 ? "debian" : "bundled");
    if (_i & 2) rig.policy = (struct dict_policy){.grow_factor = 2, .grow_addend = 0};
    struct rng root = rng_seed(test_seed() + (uint64_t)_i), rng = rng_fork(&root, "operations");
    for (int op = 0; op < COST_COUNT; op++) rig.prices.ps[op] = rng_below(&rng, 20 * PS_PER_US);
    rig.cpu.began.wall_us = (us_t)rng_below(&rng, 1000000);
    memset(&t0, 0, sizeof t0);
    memset(&t1, 0, sizeof t1);
    memset(count, 0, sizeof count);
    index_ = -1;
    paused = 0;
    for (uint32_t round = 0; round < test_rounds(6000); round++) {
        do_one(&rng, round % 2000 < 1000 ? 7 : 2);
        assert_same();
    }
    d->pause_rehash = 0;
    rig_close(&rig);
}
END_TEST

/* --- what the walker must notice --- */

static void break_used(void) { d->used[0]++; }
static void break_used_of_the_new_table(void) { d->used[1]--; }
static void break_membership(void) { entries_at(&rig.entries, dict_bucket(d, 0, 5))->member = 0; }
static void break_an_outsiders_membership(void) {
    entries_touch(&rig.entries, RIG_KEYS)->member |= 1 << DICT_MAIN;
}
static void break_place(void) {
    key_id moved = d->table[0][5];
    d->table[0][5] = d->table[0][6];
    d->table[0][6] = moved;
}
static void break_chain_into_a_loop(void) {
    key_id id = d->table[0][5];
    entries_at(&rig.entries, id)->link[DICT_MAIN] = id;
}
static void break_rehash_index(void) { d->rehash_index = 6; }
static void break_off_the_rehash(void) { d->rehash_index = -1; }
static void break_into_both_tables(void) {
    key_id id = d->table[0][5], last = d->table[1][keys_hash(rig.keys, id) & 31];
    d->table[1][keys_hash(rig.keys, id) & 31] = id;
    d->used[1] += last == KEY_NONE;
}

static void (*const breaks[])(void) = {
    NULL, /* unbroken: must pass */
    break_used,
    break_used_of_the_new_table,
    break_membership,
    break_an_outsiders_membership,
    break_place,
    break_chain_into_a_loop,
    break_rehash_index,
    break_off_the_rehash,
    break_into_both_tables,
};
#define BREAKS ((int)(sizeof breaks / sizeof *breaks))

static void check_broken(int which) {
    rig_open(&rig, DICT_MAIN, "debian");
    rig_grow(&rig, 16);
    if (breaks[which]) breaks[which]();
    dict_check(d);
}

START_TEST(the_walker_passes_a_sound_dict) { check_broken(0); }
END_TEST

START_TEST(the_walker_stops_at_each_broken_invariant) { check_broken(_i); }
END_TEST

static Suite *dict_model_suite(void) {
    Suite *suite = suite_create("dict_model");
    TCase *tc = tcase_create("dict_model");
    tcase_set_timeout(tc, 100);
    tcase_add_loop_test(tc, any_sequence_leaves_the_buckets_costs_and_ledger_of_the_plain_model, 0,
                        8);
    tcase_add_test(tc, the_walker_passes_a_sound_dict);
    tcase_add_loop_test_raise_signal(tc, the_walker_stops_at_each_broken_invariant, SIGABRT, 1,
                                     BREAKS);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(dict_model_suite()); }
