#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "texts.h"

static struct texts *texts;

static void setup(void) { texts = texts_create(); }
static void teardown(void) { texts_destroy(texts); }

static text_id intern(const char *word) { return texts_intern(texts, word, strlen(word)); }

START_TEST(the_known_words_have_the_first_ids_in_list_order) {
#define X(word)                                                                                    \
    ck_assert_str_eq(texts_bytes(texts, WORD_##word), #word);                                      \
    ck_assert_uint_eq(intern(#word), WORD_##word);
    WORD_LIST(X)
#undef X
    ck_assert_uint_eq(intern("ping"), WORD_ping);
    ck_assert_uint_eq(intern("*"), WORD_STAR);
    ck_assert_uint_eq(WORD_SET, 1);
}
END_TEST

START_TEST(the_first_new_word_follows_the_known_ones) {
    ck_assert_uint_eq(intern("hello"), WORDS_KNOWN);
    ck_assert_uint_eq(intern("world"), WORDS_KNOWN + 1);
}
END_TEST

START_TEST(equal_bytes_have_one_id_and_others_another) {
    text_id a = intern("alpha");
    ck_assert_uint_eq(intern("alpha"), a);
    ck_assert_uint_ne(intern("Alpha"), a);
    ck_assert_uint_ne(intern("alph"), a);
    ck_assert_uint_ne(intern("alphab"), a);
}
END_TEST

START_TEST(the_empty_text_is_a_text) {
    text_id empty = intern("");
    ck_assert_uint_ne(empty, TEXT_NONE);
    ck_assert_uint_eq(texts_length(texts, empty), 0);
    ck_assert_str_eq(texts_bytes(texts, empty), "");
    ck_assert_uint_eq(intern(""), empty);
}
END_TEST

START_TEST(bytes_after_a_nul_count) {
    text_id a = texts_intern(texts, "a\0b", 3), b = texts_intern(texts, "a\0c", 3);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(texts_length(texts, a), 3);
    ck_assert_mem_eq(texts_bytes(texts, a), "a\0b\0", 4);
}
END_TEST

START_TEST(a_text_longer_than_a_chunk_is_kept_whole) {
    size_t length = 200000;
    char *bytes = malloc(length + 1);
    memset(bytes, 'y', length);
    bytes[length] = '\0';
    text_id before = intern("before"), id = texts_intern(texts, bytes, length);
    ck_assert_uint_eq(texts_length(texts, id), length);
    ck_assert_str_eq(texts_bytes(texts, id), bytes);
    ck_assert_str_eq(texts_bytes(texts, before), "before");
    ck_assert_uint_eq(texts_intern(texts, bytes, length), id);
    free(bytes);
}
END_TEST

START_TEST(bytes_stay_where_they_are_while_thousands_follow) {
    const char *first = texts_bytes(texts, intern("first"));
    char word[32];
    for (uint32_t i = 0; i < 50000; i++) {
        snprintf(word, sizeof word, "word%u", i);
        ck_assert_uint_eq(intern(word), WORDS_KNOWN + 1 + i);
    }
    for (uint32_t i = 0; i < 50000; i++) {
        snprintf(word, sizeof word, "word%u", i);
        ck_assert_uint_eq(intern(word), WORDS_KNOWN + 1 + i);
        ck_assert_str_eq(texts_bytes(texts, WORDS_KNOWN + 1 + i), word);
    }
    ck_assert_ptr_eq(texts_bytes(texts, intern("first")), first);
    ck_assert_str_eq(first, "first");
}
END_TEST

/* Words of up to 6 letters of "ab": 127 of them, so most are met again. The naive side is a list
 * searched from its start. */
START_TEST(random_words_get_the_ids_that_a_plain_list_gives) {
    struct rng rng = rng_seed(test_seed());
    char list[127][8];
    uint32_t count = 0;
    for (uint32_t round = 0; round < test_rounds(5000); round++) {
        char word[8] = {0};
        uint64_t length = rng_below(&rng, 7);
        for (uint64_t i = 0; i < length; i++) word[i] = (char)('a' + rng_below(&rng, 2));
        uint32_t place = 0;
        while (place < count && strcmp(list[place], word) != 0) place++;
        if (place == count) memcpy(list[count++], word, sizeof word);
        ck_assert_uint_eq(intern(word), WORDS_KNOWN + place);
    }
}
END_TEST

START_TEST(a_word_is_known_in_any_case) {
    ck_assert(text_is(texts, WORD_PEXPIREAT, WORD_PEXPIREAT));
    ck_assert(text_is(texts, intern("pexpireat"), WORD_PEXPIREAT));
    ck_assert(text_is(texts, intern("PeXpIrEaT"), WORD_PEXPIREAT));
    ck_assert(text_is(texts, WORD_ping, WORD_PING));
    ck_assert(text_is(texts, WORD_PING, WORD_ping));
    ck_assert(text_is(texts, intern("*"), WORD_STAR));
}
END_TEST

START_TEST(a_near_miss_is_another_word) {
    ck_assert(!text_is(texts, WORD_SET, WORD_GET));
    ck_assert(!text_is(texts, WORD_EX, WORD_EXAT));
    ck_assert(!text_is(texts, intern("se"), WORD_SET));
    ck_assert(!text_is(texts, intern("set "), WORD_SET));
    ck_assert(!text_is(texts, TEXT_NONE, WORD_SET));
    ck_assert(!text_is(texts, texts_intern(texts, "set\0", 4), WORD_SET));
}
END_TEST

/* Setting bit 5 instead of folding letters only would take '\n' for '*' (0x0a, 0x2a) and '`' for
 * '@'. */
START_TEST(only_letters_have_case) {
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        ck_assert(text_is(texts, texts_intern(texts, &byte, 1), WORD_STAR) == (byte == '*'));
        char word[2] = {byte, 'X'};
        bool is_ex = byte == 'e' || byte == 'E', is_px = byte == 'p' || byte == 'P';
        ck_assert(text_is(texts, texts_intern(texts, word, 2), WORD_EX) == is_ex);
        ck_assert(text_is(texts, texts_intern(texts, word, 2), WORD_PX) == is_px);
    }
}
END_TEST

START_TEST(an_id_never_given_out_is_a_broken_contract) { texts_bytes(texts, WORDS_KNOWN); }
END_TEST

static Suite *texts_suite(void) {
    Suite *suite = suite_create("texts");
    TCase *tc = tcase_create("texts");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_known_words_have_the_first_ids_in_list_order);
    tcase_add_test(tc, the_first_new_word_follows_the_known_ones);
    tcase_add_test(tc, equal_bytes_have_one_id_and_others_another);
    tcase_add_test(tc, the_empty_text_is_a_text);
    tcase_add_test(tc, bytes_after_a_nul_count);
    tcase_add_test(tc, a_text_longer_than_a_chunk_is_kept_whole);
    tcase_add_test(tc, bytes_stay_where_they_are_while_thousands_follow);
    tcase_add_test(tc, random_words_get_the_ids_that_a_plain_list_gives);
    tcase_add_test(tc, a_word_is_known_in_any_case);
    tcase_add_test(tc, a_near_miss_is_another_word);
    tcase_add_test(tc, only_letters_have_case);
    tcase_add_test_raise_signal(tc, an_id_never_given_out_is_a_broken_contract, SIGABRT);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(texts_suite()); }
