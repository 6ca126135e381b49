#include <string.h>

#include "dict_rig.h"

static struct rig rig;
static struct dict *const d = &rig.dict;
static uint32_t visits[RIG_KEYS + 1];

static void setup(void) {
    rig_open(&rig, DICT_MAIN, "debian");
    memset(visits, 0, sizeof visits);
}
static void teardown(void) { rig_close(&rig); }

static void count_visit(void *context, key_id id) {
    (void)context;
    visits[id]++;
}

/* The whole walk from 0 to 0; returns how many calls it took. */
static uint64_t scan_all(void (*visit)(void *, key_id)) {
    uint64_t calls = 0, cursor = 0;
    do {
        cursor = dict_scan(d, cursor, visit, NULL);
        calls++;
        ck_assert_uint_le(calls, 4096);
    } while (cursor != 0);
    return calls;
}

static void assert_each_key_visited(uint32_t least, uint32_t most) {
    uint32_t wrong = 0; /* one assertion for all: Check reports each to its parent */
    for (key_id id = 1; id <= RIG_KEYS; id++) {
        uint32_t in = dict_has(d, id);
        wrong += visits[id] < in * least || visits[id] > in * most;
    }
    ck_assert_uint_eq(wrong, 0);
}

/* Both tables as they are after `steps` of a rehash from one size to another, with `keys` keys and
 * some more: T0 had one key in each of min(from, to) buckets. */
static void make_rehash(uint32_t from, uint32_t to, uint32_t keys, uint32_t steps) {
    dict_presize(d, from);
    for (uint32_t i = 0; i < from && i < to; i++) rig_add(&rig, rig_key(&rig, from, i, 0));
    if (to < from) dict_shrink(d);
    rig.policy = (struct dict_policy){.grow_addend = to};
    d->pause_rehash++;
    for (key_id id = 1; id <= keys; id++) dict_add(d, id);
    d->pause_rehash--;
    dict_rehash(d, steps);
    ck_assert_uint_eq(dict_size(d, 1), to);
}

/* --- scan: engine facts 1.10 --- */

START_TEST(the_cursor_of_8_slots_goes_0_4_2_6_1_5_3_7) {
    static const uint64_t next[] = {4, 2, 6, 1, 5, 3, 7, 0};
    rig_fill(&rig, 8);
    uint64_t cursor = 0;
    for (int i = 0; i < 8; i++) {
        cursor = dict_scan(d, cursor, count_visit, NULL);
        ck_assert_uint_eq(cursor, next[i]);
    }
}
END_TEST

static void append_visit(void *context, key_id id) {
    key_id **end = context;
    *(*end)++ = id;
}

START_TEST(one_call_visits_one_bucket_from_head_to_tail) {
    key_id first = rig_key(&rig, 4, 2, 0), second = rig_key(&rig, 4, 2, 1);
    key_id seen[4], *end = seen;
    rig_add(&rig, first);
    rig_add(&rig, second);
    rig_add(&rig, rig_key(&rig, 4, 1, 0));
    dict_scan(d, 2, append_visit, &end);
    ck_assert_int_eq(end - seen, 2);
    ck_assert_uint_eq(seen[0], second); /* the newest is the head */
    ck_assert_uint_eq(seen[1], first);
}
END_TEST

START_TEST(an_empty_dict_ends_the_walk_at_once) {
    ck_assert_uint_eq(dict_scan(d, 0, count_visit, NULL), 0);
    dict_presize(d, 64);
    ck_assert_uint_eq(dict_scan(d, 5, count_visit, NULL), 0);
}
END_TEST

START_TEST(a_walk_over_any_size_visits_each_bucket_once) {
    for (uint32_t size = 4; size <= 512; size *= 2) {
        memset(visits, 0, sizeof visits);
        rig_fill(&rig, size);
        ck_assert_uint_eq(scan_all(count_visit), size);
        assert_each_key_visited(1, 1);
        dict_clear(d);
    }
}
END_TEST

/* One call: the small table's bucket and large / small buckets of the other. */
START_TEST(a_walk_during_any_rehash_takes_small_calls_and_meets_each_key_once) {
    rig.prices.ps[COST_SCAN_BUCKET] = 1;
    for (uint32_t from = 4; from <= 128; from *= 2) {
        for (uint32_t to = 4; to <= 128; to *= 2) {
            if (from == to) continue;
            memset(visits, 0, sizeof visits);
            make_rehash(from, to, 200, 1);
            uint32_t small = from < to ? from : to, large = from < to ? to : from;
            int64_t index = d->rehash_index;
            rig.cpu.spent_ps = 0;
            ck_assert_uint_eq(scan_all(count_visit), small);
            ck_assert_uint_eq(rig.cpu.spent_ps, small + large);
            ck_assert_int_eq(d->rehash_index, index);
            assert_each_key_visited(1, 1);
            dict_clear(d);
        }
    }
}
END_TEST

START_TEST(bits_of_a_cursor_beyond_the_table_are_ignored) {
    rig_fill(&rig, 16);
    uint64_t junk = UINT64_C(0xdeadbeefcafe0000);
    for (uint64_t cursor = 0; cursor < 16; cursor++) {
        ck_assert_uint_eq(dict_scan(d, junk | cursor, count_visit, NULL),
                          dict_scan(d, cursor, count_visit, NULL));
    }
    assert_each_key_visited(2, 2);
}
END_TEST

static void delete_visited(void *context, key_id id) {
    (void)context;
    int64_t index = d->rehash_index;
    ck_assert(dict_delete(d, id));
    ck_assert_int_eq(d->rehash_index, index);
    visits[id]++;
}

START_TEST(the_visited_key_may_be_deleted_and_no_step_is_taken_meanwhile) {
    for (key_id id = 1; id <= 300; id++) rig_add(&rig, id);
    scan_all(delete_visited);
    ck_assert_uint_eq(dict_used(d), 0);
    dict_clear(d);
    make_rehash(64, 128, 300, 10);
    scan_all(delete_visited);
    ck_assert_uint_eq(dict_used(d), 0);
    ck_assert_uint_eq(d->pause_rehash, 0);
}
END_TEST

static void replace_visited(void *context, key_id id) {
    (void)context;
    ck_assert_uint_eq(visits[id]++, 0);
    ck_assert(dict_delete(d, id));
    ck_assert(dict_add(d, id));
}

/* It comes back at the head of the chain, behind the walk. */
START_TEST(the_visited_key_may_be_deleted_and_put_back) {
    dict_presize(d, 16);
    for (uint32_t nth = 0; nth < 5; nth++) rig_add(&rig, rig_key(&rig, 16, 3, nth));
    scan_all(replace_visited);
    ck_assert_uint_eq(dict_used(d), 5);
    assert_each_key_visited(1, 1);
}
END_TEST

/* Between two calls of the walk anything may happen: keys come and go, tables grow, shrink and are
 * rehashed. The first 50 keys stay in throughout, so each must be met. */
static void disturb(struct rng *rng) {
    for (uint64_t ops = rng_below(rng, 60); ops > 0; ops--) {
        key_id id = 51 + (key_id)rng_below(rng, 1000);
        if (rng_chance(rng, 1, 2)) {
            dict_add(d, id);
        } else {
            dict_delete(d, id);
        }
    }
    if (rng_chance(rng, 1, 8)) {
        for (key_id id = 51; id <= 1050; id++) dict_delete(d, id);
    }
    if (dict_wants_shrink(d)) dict_shrink(d);
    if (rng_chance(rng, 1, 3)) dict_rehash(d, (uint32_t)rng_below(rng, 40));
    dict_check(d);
}

START_TEST(a_key_that_stays_is_met_whatever_happens_to_the_tables) {
    struct rng rng = rng_seed(test_seed());
    for (key_id id = 1; id <= 50; id++) rig_add(&rig, id);
    uint32_t resized = 0;
    for (uint32_t round = 0; round < test_rounds(100); round++) {
        memset(visits, 0, sizeof visits);
        uint64_t cursor = 0, slots = dict_slots(d);
        do {
            cursor = dict_scan(d, cursor, count_visit, NULL);
            disturb(&rng);
            resized += dict_slots(d) != slots;
            slots = dict_slots(d);
        } while (cursor != 0);
        for (key_id id = 1; id <= 50; id++) ck_assert_uint_ge(visits[id], 1);
    }
    ck_assert_uint_gt(resized, 100); /* the walks were disturbed indeed */
}
END_TEST

/* --- random: engine facts 1.9.1 --- */

START_TEST(random_of_nothing_is_no_key) {
    struct rng rng = rng_seed(test_seed()), before = rng;
    ck_assert_uint_eq(dict_random(d, &rng), KEY_NONE);
    ck_assert_mem_eq(&rng, &before, sizeof rng);
}
END_TEST

/* Draws `rounds` keys with the rehash held, and compares each count in `share` / 24ths of them
 * with six standard deviations: 6 * sqrt(24000 * p * (1 - p)) <= 6 * sqrt(6000) = 465. */
static void assert_shares(const key_id *ids, const int *share, int count) {
    struct rng rng = rng_seed(test_seed());
    d->pause_rehash++;
    for (int i = 0; i < 24000; i++) visits[dict_random(d, &rng)]++;
    d->pause_rehash--;
    for (int i = 0; i < count; i++) {
        ck_assert_int_gt((int)visits[ids[i]], share[i] * 1000 - 465);
        ck_assert_int_lt((int)visits[ids[i]], share[i] * 1000 + 465);
    }
}

/* Two buckets, one with three keys and one with one: the single one comes half of the time. */
START_TEST(random_draws_a_bucket_first_and_so_favours_short_chains) {
    key_id ids[] = {rig_key(&rig, 4, 0, 0), rig_key(&rig, 4, 0, 1), rig_key(&rig, 4, 0, 2),
                    rig_key(&rig, 4, 3, 0)};
    for (int i = 0; i < 4; i++) rig_add(&rig, ids[i]);
    assert_shares(ids, (int[]){4, 4, 4, 12}, 4);
}
END_TEST

/* T0 of 4 keeps buckets 2 and 3 with a key each; T1 of 8 gets the keys of 0 and 1, of which one is
 * deleted, and a chain of two: four non-empty buckets of equal chance. */
START_TEST(random_during_a_rehash_draws_from_what_is_left_of_both_tables) {
    key_id ids[] = {rig_key(&rig, 8, 0, 0), rig_key(&rig, 8, 1, 0), rig_key(&rig, 8, 2, 0),
                    rig_key(&rig, 8, 3, 0), rig_key(&rig, 8, 7, 0), rig_key(&rig, 8, 7, 1)};
    for (int i = 0; i < 5; i++) rig_add(&rig, ids[i]);
    ck_assert(dict_rehash(d, 2));
    d->pause_rehash++;
    rig_add(&rig, ids[5]);
    rig_delete_unstepped(&rig, ids[0]);
    d->pause_rehash--;
    assert_shares(ids, (int[]){0, 6, 6, 6, 3, 3}, 6);
    ck_assert_uint_eq(visits[ids[0]], 0);
}
END_TEST

static Suite *dict_scan_suite(void) {
    Suite *suite = suite_create("dict_scan");
    TCase *tc = tcase_create("dict_scan");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_cursor_of_8_slots_goes_0_4_2_6_1_5_3_7);
    tcase_add_test(tc, one_call_visits_one_bucket_from_head_to_tail);
    tcase_add_test(tc, an_empty_dict_ends_the_walk_at_once);
    tcase_add_test(tc, a_walk_over_any_size_visits_each_bucket_once);
    tcase_add_test(tc, a_walk_during_any_rehash_takes_small_calls_and_meets_each_key_once);
    tcase_add_test(tc, bits_of_a_cursor_beyond_the_table_are_ignored);
    tcase_add_test(tc, the_visited_key_may_be_deleted_and_no_step_is_taken_meanwhile);
    tcase_add_test(tc, the_visited_key_may_be_deleted_and_put_back);
    tcase_add_test(tc, a_key_that_stays_is_met_whatever_happens_to_the_tables);
    tcase_add_test(tc, random_of_nothing_is_no_key);
    tcase_add_test(tc, random_draws_a_bucket_first_and_so_favours_short_chains);
    tcase_add_test(tc, random_during_a_rehash_draws_from_what_is_left_of_both_tables);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(dict_scan_suite()); }
