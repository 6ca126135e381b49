/* csv_rows: the memory report of rdb-tools with all that raw keys do to it. */
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "memory.h"
#include "object.h"
#include "population.h"
#include "support.h"

#define HEADER "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n"
#define OLD    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element\n"

static const uint8_t seed[SIPHASH_SEED_BYTES] = "0123456789abcde";
static struct names *names;
static struct scenario_error error;

static void set_up(void) { names = names_create(seed); }
static void tear_down(void) { names_destroy(names); }

static struct csv_rows *parse(const char *text) {
    struct csv_rows *rows =
        csv_rows_parse(text, strlen(text), "a.csv", names, DATABASES_MAX, &error);
    ck_assert_msg(rows != NULL, "%s", error.message);
    return rows;
}

static void check_key(const struct csv_rows *rows, uint32_t i, const char *name) {
    ck_assert_uint_lt(i, rows->count);
    ck_assert_msg(rows->rows[i].key == names_find(names, name, strlen(name)), "row %u is not %s", i,
                  name);
}

START_TEST(plain_rows_are_placed) {
    struct csv_rows *rows = parse(HEADER "0,string,a,104,string,24,24,2026-01-01T00:00:00.5\r\n"
                                         "15,hash,b c,1618,hashtable,35,13,\n"
                                         "\n"
                                         "3,string,c,1,string,1,1,2026-01-01T00:00:01");
    ck_assert_uint_eq(rows->count, 3);
    ck_assert_uint_eq(rows->refused, 0);
    ck_assert_str_eq(rows->refused_lines, "");
    check_key(rows, 0, "a");
    check_key(rows, 1, "b c");
    ck_assert_int_eq(rows->rows[0].deadline_ms, INT64_C(1767225600500));
    ck_assert_int_eq(rows->rows[1].deadline_ms, -1);
    ck_assert_uint_eq(rows->rows[1].db, 15);
    ck_assert_uint_eq(rows->rows[2].value_bytes, 1);
    csv_rows_destroy(rows);
}
END_TEST

/* Key, entries and value as lapse asks the allocator for them come to what the report says. */
START_TEST(the_weight_is_the_reports) {
    static const uint64_t sizes[] = {80, 104, 150, 320, 340, 5000, 65600, 70000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[512];
        snprintf(text, sizeof text, HEADER "0,string,k%zu,%llu,string,1,1,2026-01-01T00:00:00\n", i,
                 (unsigned long long)sizes[i]);
        struct csv_rows *rows = parse(text);
        uint64_t length = rows->rows[0].value_bytes;
        uint64_t value = length <= 44 ? 20 + length : 16 + sds_request_bytes(length);
        uint64_t weight = sds_request_bytes(2) + 24 + 24 + value;
        ck_assert_msg(weight + 4 >= sizes[i] && weight <= sizes[i] + 4, "%llu for %llu",
                      (unsigned long long)weight, (unsigned long long)sizes[i]);
        csv_rows_destroy(rows);
    }
}
END_TEST

START_TEST(commas_and_quotes_in_raw_keys_are_resolved) {
    struct csv_rows *rows =
        parse(HEADER "0,string,page?a=1,b=2,,c,104,string,24,24,\n"
                     "0,string,say \"hi\",104,string,24,24,\n"
                     "0,string,\"opens and never closes,104,string,24,24,\n"
                     "0,string,after,104,string,24,24,\n"
                     "0,string,\"quoted, well\",104,string,24,24,\n"
                     "0,string,\"a\"b,c\",104,string,24,24,2026-01-01T00:00:00\n"
                     "0,string,,104,string,24,24,\n");
    ck_assert_msg(rows->refused == 0, "%s", rows->refused_lines);
    check_key(rows, 0, "page?a=1,b=2,,c");
    check_key(rows, 1, "say \"hi\"");
    check_key(rows, 2, "\"opens and never closes");
    check_key(rows, 3, "after");
    check_key(rows, 4, "quoted, well");
    check_key(rows, 6, "");
    ck_assert_uint_eq(rows->count, 7);
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(older_files_have_no_expiry) {
    struct csv_rows *rows = parse(OLD "0,string,a,b,104,string,24,24\n");
    ck_assert_uint_eq(rows->count, 1);
    check_key(rows, 0, "a,b");
    ck_assert_int_eq(rows->rows[0].deadline_ms, -1);
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(rows_that_cannot_be_placed_are_counted_and_named) {
    struct csv_rows *rows = parse(HEADER "0,string,split by a\n"
                                         " newline,104,string,24,24,\n"
                                         "16,string,a,104,string,24,24,\n"
                                         "x,string,a,104,string,24,24,\n"
                                         "0,string,a,-4,string,24,24,\n"
                                         "0,string,a,104,string,many,24,\n"
                                         "0,string,a,104,string,24,long,\n"
                                         "0,string,a,104,string,24,24,tomorrow\n"
                                         "0,string,fine,104,string,24,24,\n");
    ck_assert_uint_eq(rows->count, 1);
    ck_assert_uint_eq(rows->refused, 8);
    ck_assert_str_eq(rows->refused_lines,
                     "line 2: 3 columns, expected 8; line 3: 6 columns, expected 8; "
                     "line 4: database above 15; line 5: database is no number; "
                     "line 6: size_in_bytes is no number; line 7: num_elements is no number; "
                     "line 8: len_largest_element is no number; "
                     "line 9: expiry is no time such as 2026-01-01T00:00:00");
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(a_database_that_the_server_has_not_is_refused) {
    static const char text[] = HEADER "3,string,last,104,string,24,24,\n"
                                      "4,string,beyond,104,string,24,24,\n";
    struct csv_rows *rows = csv_rows_parse(text, sizeof text - 1, "a.csv", names, 4, &error);
    ck_assert_uint_eq(rows->count, 1);
    ck_assert_str_eq(rows->refused_lines, "line 3: a database that the server has not");
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(only_the_first_ten_are_named) {
    char text[4096] = HEADER;
    for (int i = 0; i < 30; i++) strcat(text, "bad\n");
    struct csv_rows *rows = parse(text);
    ck_assert_uint_eq(rows->refused, 30);
    ck_assert_ptr_nonnull(strstr(rows->refused_lines, "line 11:"));
    ck_assert_ptr_null(strstr(rows->refused_lines, "line 12:"));
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(a_file_of_another_kind_is_refused) {
    static const char *const others[] = {
        "", "\n", "a,b,c\n", "database,type,key\n", "\xff\xfe\x00", "PK\x03\x04"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_ptr_null(csv_rows_parse(others[i], strlen(others[i]), "a.csv", names,
                                          DATABASES_MAX, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "a.csv:1:1: not a memory report of rdb-tools; "
                                                    "expected the header database,type,key"));
    }
    ck_assert_ptr_null(csv_rows_read("/nosuch.csv", names, DATABASES_MAX, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "cannot read this file"));
}
END_TEST

START_TEST(the_shipped_sample_is_placed_whole) {
    struct csv_rows *rows =
        csv_rows_read(LAPSE_SOURCE_DIR "/scenarios/sessions.csv", names, DATABASES_MAX, &error);
    ck_assert_msg(rows != NULL, "%s", error.message);
    ck_assert_msg(rows->refused == 0, "%s", rows->refused_lines);
    ck_assert_uint_eq(rows->count, 1000);
    csv_rows_destroy(rows);
}
END_TEST

START_TEST(mangled_files_never_crash) {
    static const char good[] = HEADER "0,string,a,104,string,24,24,2026-01-01T00:00:00.5\n"
                                      "15,hash,\"b\",1618,hashtable,35,13,\n";
    static const char spice[] = "\",\n\r 09";
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (uint64_t n = rng_below(&rng, 6); n > 0; n--)
            text[sizeof HEADER - 1 + rng_below(&rng, sizeof good - sizeof HEADER)] =
                spice[rng_below(&rng, sizeof spice - 1)];
        size_t length = sizeof good - 1 - rng_below(&rng, 40);
        struct csv_rows *rows = csv_rows_parse(text, length, "a.csv", names, DATABASES_MAX, &error);
        csv_rows_destroy(rows);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("csv_rows");
    TCase *tcase = tcase_create("csv_rows");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, plain_rows_are_placed);
    tcase_add_test(tcase, the_weight_is_the_reports);
    tcase_add_test(tcase, commas_and_quotes_in_raw_keys_are_resolved);
    tcase_add_test(tcase, older_files_have_no_expiry);
    tcase_add_test(tcase, rows_that_cannot_be_placed_are_counted_and_named);
    tcase_add_test(tcase, a_database_that_the_server_has_not_is_refused);
    tcase_add_test(tcase, only_the_first_ten_are_named);
    tcase_add_test(tcase, a_file_of_another_kind_is_refused);
    tcase_add_test(tcase, the_shipped_sample_is_placed_whole);
    tcase_add_test(tcase, mangled_files_never_crash);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
