/* stream_log: what is read equals what was appended, over growth, wrapping and trimming. */
#include "stream_log.h"

#include "support.h"

static struct stream_log *log_;

static void setup(void) { log_ = stream_log_create(); }
static void teardown(void) { stream_log_destroy(log_); }

#define ARGC_LIMIT 600

/* Everything about record `serial` follows from its number, so any record can be checked later. */
static uint32_t argc_of(uint64_t serial) {
    struct rng rng = rng_seed(test_seed() + serial);
    return rng_below(&rng, 50) == 0 ? 1 + (uint32_t)rng_below(&rng, ARGC_LIMIT)
                                    : 1 + (uint32_t)rng_below(&rng, 5);
}

static struct stream_command command_of(uint64_t serial, struct arg *argv) {
    uint32_t argc = argc_of(serial);
    for (uint32_t i = 0; i < argc; i++) argv[i] = arg_number((int64_t)(serial * 1000 + i));
    return (struct stream_command){
        .request = {.command = (const struct command *)(uintptr_t)(serial + 1),
                    .argv = argv,
                    .argc = argc},
        .db = serial % 16,
        .resp_bytes = (uint32_t)(serial % 7 + 1),
        .end_offset = (int64_t)serial * 7 + (int64_t)(serial % 7) + 1,
    };
}

static void append(uint64_t serial) {
    struct arg argv[ARGC_LIMIT];
    struct stream_command command = command_of(serial, argv);
    stream_log_append(log_, &command, (ns_t)serial * 3);
}

static void expect_record(uint64_t serial) {
    struct arg argv[ARGC_LIMIT];
    struct stream_command expected = command_of(serial, argv);
    struct stream_command found = stream_log_command(log_, serial);
    ck_assert_ptr_eq(found.request.command, expected.request.command);
    ck_assert_uint_eq(found.request.argc, expected.request.argc);
    for (uint32_t i = 0; i < found.request.argc; i++) {
        ck_assert_uint_eq(found.request.argv[i].kind, ARG_NUMBER);
        ck_assert_int_eq(found.request.argv[i].number, argv[i].number);
        ck_assert_uint_eq(found.request.argv[i].length, argv[i].length);
    }
    ck_assert_uint_eq(found.db, expected.db);
    ck_assert_uint_eq(found.resp_bytes, expected.resp_bytes);
    ck_assert_int_eq(found.end_offset, expected.end_offset);
    ck_assert_int_eq(stream_log_at(log_, serial)->fed_ns, (ns_t)serial * 3);
}

START_TEST(an_empty_log_begins_and_ends_at_zero) {
    ck_assert_uint_eq(stream_log_begin(log_), 0);
    ck_assert_uint_eq(stream_log_end(log_), 0);
    stream_log_trim(log_, 0);
    stream_log_check(log_);
}
END_TEST

START_TEST(arguments_outlive_the_caller_s) {
    struct arg argv[1] = {arg_number(41)};
    struct stream_command command = {.request = {.argv = argv, .argc = 1}};
    stream_log_append(log_, &command, 0);
    argv[0] = arg_number(42);
    ck_assert_int_eq(stream_log_command(log_, 0).request.argv[0].number, 41);
}
END_TEST

START_TEST(trimming_below_the_begin_changes_nothing) {
    for (uint64_t i = 0; i < 10; i++) append(i);
    stream_log_trim(log_, 5);
    stream_log_trim(log_, 3);
    ck_assert_uint_eq(stream_log_begin(log_), 5);
    ck_assert_uint_eq(stream_log_end(log_), 10);
    stream_log_check(log_);
}
END_TEST

START_TEST(serial_numbers_go_on_after_a_log_was_trimmed_empty) {
    for (uint64_t i = 0; i < 10; i++) append(i);
    stream_log_trim(log_, 10);
    stream_log_check(log_);
    append(10);
    ck_assert_uint_eq(stream_log_begin(log_), 10);
    ck_assert_uint_eq(stream_log_end(log_), 11);
    expect_record(10);
}
END_TEST

START_TEST(a_stamp_reaches_the_records_from_its_serial_on) {
    for (uint64_t i = 0; i < 4; i++) append(i);
    stream_log_stamp(log_, 2, 500);
    ck_assert_int_eq(stream_log_at(log_, 1)->fed_ns, 3);
    ck_assert_int_eq(stream_log_at(log_, 2)->fed_ns, 500);
    ck_assert_int_eq(stream_log_at(log_, 3)->fed_ns, 500);
    stream_log_stamp(log_, 4, 900); /* none */
    ck_assert_int_eq(stream_log_at(log_, 3)->fed_ns, 500);
    stream_log_check(log_);
}
END_TEST

START_TEST(every_kept_record_reads_as_it_was_appended) {
    struct rng rng = rng_seed(test_seed());
    uint64_t end = 0, begin = 0;
    for (uint32_t round = 0; round < test_rounds(4000); round++) {
        /* The kept span swings between nothing and some hundreds of records. */
        if (rng_below(&rng, 100) == 0) {
            begin += rng_below(&rng, end - begin + 1);
            stream_log_trim(log_, begin);
        } else {
            append(end++);
        }
        stream_log_check(log_);
        ck_assert_uint_eq(stream_log_begin(log_), begin);
        ck_assert_uint_eq(stream_log_end(log_), end);
        if (begin < end) expect_record(begin), expect_record(end - 1);
        if (round % 50 == 0)
            for (uint64_t i = begin; i < end; i++) expect_record(i);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("stream_log");
    TCase *tests = tcase_create("stream_log");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, an_empty_log_begins_and_ends_at_zero);
    tcase_add_test(tests, arguments_outlive_the_caller_s);
    tcase_add_test(tests, trimming_below_the_begin_changes_nothing);
    tcase_add_test(tests, serial_numbers_go_on_after_a_log_was_trimmed_empty);
    tcase_add_test(tests, a_stamp_reaches_the_records_from_its_serial_on);
    tcase_add_test(tests, every_kept_record_reads_as_it_was_appended);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
