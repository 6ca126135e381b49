#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "support.h"

static struct texts *texts;
static struct memory debian, bundled;

static void setup(void) {
    texts = texts_create();
    memory_init(&debian, allocator_find("debian"), 0);
    memory_init(&bundled, allocator_find("bundled"), 0);
}
static void teardown(void) { texts_destroy(texts); }

static text_id intern(const char *word) { return texts_intern(texts, word, strlen(word)); }
static struct object value(const char *word) { return object_from_text(texts, intern(word)); }

/* --- encodings: engine facts 10.3 --- */

START_TEST(integers_from_0_to_9999_are_shared_and_others_not) {
    ck_assert_uint_eq(object_from_number(0).encoding, ENCODING_SHARED_INT);
    ck_assert_uint_eq(object_from_number(9999).encoding, ENCODING_SHARED_INT);
    ck_assert_uint_eq(object_from_number(-1).encoding, ENCODING_INT);
    ck_assert_uint_eq(object_from_number(10000).encoding, ENCODING_INT);
    ck_assert_uint_eq(object_from_number(INT64_MIN).encoding, ENCODING_INT);
    ck_assert_uint_eq(object_from_number(INT64_MAX).encoding, ENCODING_INT);
}
END_TEST

START_TEST(text_that_reads_as_an_integer_becomes_one) {
    ck_assert_uint_eq(value("9999").encoding, ENCODING_SHARED_INT);
    ck_assert_int_eq(value("9999").number, 9999);
    ck_assert_uint_eq(value("10000").encoding, ENCODING_INT);
    ck_assert_uint_eq(value("-9223372036854775808").encoding, ENCODING_INT);
    ck_assert_int_eq(value("-9223372036854775808").number, INT64_MIN);
}
END_TEST

START_TEST(text_that_is_no_canonical_integer_stays_text) {
    static const char *const words[] = {"",
                                        "-",
                                        "-0",
                                        "00",
                                        "01",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.0",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551617",
                                        "123456789012345678901"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct object o = value(words[i]);
        ck_assert_uint_eq(o.encoding, ENCODING_EMBSTR);
        ck_assert_uint_eq(o.length, strlen(words[i]));
        ck_assert_uint_eq(o.text, intern(words[i]));
    }
}
END_TEST

START_TEST(strings_are_embedded_up_to_44_bytes) {
    char word[46];
    memset(word, 'a', sizeof word);
    for (uint32_t length = 0; length <= 45; length++) {
        int expected = length <= 44 ? ENCODING_EMBSTR : ENCODING_RAW;
        ck_assert_uint_eq(object_from_fill(length).encoding, expected);
        struct object o = object_from_text(texts, texts_intern(texts, word, length));
        ck_assert_uint_eq(o.encoding, expected);
    }
}
END_TEST

/* --- text_to_number --- */

/* All strings of up to 5 bytes from "-019 x", against the C library: a string is canonical if and
 * only if printing what was read gives it back. */
START_TEST(a_short_string_is_a_number_exactly_if_printing_it_gives_it_back) {
    static const char alphabet[] = "-019 x";
    for (int length = 0, strings = 1; length <= 5; length++, strings *= 6) {
        for (int i = 0; i < strings; i++) {
            char word[8] = {0}, printed[32];
            for (int j = 0, rest = i; j < length; j++, rest /= 6) word[j] = alphabet[rest % 6];
            snprintf(printed, sizeof printed, "%lld", strtoll(word, NULL, 10));
            int64_t number = -77;
            bool canonical = strcmp(word, printed) == 0;
            ck_assert_msg(text_to_number(word, (size_t)length, &number) == canonical, "'%s'", word);
            ck_assert_int_eq(number, canonical ? strtoll(word, NULL, 10) : -77);
        }
    }
}
END_TEST

START_TEST(every_number_reads_back_from_its_decimal_form) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        int64_t number = (int64_t)rng_next(&rng) >> rng_below(&rng, 64), read = 0;
        char word[32];
        size_t length = (size_t)snprintf(word, sizeof word, "%" PRId64, number);
        ck_assert(text_to_number(word, length, &read));
        ck_assert_int_eq(read, number);
    }
}
END_TEST

START_TEST(numbers_at_the_edge_of_64_bits_read_and_those_beyond_do_not) {
    static const struct {
        const char *word;
        bool reads;
        int64_t number;
    } edge[] = {
        {"9223372036854775806", true, INT64_MAX - 1},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"9223372036854775810", false, 0},
        {"-9223372036854775807", true, INT64_MIN + 1},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"-9223372036854775810", false, 0},
        {"18446744073709551616", false, 0}, /* 2^64: would wrap to 0 */
        {"99999999999999999999", false, 0},
    };
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
        int64_t number = 0;
        ck_assert(text_to_number(edge[i].word, strlen(edge[i].word), &number) == edge[i].reads);
        ck_assert_int_eq(number, edge[i].number);
    }
}
END_TEST

START_TEST(a_nul_inside_is_no_digit) {
    int64_t number;
    ck_assert(!text_to_number("12\0", 3, &number));
    ck_assert(text_to_number("12\0", 2, &number));
}
END_TEST

START_TEST(incr_reads_integers_and_nothing_else) {
    int64_t number = 0;
    struct object shared = value("42"), big = value("-1234567890123"), word = value("12x");
    struct object fill = object_from_fill(3), empty = object_from_fill(0);
    ck_assert(object_to_number(texts, &shared, &number));
    ck_assert_int_eq(number, 42);
    ck_assert(object_to_number(texts, &big, &number));
    ck_assert_int_eq(number, -1234567890123);
    ck_assert(!object_to_number(texts, &word, &number));
    ck_assert(!object_to_number(texts, &fill, &number));
    ck_assert(!object_to_number(texts, &empty, &number));
}
END_TEST

/* --- to and from arguments --- */

START_TEST(a_value_is_written_as_the_argument_it_came_from) {
    struct arg word = arg_word(texts, intern("hello")), digits = arg_word(texts, intern("123"));
    struct object o = object_from_arg(texts, word);
    struct arg back = object_to_arg(&o);
    ck_assert_uint_eq(back.kind, ARG_TEXT);
    ck_assert_uint_eq(back.id, word.id);
    ck_assert_uint_eq(back.length, 5);
    o = object_from_arg(texts, digits);
    back = object_to_arg(&o);
    ck_assert_uint_eq(back.kind, ARG_NUMBER);
    ck_assert_int_eq(back.number, 123);
    ck_assert_uint_eq(back.length, 3);
    o = object_from_arg(texts, arg_fill(100));
    back = object_to_arg(&o);
    ck_assert_uint_eq(back.kind, ARG_FILL);
    ck_assert_uint_eq(back.length, 100);
}
END_TEST

START_TEST(a_key_given_as_a_value_keeps_its_length) {
    struct arg key = {.kind = ARG_KEY, .length = 45, .id = 7};
    struct object o = object_from_arg(texts, key);
    ck_assert_uint_eq(o.encoding, ENCODING_RAW);
    ck_assert_uint_eq(object_length(&o), 45);
}
END_TEST

START_TEST(the_length_of_an_integer_is_its_decimal_form) {
    static const struct {
        int64_t number;
        uint32_t length;
    } cases[] = {{0, 1},  {9, 1},   {10, 2},         {9999, 4},      {10000, 5},
                 {-1, 2}, {-10, 3}, {INT64_MAX, 19}, {INT64_MIN, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct object o = object_from_number(cases[i].number);
        ck_assert_uint_eq(object_length(&o), cases[i].length);
        ck_assert_uint_eq(object_to_arg(&o).length, cases[i].length);
    }
}
END_TEST

START_TEST(values_are_equal_exactly_if_their_bytes_are) {
    struct object o[] = {value("hello"), value("hellO"),      value("7"),          value("8"),
                         value("70000"), object_from_fill(5), object_from_fill(6), value("")};
    size_t count = sizeof o / sizeof *o;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) ck_assert(object_equal(&o[i], &o[j]) == (i == j));
    }
    struct object seven = object_from_number(7), hello = value("hello");
    ck_assert(object_equal(&seven, &o[2]));
    ck_assert(object_equal(&hello, &o[0]));
}
END_TEST

/* --- weight --- */

/* Value bytes of the table in engine facts 10.4, Debian's allocator; those of the bundled one from
 * its classes: 16+3+1+1 = 21 -> 24, 16+3+44+1 = 64, 16 + (3+45+1 = 49 -> 56), and so on. */
START_TEST(values_weigh_what_the_server_was_measured_to_take) {
    static const struct {
        const char *word; /* NULL: fill */
        uint32_t length;
        uint64_t debian, bundled;
    } cases[] = {
        {"x", 1, 32, 24},
        {"9999", 4, 0, 0},
        {"10000", 5, 16, 16},
        {NULL, 44, 64, 64},
        {NULL, 45, 16 + 64, 16 + 56},
        {NULL, 100, 16 + 112, 16 + 112},
        {NULL, 1000, 16 + 1024, 16 + 1024},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct object o = cases[i].word ? value(cases[i].word) : object_from_fill(cases[i].length);
        ck_assert_uint_eq(object_length(&o), cases[i].length);
        ck_assert_uint_eq(object_usable_bytes(&debian, &o), cases[i].debian);
        ck_assert_uint_eq(object_usable_bytes(&bundled, &o), cases[i].bundled);
    }
}
END_TEST

START_TEST(taking_and_giving_a_value_book_its_weight_under_values) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(2000); round++) {
        struct object o = object_from_fill((uint32_t)rng_below(&rng, 100000));
        if (rng_chance(&rng, 1, 4)) o = object_from_number((int64_t)rng_below(&rng, 20000));
        uint64_t usable = object_usable_bytes(&debian, &o);
        ck_assert_uint_eq(object_take(&debian, &o), usable);
        ck_assert_int_eq(debian.bytes[MEMORY_VALUES], (int64_t)usable);
        ck_assert_int_eq(debian.used_bytes, (int64_t)usable);
        ck_assert_uint_eq(object_give(&debian, &o), usable);
        ck_assert_int_eq(debian.used_bytes, 0);
    }
}
END_TEST

/* 10 a doubling from 64 B to 16 KiB, 1000 a started page of 4 KiB beyond. */
START_TEST(freeing_charges_doublings_and_pages) {
    static const struct price_table prices = {
        .ps = {[COST_FREE_DOUBLING] = 10, [COST_FREE_PAGE] = 1000}};
    static const uint32_t length_and_ps[][2] = {
        {0, 0},      {45, 0},     {127, 0},      {128, 10},     {1023, 30},    {1024, 40},
        {16383, 70}, {16384, 80}, {16385, 1080}, {20480, 1080}, {20481, 2080}, {65536, 12080}};
    for (size_t i = 0; i < sizeof length_and_ps / sizeof *length_and_ps; i++) {
        struct cpu cpu = {.prices = &prices};
        struct object o = object_from_fill(length_and_ps[i][0]);
        object_charge_free(&cpu, &o);
        ck_assert_uint_eq(cpu.spent_ps, length_and_ps[i][1]);
    }
    struct cpu cpu = {.prices = &prices};
    struct object o = object_from_number(INT64_MIN);
    object_charge_free(&cpu, &o);
    ck_assert_uint_eq(cpu.spent_ps, 0);
}
END_TEST

/* --- request_resp_bytes: engine facts 6.5 --- */

static uint32_t resp_bytes(const char *line, uint32_t key_length, uint32_t value_length) {
    struct arg argv[8];
    uint32_t argc = 0;
    char copy[64];
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "k") == 0) {
            argv[argc++] = (struct arg){.kind = ARG_KEY, .length = key_length, .id = 1};
        } else if (strcmp(word, "v") == 0) {
            argv[argc++] = arg_fill(value_length);
        } else if (strcmp(word, "T") == 0) {
            argv[argc++] = arg_number(1700000000000); /* 13 digits */
        } else {
            argv[argc++] = arg_word(texts, intern(word));
        }
    }
    return request_resp_bytes(argv, argc);
}

START_TEST(commands_take_the_bytes_that_the_servers_offset_moved) {
    ck_assert_uint_eq(resp_bytes("SELECT 0", 0, 0), 23);
    ck_assert_uint_eq(resp_bytes("SELECT 15", 0, 0), 24);
    ck_assert_uint_eq(resp_bytes("ping", 0, 0), 14);
    ck_assert_uint_eq(resp_bytes("MULTI", 0, 0), 15);
    ck_assert_uint_eq(resp_bytes("EXEC", 0, 0), 14);
    ck_assert_uint_eq(resp_bytes("REPLCONF GETACK *", 0, 0), 37);
    ck_assert_uint_eq(resp_bytes("FLUSHALL", 0, 0), 18);
    ck_assert_uint_eq(resp_bytes("DEL k", 16, 0), 36);
    ck_assert_uint_eq(resp_bytes("UNLINK k", 16, 0), 39);
    ck_assert_uint_eq(resp_bytes("PERSIST k", 16, 0), 40);
    ck_assert_uint_eq(resp_bytes("PEXPIREAT k T", 16, 0), 62);
    ck_assert_uint_eq(resp_bytes("SET k v", 16, 100), 144);
    ck_assert_uint_eq(resp_bytes("SET k v PXAT T", 16, 100), 174);
}
END_TEST

/* The naive side writes the command out and counts. */
START_TEST(any_command_takes_as_many_bytes_as_writing_it_gives) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(2000); round++) {
        struct arg argv[16];
        uint32_t argc = 1 + (uint32_t)rng_below(&rng, 15);
        char line[32];
        int bytes = snprintf(line, sizeof line, "*%u\r\n", argc);
        for (uint32_t i = 0; i < argc; i++) {
            int64_t number = (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
            uint32_t length = (uint32_t)(rng_next(&rng) >> (44 + rng_below(&rng, 20)));
            argv[i] = rng_chance(&rng, 1, 2) ? arg_number(number) : arg_fill(length);
            if (argv[i].kind == ARG_NUMBER) {
                length = (uint32_t)snprintf(line, sizeof line, "%" PRId64, number);
            }
            bytes += snprintf(line, sizeof line, "$%u\r\n", length) + (int)length + 2;
        }
        ck_assert_uint_eq(request_resp_bytes(argv, argc), (uint32_t)bytes);
    }
}
END_TEST

static Suite *object_suite(void) {
    Suite *suite = suite_create("object");
    TCase *tc = tcase_create("object");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, integers_from_0_to_9999_are_shared_and_others_not);
    tcase_add_test(tc, text_that_reads_as_an_integer_becomes_one);
    tcase_add_test(tc, text_that_is_no_canonical_integer_stays_text);
    tcase_add_test(tc, strings_are_embedded_up_to_44_bytes);
    tcase_add_test(tc, a_short_string_is_a_number_exactly_if_printing_it_gives_it_back);
    tcase_add_test(tc, every_number_reads_back_from_its_decimal_form);
    tcase_add_test(tc, numbers_at_the_edge_of_64_bits_read_and_those_beyond_do_not);
    tcase_add_test(tc, a_nul_inside_is_no_digit);
    tcase_add_test(tc, incr_reads_integers_and_nothing_else);
    tcase_add_test(tc, a_value_is_written_as_the_argument_it_came_from);
    tcase_add_test(tc, a_key_given_as_a_value_keeps_its_length);
    tcase_add_test(tc, the_length_of_an_integer_is_its_decimal_form);
    tcase_add_test(tc, values_are_equal_exactly_if_their_bytes_are);
    tcase_add_test(tc, values_weigh_what_the_server_was_measured_to_take);
    tcase_add_test(tc, taking_and_giving_a_value_book_its_weight_under_values);
    tcase_add_test(tc, freeing_charges_doublings_and_pages);
    tcase_add_test(tc, commands_take_the_bytes_that_the_servers_offset_moved);
    tcase_add_test(tc, any_command_takes_as_many_bytes_as_writing_it_gives);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(object_suite()); }
