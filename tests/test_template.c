/* template: lines to request templates, as redis-cli splits them. */
#include <string.h>

#include "command.h"
#include "scenario.h"
#include "support.h"
#include "words.h"

static void check_word(struct texts *texts, const struct mix_config *mix, uint32_t i,
                       const char *bytes, size_t length) {
    ck_assert(mix->args[i].kind == TEMPLATE_WORD || mix->args[i].kind == TEMPLATE_NAME);
    ck_assert_uint_eq(texts_length(texts, mix->args[i].word), length);
    ck_assert_mem_eq(texts_bytes(texts, mix->args[i].word), bytes, length);
}

START_TEST(placeholders_and_words_are_told_apart) {
    struct texts *texts = texts_create();
    struct mix_config mix;
    char message[256];
    ck_assert_msg(template_parse(texts, "Set {key} {value} ex {ttl_s}", &mix, message, 256), "%s",
                  message);
    ck_assert_str_eq(mix.command->name, "set");
    ck_assert_uint_eq(mix.argc, 5);
    check_word(texts, &mix, 0, "Set", 3);
    ck_assert_int_eq(mix.args[1].kind, TEMPLATE_KEY);
    ck_assert_int_eq(mix.args[2].kind, TEMPLATE_VALUE);
    check_word(texts, &mix, 3, "ex", 2);
    ck_assert_int_eq(mix.args[4].kind, TEMPLATE_TTL_S);
    ck_assert(template_parse(texts, "DEL {key} other {key}", &mix, message, 256));
    ck_assert_uint_eq(mix.argc, 4);
    ck_assert_int_eq(mix.args[2].kind, TEMPLATE_NAME); /* a word where DEL takes a key */
    ck_assert_int_eq(mix.args[0].kind, TEMPLATE_WORD);
    texts_destroy(texts);
}
END_TEST

START_TEST(quotes_are_read_as_redis_cli_does) {
    struct texts *texts = texts_create();
    struct mix_config mix;
    char message[256];
    static const char line[] = "  SET \"a b\\x00\\n\\\"\\q\"   'it\\'s \\n' ";
    ck_assert_msg(template_parse(texts, line, &mix, message, 256), "%s", message);
    ck_assert_uint_eq(mix.argc, 3);
    check_word(texts, &mix, 1, "a b\0\n\"q", 7);
    check_word(texts, &mix, 2, "it's \\n", 7);
    ck_assert(template_parse(texts, "GET \"\"", &mix, message, 256));
    check_word(texts, &mix, 1, "", 0);
    texts_destroy(texts);
}
END_TEST

START_TEST(mistakes_are_named) {
    static const char *const rows[][2] = {
        {"", "an empty command; expected one such as GET {key}"},
        {"   ", "an empty command"},
        {"GTE {key}", "unknown command 'GTE'"},
        {"GTE {key}", "did you mean 'get'?"},
        {"REPLCONF ACK 5", "unknown command 'REPLCONF'"}, /* in the stream alone */
        {"GET", "get has 0 arguments; expected 1"},
        {"SET a", "set has 1 arguments; expected at least 2"},
        {"GET {kye}", "did you mean '{key}'?"},
        {"GET user:{key}", "unknown placeholder 'user:{key}'"},
        {"GET {ttl}", "argument 1 of get is {ttl}; expected {key} or a key's name"},
        {"EXPIRE {key} {key}", "argument 2 of expire is {key}"},
        {"GET \"a", "unbalanced quotes"},
        {"GET \"a\"b", "unbalanced quotes"},
        {"GET 'a", "unbalanced quotes"},
        {"DEL a b c d e f g h i j k l", "13 words; expected at most 12"},
    };
    struct texts *texts = texts_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mix_config mix;
        char message[512] = "";
        ck_assert_msg(!template_parse(texts, rows[i][0], &mix, message, sizeof message), "%s",
                      rows[i][0]);
        ck_assert_msg(strstr(message, rows[i][1]) != NULL, "%s\n  wants %s", message, rows[i][1]);
    }
    texts_destroy(texts);
}
END_TEST

START_TEST(random_lines_never_crash) {
    static const char letters[] = "\"'\\x4 {}keytl_sGETDELnrb\t";
    struct rng rng = rng_seed(test_seed());
    struct texts *texts = texts_create();
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        char line[32], message[64];
        uint64_t length = rng_below(&rng, sizeof line);
        for (uint64_t i = 0; i < length; i++)
            line[i] = letters[rng_below(&rng, sizeof letters - 1)];
        line[length] = 0;
        struct mix_config mix;
        template_parse(texts, line, &mix, message, sizeof message);
    }
    texts_destroy(texts);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("template");
    TCase *tcase = tcase_create("template");
    tcase_add_test(tcase, placeholders_and_words_are_told_apart);
    tcase_add_test(tcase, quotes_are_read_as_redis_cli_does);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, random_lines_never_crash);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
