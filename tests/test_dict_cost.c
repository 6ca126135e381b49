#include "dict_rig.h"

static struct rig rig;
static struct dict *const d = &rig.dict;

static void setup(void) { rig_open(&rig, DICT_MAIN, "debian"); }
static void teardown(void) { rig_close(&rig); }

/* --- charges --- */

static uint64_t spent(void) {
    uint64_t ps = rig.cpu.spent_ps;
    rig.cpu.spent_ps = 0;
    return ps;
}

START_TEST(a_lookup_is_charged_whether_it_finds_or_not_and_an_empty_dict_is_free) {
    rig.prices.ps[COST_LOOKUP] = 7;
    dict_find(d, 1);
    ck_assert_uint_eq(spent(), 0);
    rig_add(&rig, 1);
    dict_find(d, 1);
    ck_assert_uint_eq(spent(), 7);
    dict_find(d, 2);
    ck_assert_uint_eq(spent(), 7);
    dict_has(d, 1);
    ck_assert_uint_eq(spent(), 0);
}
END_TEST

START_TEST(the_keyspace_pays_for_keys_that_come_or_go_and_only_for_those) {
    rig.prices.ps[COST_INSERT] = 1;
    rig.prices.ps[COST_DELETE] = 10;
    rig.prices.ps[COST_DEADLINE_SET] = 100;
    dict_add(d, 1);
    ck_assert_uint_eq(spent(), 1);
    dict_add(d, 1);
    ck_assert_uint_eq(spent(), 0);
    dict_delete(d, 1);
    ck_assert_uint_eq(spent(), 10);
    dict_delete(d, 1);
    ck_assert_uint_eq(spent(), 0);
}
END_TEST

START_TEST(the_expires_dict_pays_for_each_deadline_and_not_for_deletes) {
    struct dict expires;
    dict_init(&expires, DICT_EXPIRES, &rig.entries, rig.keys, &rig.cpu, &rig.memory, &rig.policy);
    rig.prices.ps[COST_INSERT] = 1;
    rig.prices.ps[COST_DELETE] = 10;
    rig.prices.ps[COST_DEADLINE_SET] = 100;
    dict_add(&expires, 1);
    ck_assert_uint_eq(spent(), 100);
    dict_add(&expires, 1);
    ck_assert_uint_eq(spent(), 100);
    dict_delete(&expires, 1);
    ck_assert_uint_eq(spent(), 0);
    dict_clear(&expires);
}
END_TEST

/* From 64 slots to 4 with keys in buckets 10 and 12: a first step passes ten, a second moves one
 * key, a third passes one more and moves the other. */
START_TEST(rehashing_is_charged_by_bucket_passed_and_key_moved) {
    dict_presize(d, 64);
    rig_add(&rig, rig_key(&rig, 64, 10, 0));
    rig_add(&rig, rig_key(&rig, 64, 12, 0));
    rig_add(&rig, rig_key(&rig, 64, 12, 1));
    dict_shrink(d);
    rig.prices.ps[COST_REHASH_BUCKET] = 1;
    rig.prices.ps[COST_REHASH_KEY] = 100;
    dict_step(d);
    ck_assert_uint_eq(spent(), 10);
    dict_step(d);
    ck_assert_uint_eq(spent(), 101);
    dict_step(d);
    ck_assert_uint_eq(spent(), 202);
    ck_assert(!dict_rehashing(d));
}
END_TEST

START_TEST(a_muted_meter_pays_for_nothing) {
    for (int op = 0; op < COST_COUNT; op++) rig.prices.ps[op] = 1;
    rig.cpu.muted = 1;
    rig_grow(&rig, 16);
    dict_rehash_for_1ms(d);
    dict_find(d, 1);
    dict_delete(d, rig_key(&rig, 16, 0, 0));
    ck_assert_uint_eq(spent(), 0);
}
END_TEST

/* --- the ledger: engine facts 1.1 and 10.4 --- */

static void assert_ledger(const struct rig *r, int64_t tables, int64_t entries) {
    ck_assert_int_eq(r->memory.bytes[MEMORY_MAIN_TABLES], tables);
    ck_assert_int_eq(r->memory.bytes[MEMORY_MAIN_ENTRIES], entries);
    ck_assert_int_eq(r->memory.used_bytes, tables + entries);
}

/* Debian: an entry of 24 takes 32. 4 buckets are 32 bytes, 8 are 64, both while rehashing. */
START_TEST(entries_and_both_tables_are_booked_as_debians_allocator_takes_them) {
    for (key_id id = 1; id <= 4; id++) rig_add(&rig, id);
    assert_ledger(&rig, 32, 4 * 32);
    rig_add(&rig, 5);
    assert_ledger(&rig, 32 + 64, 5 * 32);
    while (dict_rehash(d, 1)) continue;
    assert_ledger(&rig, 64, 5 * 32);
    dict_delete(d, 3);
    assert_ledger(&rig, 64, 4 * 32);
    dict_clear(d);
    assert_ledger(&rig, 0, 0);
}
END_TEST

START_TEST(an_entry_takes_24_bytes_of_the_bundled_allocator) {
    struct rig bundled;
    rig_open(&bundled, DICT_MAIN, "bundled");
    rig_add(&bundled, 1);
    assert_ledger(&bundled, 32, 24);
    rig_close(&bundled);
}
END_TEST

START_TEST(the_expires_dict_has_classes_of_its_own) {
    struct rig expires;
    rig_open(&expires, DICT_EXPIRES, "debian");
    rig_add(&expires, 1);
    ck_assert_int_eq(expires.memory.bytes[MEMORY_EXPIRES_TABLES], 32);
    ck_assert_int_eq(expires.memory.bytes[MEMORY_EXPIRES_ENTRIES], 32);
    ck_assert_int_eq(expires.memory.used_bytes, 64);
    rig_close(&expires);
}
END_TEST

START_TEST(clearing_during_a_rehash_takes_every_key_out_and_starts_from_4_again) {
    rig_grow(&rig, 64);
    dict_rehash(d, 20);
    dict_clear(d);
    ck_assert_uint_eq(dict_slots(d), 0);
    ck_assert(!dict_rehashing(d));
    for (key_id id = 1; id <= RIG_KEYS; id++) ck_assert(!dict_has(d, id));
    dict_check(d);
    rig_add(&rig, 1);
    ck_assert_uint_eq(dict_slots(d), 4);
}
END_TEST

START_TEST(two_dicts_over_the_same_entries_do_not_meet) {
    struct dict expires;
    dict_init(&expires, DICT_EXPIRES, &rig.entries, rig.keys, &rig.cpu, &rig.memory, &rig.policy);
    for (key_id id = 1; id <= 100; id++) {
        dict_add(d, id);
        if (id % 2) dict_add(&expires, id);
    }
    for (key_id id = 1; id <= 100; id++) ck_assert(dict_has(&expires, id) == id % 2);
    for (key_id id = 1; id <= 100; id += 4) ck_assert(dict_delete(&expires, id));
    dict_check(d);
    dict_check(&expires);
    ck_assert_uint_eq(dict_used(d), 100);
    ck_assert_uint_eq(dict_used(&expires), 25);
    dict_clear(&expires);
    dict_check(d);
    ck_assert_uint_eq(dict_used(d), 100);
}
END_TEST

/* --- entries --- */

START_TEST(an_entry_keeps_any_value) {
    struct texts *texts = texts_create();
    struct object values[] = {object_from_number(7), object_from_number(INT64_MIN),
                              object_from_fill(0), object_from_fill(UINT32_MAX),
                              object_from_text(texts, WORD_PEXPIREAT)};
    for (key_id i = 0; i < 5; i++) entry_set_value(entries_touch(&rig.entries, i), &values[i]);
    for (key_id i = 0; i < 5; i++) {
        struct object back = entry_value(entries_at(&rig.entries, i));
        ck_assert_uint_eq(back.encoding, values[i].encoding);
        ck_assert(object_equal(&back, &values[i]));
    }
    texts_destroy(texts);
}
END_TEST

START_TEST(ids_never_touched_are_in_no_dict) {
    entries_touch(&rig.entries, 5 * ENTRY_PAGE_SIZE)->member = 1 << DICT_EXPIRES;
    ck_assert(entries_has(&rig.entries, 5 * ENTRY_PAGE_SIZE, DICT_EXPIRES));
    ck_assert(!entries_has(&rig.entries, 5 * ENTRY_PAGE_SIZE, DICT_MAIN));
    ck_assert(!entries_has(&rig.entries, 5 * ENTRY_PAGE_SIZE + 1, DICT_EXPIRES));
    ck_assert(!entries_has(&rig.entries, 4 * ENTRY_PAGE_SIZE, DICT_EXPIRES));
    ck_assert(!entries_has(&rig.entries, UINT32_MAX, DICT_EXPIRES));
}
END_TEST

START_TEST(entries_stay_where_they_are_while_pages_are_added) {
    struct entry *first = entries_touch(&rig.entries, 1);
    first->deadline_ms = 123;
    for (key_id page = 1; page < 100; page++) entries_touch(&rig.entries, page * ENTRY_PAGE_SIZE);
    ck_assert_ptr_eq(entries_touch(&rig.entries, 1), first);
    ck_assert_int_eq(first->deadline_ms, 123);
}
END_TEST

/* --- the cron's millisecond: engine facts 1.8 --- */

/* 1024 full buckets at `bucket_us` each, from wall clock `wall_us`. */
static int64_t index_after_1ms(uint64_t bucket_us, us_t wall_us) {
    rig_grow(&rig, 1024);
    rig.prices.ps[COST_REHASH_BUCKET] = bucket_us * PS_PER_US;
    cpu_begin(&rig.cpu, (struct instant){.wall_us = wall_us});
    dict_rehash_for_1ms(d);
    return d->rehash_index;
}

/* A batch of 100 takes 1000 us: the clock shows 1 ms after it, and 2 > 1 after the second. */
START_TEST(the_millisecond_ends_when_the_clock_shows_two) {
    ck_assert_int_eq(index_after_1ms(10, 0), 200);
}
END_TEST

/* 500 us a batch: 500, 1000, 1500, 2000. */
START_TEST(four_half_millisecond_batches_fit_from_a_whole_millisecond) {
    ck_assert_int_eq(index_after_1ms(5, 7000), 400);
}
END_TEST

/* 999 us into a millisecond: 1499, 1999, 2499, of which the last shows 2. */
START_TEST(three_half_millisecond_batches_fit_from_the_end_of_a_millisecond) {
    ck_assert_int_eq(index_after_1ms(5, 7999), 300);
}
END_TEST

START_TEST(on_a_clock_that_stands_still_the_rehash_is_completed) {
    ck_assert_int_eq(index_after_1ms(0, 0), -1);
    ck_assert_uint_eq(dict_slots(d), 2048);
}
END_TEST

/* 1024 buckets are 10 batches with work left and one that ends it: a reading at the start and one
 * after each of the 10. */
START_TEST(the_clock_is_read_at_the_start_and_after_each_batch_that_leaves_work) {
    rig.prices.ps[COST_CLOCK_READ] = 1;
    index_after_1ms(0, 0);
    ck_assert_uint_eq(rig.cpu.spent_ps, 11);
}
END_TEST

static void add_tests(TCase *tc) {
    tcase_add_test(tc, a_lookup_is_charged_whether_it_finds_or_not_and_an_empty_dict_is_free);
    tcase_add_test(tc, the_keyspace_pays_for_keys_that_come_or_go_and_only_for_those);
    tcase_add_test(tc, the_expires_dict_pays_for_each_deadline_and_not_for_deletes);
    tcase_add_test(tc, rehashing_is_charged_by_bucket_passed_and_key_moved);
    tcase_add_test(tc, a_muted_meter_pays_for_nothing);
    tcase_add_test(tc, entries_and_both_tables_are_booked_as_debians_allocator_takes_them);
    tcase_add_test(tc, an_entry_takes_24_bytes_of_the_bundled_allocator);
    tcase_add_test(tc, the_expires_dict_has_classes_of_its_own);
    tcase_add_test(tc, clearing_during_a_rehash_takes_every_key_out_and_starts_from_4_again);
    tcase_add_test(tc, two_dicts_over_the_same_entries_do_not_meet);
    tcase_add_test(tc, an_entry_keeps_any_value);
    tcase_add_test(tc, ids_never_touched_are_in_no_dict);
    tcase_add_test(tc, entries_stay_where_they_are_while_pages_are_added);
    tcase_add_test(tc, the_millisecond_ends_when_the_clock_shows_two);
    tcase_add_test(tc, four_half_millisecond_batches_fit_from_a_whole_millisecond);
    tcase_add_test(tc, three_half_millisecond_batches_fit_from_the_end_of_a_millisecond);
    tcase_add_test(tc, on_a_clock_that_stands_still_the_rehash_is_completed);
    tcase_add_test(tc, the_clock_is_read_at_the_start_and_after_each_batch_that_leaves_work);
}

static Suite *dict_cost_suite(void) {
    Suite *suite = suite_create("dict_cost");
    TCase *tc = tcase_create("dict_cost");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(dict_cost_suite()); }
