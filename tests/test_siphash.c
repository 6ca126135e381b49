#include <string.h>

#include "siphash.h"
#include "support.h"

/* The paper's test setting: key 00 01 .. 0f and messages 00 01 02 .. of growing length. */
static const uint8_t paper_seed[SIPHASH_SEED_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                       8, 9, 10, 11, 12, 13, 14, 15};

static void paper_message(uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)i;
}

/* Lengths 0 to 24: no word, one, two and three, with every tail. Computed by OpenSSL 3:
 *   openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f -macopt size:8
 *     -macopt c-rounds:1 -macopt d-rounds:2 -in FILE SIPHASH
 * (which prints the bytes from the lowest up), and by a second implementation in Python that gives
 * the paper's value for SipHash-2-4. */
static const uint64_t expected[] = {
    UINT64_C(0xcea28b51565c12e2), UINT64_C(0x94aaf38c34ce7ba6), UINT64_C(0xfe7a42c2c5fab434),
    UINT64_C(0x1c0d255229c3364c), UINT64_C(0x8be7847a474dfdf5), UINT64_C(0x2858f0420f752296),
    UINT64_C(0xe61a8a7d8ac52626), UINT64_C(0xf03c4cbcf492b05a), UINT64_C(0x606845b4d093af74),
    UINT64_C(0xe304e78271c74a56), UINT64_C(0xc936e00e33b32633), UINT64_C(0x226212e5f29ab45c),
    UINT64_C(0xa4377b74fbbfe0da), UINT64_C(0x624317667190806f), UINT64_C(0x4a72ad78e3e197d7),
    UINT64_C(0xec8f61bc1c8966a6), UINT64_C(0x1311f4dfe747a751), UINT64_C(0x899c7b292c85339c),
    UINT64_C(0xa3b20ae95368b5dd), UINT64_C(0xb613412ee70eefce), UINT64_C(0xe4247448e02aa65a),
    UINT64_C(0x7e041ab05b9fee13), UINT64_C(0x871bc8cc515684fe), UINT64_C(0x436662cf8cde1a76),
    UINT64_C(0xd5fd6251d879f3a2)};

START_TEST(messages_of_0_to_24_bytes_hash_as_openssl_does) {
    uint8_t message[32];
    for (size_t length = 0; length < sizeof expected / sizeof *expected; length++) {
        paper_message(message, length);
        ck_assert_uint_eq(siphash12(paper_seed, message, length), expected[length]);
    }
}
END_TEST

/* All lengths below 256, folded as x = 31 x + hash by the Python implementation. */
START_TEST(messages_of_all_lengths_below_256_fold_to_the_known_value) {
    uint8_t message[256];
    paper_message(message, sizeof message);
    uint64_t fold = 0;
    for (size_t length = 0; length < 256; length++) {
        fold = fold * 31 + siphash12(paper_seed, message, length);
    }
    ck_assert_uint_eq(fold, UINT64_C(0x8db7e7f85c6c3fcb));
}
END_TEST

/* Only the low byte of the length enters the hash; 300 is beyond it (Python). */
START_TEST(a_message_longer_than_255_bytes_keeps_the_low_byte_of_its_length) {
    uint8_t message[300];
    paper_message(message, sizeof message);
    ck_assert_uint_eq(siphash12(paper_seed, message, 300), UINT64_C(0xaa1aa999da9950d2));
}
END_TEST

START_TEST(the_hash_does_not_depend_on_alignment) {
    uint8_t buffer[40];
    for (size_t shift = 0; shift < 16; shift++) {
        paper_message(buffer + shift, 23);
        ck_assert_uint_eq(siphash12(paper_seed, buffer + shift, 23), expected[23]);
    }
}
END_TEST

START_TEST(every_bit_of_the_seed_counts) {
    for (int bit = 0; bit < SIPHASH_SEED_BYTES * 8; bit++) {
        uint8_t seed[SIPHASH_SEED_BYTES];
        memcpy(seed, paper_seed, sizeof seed);
        seed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_uint_ne(siphash12(seed, "", 0), expected[0]);
    }
}
END_TEST

static Suite *siphash_suite(void) {
    Suite *suite = suite_create("siphash");
    TCase *tc = tcase_create("siphash");
    tcase_add_test(tc, messages_of_0_to_24_bytes_hash_as_openssl_does);
    tcase_add_test(tc, messages_of_all_lengths_below_256_fold_to_the_known_value);
    tcase_add_test(tc, a_message_longer_than_255_bytes_keeps_the_low_byte_of_its_length);
    tcase_add_test(tc, the_hash_does_not_depend_on_alignment);
    tcase_add_test(tc, every_bit_of_the_seed_counts);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(siphash_suite()); }
