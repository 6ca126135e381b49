/* summary: the fold against its definitions, read word by word over all rows at once. */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static struct histogram request_us, expiry_lag_ms;
static struct summary *summary;

static void setup(void) { summary = summary_create("a", "replica"); }
static void teardown(void) { summary_destroy(summary); }

static struct summary_row finish(void) {
    return summary_finish(summary, &request_us, &expiry_lag_ms);
}

static void add_stale(ms_t at_ms, int64_t stale_keys) {
    struct trace_row row = {.at_ns = at_ms * NS_PER_MS, .stale_keys = stale_keys};
    summary_add(summary, &row);
}

START_TEST(a_run_without_rows_is_all_zero_and_never) {
    struct summary_row row = finish();
    ck_assert_int_eq(row.rows, 0);
    ck_assert_int_eq(row.stale_keys_peak, 0);
    ck_assert_int_eq(row.storm_start_ms, -1);
    ck_assert_int_eq(row.reclaimed_100_ms, -1);
    ck_assert_str_eq(row.server, "a");
    ck_assert_str_eq(row.role, "replica");
}
END_TEST

START_TEST(a_run_without_stale_keys_has_no_storm) {
    add_stale(100, 0);
    add_stale(200, 0);
    struct summary_row row = finish();
    ck_assert_int_eq(row.rows, 2);
    ck_assert_int_eq(row.storm_start_ms, -1);
    ck_assert_int_eq(row.reclaimed_50_ms, -1);
    ck_assert_int_eq(row.reclaimed_100_ms, -1);
}
END_TEST

START_TEST(a_storm_is_timed_from_the_last_row_before_its_peak_with_half_of_it) {
    add_stale(100, 0);
    add_stale(200, 500); /* half of 1000: not yet */
    add_stale(300, 501);
    add_stale(400, 1000);
    add_stale(500, 501);
    add_stale(600, 500);
    add_stale(700, 100);
    add_stale(800, 11);
    add_stale(900, 1);
    add_stale(1000, 0);
    struct summary_row row = finish();
    ck_assert_int_eq(row.stale_keys_peak, 1000);
    ck_assert_int_eq(row.storm_start_ms, 200);
    ck_assert_int_eq(row.reclaimed_50_ms, 600 - 200);
    ck_assert_int_eq(row.reclaimed_90_ms, 700 - 200);
    ck_assert_int_eq(row.reclaimed_99_ms, 900 - 200);
    ck_assert_int_eq(row.reclaimed_100_ms, 1000 - 200);
}
END_TEST

START_TEST(a_storm_that_was_there_from_the_start_starts_at_the_first_row) {
    add_stale(100, 500);
    add_stale(200, 800);
    add_stale(300, 80);
    struct summary_row row = finish();
    ck_assert_int_eq(row.storm_start_ms, 100);
    ck_assert_int_eq(row.reclaimed_50_ms, 200);
    ck_assert_int_eq(row.reclaimed_90_ms, 200);
    ck_assert_int_eq(row.reclaimed_99_ms, -1);
    ck_assert_int_eq(row.reclaimed_100_ms, -1);
}
END_TEST

/* As when a clock jumps on a server that always holds some stale keys. */
START_TEST(a_steady_heap_before_the_storm_is_no_part_of_it) {
    for (ms_t at_ms = 100; at_ms <= 900; at_ms += 100) add_stale(at_ms, 50 + at_ms % 7);
    add_stale(1000, 1000);
    add_stale(1100, 60);
    struct summary_row row = finish();
    ck_assert_int_eq(row.storm_start_ms, 900);
    ck_assert_int_eq(row.reclaimed_90_ms, 200);
}
END_TEST

START_TEST(a_larger_heap_later_takes_the_place_of_the_first) {
    add_stale(0, 0);
    add_stale(10, 100);
    add_stale(20, 0); /* reclaimed, but of a heap that is not the largest */
    add_stale(30, 300);
    add_stale(40, 200);
    struct summary_row row = finish();
    ck_assert_int_eq(row.storm_start_ms, 20);
    ck_assert_int_eq(row.reclaimed_50_ms, -1);
}
END_TEST

START_TEST(of_two_heaps_as_large_the_first_counts) {
    add_stale(0, 0);
    add_stale(10, 100);
    add_stale(20, 0);
    add_stale(30, 100);
    struct summary_row row = finish();
    ck_assert_int_eq(row.storm_start_ms, 0);
    ck_assert_int_eq(row.reclaimed_100_ms, 20);
}
END_TEST

START_TEST(the_area_joins_rows_by_straight_lines) {
    add_stale(1000, 0);
    add_stale(3000, 10); /* 2 s * 5 = 10 */
    add_stale(3500, 10); /* 0.5 s * 10 = 5 */
    add_stale(4500, 1);  /* 1 s * 5.5 = 5.5: 20.5 in all, floored */
    ck_assert_int_eq(finish().stale_key_seconds, 20);
}
END_TEST

START_TEST(sums_add_rows_and_microseconds_are_floored_once) {
    struct trace_row row = {.cycle_us = 600,
                            .fast_us = 700,
                            .fast_cycles = 2,
                            .requests = 5,
                            .nil_replies = 3,
                            .hits_hidden = 1};
    for (int i = 0; i < 3; i++) summary_add(summary, &row);
    struct summary_row out = finish();
    ck_assert_int_eq(out.slow_cycle_ms, 1); /* 1800 us */
    ck_assert_int_eq(out.fast_cycle_ms, 2); /* 2100 us */
    ck_assert_int_eq(out.fast_cycles, 6);
    ck_assert_int_eq(out.requests, 15);
    ck_assert_int_eq(out.nil_replies, 9);
    ck_assert_int_eq(out.hits_hidden, 3);
    ck_assert_int_eq(out.cycle_max_us, 1300);
}
END_TEST

START_TEST(peaks_keep_the_largest_and_ends_the_last_row) {
    struct trace_row rows[] = {
        {.keys = 5, .used_memory_bytes = 900, .expired_total = 1, .stale_percent = 7},
        {.keys = 9,
         .used_memory_bytes = 950,
         .time_cap_hits = 4,
         .stale_percent = 5,
         .stale_memory_bytes = 60,
         .lag_bytes = 70,
         .lag_ms = 80,
         .link_queue_bytes = 90},
        {.keys = 7,
         .used_memory_bytes = 800,
         .expired_total = 3,
         .time_cap_hits = 6,
         .repl_offset = 44},
    };
    for (int i = 0; i < 3; i++) summary_add(summary, &rows[i]);
    struct summary_row out = finish();
    ck_assert_int_eq(out.keys_peak, 9);
    ck_assert_int_eq(out.keys_at_end, 7);
    ck_assert_int_eq(out.used_memory_peak_bytes, 950);
    ck_assert_int_eq(out.used_memory_at_end_bytes, 800);
    ck_assert_int_eq(out.expired_total, 3);
    ck_assert_int_eq(out.time_cap_hits, 6);
    ck_assert_int_eq(out.stale_percent_peak, 7);
    ck_assert_int_eq(out.stale_memory_peak_bytes, 60);
    ck_assert_int_eq(out.lag_bytes_max, 70);
    ck_assert_int_eq(out.lag_max_ms, 80);
    ck_assert_int_eq(out.link_queue_max_bytes, 90);
    ck_assert_int_eq(out.repl_offset, 44);
}
END_TEST

START_TEST(latencies_come_from_the_histograms_of_the_whole_run) {
    histogram_reset(&request_us);
    histogram_reset(&expiry_lag_ms);
    histogram_add(&request_us, 10, 500);
    histogram_add(&request_us, 20, 490);
    histogram_add(&request_us, 30, 9);
    histogram_add(&request_us, 40, 1);
    histogram_add(&expiry_lag_ms, 1, 50);
    histogram_add(&expiry_lag_ms, 5, 49);
    histogram_add(&expiry_lag_ms, 9, 1);
    struct summary_row out = finish();
    ck_assert_int_eq(out.request_p50_us, 10);
    ck_assert_int_eq(out.request_p99_us, 20);
    ck_assert_int_eq(out.request_p999_us, 30);
    ck_assert_int_eq(out.request_max_us, 40);
    ck_assert_int_eq(out.expiry_lag_mean_ms, 3); /* 50 + 245 + 9 = 304 over 100 */
    ck_assert_int_eq(out.expiry_lag_p50_ms, 1);
    ck_assert_int_eq(out.expiry_lag_p99_ms, 5);
    ck_assert_int_eq(out.expiry_lag_max_ms, 9);
    histogram_reset(&request_us);
    histogram_reset(&expiry_lag_ms);
}
END_TEST

START_TEST(a_summary_is_one_line_under_its_header) {
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct trace_row row = {.stale_percent = 12345};
    summary_add(summary, &row);
    struct summary_row result = finish();
    ck_assert(summary_write_header(out));
    ck_assert(summary_write_row(out, &result));
    fclose(out);
    ck_assert_ptr_eq(strstr(text, "server,role,rows,keys_at_end,"), text);
    ck_assert_ptr_nonnull(strstr(text, ",link_queue_max_bytes\na,replica,1,0,0,0,0,12.345,"));
    size_t commas = 0, lines = 0;
    for (const char *c = text; *c; c++) commas += *c == ',', lines += *c == '\n';
    ck_assert_uint_eq(lines, 2);
    ck_assert_uint_eq(commas, 2 * (1 + summary_column_count));
    free(text);
}
END_TEST

START_TEST(values_are_found_by_column) {
    struct summary_row row = {.rows = 1, .link_queue_max_bytes = 2};
    ck_assert_int_eq(summary_value(&row, 0), 1);
    ck_assert_int_eq(summary_value(&row, summary_column_count - 1), 2);
    ck_assert_str_eq(summary_columns[summary_column_count - 1].name, "link_queue_max_bytes");
}
END_TEST

/* ---- against the definitions over all rows ---- */

#define ROWS 60

static int64_t stale[ROWS];
static ms_t times[ROWS];

static ms_t naive_start(uint32_t peak_at) {
    for (uint32_t i = peak_at; i-- > 0;)
        if (stale[i] * 2 <= stale[peak_at]) return times[i];
    return times[0];
}

static ms_t naive_reclaimed(uint32_t peak_at, uint32_t count, int64_t percent) {
    for (uint32_t i = peak_at + 1; i < count; i++)
        if (stale[i] * 100 <= (100 - percent) * stale[peak_at])
            return times[i] - naive_start(peak_at);
    return -1;
}

static void expect_as_defined(uint32_t count) {
    uint32_t peak_at = 0;
    for (uint32_t i = 1; i < count; i++)
        if (stale[i] > stale[peak_at]) peak_at = i;
    struct summary_row row = finish();
    bool storm = stale[peak_at] > 0;
    ck_assert_int_eq(row.stale_keys_peak, stale[peak_at]);
    ck_assert_int_eq(row.storm_start_ms, storm ? naive_start(peak_at) : -1);
    ck_assert_int_eq(row.reclaimed_50_ms, storm ? naive_reclaimed(peak_at, count, 50) : -1);
    ck_assert_int_eq(row.reclaimed_90_ms, storm ? naive_reclaimed(peak_at, count, 90) : -1);
    ck_assert_int_eq(row.reclaimed_99_ms, storm ? naive_reclaimed(peak_at, count, 99) : -1);
    ck_assert_int_eq(row.reclaimed_100_ms, storm ? naive_reclaimed(peak_at, count, 100) : -1);
}

START_TEST(storms_are_those_of_the_definition_after_every_row) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(500); round++) {
        teardown();
        setup();
        ms_t now = (ms_t)rng_below(&rng, 50);
        for (uint32_t i = 0; i < ROWS; i++, now += 1 + (ms_t)rng_below(&rng, 50)) {
            /* From 0 to 2^20 alike in every power: low rows and storms both come often. */
            stale[i] = (int64_t)((rng_next(&rng) >> 44) >> rng_below(&rng, 21));
            times[i] = now;
            add_stale(now, stale[i]);
            expect_as_defined(i + 1);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("summary");
    TCase *tests = tcase_create("summary");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_run_without_rows_is_all_zero_and_never);
    tcase_add_test(tests, a_run_without_stale_keys_has_no_storm);
    tcase_add_test(tests, a_storm_is_timed_from_the_last_row_before_its_peak_with_half_of_it);
    tcase_add_test(tests, a_storm_that_was_there_from_the_start_starts_at_the_first_row);
    tcase_add_test(tests, a_steady_heap_before_the_storm_is_no_part_of_it);
    tcase_add_test(tests, a_larger_heap_later_takes_the_place_of_the_first);
    tcase_add_test(tests, of_two_heaps_as_large_the_first_counts);
    tcase_add_test(tests, the_area_joins_rows_by_straight_lines);
    tcase_add_test(tests, sums_add_rows_and_microseconds_are_floored_once);
    tcase_add_test(tests, peaks_keep_the_largest_and_ends_the_last_row);
    tcase_add_test(tests, latencies_come_from_the_histograms_of_the_whole_run);
    tcase_add_test(tests, a_summary_is_one_line_under_its_header);
    tcase_add_test(tests, values_are_found_by_column);
    tcase_add_test(tests, storms_are_those_of_the_definition_after_every_row);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
