/* names: patterns and kept names share one registry; what is printed is found again. */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "support.h"

static const uint8_t seed[SIPHASH_SEED_BYTES] = "0123456789abcde";

static void check_name(const struct names *names, key_id id, const char *expected) {
    char buffer[KEY_LENGTH_MAX];
    size_t length = names_print(names, id, buffer, sizeof buffer);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_mem_eq(buffer, expected, length);
    ck_assert_uint_eq(names_find(names, expected, length), id);
}

START_TEST(a_padded_pattern_prints_and_finds_its_names) {
    struct names *names = names_create(seed);
    key_id first = names_add_range(names, "session:", ":x", 4, 8, 20000);
    ck_assert_uint_eq(first, 1);
    check_name(names, first, "session:0008:x");
    check_name(names, first + 1991, "session:1999:x");
    check_name(names, first + 19999, "session:20007:x");
    ck_assert_uint_eq(keys_length(names_keys(names), first), 14);
    ck_assert_uint_eq(keys_hash(names_keys(names), first),
                      (uint32_t)siphash12(seed, "session:0008:x", 14));
    names_destroy(names);
}
END_TEST

START_TEST(names_a_pattern_would_not_write_are_not_its) {
    struct names *names = names_create(seed);
    names_add_range(names, "a", "b", 3, 5, 2000);
    names_add_range(names, "n", "", 0, 0, 11);
    static const char *const strangers[] = {
        "a5b",   "a0005b", "a004b", "a2005b", "ab",  "a005", "x005b", "a00 b",
        "a0x5b", "n00",    "n11",   "n",      "n01", "n+1",  "n1b",   "a99999999999999999999b",
        "",
    };
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        ck_assert_msg(names_find(names, strangers[i], strlen(strangers[i])) == KEY_NONE, "%s",
                      strangers[i]);
    check_name(names, 1, "a005b");
    check_name(names, 2001, "n0");
    names_destroy(names);
}
END_TEST

START_TEST(kept_names_between_ranges_keep_their_ids) {
    struct names *names = names_create(seed);
    key_id foo = names_intern(names, "foo", 3);
    key_id range = names_add_range(names, "k", "", 0, 0, 10);
    key_id bar = names_intern(names, "bar", 3);
    key_id empty_range = names_add_range(names, "none", "", 0, 0, 0);
    key_id second = names_add_range(names, "m", "", 2, 0, 10);
    key_id raw = names_intern(names, "a\0b", 3);
    ck_assert_uint_eq(names_intern(names, "foo", 3), foo);
    ck_assert_uint_eq(names_intern(names, "bar", 3), bar);
    ck_assert_uint_eq(names_intern(names, "a\0b", 3), raw);
    ck_assert_uint_eq(names_intern(names, "k7", 2), range + 7);
    ck_assert_uint_eq(names_intern(names, "m07", 3), second + 7);
    ck_assert_uint_eq(empty_range, second);
    check_name(names, foo, "foo");
    check_name(names, bar, "bar");
    ck_assert_uint_eq(names_find(names, "a", 1), KEY_NONE);
    names_destroy(names);
}
END_TEST

START_TEST(many_kept_names_are_found_again) {
    struct names *names = names_create(seed);
    struct rng rng = rng_seed(test_seed());
    enum { COUNT = 20000 };
    static key_id ids[COUNT];
    char text[32];
    for (int i = 0; i < COUNT; i++) {
        ids[i] = names_intern(names, text, (size_t)snprintf(text, sizeof text, "key:%d", i));
        if (rng_chance(&rng, 1, 500)) names_add_range(names, "r", "", 9, (uint64_t)i * 50, 50);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "key:%d", i);
        check_name(names, ids[i], text);
        ck_assert_uint_eq(names_intern(names, text, strlen(text)), ids[i]);
    }
    names_destroy(names);
}
END_TEST

START_TEST(the_empty_name_is_a_name) {
    struct names *names = names_create(seed);
    key_id id = names_intern(names, "", 0);
    ck_assert_uint_eq(names_intern(names, "", 0), id);
    ck_assert_uint_eq(names_find(names, "", 0), id);
    ck_assert_uint_ne(names_intern(names, "a", 1), id);
    names_destroy(names);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("names");
    TCase *tcase = tcase_create("names");
    tcase_add_test(tcase, a_padded_pattern_prints_and_finds_its_names);
    tcase_add_test(tcase, names_a_pattern_would_not_write_are_not_its);
    tcase_add_test(tcase, kept_names_between_ranges_keep_their_ids);
    tcase_add_test(tcase, many_kept_names_are_found_again);
    tcase_add_test(tcase, the_empty_name_is_a_name);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
