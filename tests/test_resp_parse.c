/* resp: lines read by redis-cli's rules, and which words become keys. */
#include "resp_support.h"

static struct arg argv[ARGC_MAX];

static const struct command *found;
static char message[128];

static int parse(const char *line) {
    message[0] = '\0';
    return resp_parse_line(line, names, texts, argv, &found, message, sizeof message);
}

static void expect_word(int index, const char *bytes, size_t length) {
    ck_assert_uint_eq(argv[index].kind, ARG_TEXT);
    ck_assert_uint_eq(argv[index].length, length);
    ck_assert_uint_eq(texts_length(texts, argv[index].id), length);
    ck_assert_mem_eq(texts_bytes(texts, argv[index].id), bytes, length);
}

static void expect_key(int index, const char *name) {
    ck_assert_uint_eq(argv[index].kind, ARG_KEY);
    ck_assert_uint_eq(argv[index].id, names_find(names, name, strlen(name)));
    ck_assert_uint_eq(argv[index].length, strlen(name));
}

START_TEST(words_stand_between_white_space) {
    ck_assert_int_eq(parse("  config\tset \n hz   500\r\n"), 4);
    ck_assert_ptr_eq(found, &commands[4]);
    expect_word(0, "config", 6);
    expect_word(1, "set", 3);
    expect_word(2, "hz", 2);
    expect_word(3, "500", 3);
}
END_TEST

START_TEST(double_quotes_know_escapes) {
    ck_assert_int_eq(
        parse("config \"a b\" \"\" \"\\n\\r\\t\\b\\a\" \"\\x00\\xFf\" \"\\\"\\\\\\q\""), 6);
    expect_word(1, "a b", 3);
    expect_word(2, "", 0);
    expect_word(3, "\n\r\t\b\a", 5);
    expect_word(4, "\0\xff", 2);
    expect_word(5, "\"\\q", 3);
    ck_assert_int_eq(parse("config \"\\x0g\" \"\\x\" \"it's\""), 4); /* no two hex digits: an x */
    expect_word(1, "x0g", 3);
    expect_word(2, "x", 1);
    expect_word(3, "it's", 4);
}
END_TEST

START_TEST(single_quotes_know_the_single_quote_alone) {
    ck_assert_int_eq(parse("config 'a b' 'it\\'s' '\\n\\x41' '\"'"), 5);
    expect_word(1, "a b", 3);
    expect_word(2, "it's", 4);
    expect_word(3, "\\n\\x41", 6);
    expect_word(4, "\"", 1);
}
END_TEST

START_TEST(a_quote_may_open_inside_a_word_and_ends_it) {
    ck_assert_int_eq(parse("config a\"b c\" d'e f'"), 3);
    expect_word(1, "ab c", 4);
    expect_word(2, "de f", 4);
}
END_TEST

START_TEST(backslashes_outside_quotes_are_plain) {
    ck_assert_int_eq(parse("config a\\nb \\x41"), 3);
    expect_word(1, "a\\nb", 4);
    expect_word(2, "\\x41", 4);
}
END_TEST

static const char *const refused[] = {
    "",        "   \t\n",      "config \"a",   "config 'a",  "config \"a\"b",     "config 'a'b",
    "\"a\\\"", "config 'a\\'", "config \"a\\", "config a\"", "config \"a\"\"b\"",
};

START_TEST(lines_without_a_word_or_with_unmatched_quotes_are_refused) {
    ck_assert_int_eq(parse(refused[_i]), -1);
    ck_assert_str_ne(message, "");
}
END_TEST

START_TEST(a_message_shows_the_line_whose_quotes_do_not_match) {
    ck_assert_int_eq(parse("config set \"hz"), -1);
    ck_assert_str_eq(
        message,
        "unbalanced quotes in 'config set \"hz'; expected a closing quote at a word's end");
}
END_TEST

START_TEST(arguments_at_key_positions_become_keys) {
    ck_assert_int_eq(parse("get a"), 2);
    expect_key(1, "a");
    ck_assert_int_eq(parse("get a b"), 3); /* one too many: the server says so, not the parser */
    expect_key(1, "a");
    expect_word(2, "b", 1);
    ck_assert_int_eq(parse("del a b c"), 4);
    expect_key(1, "a"), expect_key(2, "b"), expect_key(3, "c");
    ck_assert_int_eq(parse("mset a 1 b 2"), 5);
    expect_key(1, "a"), expect_word(2, "1", 1), expect_key(3, "b"), expect_word(4, "2", 1);
    ck_assert_int_eq(parse("pop x a b 9"), 5); /* from the second to the last but one */
    expect_word(1, "x", 1), expect_key(2, "a"), expect_key(3, "b"), expect_word(4, "9", 1);
    ck_assert_int_eq(parse("get"), 1);
    ck_assert_int_eq(parse("config a b"), 3);
    expect_word(1, "a", 1);
}
END_TEST

START_TEST(the_same_name_is_the_same_key) {
    parse("get user:1");
    key_id first = argv[1].id;
    parse("del \"user:1\" user:2");
    ck_assert_uint_eq(argv[1].id, first);
    ck_assert_uint_ne(argv[2].id, first);
}
END_TEST

START_TEST(an_unknown_command_has_words_alone) {
    ck_assert_int_eq(parse("frobnicate a b"), 3);
    ck_assert_ptr_null(found);
    expect_word(0, "frobnicate", 10);
    expect_word(1, "a", 1);
}
END_TEST

/* "config x x ... x" with that many words. */
static int parse_words(int count) {
    static char line[2 * ARGC_MAX + 100];
    size_t at = (size_t)snprintf(line, sizeof line, "config");
    for (int i = 1; i < count; i++) line[at++] = ' ', line[at++] = 'x';
    line[at] = '\0';
    return parse(line);
}

START_TEST(more_words_than_a_command_may_have_are_refused) {
    ck_assert_int_eq(parse_words(ARGC_MAX), ARGC_MAX);
    ck_assert_int_eq(parse_words(ARGC_MAX + 1), -1);
    ck_assert_str_eq(message, "more than 1024 words in one command");
}
END_TEST

START_TEST(a_key_too_long_for_the_registry_is_refused) {
    static char line[KEY_LENGTH_MAX + 100];
    memcpy(line, "get ", 4);
    memset(line + 4, 'k', KEY_LENGTH_MAX);
    ck_assert_int_eq(parse(line), 2);
    ck_assert_uint_eq(argv[1].length, KEY_LENGTH_MAX);
    line[4 + KEY_LENGTH_MAX] = 'k';
    ck_assert_int_eq(parse(line), -1);
    ck_assert_str_eq(message, "the key at position 1 has 65536 bytes; at most 65535 are possible");
}
END_TEST

/* Quotes a word so that it must read back: every byte in a form drawn at random. */
static size_t quote_word(struct rng *rng, const unsigned char *bytes, size_t length, char *out) {
    char *at = out;
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        unsigned char c = bytes[i];
        bool plain = c != '"' && c != '\\' && c != '\0' && rng_below(rng, 3);
        bool hex = c == '\0' || (!plain && (c == 'n' || c == 'r' || c == 't' || c == 'b' ||
                                            c == 'a' || c == 'x' || rng_below(rng, 2)));
        if (hex)
            at += sprintf(at, rng_below(rng, 2) ? "\\x%02x" : "\\x%02X", c);
        else if (plain)
            *at++ = (char)c;
        else
            *at++ = '\\', *at++ = (char)c;
    }
    *at++ = '"', *at++ = ' ', *at = '\0';
    return (size_t)(at - out);
}

START_TEST(any_word_quoted_reads_back) {
    struct rng rng = rng_seed(test_seed() + 1);
    for (uint32_t round = 0; round < test_rounds(1000); round++) {
        unsigned char words[8][40];
        size_t length[8], at = 0;
        char line[8 * (40 * 4 + 4)];
        int count = 1 + (int)rng_below(&rng, 8);
        for (int i = 0; i < count; i++) {
            length[i] = rng_below(&rng, 40);
            for (size_t j = 0; j < length[i]; j++)
                words[i][j] = (unsigned char)rng_below(&rng, 256);
            at += quote_word(&rng, words[i], length[i], line + at);
        }
        ck_assert_int_eq(parse(line), count);
        for (int i = 0; i < count; i++) expect_word(i, (const char *)words[i], length[i]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("resp_parse");
    TCase *tests = tcase_create("parse");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, words_stand_between_white_space);
    tcase_add_test(tests, double_quotes_know_escapes);
    tcase_add_test(tests, single_quotes_know_the_single_quote_alone);
    tcase_add_test(tests, a_quote_may_open_inside_a_word_and_ends_it);
    tcase_add_test(tests, backslashes_outside_quotes_are_plain);
    tcase_add_loop_test(tests, lines_without_a_word_or_with_unmatched_quotes_are_refused, 0,
                        sizeof refused / sizeof refused[0]);
    tcase_add_test(tests, a_message_shows_the_line_whose_quotes_do_not_match);
    tcase_add_test(tests, arguments_at_key_positions_become_keys);
    tcase_add_test(tests, the_same_name_is_the_same_key);
    tcase_add_test(tests, an_unknown_command_has_words_alone);
    tcase_add_test(tests, more_words_than_a_command_may_have_are_refused);
    tcase_add_test(tests, a_key_too_long_for_the_registry_is_refused);
    tcase_add_test(tests, any_word_quoted_reads_back);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
