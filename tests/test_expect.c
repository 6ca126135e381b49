#include "expect.h"

#include <string.h>

#include "expect_value.h"
#include "support.h"

static const char *const servers[] = {"master", "near.eu", NULL};
static char message[512];

static struct expectation *parse(const char *text) {
    return expectation_parse(text, servers, message, sizeof(message));
}

/* Rows of `master` with these keys and stale percentages (thousandths), and one of the other. */
static void feed(struct expectation *e) {
    static const int64_t keys[] = {10, 40, 20, 30}, stale[] = {0, 59999, 1500, 60001};
    for (size_t i = 0; i < 4; i++)
        expectation_add_row(e, &(struct trace_row){.server = "master",
                                                   .role = "master",
                                                   .keys = keys[i],
                                                   .stale_percent = stale[i]});
    expectation_add_row(e, &(struct trace_row){.server = "near.eu", .role = "replica", .keys = 7});
}

static struct expectation_result finish(const char *text) {
    static struct histogram request, lag, empty;
    histogram_reset(&request);
    histogram_reset(&lag);
    histogram_reset(&empty);
    for (int i = 1; i <= 50; i++) histogram_add(&request, i, 1);
    histogram_add(&lag, 40, 3);
    const struct histogram *requests[] = {&request, &empty}, *lags[] = {&lag, &empty};
    struct summary_row summaries[] = {
        {.server = "master", .role = "master", .reclaimed_99_ms = 5812, .keys_peak = 40},
        {.server = "near.eu", .role = "replica", .reclaimed_99_ms = -1}};
    struct expectation *e = parse(text);
    ck_assert_msg(e != NULL, "%s: %s", text, message);
    feed(e);
    struct expectation_result result = expectation_finish(e, summaries, 2, requests, lags);
    expectation_destroy(e);
    return result;
}

static void figure_is(const char *text, bool holds, const char *figure) {
    struct expectation_result result = finish(text);
    ck_assert_str_eq(result.figure, figure);
    ck_assert_msg(result.holds == holds, "%s: %s", text, figure);
    ck_assert(result.known);
}

START_TEST(aggregates_fold_the_rows_of_their_server_alone) {
    figure_is("max(master.keys) == 40", true, "40");
    figure_is("min(master.keys) == 10", true, "10");
    figure_is("last(master.keys) == 30", true, "30");
    figure_is("sum(master.keys) == 100", true, "100");
    figure_is("mean(master.keys) == 25", true, "25.000");
    figure_is("max(near.eu.keys) == 7", true, "7");
}
END_TEST

START_TEST(percentiles_of_rows_are_exact) {
    figure_is("p50(master.keys) == 20", true, "20");
    figure_is("p90(master.keys) == 40", true, "40");
    figure_is("p999(master.stale_percent) < 61%", true, "60.001 %");
}
END_TEST

START_TEST(every_comparison_means_what_it_says) {
    figure_is("max(master.keys) < 40", false, "40");
    figure_is("max(master.keys) <= 40", true, "40");
    figure_is("max(master.keys) > 39.999", true, "40");
    figure_is("max(master.keys) >= 40.001", false, "40");
    figure_is("max(master.keys) != 40", false, "40");
    figure_is("max(master.keys) < 40.001", true, "40");
}
END_TEST

START_TEST(percentages_compare_in_thousandths) {
    figure_is("max(master.stale_percent) < 60", false, "60.001 %");
    figure_is("max(master.stale_percent) <= 60.001 %", true, "60.001 %");
    figure_is("mean(master.stale_percent)<30.376", true, "30.375 %");
}
END_TEST

START_TEST(latencies_come_from_all_requests_of_the_run) {
    figure_is("p50(master.request_us) == 25us", true, "25 us");
    figure_is("p99(master.request_us) < 30ms", true, "50 us");
    figure_is("max(master.request_us) <= 0.05 ms", true, "50 us");
    figure_is("mean(master.request_us) == 25.5us", true, "25.500 us");
    figure_is("max(master.expiry_lag_ms) < 1s", true, "40 ms");
}
END_TEST

START_TEST(the_summary_is_asked_by_column) {
    figure_is("master.reclaimed_99_ms < 8s", true, "5812 ms");
    figure_is("master.reclaimed_99_ms < 5.811s", false, "5812 ms");
    figure_is("  master.keys_peak>=0.04k  ", true, "40");
}
END_TEST

START_TEST(what_never_happened_holds_nothing) {
    struct expectation_result never = finish("near.eu.reclaimed_99_ms < 8s");
    ck_assert(!never.known && !never.holds);
    ck_assert_str_eq(never.figure, "never in this run");
}
END_TEST

START_TEST(what_could_not_be_measured_is_unknown_and_holds_nothing) {
    static const char *const lines[][2] = {
        {"p99(near.eu.request_us) < 8s", "unknown: no request in this run"},
        {"max(near.eu.request_us) >= 0ms", "unknown: no request in this run"},
        {"max(near.eu.request_p99_us) < 5ms", "unknown: no request in this run"},
        {"near.eu.request_max_us != 1ms", "unknown: no request in this run"},
        {"max(near.eu.expiry_lag_ms) < 1s", "unknown: no key was deleted past its deadline"},
        {"near.eu.expiry_lag_p99_ms < 1s", "unknown: no key was deleted past its deadline"},
        {"max(master.expiry_lag_max_ms) < 1s", "unknown: no key was deleted past its deadline"},
        {"max(master.lag_ms) < 1s", "unknown: a master lags behind nobody"},
        {"master.lag_bytes_max < 1KiB", "unknown: a master lags behind nobody"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct expectation_result result = finish(lines[i][0]);
        ck_assert_msg(!result.known && !result.holds, "%s", lines[i][0]);
        ck_assert_str_eq(result.figure, lines[i][1]);
    }
    figure_is("near.eu.requests == 0", true, "0");
    figure_is("max(near.eu.lag_ms) < 1s", true, "0 ms");
    figure_is("max(near.eu.lag_ms) == 0", true, "0 ms");
}
END_TEST

START_TEST(rows_without_requests_have_no_latency) {
    struct histogram none;
    histogram_reset(&none);
    const struct histogram *nones[] = {&none, &none};
    struct expectation *e = parse("min(master.request_p50_us) >= 7us");
    struct trace_row row = {.server = "master", .role = "master"};
    expectation_add_row(e, &row);
    row.requests = 3, row.request_p50_us = 7;
    expectation_add_row(e, &row);
    struct expectation_result result = expectation_finish(e, NULL, 0, nones, nones);
    ck_assert_str_eq(result.figure, "7 us");
    ck_assert(result.holds);
    expectation_destroy(e);
}
END_TEST

START_TEST(units_are_those_of_the_column) {
    int64_t value;
    ck_assert(expect_value_parse("1.5KiB", EXPECT_BYTES, &value, message, sizeof(message)));
    ck_assert_int_eq(value, 1536000);
    ck_assert(expect_value_parse("1_000_000", EXPECT_COUNT, &value, message, sizeof(message)));
    ck_assert_int_eq(value, 1000000000);
    ck_assert(expect_value_parse("2 min", EXPECT_MS, &value, message, sizeof(message)));
    ck_assert_int_eq(value, 120000000);
    ck_assert(expect_value_parse("-3", EXPECT_COUNT, &value, message, sizeof(message)));
    ck_assert_int_eq(value, -3000);
    ck_assert(!expect_value_parse("1ns", EXPECT_MS, &value, message, sizeof(message)));
    ck_assert(!expect_value_parse("1e3", EXPECT_COUNT, &value, message, sizeof(message)));
    ck_assert(!expect_value_parse("9999999999999999999", EXPECT_MS, &value, message, 512));
    ck_assert(!expect_value_parse("999999999999999999h", EXPECT_US, &value, message, 512));
    ck_assert_int_eq(expect_kind_of("lag_bytes_max"), EXPECT_BYTES);
    ck_assert_int_eq(expect_kind_of("stale_percent_peak"), EXPECT_PERCENT);
    ck_assert_int_eq(expect_kind_of("request_p99_us"), EXPECT_US);
    ck_assert_int_eq(expect_kind_of("time_cap_hits"), EXPECT_COUNT);
}
END_TEST

START_TEST(a_mistake_is_named_with_the_nearest_word) {
    static const char *const wrong[][2] = {
        {"", "expected AGGREGATE"},
        {"max(master.keys)", "expected AGGREGATE"},
        {"max(master.keys) <", "expected AGGREGATE"},
        {"< 4", "expected AGGREGATE"},
        {"max(master.keys < 4", "expected AGGREGATE"},
        {"max(keys) < 4", "expected AGGREGATE"},
        {"max(.keys) < 4", "expected AGGREGATE"},
        {"(master.keys) < 4", "expected AGGREGATE"},
        {"max() < 4", "expected AGGREGATE"},
        {"master.keys = 4", "expected AGGREGATE"},
        {"max(master.stale_pct) < 4", "did you mean 'stale_percent'"},
        {"avg(master.keys) < 4", "did you mean 'mean'"},
        {"maxx(master.keys) < 4", "did you mean 'max'"},
        {"p95(master.keys) < 4", "expected one of max, min"},
        {"max(mastre.keys) < 4", "did you mean 'master'"},
        {"max(master.kesy) < 4", "did you mean 'keys'"},
        {"max(master.zzzzzzzzzzz) < 4", "lapse list columns"},
        {"master.reclaimed_98_ms < 4", "did you mean 'reclaimed_90_ms'"},
        {"last(master.request_us) < 4", "no last value"},
        {"master.reclaimed_99_ms < 8sec", "unknown unit 'sec'"},
        {"max(master.stale_percent) < 60ms", "expected one of %"},
        {"p99(master.request_us) < 30", "such as 30us or 10s, not '30'"},
        {"near.eu.lag_max_ms < 10", "such as 10ms or 10s"},
        {"near.eu.lag_bytes_max <= 1_000", "such as 1_000B or 10MiB"},
        {"max(master.keys) < four", "expected a number"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_msg(parse(wrong[i][0]) == NULL, "%s", wrong[i][0]);
        ck_assert_msg(strstr(message, wrong[i][1]) != NULL, "%s: %s", wrong[i][0], message);
    }
}
END_TEST

START_TEST(random_bytes_are_refused_or_parsed_and_never_crash) {
    static const char alphabet[] = "maxp9().<>=! _smk%0123near.eukeystl";
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        char text[40];
        size_t length = rng_below(&rng, sizeof(text));
        for (size_t i = 0; i < length; i++) text[i] = alphabet[rng_below(&rng, 35)];
        text[length] = '\0';
        expectation_destroy(parse(text));
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("expect");
    TCase *tests = tcase_create("expect");
    tcase_add_test(tests, aggregates_fold_the_rows_of_their_server_alone);
    tcase_add_test(tests, percentiles_of_rows_are_exact);
    tcase_add_test(tests, every_comparison_means_what_it_says);
    tcase_add_test(tests, percentages_compare_in_thousandths);
    tcase_add_test(tests, latencies_come_from_all_requests_of_the_run);
    tcase_add_test(tests, the_summary_is_asked_by_column);
    tcase_add_test(tests, what_never_happened_holds_nothing);
    tcase_add_test(tests, what_could_not_be_measured_is_unknown_and_holds_nothing);
    tcase_add_test(tests, rows_without_requests_have_no_latency);
    tcase_add_test(tests, units_are_those_of_the_column);
    tcase_add_test(tests, a_mistake_is_named_with_the_nearest_word);
    tcase_add_test(tests, random_bytes_are_refused_or_parsed_and_never_crash);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
