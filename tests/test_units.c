/* units: what is read exactly, what is refused and why. */
#include "units.h"

#include <locale.h>
#include <string.h>

#include "support.h"

static int64_t read(enum unit_kind kind, const char *text) {
    struct phrase phrase = {0};
    int64_t value = -1;
    ck_assert_msg(units_parse(kind, text, strlen(text), &value, &phrase), "%s", phrase.text);
    return value;
}

static void check_refused(enum unit_kind kind, const char *text, const char *why) {
    struct phrase phrase = {0};
    int64_t value;
    ck_assert_msg(!units_parse(kind, text, strlen(text), &value, &phrase), "read %s", text);
    ck_assert_msg(strstr(phrase.text, why) != NULL, "%s\n  wants %s", phrase.text, why);
}

START_TEST(numbers_are_read_exactly) {
    ck_assert_int_eq(read(UNIT_COUNT, "1_000_000"), 1000000);
    ck_assert_int_eq(read(UNIT_COUNT, "-12"), -12);
    ck_assert_int_eq(read(UNIT_COUNT, "9223372036854775807"), INT64_MAX);
    ck_assert_int_eq(read(UNIT_DURATION, "50ms"), 50 * NS_PER_MS);
    ck_assert_int_eq(read(UNIT_DURATION, "1.5s"), 1500 * NS_PER_MS);
    ck_assert_int_eq(read(UNIT_DURATION, "0.000_001ms"), 1);
    ck_assert_int_eq(read(UNIT_DURATION, "+30 s"), 30 * NS_PER_S);
    ck_assert_int_eq(read(UNIT_DURATION, "2min"), 120 * NS_PER_S);
    ck_assert_int_eq(read(UNIT_DURATION, "-1.50h"), -5400 * NS_PER_S);
    ck_assert_int_eq(read(UNIT_DURATION, "0"), 0);
    ck_assert_int_eq(read(UNIT_SIZE, "1.5KiB"), 1536);
    ck_assert_int_eq(read(UNIT_SIZE, "1KB"), 1000);
    ck_assert_int_eq(read(UNIT_SIZE, "1GiB"), INT64_C(1) << 30);
    ck_assert_int_eq(read(UNIT_BANDWIDTH, "100mbit/s"), 100000000);
    ck_assert_int_eq(read(UNIT_BANDWIDTH, "1KiB/s"), 8192);
    ck_assert_int_eq(read(UNIT_RATE, "5k/s"), INT64_C(18000000000));
    ck_assert_int_eq(read(UNIT_RATE, "0.5/s"), 1800000);
    ck_assert_int_eq(read(UNIT_RATE, "30/min"), 1800000);
    ck_assert_int_eq(read(UNIT_PERCENT, "12.5%"), 12500);
    ck_assert_int_eq(read(UNIT_MEMORY, "1MB"), 1 << 20);
    ck_assert_int_eq(read(UNIT_MEMORY, "1m"), 1000000);
    ck_assert_int_eq(read(UNIT_MEMORY, "77"), 77);
}
END_TEST

START_TEST(what_is_no_exact_number_is_refused) {
    check_refused(UNIT_COUNT, "", "is not a number");
    check_refused(UNIT_COUNT, "-", "is not a number");
    check_refused(UNIT_COUNT, ".5", "is not a number");
    check_refused(UNIT_COUNT, "1__0", "unknown unit '__0'");
    check_refused(UNIT_COUNT, "1_", "unknown unit '_'");
    check_refused(UNIT_COUNT, "1.", "unknown unit '.'");
    check_refused(UNIT_COUNT, "1.2.3", "unknown unit '.3'");
    check_refused(UNIT_COUNT, "1e6", "unknown unit 'e6'");
    check_refused(UNIT_COUNT, "9223372036854775808", "is too large");
    check_refused(UNIT_COUNT, "99999999999999999999999999", "is too large");
    check_refused(UNIT_COUNT, "0.0000000000000000001", "is too large");
    check_refused(UNIT_DURATION, "200000d", "is too large");
    check_refused(UNIT_DURATION, "1.0000000001s", "is finer than 1ns");
    check_refused(UNIT_DURATION, "30", "has no unit; expected a duration such as 50ms");
    check_refused(UNIT_DURATION, "30", "did you mean '30s'?");
    check_refused(UNIT_DURATION, "5m", "did you mean '5min'?");
    check_refused(UNIT_DURATION, "5mins", "did you mean '5min'?");
    check_refused(UNIT_DURATION, "5S", "did you mean '5s'?");
    check_refused(UNIT_SIZE, "5k", "did you mean '5KiB'?");
    check_refused(UNIT_BANDWIDTH, "1Gbit/s", "did you mean '1gbit/s'?");
    check_refused(UNIT_RATE, "1000", "did you mean '1000/s'?");
    ck_assert_int_eq(read(UNIT_RATE, "1/min"), 60000);
    check_refused(UNIT_RATE, "0.0001/h", "is finer than one request per 1000 h");
}
END_TEST

START_TEST(values_print_in_the_largest_whole_unit) {
    static const struct {
        enum unit_kind kind;
        int64_t value;
        const char *text;
    } rows[] = {
        {UNIT_DURATION, 60 * NS_PER_S, "1min"},
        {UNIT_DURATION, 1500 * NS_PER_MS, "1500ms"},
        {UNIT_DURATION, 0, "0ns"},
        {UNIT_DURATION, -NS_PER_S, "-1s"},
        {UNIT_SIZE, 512 << 20, "512MiB"},
        {UNIT_COUNT, 500, "500"},
        {UNIT_RATE, INT64_C(18000000000), "5k/s"},
        {UNIT_RATE, 1, "1 / 1000 h"},
        {UNIT_COUNT, INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        units_print(rows[i].kind, rows[i].value, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

START_TEST(times_are_read_and_printed_in_utc) {
    static const struct {
        const char *text;
        us_t wall_us;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2000-02-29T12:00:00Z", INT64_C(951825600000000)},
        {"2026-01-01T00:00:00.123456Z", INT64_C(1767225600123456)},
        {"2038-01-19T03:14:08Z", INT64_C(2147483648000000)},
        {"9999-12-31T23:59:59Z", INT64_C(253402300799000000)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        us_t wall_us;
        char text[64];
        ck_assert(units_parse_time(rows[i].text, strlen(rows[i].text), true, &wall_us));
        ck_assert_int_eq(wall_us, rows[i].wall_us);
        units_print_time(wall_us, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
    us_t tenth;
    ck_assert(units_parse_time("1970-01-01T00:00:00.1", 21, false, &tenth));
    ck_assert_int_eq(tenth, 100000);
}
END_TEST

START_TEST(what_is_no_time_is_refused) {
    static const char *const strangers[] = {
        "",
        "Z",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "1969-12-31T23:59:59Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567Z",
        "2026-01-01T00:00:00+01:00",
        "2o26-01-01T00:00:00Z",
    };
    us_t wall_us;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        ck_assert_msg(!units_parse_time(strangers[i], strlen(strangers[i]), true, &wall_us), "%s",
                      strangers[i]);
}
END_TEST

START_TEST(a_locale_with_a_decimal_comma_changes_nothing) {
    static const char *const names[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setlocale(LC_ALL, names[i]);
        ck_assert_int_eq(read(UNIT_DURATION, "1.5s"), 1500 * NS_PER_MS);
        check_refused(UNIT_DURATION, "1,5s", "unknown unit ',5s'");
    }
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("units");
    TCase *tcase = tcase_create("units");
    tcase_add_test(tcase, numbers_are_read_exactly);
    tcase_add_test(tcase, what_is_no_exact_number_is_refused);
    tcase_add_test(tcase, values_print_in_the_largest_whole_unit);
    tcase_add_test(tcase, times_are_read_and_printed_in_utc);
    tcase_add_test(tcase, what_is_no_time_is_refused);
    tcase_add_test(tcase, a_locale_with_a_decimal_comma_changes_nothing);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
