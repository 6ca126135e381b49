/* trace: the CSV's header and cells, byte for byte. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static char *text;
static size_t text_length;
static FILE *out;

static void setup(void) { out = open_memstream(&text, &text_length); }
static void teardown(void) {
    fclose(out);
    free(text);
}

static void expect_text(const char *expected) {
    fflush(out);
    ck_assert_str_eq(text, expected);
}

static struct trace_row row_at(ns_t at_ns) {
    return (struct trace_row){.at_ns = at_ns, .server = "a", .role = "master"};
}

START_TEST(the_header_names_every_column_in_order) {
    ck_assert(trace_write_header(out));
    fflush(out);
    ck_assert_ptr_eq(strstr(text, "t_ms,server,role,keys,expires,stale_keys,stale_percent,"), text);
    char *last = strstr(text, ",lag_ms,link_queue_bytes\n");
    ck_assert_ptr_nonnull(last);
    ck_assert_ptr_eq(last + strlen(last), text + text_length);
    size_t commas = 0;
    for (const char *c = text; *c; c++) commas += *c == ',';
    ck_assert_uint_eq(commas, 2 + trace_column_count);
}
END_TEST

START_TEST(every_column_stands_under_its_name) {
    /* Column i gets the value i: whatever the list's order, name and value must meet. */
    struct trace_row row = row_at(0);
    for (size_t i = 0; i < trace_column_count; i++)
        *(int64_t *)(void *)((char *)&row + trace_columns[i].offset) = (int64_t)i * 1000;
    trace_write_row(out, &row);
    fflush(out);
    char *cell = strtok(text, ",");
    for (int skip = 0; skip < 3; skip++) cell = strtok(NULL, ",\n");
    for (size_t i = 0; i < trace_column_count; i++, cell = strtok(NULL, ",\n")) {
        char expected[32];
        snprintf(expected, sizeof expected,
                 trace_columns[i].kind == COLUMN_MILLI ? "%zu.000" : "%zu",
                 trace_columns[i].kind == COLUMN_MILLI ? i : i * 1000);
        ck_assert_str_eq(cell, expected);
        ck_assert_int_eq(trace_value(&row, i), (int64_t)i * 1000);
    }
    ck_assert_ptr_null(cell);
}
END_TEST

START_TEST(fields_are_found_by_their_column) {
    struct trace_row row = row_at(0);
    row.keys = 11;
    row.busy_percent = 22;
    row.link_queue_bytes = 33;
    for (size_t i = 0; i < trace_column_count; i++) {
        const char *name = trace_columns[i].name;
        int64_t expected = !strcmp(name, "keys")               ? 11
                           : !strcmp(name, "busy_percent")     ? 22
                           : !strcmp(name, "link_queue_bytes") ? 33
                                                               : 0;
        ck_assert_int_eq(trace_value(&row, i), expected);
    }
    ck_assert_str_eq(trace_columns[0].name, "keys");
    ck_assert_int_eq(trace_columns[0].kind, COLUMN_INT);
    ck_assert_str_eq(trace_columns[3].name, "stale_percent");
    ck_assert_int_eq(trace_columns[3].kind, COLUMN_MILLI);
}
END_TEST

static void expect_time(ns_t at_ns, const char *expected) {
    struct trace_row row = row_at(at_ns);
    ck_assert(trace_write_row(out, &row));
    fflush(out);
    ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0);
    ck_assert_int_eq(text[text_length - 1], '\n');
    rewind(out);
}

START_TEST(the_time_is_floored_to_milliseconds) {
    expect_time(0, "0,a,master,");
    expect_time(999999, "0,a,master,");
    expect_time(1000000, "1,a,master,");
    expect_time(INT64_C(86400123456789), "86400123,a,master,");
    expect_time(-1, "-1,a,master,");
}
END_TEST

START_TEST(rows_two_milliseconds_apart_have_times_of_their_own) {
    struct trace_row row = row_at(2500000);
    for (int i = 0; i < 3; i++, row.at_ns += 2 * NS_PER_MS) trace_write_row(out, &row);
    fflush(out);
    ck_assert_ptr_eq(strstr(text, "2,a,"), text);
    ck_assert_ptr_nonnull(strstr(text, "\n4,a,"));
    ck_assert_ptr_nonnull(strstr(text, "\n6,a,"));
}
END_TEST

static const struct {
    int64_t value;
    enum column_kind kind;
    const char *text;
} cells[] = {
    {0, COLUMN_INT, "0"},
    {-7, COLUMN_INT, "-7"},
    {INT64_MIN, COLUMN_INT, "-9223372036854775808"},
    {0, COLUMN_MILLI, "0.000"},
    {12345, COLUMN_MILLI, "12.345"},
    {5, COLUMN_MILLI, "0.005"},
    {100000, COLUMN_MILLI, "100.000"},
    {-5, COLUMN_MILLI, "-0.005"},
    {-12345, COLUMN_MILLI, "-12.345"},
    {INT64_MAX, COLUMN_MILLI, "9223372036854775.807"},
    {INT64_MIN, COLUMN_MILLI, "-9223372036854775.808"},
};

START_TEST(thousandths_are_printed_with_three_decimals) {
    trace_print_value(out, cells[_i].value, cells[_i].kind);
    expect_text(cells[_i].text);
}
END_TEST

START_TEST(a_name_with_a_comma_or_quote_is_quoted) {
    trace_print_text(out, "plain name");
    fputc('|', out);
    trace_print_text(out, "a,b");
    fputc('|', out);
    trace_print_text(out, "say \"hi\"");
    fputc('|', out);
    trace_print_text(out, "");
    expect_text("plain name|\"a,b\"|\"say \"\"hi\"\"\"|");
}
END_TEST

START_TEST(a_stream_that_fails_is_reported) {
    FILE *full = fopen("/dev/full", "w");
    if (!full) return;
    setvbuf(full, NULL, _IONBF, 0);
    struct trace_row row = row_at(0);
    ck_assert(!trace_write_header(full));
    clearerr(full);
    ck_assert(!trace_write_row(full, &row));
    fclose(full);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("trace");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_header_names_every_column_in_order);
    tcase_add_test(tests, every_column_stands_under_its_name);
    tcase_add_test(tests, fields_are_found_by_their_column);
    tcase_add_test(tests, the_time_is_floored_to_milliseconds);
    tcase_add_test(tests, rows_two_milliseconds_apart_have_times_of_their_own);
    tcase_add_loop_test(tests, thousandths_are_printed_with_three_decimals, 0,
                        sizeof cells / sizeof cells[0]);
    tcase_add_test(tests, a_name_with_a_comma_or_quote_is_quoted);
    tcase_add_test(tests, a_stream_that_fails_is_reported);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
