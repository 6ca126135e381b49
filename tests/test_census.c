/* census: its counts equal those of a list of keys that is searched, whatever the clock does. */
#include "census.h"

#include "support.h"

static struct census *census;

static void setup(void) { census = census_create(); }
static void teardown(void) { census_destroy(census); }

static void expect_count(ms_t now_ms, uint64_t keys, uint64_t stale_keys, uint64_t stale_bytes) {
    struct census_count count = census_read(census, now_ms);
    ck_assert_uint_eq(count.keys, keys);
    ck_assert_uint_eq(count.stale_keys, stale_keys);
    ck_assert_uint_eq(count.stale_bytes, stale_bytes);
    census_check(census);
}

START_TEST(an_empty_census_counts_nothing_at_any_time) {
    expect_count(INT64_MIN, 0, 0, 0);
    expect_count(INT64_MAX, 0, 0, 0);
    expect_count(0, 0, 0, 0);
}
END_TEST

START_TEST(a_key_is_stale_one_millisecond_after_its_deadline) {
    census_add(census, 1000, 70);
    expect_count(999, 1, 0, 0);
    expect_count(1000, 1, 0, 0);
    expect_count(1001, 1, 1, 70);
}
END_TEST

START_TEST(a_clock_stepped_back_brings_keys_back_to_life) {
    for (ms_t deadline = 0; deadline < 5000; deadline += 10) census_add(census, deadline, 3);
    expect_count(4000, 500, 400, 1200);
    expect_count(1234, 500, 124, 372); /* 0, 10 ... 1230 */
    expect_count(4000, 500, 400, 1200);
}
END_TEST

START_TEST(a_key_added_or_removed_past_its_deadline_counts_at_once) {
    expect_count(5000, 0, 0, 0);
    census_add(census, 100, 40);
    census_add(census, 5000, 50);
    expect_count(5000, 2, 1, 40);
    census_remove(census, 100, 40);
    expect_count(5000, 1, 0, 0);
    census_remove(census, 5000, 50);
    expect_count(6000, 0, 0, 0);
}
END_TEST

START_TEST(deadlines_at_the_ends_of_int64_are_counted) {
    const ms_t deadlines[] = {INT64_MIN, INT64_MIN + 1,    -1025,         -1024,    -1,
                              0,         INT64_MAX - 1023, INT64_MAX - 1, INT64_MAX};
    for (uint32_t i = 0; i < 9; i++) census_add(census, deadlines[i], 1);
    for (uint32_t i = 0; i < 9; i++) {
        expect_count(deadlines[i], 9, i, i);
        if (i < 8) expect_count(deadlines[i] + 1, 9, i + 1, i + 1);
    }
    expect_count(INT64_MIN, 9, 0, 0);
    for (uint32_t i = 0; i < 9; i++) census_remove(census, deadlines[i], 1);
    expect_count(INT64_MAX, 0, 0, 0);
}
END_TEST

START_TEST(one_millisecond_holds_many_keys) {
    for (uint32_t i = 0; i < 100000; i++) census_add(census, 77, 1000000);
    expect_count(78, 100000, 100000, UINT64_C(100000000000)); /* more bytes than 32 bits hold */
}
END_TEST

START_TEST(a_page_of_every_millisecond_counts_each_of_them) {
    /* 1,024 distinct deadlines: the list has become an array on the way. */
    for (uint32_t i = 0; i < 1024; i++) {
        census_add(census, 2048 + (ms_t)(i * 397 % 1024), 2); /* 397 is odd: a permutation */
        census_check(census);
    }
    for (ms_t now = 2047; now <= 3073; now++) {
        uint64_t passed = now <= 2048 ? 0 : now >= 3072 ? 1024 : (uint64_t)(now - 2048);
        expect_count(now, 1024, passed, passed * 2);
    }
    for (uint32_t i = 0; i < 1024; i++) {
        census_remove(census, 2048 + i, 2);
        expect_count(3000, 1023 - i, i < 952 ? 951 - i : 0, 2 * (i < 952 ? 951 - i : 0));
    }
}
END_TEST

START_TEST(a_huge_step_over_few_pages_is_no_long_walk) {
    /* 2^63 / 1,024 page numbers at 1 ns each would be 100 days; the test's timeout is 4 s. */
    census_add(census, 5, 1);
    census_add(census, INT64_MAX - 5, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        expect_count(INT64_MAX, 2, 2, 2);
        expect_count(INT64_MIN, 2, 0, 0);
    }
}
END_TEST

/* ---- against a list ---- */

#define LIVE_MAX 3000

struct live_key {
    ms_t deadline_ms;
    uint64_t bytes;
};

static struct live_key live[LIVE_MAX];
static uint32_t live_count;

static void expect_as_list(ms_t now_ms) {
    uint64_t keys = 0, bytes = 0;
    for (uint32_t i = 0; i < live_count; i++) {
        if (live[i].deadline_ms >= now_ms) continue;
        keys++;
        bytes += live[i].bytes;
    }
    expect_count(now_ms, live_count, keys, bytes);
}

/* Five shapes of keyspace: one page, a few pages, spread ones, around zero, all of int64. */
static ms_t draw_ms(struct rng *rng, uint32_t shape) {
    switch (shape) {
    case 0:
        return 10240 + (ms_t)rng_below(rng, 1100);
    case 1:
        return INT64_C(1700000000000) + (ms_t)rng_below(rng, 20000);
    case 2:
        return INT64_C(1700000000000) + (ms_t)rng_below(rng, 100000000);
    case 3:
        return (ms_t)rng_below(rng, 8192) - 4096;
    default:
        return (ms_t)rng_next(rng);
    }
}

static void change_both(struct rng *rng, uint32_t shape, bool grow) {
    if (live_count == 0 || (grow && live_count < LIVE_MAX)) {
        struct live_key key = {draw_ms(rng, shape), 50 + rng_below(rng, 400)};
        census_add(census, key.deadline_ms, key.bytes);
        live[live_count++] = key;
    } else {
        uint32_t victim = (uint32_t)rng_below(rng, live_count);
        census_remove(census, live[victim].deadline_ms, live[victim].bytes);
        live[victim] = live[--live_count];
    }
}

START_TEST(counts_equal_those_of_a_searched_list_over_clock_steps) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    live_count = 0;
    uint32_t rounds = test_rounds(12000);
    for (uint32_t round = 0; round < rounds; round++) {
        /* Three waves that fill (3 of 4 are additions) and drain again. */
        bool filling = round * 6 / rounds % 2 == 0;
        change_both(&rng, (uint32_t)_i, rng_below(&rng, 4) < (filling ? 3u : 1u));
        census_check(census);
        if (rng_below(&rng, 4) == 0) expect_as_list(draw_ms(&rng, (uint32_t)_i));
    }
    while (live_count > 0) change_both(&rng, (uint32_t)_i, false);
    expect_count(INT64_MAX, 0, 0, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("census");
    TCase *tests = tcase_create("census");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, an_empty_census_counts_nothing_at_any_time);
    tcase_add_test(tests, a_key_is_stale_one_millisecond_after_its_deadline);
    tcase_add_test(tests, a_clock_stepped_back_brings_keys_back_to_life);
    tcase_add_test(tests, a_key_added_or_removed_past_its_deadline_counts_at_once);
    tcase_add_test(tests, deadlines_at_the_ends_of_int64_are_counted);
    tcase_add_test(tests, one_millisecond_holds_many_keys);
    tcase_add_test(tests, a_page_of_every_millisecond_counts_each_of_them);
    tcase_add_loop_test(tests, counts_equal_those_of_a_searched_list_over_clock_steps, 0, 5);
    suite_add_tcase(suite, tests);
    TCase *quick = tcase_create("quick");
    tcase_add_checked_fixture(quick, setup, teardown);
    tcase_add_test(quick, a_huge_step_over_few_pages_is_no_long_walk);
    suite_add_tcase(suite, quick);
    return test_run(suite);
}
