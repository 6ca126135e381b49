#include <signal.h>
#include <string.h>

#include "memory.h"
#include "support.h"

/* Engine facts 10.1.2, as listed there up to 65536. */
static const uint64_t debian_classes[] = {
    8,     16,    32,    48,    64,    80,    96,    112,   128,  160,   192,   224,
    256,   320,   384,   448,   512,   640,   768,   896,   1024, 1280,  1536,  1792,
    2048,  2560,  3072,  3584,  4096,  5120,  6144,  7168,  8192, 10240, 12288, 14336,
    16384, 20480, 24576, 28672, 32768, 40960, 49152, 57344, 65536};

/* Engine facts 10.1.3: the same and three more. */
static const uint64_t bundled_extra[] = {24, 40, 56};

static uint64_t least_at_least(const uint64_t *classes, size_t count, uint64_t bytes) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (classes[i] >= bytes && classes[i] < least) least = classes[i];
    }
    return least;
}

#define LEAST(classes, bytes) least_at_least(classes, sizeof classes / sizeof *classes, bytes)

START_TEST(debian_takes_the_least_listed_class_for_every_size_to_65536) {
    const struct allocator *debian = allocator_find("debian");
    for (uint64_t bytes = 1; bytes <= 65536; bytes++) {
        ck_assert_uint_eq(allocator_usable(debian, bytes), LEAST(debian_classes, bytes));
    }
}
END_TEST

START_TEST(bundled_has_the_three_classes_24_40_and_56_besides) {
    const struct allocator *bundled = allocator_find("bundled");
    for (uint64_t bytes = 1; bytes <= 65536; bytes++) {
        uint64_t common = LEAST(debian_classes, bytes), extra = LEAST(bundled_extra, bytes);
        ck_assert_uint_eq(allocator_usable(bundled, bytes), common < extra ? common : extra);
    }
}
END_TEST

/* "same rule upward (2^k * {1.25, 1.5, 1.75, 2})", to the table of a dict of 2^32 slots. */
START_TEST(four_classes_a_doubling_go_on_upward) {
    for (size_t i = 0; allocator_at(i); i++) {
        for (int k = 7; k <= 35; k++) {
            uint64_t quarter = UINT64_C(1) << (k - 2);
            for (uint64_t q = 5; q <= 8; q++) {
                ck_assert_uint_eq(allocator_usable(allocator_at(i), q * quarter), q * quarter);
                ck_assert_uint_eq(allocator_usable(allocator_at(i), q * quarter - 1), q * quarter);
                ck_assert_uint_eq(allocator_usable(allocator_at(i), (q - 1) * quarter + 1),
                                  q * quarter);
            }
        }
    }
}
END_TEST

START_TEST(allocators_are_found_by_the_names_they_are_listed_under) {
    size_t count = 0;
    for (; allocator_at(count); count++) {
        ck_assert_ptr_eq(allocator_find(allocator_at(count)->name), allocator_at(count));
    }
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_null(allocator_find("libc"));
    ck_assert_ptr_null(allocator_find(""));
}
END_TEST

/* Engine facts 10.2: header + text + NUL at both ends of each header's range. */
START_TEST(a_string_has_the_header_of_its_length_range) {
    static const uint64_t length_and_header[][2] = {
        {0, 3},   {1, 1},     {31, 1},    {32, 3},         {255, 3},
        {256, 5}, {65535, 5}, {65536, 9}, {UINT32_MAX, 9}, {UINT64_C(1) << 32, 17},
    };
    for (size_t i = 0; i < sizeof length_and_header / sizeof *length_and_header; i++) {
        uint64_t length = length_and_header[i][0], header = length_and_header[i][1];
        ck_assert_uint_eq(sds_request_bytes(length), header + length + 1);
    }
}
END_TEST

START_TEST(every_class_has_its_own_name) {
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        ck_assert_ptr_nonnull(memory_names[i]);
        for (int j = 0; j < i; j++) ck_assert_str_ne(memory_names[i], memory_names[j]);
    }
    ck_assert_str_eq(memory_names[MEMORY_BASE], "base");
    ck_assert_str_eq(memory_names[MEMORY_REPLICA_BUFFERS], "replica_buffers");
}
END_TEST

START_TEST(a_new_ledger_holds_the_base_as_it_is_given) {
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 876193); /* not a class: no rounding */
    ck_assert_int_eq(memory.used_bytes, 876193);
    ck_assert_int_eq(memory.peak_bytes, 876193);
    ck_assert_int_eq(memory.bytes[MEMORY_BASE], 876193);
    ck_assert_int_eq(memory.bytes[MEMORY_KEYS], 0);
}
END_TEST

START_TEST(taking_books_the_class_and_returns_it) {
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 0);
    ck_assert_uint_eq(memory_take(&memory, MEMORY_MAIN_ENTRIES, 24), 32);
    ck_assert_uint_eq(memory_take(&memory, MEMORY_KEYS, 100), 112);
    ck_assert_int_eq(memory.bytes[MEMORY_MAIN_ENTRIES], 32);
    ck_assert_int_eq(memory.bytes[MEMORY_KEYS], 112);
    ck_assert_int_eq(memory.used_bytes, 144);
    ck_assert_uint_eq(memory_give(&memory, MEMORY_KEYS, 100), 112);
    ck_assert_int_eq(memory.used_bytes, 32);
}
END_TEST

START_TEST(the_peak_stays_when_memory_is_given_back) {
    struct memory memory;
    memory_init(&memory, allocator_find("bundled"), 1000);
    memory_take(&memory, MEMORY_VALUES, 512);
    memory_give(&memory, MEMORY_VALUES, 512);
    memory_take(&memory, MEMORY_VALUES, 8);
    ck_assert_int_eq(memory.peak_bytes, 1512);
    ck_assert_int_eq(memory.used_bytes, 1008);
}
END_TEST

START_TEST(moving_changes_the_class_and_not_the_sum) {
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 0);
    memory_take(&memory, MEMORY_REPLICA_BUFFERS, 16384);
    memory_move(&memory, MEMORY_REPLICA_BUFFERS, MEMORY_BACKLOG, 10001);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], 6383);
    ck_assert_int_eq(memory.bytes[MEMORY_BACKLOG], 10001);
    ck_assert_int_eq(memory.used_bytes, 16384);
}
END_TEST

START_TEST(giving_more_than_the_class_holds_is_a_broken_invariant) {
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 1000);
    memory_take(&memory, MEMORY_KEYS, 16);
    memory_give(&memory, MEMORY_VALUES, 16);
}
END_TEST

START_TEST(moving_more_than_the_class_holds_is_a_broken_invariant) {
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 1000);
    memory_take(&memory, MEMORY_KEYS, 16);
    memory_move(&memory, MEMORY_KEYS, MEMORY_VALUES, 17);
}
END_TEST

/* Random takes, gives and moves; after each the sum and the peak are counted anew. */
START_TEST(used_is_the_sum_of_the_classes_after_any_sequence) {
    struct rng rng = rng_seed(test_seed());
    struct memory memory;
    memory_init(&memory, allocator_at(rng_below(&rng, 2)), 4096);
    uint64_t held[1000] = {0};
    uint8_t owner[1000];
    int64_t peak = 4096;
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        size_t i = rng_below(&rng, 1000);
        if (held[i]) {
            uint64_t usable = memory_give(&memory, owner[i], held[i]);
            ck_assert_uint_ge(usable, held[i]);
            held[i] = 0;
        } else {
            held[i] = 1 + rng_below(&rng, 5000);
            owner[i] = (uint8_t)(1 + rng_below(&rng, MEMORY_CLASS_COUNT - 1));
            memory_take(&memory, owner[i], held[i]);
        }
        int64_t expected[MEMORY_CLASS_COUNT] = {[MEMORY_BASE] = 4096}, sum = 4096;
        for (size_t j = 0; j < 1000; j++) {
            if (!held[j]) continue;
            int64_t usable = (int64_t)allocator_usable(memory.allocator, held[j]);
            expected[owner[j]] += usable;
            sum += usable;
        }
        if (sum > peak) peak = sum;
        ck_assert_mem_eq(memory.bytes, expected, sizeof expected);
        ck_assert_int_eq(memory.used_bytes, sum);
        ck_assert_int_eq(memory.peak_bytes, peak);
    }
}
END_TEST

static Suite *memory_suite(void) {
    Suite *suite = suite_create("memory");
    TCase *tc = tcase_create("memory");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, debian_takes_the_least_listed_class_for_every_size_to_65536);
    tcase_add_test(tc, bundled_has_the_three_classes_24_40_and_56_besides);
    tcase_add_test(tc, four_classes_a_doubling_go_on_upward);
    tcase_add_test(tc, allocators_are_found_by_the_names_they_are_listed_under);
    tcase_add_test(tc, a_string_has_the_header_of_its_length_range);
    tcase_add_test(tc, every_class_has_its_own_name);
    tcase_add_test(tc, a_new_ledger_holds_the_base_as_it_is_given);
    tcase_add_test(tc, taking_books_the_class_and_returns_it);
    tcase_add_test(tc, the_peak_stays_when_memory_is_given_back);
    tcase_add_test(tc, moving_changes_the_class_and_not_the_sum);
    tcase_add_test_raise_signal(tc, giving_more_than_the_class_holds_is_a_broken_invariant,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, moving_more_than_the_class_holds_is_a_broken_invariant,
                                SIGABRT);
    tcase_add_test(tc, used_is_the_sum_of_the_classes_after_any_sequence);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(memory_suite()); }
