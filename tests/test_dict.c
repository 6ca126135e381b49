#include "dict_rig.h"

static struct rig rig;
static struct dict *const d = &rig.dict;

static void setup(void) { rig_open(&rig, DICT_MAIN, "debian"); }
static void teardown(void) { rig_close(&rig); }

/* --- growth: engine facts 1.3 --- */

START_TEST(a_new_dict_has_no_table) {
    ck_assert_uint_eq(dict_slots(d), 0);
    ck_assert(!dict_find(d, 1));
    ck_assert(!dict_delete(d, 1));
    ck_assert_uint_eq(dict_slots(d), 0);
}
END_TEST

START_TEST(the_first_key_makes_a_table_of_4) {
    rig_add(&rig, 1);
    ck_assert_uint_eq(dict_size(d, 0), 4);
    ck_assert(!dict_rehashing(d));
}
END_TEST

START_TEST(a_full_table_doubles_at_the_next_key_and_moves_nothing_yet) {
    for (key_id id = 1; id <= 4; id++) rig_add(&rig, id);
    ck_assert(!dict_rehashing(d));
    rig_add(&rig, 5);
    ck_assert_uint_eq(dict_size(d, 0), 4);
    ck_assert_uint_eq(dict_size(d, 1), 8);
    ck_assert_int_eq(d->rehash_index, 0);
    ck_assert_uint_eq(d->used[0], 4);
    ck_assert_uint_eq(d->used[1], 1);
    ck_assert_uint_eq(dict_bucket(d, 1, keys_hash(rig.keys, 5) & 7), 5);
}
END_TEST

START_TEST(adding_a_key_that_is_in_makes_a_full_table_grow_too) {
    rig_fill(&rig, 4);
    ck_assert(!dict_add(d, rig_key(&rig, 4, 2, 0)));
    ck_assert(dict_rehashing(d));
    ck_assert_uint_eq(dict_size(d, 1), 8);
    ck_assert_uint_eq(dict_used(d), 4);
}
END_TEST

START_TEST(a_table_under_rehash_does_not_grow_however_full_it_is) {
    rig_grow(&rig, 4);
    d->pause_rehash++;
    for (key_id id = 1; id <= 200; id++) dict_add(d, id);
    ck_assert_uint_ge(dict_used(d), 200);
    ck_assert_uint_eq(dict_size(d, 0), 4);
    ck_assert_uint_eq(dict_size(d, 1), 8);
    d->pause_rehash--;
}
END_TEST

/* A table of 8 overfilled to 21 keys; the next key grows it. */
static uint64_t size_after_overfill_of_21(void) {
    rig_grow(&rig, 4);
    d->pause_rehash++;
    for (key_id id = 1; dict_used(d) < 21; id++) dict_add(d, id);
    d->pause_rehash--;
    ck_assert(!dict_rehash(d, 8));
    ck_assert_uint_eq(dict_slots(d), 8);
    rig_add(&rig, RIG_KEYS);
    return dict_size(d, 1);
}

START_TEST(an_overfilled_table_grows_to_used_plus_1_since_6_0) {
    ck_assert_uint_eq(size_after_overfill_of_21(), 32); /* least power of two >= 22 */
}
END_TEST

START_TEST(an_overfilled_table_grows_to_twice_used_up_to_5_0) {
    rig.policy = (struct dict_policy){.grow_factor = 2, .grow_addend = 0};
    ck_assert_uint_eq(size_after_overfill_of_21(), 64); /* least power of two >= 42 */
}
END_TEST

START_TEST(an_empty_dict_is_presized_to_the_least_power_of_two) {
    static const uint32_t count_and_size[][2] = {{0, 4}, {1, 4},  {4, 4},       {5, 8},
                                                 {8, 8}, {9, 16}, {1000, 1024}, {1024, 1024}};
    for (size_t i = 0; i < sizeof count_and_size / sizeof *count_and_size; i++) {
        dict_presize(d, count_and_size[i][0]);
        ck_assert_uint_eq(dict_slots(d), count_and_size[i][1]);
        ck_assert(!dict_rehashing(d));
        dict_clear(d);
    }
}
END_TEST

/* --- steps: engine facts 1.6 --- */

START_TEST(find_add_delete_and_random_take_one_step_each) {
    key_id in_t1 = rig_grow(&rig, 64);
    key_id missing = rig_key(&rig, 64, 1, 1);
    struct rng rng = rng_seed(test_seed());
    int64_t steps = 0;
    ck_assert(dict_find(d, in_t1));
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(!dict_find(d, missing));
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(!dict_add(d, in_t1));
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(dict_add(d, missing));
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(dict_delete(d, missing));
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(!dict_delete(d, missing));
    ck_assert_int_eq(d->rehash_index, ++steps);
    dict_random(d, &rng);
    ck_assert_int_eq(d->rehash_index, ++steps);
    ck_assert(dict_has(d, in_t1));
    ck_assert_int_eq(d->rehash_index, steps);
}
END_TEST

START_TEST(nothing_steps_while_paused) {
    key_id in_t1 = rig_grow(&rig, 64);
    struct rng rng = rng_seed(test_seed());
    d->pause_rehash++;
    dict_step(d);
    dict_find(d, in_t1);
    dict_add(d, in_t1);
    dict_delete(d, in_t1);
    dict_random(d, &rng);
    dict_rehash_for_1ms(d);
    ck_assert_int_eq(d->rehash_index, 0);
    d->pause_rehash--;
}
END_TEST

/* Emptied while paused, so that the rehash is still under way. */
START_TEST(of_an_empty_dict_only_add_takes_a_step) {
    rig_grow(&rig, 4);
    struct rng rng = rng_seed(test_seed());
    d->pause_rehash++;
    for (key_id id = 1; id <= RIG_KEYS; id++) dict_delete(d, id);
    d->pause_rehash--;
    ck_assert_uint_eq(dict_used(d), 0);
    dict_find(d, 1);
    dict_delete(d, 1);
    ck_assert_uint_eq(dict_random(d, &rng), KEY_NONE);
    ck_assert(dict_rehashing(d));
    rig_add(&rig, 1); /* its step ends the rehash, so the key goes to T0 of 8 */
    ck_assert(!dict_rehashing(d));
    ck_assert_uint_eq(dict_size(d, 0), 8);
    ck_assert_uint_eq(d->used[0], 1);
}
END_TEST

START_TEST(a_new_key_goes_to_the_head_of_its_chain) {
    key_id a = rig_key(&rig, 4, 3, 0), b = rig_key(&rig, 4, 3, 1);
    rig_add(&rig, a);
    rig_add(&rig, b);
    ck_assert_uint_eq(dict_bucket(d, 0, 3), b);
    ck_assert_uint_eq(dict_next(d, b), a);
    ck_assert_uint_eq(dict_next(d, a), KEY_NONE);
}
END_TEST

START_TEST(head_middle_and_tail_of_a_chain_can_be_deleted) {
    for (uint32_t victim = 0; victim < 3; victim++) {
        for (uint32_t nth = 0; nth < 3; nth++) rig_add(&rig, rig_key(&rig, 4, 0, nth));
        key_id gone = rig_key(&rig, 4, 0, victim);
        ck_assert(dict_delete(d, gone));
        ck_assert(!dict_has(d, gone));
        ck_assert_uint_eq(dict_used(d), 2);
        dict_check(d);
        dict_clear(d);
    }
}
END_TEST

/* --- rehash: engine facts 1.5 --- */

/* Three keys that stay together: a, b, c were added in this order, so the chain is c b a, and each
 * goes to the head of the new one. */
START_TEST(a_chain_that_stays_together_is_reversed) {
    key_id a = rig_key(&rig, 8, 1, 0), b = rig_key(&rig, 8, 1, 1), c = rig_key(&rig, 8, 1, 2);
    rig_add(&rig, a);
    rig_add(&rig, b);
    rig_add(&rig, c);
    ck_assert_uint_eq(dict_bucket(d, 0, 1), c);
    rig_add(&rig, rig_key(&rig, 8, 2, 0));
    rig_add(&rig, rig_key(&rig, 8, 3, 0));
    ck_assert(!dict_rehash(d, 2)); /* bucket 1 after an empty one, then 2; 3 went to T1 */
    ck_assert_uint_eq(dict_bucket(d, 0, 1), a);
    ck_assert_uint_eq(dict_next(d, a), b);
    ck_assert_uint_eq(dict_next(d, b), c);
    ck_assert_uint_eq(dict_next(d, c), KEY_NONE);
}
END_TEST

START_TEST(n_buckets_are_moved_and_the_last_ends_the_rehash) {
    rig_grow(&rig, 64);
    ck_assert(dict_rehash(d, 5));
    ck_assert_int_eq(d->rehash_index, 5);
    ck_assert_uint_eq(d->used[0], 59);
    ck_assert(dict_rehash(d, 58));
    ck_assert_int_eq(d->rehash_index, 63);
    ck_assert(!dict_rehash(d, 1));
    ck_assert(!dict_rehashing(d));
    ck_assert_uint_eq(dict_size(d, 0), 128);
    ck_assert_uint_eq(dict_size(d, 1), 0);
    ck_assert(!dict_rehash(d, 1));
}
END_TEST

/* One key in a table of 64 that shrinks: rehash(1) may pass 10 empty buckets, and the tenth ends it
 * although the next one holds the key. */
START_TEST(the_tenth_empty_bucket_ends_a_step) {
    dict_presize(d, 64);
    rig_add(&rig, rig_key(&rig, 64, 10, 0));
    dict_shrink(d);
    ck_assert(dict_rehash(d, 1));
    ck_assert_int_eq(d->rehash_index, 10);
    ck_assert_uint_eq(d->used[0], 1);
    ck_assert(!dict_rehash(d, 1));
    ck_assert_uint_eq(dict_size(d, 0), 4);
}
END_TEST

START_TEST(nine_empty_buckets_do_not_end_a_step) {
    dict_presize(d, 64);
    rig_add(&rig, rig_key(&rig, 64, 9, 0));
    dict_shrink(d);
    ck_assert(!dict_rehash(d, 1));
    ck_assert_uint_eq(dict_size(d, 0), 4);
}
END_TEST

START_TEST(empty_buckets_are_counted_over_the_whole_call) {
    dict_presize(d, 64);
    rig_add(&rig, rig_key(&rig, 64, 9, 0));
    rig_add(&rig, rig_key(&rig, 64, 20, 0));
    rig_add(&rig, rig_key(&rig, 64, 40, 0));
    dict_shrink(d);
    ck_assert(dict_rehash(d, 2)); /* 9 empty, move, 10 empty, move: 19 of 20 */
    ck_assert_int_eq(d->rehash_index, 21);
    ck_assert(dict_rehash(d, 1)); /* 21 to 30 are empty */
    ck_assert_int_eq(d->rehash_index, 31);
}
END_TEST

START_TEST(a_rehash_whose_keys_were_deleted_ends_at_the_next_call) {
    key_id last = rig_grow(&rig, 4);
    for (uint32_t i = 0; i < 4; i++) rig_delete_unstepped(&rig, rig_key(&rig, 4, i, 0));
    ck_assert(dict_rehashing(d));
    ck_assert(!dict_rehash(d, 1));
    ck_assert_uint_eq(dict_size(d, 0), 8);
    ck_assert(dict_has(d, last));
}
END_TEST

/* --- shrink: engine facts 1.4 --- */

/* floor(used * 100 / slots) < 10 says the same as used * 10 < slots. */
START_TEST(a_table_wants_to_shrink_below_a_tenth) {
    for (uint32_t size = 4; size <= 256; size *= 2) {
        rig_fill(&rig, size);
        for (uint32_t used = size;; used--) {
            ck_assert(dict_wants_shrink(d) == (size > 4 && used * 10 < size));
            if (used == 0) break;
            ck_assert(dict_delete(d, rig_key(&rig, size, used - 1, 0)));
        }
        dict_clear(d);
    }
    ck_assert(!dict_wants_shrink(d));
}
END_TEST

/* 64 + 128 slots: 19 keys are 9 percent, 20 are 10. */
START_TEST(the_shrink_test_counts_both_tables) {
    rig_grow(&rig, 64);
    for (uint32_t i = 0; i < 45; i++) rig_delete_unstepped(&rig, rig_key(&rig, 64, i, 0));
    ck_assert_uint_eq(dict_used(d), 20);
    ck_assert(!dict_wants_shrink(d));
    rig_delete_unstepped(&rig, rig_key(&rig, 64, 45, 0));
    ck_assert(dict_wants_shrink(d));
}
END_TEST

START_TEST(shrinking_rehashes_to_the_least_power_of_two_that_holds_all) {
    for (uint32_t used = 1; used <= 17; used++) {
        dict_presize(d, 64);
        for (uint32_t i = 0; i < used; i++) rig_add(&rig, rig_key(&rig, 64, i, 0));
        dict_shrink(d);
        ck_assert_int_eq(d->rehash_index, 0);
        ck_assert_uint_eq(dict_size(d, 1), used <= 4 ? 4 : used <= 8 ? 8 : used <= 16 ? 16 : 32);
        while (dict_rehash(d, 1)) dict_check(d);
        ck_assert_uint_eq(dict_used(d), used);
        dict_clear(d);
    }
}
END_TEST

START_TEST(shrinking_is_refused_without_a_table_at_the_same_size_or_under_rehash) {
    dict_shrink(d);
    ck_assert_uint_eq(dict_slots(d), 0);
    rig_add(&rig, 1);
    dict_shrink(d);
    ck_assert(!dict_rehashing(d));
    dict_clear(d);
    rig_grow(&rig, 16);
    for (uint32_t i = 0; i < 16; i++) rig_delete_unstepped(&rig, rig_key(&rig, 16, i, 0));
    dict_shrink(d);
    ck_assert_uint_eq(dict_size(d, 1), 32);
}
END_TEST

START_TEST(an_empty_table_is_given_back_at_the_first_call_for_nothing) {
    rig.prices.ps[COST_REHASH_BUCKET] = rig.prices.ps[COST_REHASH_KEY] = 1;
    dict_presize(d, 1024);
    dict_shrink(d);
    ck_assert(dict_rehashing(d));
    ck_assert(!dict_rehash(d, 1));
    ck_assert_uint_eq(dict_slots(d), 4);
    ck_assert_uint_eq(rig.cpu.spent_ps, 0);
}
END_TEST

/* --- while a child saves: engine facts 1.3.2, 1.3.3, 1.5 and 1.6.5 --- */

static const struct dict_policy frozen_below_5 = {
    .grow_factor = 1, .grow_addend = 1, .frozen_below_ratio = 5};
static const bool child_runs = true;

/* 384 keys in 64 slots are six to a bucket, more than five; the next one grows the table. */
START_TEST(under_a_child_a_table_grows_only_from_six_keys_a_bucket_on) {
    dict_presize(d, 64);
    d->child = &child_runs;
    for (key_id id = 1; id <= 384; id++) rig_add(&rig, id);
    ck_assert(!dict_rehashing(d));
    ck_assert_uint_eq(dict_slots(d), 64);
    rig_add(&rig, 385);
    ck_assert(dict_rehashing(d));
    ck_assert_uint_eq(dict_size(d, 1), 512);
}
END_TEST

START_TEST(under_a_child_the_first_table_is_made) {
    d->child = &child_runs;
    rig_add(&rig, 1);
    ck_assert_uint_eq(dict_slots(d), 4);
}
END_TEST

START_TEST(under_a_child_no_table_shrinks) {
    dict_presize(d, 4096);
    rig_add(&rig, 1);
    d->child = &child_runs;
    ck_assert(dict_wants_shrink(d));
    dict_shrink(d);
    ck_assert(!dict_rehashing(d));
    d->child = NULL;
    dict_shrink(d);
    ck_assert(dict_rehashing(d));
}
END_TEST

/* Doubling is below five times: nothing moves, all new keys go to T1, and it cannot grow. */
START_TEST(under_a_child_a_rehash_to_twice_the_size_stands_still) {
    rig_grow(&rig, 64);
    d->policy = &frozen_below_5;
    d->child = &child_runs;
    for (key_id id = 1; dict_used(d) < 2070; id++) dict_add(d, id);
    ck_assert(!dict_rehash(d, 100));
    ck_assert_int_eq(d->rehash_index, 0);
    ck_assert_uint_eq(d->used[0], 64);
    ck_assert_uint_eq(dict_size(d, 1), 128);
    d->child = NULL;
    ck_assert(dict_rehash(d, 1));
    ck_assert_int_eq(d->rehash_index, 1);
    while (dict_rehash(d, 100)) {
    }
    d->policy = &rig.policy;
}
END_TEST

/* Four slots overfilled to 8 keys grow to 16, to 17 keys to 32: four times, and eight. */
static bool moves_under_a_child(uint32_t keys, uint32_t ratio, uint32_t frozen_below) {
    dict_clear(d);
    dict_presize(d, 4);
    d->child = &child_runs;
    for (key_id id = 1; id <= keys; id++) rig_add(&rig, id);
    d->child = NULL;
    rig_add(&rig, keys + 1);
    ck_assert_uint_eq(dict_size(d, 1), dict_size(d, 0) * ratio);
    d->child = &child_runs;
    rig.policy.frozen_below_ratio = frozen_below;
    dict_rehash(d, 1);
    return d->used[0] < keys;
}

START_TEST(under_a_child_a_rehash_goes_on_from_five_times_the_size_on) {
    ck_assert(!moves_under_a_child(8, 4, 5));
    ck_assert(moves_under_a_child(17, 8, 5));
    ck_assert(moves_under_a_child(8, 4, 0)); /* up to 7.0.7 */
}
END_TEST

/* 64 slots with 17 keys shrink to 32, with one key to 4. */
START_TEST(under_a_child_a_shrinking_rehash_counts_likewise) {
    for (uint32_t keys = 1; keys <= 17; keys += 16) {
        dict_clear(d);
        dict_presize(d, 64);
        for (key_id id = 1; id <= keys; id++) rig_add(&rig, id);
        dict_shrink(d);
        d->child = &child_runs;
        rig.policy.frozen_below_ratio = 5;
        ck_assert_uint_eq(dict_size(d, 1), keys == 1 ? 4 : 32);
        for (int i = 0; i < 100; i++) dict_rehash(d, 1);
        ck_assert_int_eq(dict_rehashing(d), keys == 17);
        if (keys == 17) ck_assert_uint_eq(d->used[0], keys);
        d->child = NULL;
    }
}
END_TEST

static void add_growth_tests(TCase *tc) {
    tcase_add_test(tc, a_new_dict_has_no_table);
    tcase_add_test(tc, the_first_key_makes_a_table_of_4);
    tcase_add_test(tc, a_full_table_doubles_at_the_next_key_and_moves_nothing_yet);
    tcase_add_test(tc, adding_a_key_that_is_in_makes_a_full_table_grow_too);
    tcase_add_test(tc, a_table_under_rehash_does_not_grow_however_full_it_is);
    tcase_add_test(tc, an_overfilled_table_grows_to_used_plus_1_since_6_0);
    tcase_add_test(tc, an_overfilled_table_grows_to_twice_used_up_to_5_0);
    tcase_add_test(tc, an_empty_dict_is_presized_to_the_least_power_of_two);
}

static void add_step_tests(TCase *tc) {
    tcase_add_test(tc, find_add_delete_and_random_take_one_step_each);
    tcase_add_test(tc, nothing_steps_while_paused);
    tcase_add_test(tc, of_an_empty_dict_only_add_takes_a_step);
    tcase_add_test(tc, a_new_key_goes_to_the_head_of_its_chain);
    tcase_add_test(tc, head_middle_and_tail_of_a_chain_can_be_deleted);
}

static void add_rehash_tests(TCase *tc) {
    tcase_add_test(tc, a_chain_that_stays_together_is_reversed);
    tcase_add_test(tc, n_buckets_are_moved_and_the_last_ends_the_rehash);
    tcase_add_test(tc, the_tenth_empty_bucket_ends_a_step);
    tcase_add_test(tc, nine_empty_buckets_do_not_end_a_step);
    tcase_add_test(tc, empty_buckets_are_counted_over_the_whole_call);
    tcase_add_test(tc, a_rehash_whose_keys_were_deleted_ends_at_the_next_call);
}

static void add_shrink_tests(TCase *tc) {
    tcase_add_test(tc, a_table_wants_to_shrink_below_a_tenth);
    tcase_add_test(tc, the_shrink_test_counts_both_tables);
    tcase_add_test(tc, shrinking_rehashes_to_the_least_power_of_two_that_holds_all);
    tcase_add_test(tc, shrinking_is_refused_without_a_table_at_the_same_size_or_under_rehash);
    tcase_add_test(tc, an_empty_table_is_given_back_at_the_first_call_for_nothing);
}

static void add_child_tests(TCase *tc) {
    tcase_add_test(tc, under_a_child_a_table_grows_only_from_six_keys_a_bucket_on);
    tcase_add_test(tc, under_a_child_the_first_table_is_made);
    tcase_add_test(tc, under_a_child_no_table_shrinks);
    tcase_add_test(tc, under_a_child_a_rehash_to_twice_the_size_stands_still);
    tcase_add_test(tc, under_a_child_a_rehash_goes_on_from_five_times_the_size_on);
    tcase_add_test(tc, under_a_child_a_shrinking_rehash_counts_likewise);
}

static Suite *dict_suite(void) {
    Suite *suite = suite_create("dict");
    TCase *tc = tcase_create("dict");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    add_growth_tests(tc);
    add_step_tests(tc);
    add_rehash_tests(tc);
    add_shrink_tests(tc);
    add_child_tests(tc);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(dict_suite()); }
