#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "bounds.h"
#include "support.h"

static const uint8_t seed[SIPHASH_SEED_BYTES] = "sixteen  bytes!";

static struct keys *keys;

static void setup(void) { keys = keys_create(seed); }
static void teardown(void) { keys_destroy(keys); }

START_TEST(ids_count_up_from_1) {
    ck_assert_uint_eq(keys->count, 0);
    for (key_id id = 1; id <= 5; id++) ck_assert_uint_eq(keys_add(keys, "k", 1), id);
    ck_assert_uint_eq(keys->count, 5);
}
END_TEST

START_TEST(an_equal_name_gets_an_id_of_its_own) {
    key_id a = keys_add(keys, "user:1", 6), b = keys_add(keys, "user:1", 6);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(keys_hash(keys, a), keys_hash(keys, b));
}
END_TEST

START_TEST(names_may_be_empty_or_hold_any_byte) {
    key_id empty = keys_add(keys, "", 0), nul = keys_add(keys, "a\0b", 3);
    ck_assert_uint_eq(keys_length(keys, empty), 0);
    ck_assert_uint_eq(keys_length(keys, nul), 3);
    ck_assert_uint_eq(keys_hash(keys, empty), (uint32_t)siphash12(seed, "", 0));
    ck_assert_uint_eq(keys_hash(keys, nul), (uint32_t)siphash12(seed, "a\0b", 3));
}
END_TEST

START_TEST(the_hash_is_the_low_half_of_siphash_under_the_runs_seed) {
    uint8_t other[SIPHASH_SEED_BYTES] = {1};
    struct keys *others = keys_create(other);
    key_id id = keys_add(keys, "key:1", 5), other_id = keys_add(others, "key:1", 5);
    ck_assert_uint_eq(keys_hash(keys, id), siphash12(seed, "key:1", 5) & 0xffffffff);
    ck_assert_uint_eq(keys_hash(others, other_id), siphash12(other, "key:1", 5) & 0xffffffff);
    ck_assert_uint_ne(keys_hash(keys, id), keys_hash(others, other_id));
    keys_destroy(others);
}
END_TEST

/* Over several doublings nothing registered before may change. */
START_TEST(names_keep_their_hash_and_length_while_the_registry_grows) {
    char name[32];
    for (uint32_t i = 1; i <= 10000; i++) {
        size_t length = (size_t)snprintf(name, sizeof name, "key:%u", i);
        ck_assert_uint_eq(keys_add(keys, name, length), i);
    }
    for (uint32_t i = 1; i <= 10000; i++) {
        size_t length = (size_t)snprintf(name, sizeof name, "key:%u", i);
        ck_assert_uint_eq(keys_length(keys, i), length);
        ck_assert_uint_eq(keys_hash(keys, i), (uint32_t)siphash12(seed, name, length));
    }
}
END_TEST

START_TEST(reserved_room_is_enough_for_as_many_names) {
    keys_add(keys, "before", 6);
    keys_reserve(keys, 5000);
    ck_assert_uint_eq(keys->count, 1);
    const uint32_t *hash = keys->hash;
    for (int i = 0; i < 5000; i++) keys_add(keys, "k", 1);
    ck_assert_ptr_eq(keys->hash, hash);
    ck_assert_uint_eq(keys->count, 5001);
    keys_reserve(keys, 0);
    keys_add(keys, "after", 5);
    ck_assert_uint_eq(keys_length(keys, 5001), 1);
    ck_assert_uint_eq(keys_length(keys, 5002), 5);
}
END_TEST

START_TEST(a_name_of_the_greatest_length_is_kept) {
    char *name = calloc(1, KEY_LENGTH_MAX);
    key_id id = keys_add(keys, name, KEY_LENGTH_MAX);
    ck_assert_uint_eq(keys_length(keys, id), 65535);
    free(name);
}
END_TEST

START_TEST(a_longer_name_is_a_broken_contract) {
    static char name[KEY_LENGTH_MAX + 1];
    keys_add(keys, name, sizeof name);
}
END_TEST

static Suite *keys_suite(void) {
    Suite *suite = suite_create("keys");
    TCase *tc = tcase_create("keys");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, ids_count_up_from_1);
    tcase_add_test(tc, an_equal_name_gets_an_id_of_its_own);
    tcase_add_test(tc, names_may_be_empty_or_hold_any_byte);
    tcase_add_test(tc, the_hash_is_the_low_half_of_siphash_under_the_runs_seed);
    tcase_add_test(tc, names_keep_their_hash_and_length_while_the_registry_grows);
    tcase_add_test(tc, reserved_room_is_enough_for_as_many_names);
    tcase_add_test(tc, a_name_of_the_greatest_length_is_kept);
    tcase_add_test_raise_signal(tc, a_longer_name_is_a_broken_contract, SIGABRT);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(keys_suite()); }
