/* clock: what a wall clock says, by arithmetic that stands beside it. */
#include "clock.h"

#include "support.h"

__extension__ typedef __int128 i128;

#define YEAR_NS (365 * INT64_C(86400) * NS_PER_S)
#define START   INT64_C(1767225600000000) /* 2026-01-01 */

START_TEST(a_true_clock_is_the_run_s_in_whole_us) {
    struct clock clock = {0};
    ck_assert_int_eq(clock_wall_us(&clock, START, 0), START);
    ck_assert_int_eq(clock_wall_us(&clock, START, 999), START);
    ck_assert_int_eq(clock_wall_us(&clock, START, 1000), START + 1);
    ck_assert_int_eq(clock_wall_us(&clock, -5, 7 * NS_PER_S), 6999995);
}
END_TEST

START_TEST(an_offset_is_there_from_the_start) {
    struct clock clock = {.offset_us = -5000000};
    ck_assert_int_eq(clock_wall_us(&clock, START, 0), START - 5000000);
    ck_assert_int_eq(clock_wall_us(&clock, START, NS_PER_S), START - 4000000);
}
END_TEST

START_TEST(drift_gains_its_parts_per_million) {
    struct clock fast = {.drift_ppb = 20000}, slow = {.drift_ppb = -20000};
    /* 20 us in 1 s; 20 ppm of a day are 86,400 s * 20 us = 1,728,000 us */
    ck_assert_int_eq(clock_elapsed_us(&fast, NS_PER_S), 1000020);
    ck_assert_int_eq(clock_elapsed_us(&slow, NS_PER_S), 999980);
    ck_assert_int_eq(clock_elapsed_us(&fast, 86400 * NS_PER_S), INT64_C(86401728000));
    /* 1 ns short of 50 us: the gain is 49,999 * 20,000 / 10^9 = 0.99998 ns, floored */
    ck_assert_int_eq(clock_elapsed_us(&fast, 49999), 49);
    ck_assert_int_eq(clock_elapsed_us(&fast, 49999 + 1000), 51); /* 50,999 + 1 ns */
    /* slow: a part of a ns lost is a whole one lost: 50,000 - 1 ns */
    ck_assert_int_eq(clock_elapsed_us(&slow, 50000), 49);
}
END_TEST

/* Within a year and over a hundred, at any drift: floor(ns * (10^9 + ppb) / 10^12) in 128 bits. */
START_TEST(drift_is_exact_over_a_year_and_over_a_hundred) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(200000); round++) {
        uint64_t span = (uint64_t)YEAR_NS * (round % 2 ? 1 : 100);
        struct clock clock = {.drift_ppb = (int64_t)rng_below(&rng, 2 * CLOCK_DRIFT_MAX_PPB + 1) -
                                           CLOCK_DRIFT_MAX_PPB};
        ns_t elapsed = (ns_t)rng_below(&rng, span + 1);
        i128 exact = (i128)elapsed * (NS_PER_S + clock.drift_ppb) / 1000000000000;
        ck_assert_int_eq(clock_elapsed_us(&clock, elapsed), (int64_t)exact);
    }
    struct clock most = {.drift_ppb = CLOCK_DRIFT_MAX_PPB}; /* 100 years and a tenth, in us */
    ck_assert_int_eq(clock_elapsed_us(&most, 100 * YEAR_NS), YEAR_NS / 1000 * 110);
    /* 20 ppm of a year are 31,536,000 s * 20 us = 630.72 s */
    struct clock crystal = {.drift_ppb = 20000};
    ck_assert_int_eq(clock_elapsed_us(&crystal, YEAR_NS), YEAR_NS / 1000 + 630720000);
}
END_TEST

START_TEST(a_drifting_clock_never_falls_back_by_itself) {
    struct clock slowest = {.drift_ppb = -CLOCK_DRIFT_MAX_PPB};
    us_t before = 0;
    for (ns_t at = 0; at < 20000; at++) {
        us_t now = clock_elapsed_us(&slowest, at);
        ck_assert(before <= now && now <= before + 1);
        before = now;
    }
    ck_assert_int_eq(before, 17); /* floor(19,999 * 0.9) = 17,999 ns */
}
END_TEST

START_TEST(steps_add_to_the_offset_and_leave_the_drift) {
    struct clock clock = {.offset_us = 1000, .drift_ppb = 1000000};
    us_t before = clock_wall_us(&clock, START, 10 * NS_PER_S);
    ck_assert_int_eq(before, START + 1000 + 10010000);
    clock_step(&clock, 30000000);
    ck_assert_int_eq(clock_wall_us(&clock, START, 10 * NS_PER_S), before + 30000000);
    clock_step(&clock, -60000000);
    ck_assert_int_eq(clock_wall_us(&clock, START, 10 * NS_PER_S), before - 30000000);
    ck_assert_int_eq(clock_elapsed_us(&clock, 10 * NS_PER_S), 10010000);
}
END_TEST

START_TEST(steps_without_end_stop_at_the_bound) {
    struct clock clock = {0};
    for (int i = 0; i < 400; i++) clock_step(&clock, INT64_C(3153600000000000)); /* 100 years */
    ck_assert_int_eq(clock.offset_us, CLOCK_OFFSET_MAX_US);
    ck_assert_int_gt(clock_wall_us(&clock, START, 100 * YEAR_NS), CLOCK_OFFSET_MAX_US);
    clock_step(&clock, INT64_MAX);
    ck_assert_int_eq(clock.offset_us, CLOCK_OFFSET_MAX_US);
    clock_step(&clock, INT64_MIN);
    clock_step(&clock, INT64_MIN);
    ck_assert_int_eq(clock.offset_us, -CLOCK_OFFSET_MAX_US);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("clock");
    TCase *tests = tcase_create("clock");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_true_clock_is_the_run_s_in_whole_us);
    tcase_add_test(tests, an_offset_is_there_from_the_start);
    tcase_add_test(tests, drift_gains_its_parts_per_million);
    tcase_add_test(tests, drift_is_exact_over_a_year_and_over_a_hundred);
    tcase_add_test(tests, a_drifting_clock_never_falls_back_by_itself);
    tcase_add_test(tests, steps_add_to_the_offset_and_leave_the_drift);
    tcase_add_test(tests, steps_without_end_stop_at_the_bound);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
