/* resp: commands and replies, byte for byte; expected errors were taken from a running
 * redis-server 7.0.15. */
#include "resp_support.h"

static struct arg argv[ARGC_MAX];

/* ---- commands ---- */

START_TEST(a_command_is_an_array_of_bulk_strings) {
    argv[0] = text("SET"), argv[1] = key("user:7"), argv[2] = arg_fill(3);
    argv[3] = text("PXAT"), argv[4] = arg_number(1700000000000);
    resp_print_command(&buffer, argv, 5, names, texts);
    expect_text("*5\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\nxxx\r\n$4\r\nPXAT\r\n"
                "$13\r\n1700000000000\r\n");
}
END_TEST

START_TEST(words_and_keys_may_hold_any_bytes) {
    argv[0] = word("a\0\r\n", 4);
    argv[1] = arg_key(names_keys(names), names_intern(names, "\0k", 2));
    argv[2] = word("", 0);
    resp_print_command(&buffer, argv, 3, names, texts);
    expect_bytes("*3\r\n$4\r\na\0\r\n\r\n$2\r\n\0k\r\n$0\r\n\r\n", 28);
}
END_TEST

START_TEST(numbers_of_all_64_bits_are_written) {
    argv[0] = arg_number(INT64_MIN), argv[1] = arg_number(INT64_MAX), argv[2] = arg_number(0);
    resp_print_command(&buffer, argv, 3, names, texts);
    expect_text("*3\r\n$20\r\n-9223372036854775808\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n");
}
END_TEST

static struct arg draw_arg(struct rng *rng) {
    char bytes[300];
    size_t length = rng_below(rng, rng_below(rng, 2) ? 12 : sizeof bytes);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)rng_below(rng, 256);
    switch (rng_below(rng, 4)) {
    case 0:
        return word(bytes, length);
    case 1:
        return arg_key(names_keys(names), names_intern(names, bytes, length));
    case 2:
        return arg_number((int64_t)(rng_next(rng) >> rng_below(rng, 64)));
    default:
        return arg_fill((uint32_t)rng_below(rng, 2000));
    }
}

START_TEST(a_command_is_as_long_as_its_offset_says) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(2000); round++) {
        uint32_t argc = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 20) ? 6 : 200);
        for (uint32_t i = 0; i < argc; i++) argv[i] = draw_arg(&rng);
        buffer.length = 0;
        resp_print_command(&buffer, argv, argc, names, texts);
        ck_assert_uint_eq(buffer.length, request_resp_bytes(argv, argc));
        char head[16];
        int digits = snprintf(head, sizeof head, "*%u\r\n$", argc);
        ck_assert_mem_eq(buffer.bytes, head, (size_t)digits);
        ck_assert_mem_eq(buffer.bytes + buffer.length - 2, "\r\n", 2);
    }
}
END_TEST

/* ---- replies ---- */

START_TEST(each_kind_of_reply_has_its_form) {
    print_item((struct reply_item){.kind = REPLY_STATUS, .text = "OK"});
    expect_text("+OK\r\n");
    print_item((struct reply_item){.kind = REPLY_INTEGER, .integer = -2});
    expect_text(":-2\r\n");
    print_item((struct reply_item){.kind = REPLY_NIL});
    expect_text("$-1\r\n");
    print_item((struct reply_item){.kind = REPLY_TEXT, .text = "hz"});
    expect_text("$2\r\nhz\r\n");
    print_item((struct reply_item){.kind = REPLY_TEXT, .text = ""});
    expect_text("$0\r\n\r\n");
    print_item((struct reply_item){.kind = REPLY_NUMBER_TEXT, .integer = -1});
    expect_text("$20\r\n18446744073709551615\r\n"); /* cursors are unsigned */
    print_item((struct reply_item){.kind = REPLY_KEY, .key = key("user:7").id});
    expect_text("$6\r\nuser:7\r\n");
}
END_TEST

START_TEST(a_value_is_a_bulk_string_whatever_its_encoding) {
    print_item((struct reply_item){.kind = REPLY_VALUE, .value = object_from_number(-17)});
    expect_text("$3\r\n-17\r\n");
    print_item((struct reply_item){.kind = REPLY_VALUE, .value = object_from_number(7)});
    expect_text("$1\r\n7\r\n");
    print_item((struct reply_item){.kind = REPLY_VALUE, .value = object_from_fill(4)});
    expect_text("$4\r\nxxxx\r\n");
    struct arg hello = text("hello");
    print_item(
        (struct reply_item){.kind = REPLY_VALUE, .value = object_from_text(texts, hello.id)});
    expect_text("$5\r\nhello\r\n");
}
END_TEST

START_TEST(an_array_s_elements_follow_it) {
    struct reply_item items[] = {
        {.kind = REPLY_ARRAY, .integer = 2},
        {.kind = REPLY_NUMBER_TEXT, .integer = 0},
        {.kind = REPLY_ARRAY, .integer = 1},
        {.kind = REPLY_KEY, .key = key("k").id},
    };
    struct reply reply = {.items = items, .count = 4};
    resp_print_reply(&buffer, &reply, NULL, names, texts);
    expect_text("*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n");
}
END_TEST

START_TEST(an_error_quotes_a_static_name_or_a_typed_word) {
    print_item((struct reply_item){.kind = REPLY_ERROR, .text = "ERR syntax error"});
    expect_text("-ERR syntax error\r\n");
    print_item((struct reply_item){.kind = REPLY_ERROR,
                                   .text = "ERR invalid expire time in '",
                                   .name = "set",
                                   .after = "' command"});
    expect_text("-ERR invalid expire time in 'set' command\r\n");
    struct arg typed = word("FO\r\nO\0x", 7);
    print_item((struct reply_item){
        .kind = REPLY_ERROR, .text = "ERR Unsupported option ", .word = typed.id});
    expect_text("-ERR Unsupported option FO  O\r\n");
}
END_TEST

/* Expected text after "-ERR unknown command "; X and Y stand for that many of these letters. */
static void expect_unknown(uint32_t argc, const char *format, int x, int y) {
    static char letters[2][256];
    char expected[1024];
    memset(letters[0], 'x', 255), memset(letters[1], 'y', 255);
    struct request request = {.argv = argv, .argc = argc};
    struct reply_item item = {.kind = REPLY_UNKNOWN_COMMAND};
    struct reply reply = {.request = &request, .items = &item, .count = 1};
    resp_print_reply(&buffer, &reply, NULL, names, texts);
    int head = snprintf(expected, sizeof expected, "-ERR unknown command ");
    snprintf(expected + head, sizeof expected - (size_t)head, format, x, letters[0], y, letters[1]);
    expect_text(expected);
}

static struct arg run(char letter, size_t length) {
    char bytes[256];
    memset(bytes, letter, sizeof bytes);
    return word(bytes, length);
}

START_TEST(an_unknown_command_is_quoted_with_its_arguments) {
    argv[0] = text("foo"), argv[1] = text("a"), argv[2] = text("b");
    expect_unknown(1, "'foo', with args beginning with: %.*s%.*s\r\n", 0, 0);
    expect_unknown(3, "'foo', with args beginning with: 'a' 'b' %.*s%.*s\r\n", 0, 0);
    argv[1] = text("it's"), argv[2] = text("");
    expect_unknown(3, "'foo', with args beginning with: 'it's' '' %.*s%.*s\r\n", 0, 0);
    argv[1] = arg_number(-5), argv[2] = key("k:1");
    expect_unknown(3, "'foo', with args beginning with: '-5' 'k:1' %.*s%.*s\r\n", 0, 0);
}
END_TEST

START_TEST(an_unknown_command_s_quotes_end_at_nul_and_have_no_line_ends) {
    argv[0] = word("f\0oo\n", 5), argv[1] = word("a\r\nb\0c", 6), argv[2] = text("d");
    expect_unknown(3, "'f', with args beginning with: 'a  b' 'd' %.*s%.*s\r\n", 0, 0);
}
END_TEST

START_TEST(an_unknown_command_s_arguments_are_cut_as_the_server_cuts_them) {
    argv[0] = text("foo"), argv[2] = text("yy"), argv[3] = text("z");
    argv[1] = run('x', 200);
    expect_unknown(4, "'foo', with args beginning with: '%.*s%.*s' \r\n", 128, 0);
    argv[1] = run('x', 126); /* with quotes and space 129: full */
    expect_unknown(4, "'foo', with args beginning with: '%.*s%.*s' \r\n", 126, 0);
    argv[1] = run('x', 125); /* 128: full */
    expect_unknown(4, "'foo', with args beginning with: '%.*s%.*s' \r\n", 125, 0);
    argv[1] = run('x', 124); /* 127: one more byte */
    expect_unknown(4, "'foo', with args beginning with: '%.*s' '%.*s' \r\n", 124, 1);
    argv[1] = run('x', 60), argv[2] = run('y', 60), argv[3] = run('z', 60); /* 126: two more */
    expect_unknown(4, "'foo', with args beginning with: '%.*s' '%.*s' 'zz' \r\n", 60, 60);
    argv[1] = arg_fill(VALUE_LENGTH_MAX);
    expect_unknown(4, "'foo', with args beginning with: '%.*s%.*s' \r\n", 128, 0);
    argv[0] = run('x', 200), argv[1] = text("b");
    expect_unknown(2, "'%.*s%.*s', with args beginning with: 'b' \r\n", 128, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("resp");
    TCase *tests = tcase_create("print");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_command_is_an_array_of_bulk_strings);
    tcase_add_test(tests, words_and_keys_may_hold_any_bytes);
    tcase_add_test(tests, numbers_of_all_64_bits_are_written);
    tcase_add_test(tests, a_command_is_as_long_as_its_offset_says);
    tcase_add_test(tests, each_kind_of_reply_has_its_form);
    tcase_add_test(tests, a_value_is_a_bulk_string_whatever_its_encoding);
    tcase_add_test(tests, an_array_s_elements_follow_it);
    tcase_add_test(tests, an_error_quotes_a_static_name_or_a_typed_word);
    tcase_add_test(tests, an_unknown_command_is_quoted_with_its_arguments);
    tcase_add_test(tests, an_unknown_command_s_quotes_end_at_nul_and_have_no_line_ends);
    tcase_add_test(tests, an_unknown_command_s_arguments_are_cut_as_the_server_cuts_them);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
