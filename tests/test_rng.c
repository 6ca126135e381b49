#include <stdio.h>

#include "support.h"

/* State 1 2 3 4 by a separate implementation of the paper's listing; the first two are also plain
 * arithmetic: rotl(2 * 5, 7) * 9 = 11520, and then s[1] is 1 ^ 2 ^ 3 = 0. */
START_TEST(next_gives_the_sequence_of_xoshiro256_starstar) {
    struct rng rng = {.state = {1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360)};
    for (int i = 0; i < 5; i++) ck_assert_uint_eq(rng_next(&rng), expected[i]);
}
END_TEST

/* The widely published splitmix64 outputs for seed 1234567. */
START_TEST(seeding_fills_the_state_from_splitmix64) {
    struct rng rng = rng_seed(1234567);
    ck_assert_uint_eq(rng.state[0], UINT64_C(6457827717110365317));
    ck_assert_uint_eq(rng.state[1], UINT64_C(3203168211198807973));
    ck_assert_uint_eq(rng.state[2], UINT64_C(9817491932198370423));
    ck_assert_uint_eq(rng.state[3], UINT64_C(4593380528125082431));
}
END_TEST

START_TEST(seed_0_does_not_stick_at_0) {
    struct rng rng = rng_seed(0);
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0x99ec5f36cb75f2b4)); /* separate implementation */
}
END_TEST

START_TEST(a_fork_is_the_same_however_much_its_parent_has_drawn) {
    struct rng parent = rng_seed(test_seed());
    struct rng early = rng_fork(&parent, "clients.reader");
    for (int i = 0; i < 100; i++) rng_next(&parent);
    struct rng late = rng_fork(&parent, "clients.reader");
    for (int i = 0; i < 100; i++) ck_assert_uint_eq(rng_next(&early), rng_next(&late));
}
END_TEST

START_TEST(forking_leaves_the_parents_stream_alone) {
    struct rng a = rng_seed(test_seed()), b = a;
    rng_fork(&a, "x");
    ck_assert_uint_eq(rng_next(&a), rng_next(&b));
}
END_TEST

/* 50 seeds with 50 labels and each parent itself: 2550 streams. Of their first draws two would
 * agree by chance with probability 2550^2 / 2^65, that is never. */
START_TEST(forks_of_neighbouring_seeds_and_labels_all_differ) {
    enum { SEEDS = 50, LABELS = 50, STREAMS = SEEDS * (LABELS + 1) };
    static uint64_t first[STREAMS];
    int n = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rng parent = rng_seed(seed);
        for (int i = 0; i < LABELS; i++) {
            char label[16];
            snprintf(label, sizeof label, "node%d", i);
            struct rng fork = rng_fork(&parent, label);
            first[n++] = rng_next(&fork);
        }
        first[n++] = rng_next(&parent);
    }
    int equal = 0; /* one assertion for all: Check reports each to its parent */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) equal += first[i] == first[j];
    }
    ck_assert_int_eq(equal, 0);
}
END_TEST

START_TEST(a_fork_of_a_fork_depends_on_both_labels) {
    struct rng root = rng_seed(7);
    struct rng a = rng_fork(&root, "a"), b = rng_fork(&root, "b");
    struct rng ab = rng_fork(&a, "b"), ba = rng_fork(&b, "a");
    ck_assert_uint_ne(rng_next(&ab), rng_next(&ba));
}
END_TEST

/* A value of 64 stays out of 64 * 40 draws with probability (63/64)^2560 = e^-40. */
START_TEST(below_reaches_every_value_under_the_bound_and_no_other) {
    struct rng rng = rng_seed(test_seed());
    for (uint64_t bound = 1; bound <= 64; bound++) {
        uint64_t seen = 0;
        for (uint64_t i = 0; i < bound * 40; i++) {
            uint64_t draw = rng_below(&rng, bound);
            ck_assert_uint_lt(draw, bound);
            seen |= UINT64_C(1) << draw;
        }
        ck_assert_uint_eq(seen, bound == 64 ? UINT64_MAX : (UINT64_C(1) << bound) - 1);
    }
}
END_TEST

/* 70,000 draws of 7: 10,000 each, deviation sqrt(70000 * 1/7 * 6/7) = 92.6; six of them are 556. */
START_TEST(below_7_gives_each_value_a_seventh_of_the_draws) {
    struct rng rng = rng_seed(test_seed());
    int count[7] = {0};
    for (int i = 0; i < 70000; i++) count[rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++) {
        ck_assert_int_gt(count[i], 10000 - 556);
        ck_assert_int_lt(count[i], 10000 + 556);
    }
}
END_TEST

/* Of bound 3 * 2^62 a third of the draws fall under 2^62; a plain remainder would put half there.
 * 30,000 draws: 10,000, deviation sqrt(30000 * 1/3 * 2/3) = 81.6; six of them are 490. */
START_TEST(below_a_bound_near_2_to_the_64_has_no_bias) {
    struct rng rng = rng_seed(test_seed());
    uint64_t quarter = UINT64_C(1) << 62;
    int low = 0;
    for (int i = 0; i < 30000; i++) low += rng_below(&rng, 3 * quarter) < quarter;
    ck_assert_int_gt(low, 10000 - 490);
    ck_assert_int_lt(low, 10000 + 490);
}
END_TEST

START_TEST(below_a_power_of_two_wastes_no_draw) {
    struct rng a = rng_seed(test_seed()), b = a;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t bound = UINT64_C(1) << bit;
        ck_assert_uint_eq(rng_below(&a, bound), rng_next(&b) & (bound - 1));
    }
}
END_TEST

START_TEST(chance_0_never_happens_and_chance_1_always) {
    struct rng rng = rng_seed(test_seed());
    for (int i = 0; i < 1000; i++) {
        ck_assert(!rng_chance(&rng, 0, 3));
        ck_assert(rng_chance(&rng, 3, 3));
    }
}
END_TEST

/* 40,000 draws at 3/8: 15,000, deviation sqrt(40000 * 3/8 * 5/8) = 96.8; six of them are 581. */
START_TEST(chance_3_of_8_happens_three_times_in_eight) {
    struct rng rng = rng_seed(test_seed());
    int hits = 0;
    for (int i = 0; i < 40000; i++) hits += rng_chance(&rng, 3, 8);
    ck_assert_int_gt(hits, 15000 - 581);
    ck_assert_int_lt(hits, 15000 + 581);
}
END_TEST

static Suite *rng_suite(void) {
    Suite *suite = suite_create("rng");
    TCase *tc = tcase_create("rng");
    tcase_add_test(tc, next_gives_the_sequence_of_xoshiro256_starstar);
    tcase_add_test(tc, seeding_fills_the_state_from_splitmix64);
    tcase_add_test(tc, seed_0_does_not_stick_at_0);
    tcase_add_test(tc, a_fork_is_the_same_however_much_its_parent_has_drawn);
    tcase_add_test(tc, forking_leaves_the_parents_stream_alone);
    tcase_add_test(tc, forks_of_neighbouring_seeds_and_labels_all_differ);
    tcase_add_test(tc, a_fork_of_a_fork_depends_on_both_labels);
    tcase_add_test(tc, below_reaches_every_value_under_the_bound_and_no_other);
    tcase_add_test(tc, below_7_gives_each_value_a_seventh_of_the_draws);
    tcase_add_test(tc, below_a_bound_near_2_to_the_64_has_no_bias);
    tcase_add_test(tc, below_a_power_of_two_wastes_no_draw);
    tcase_add_test(tc, chance_0_never_happens_and_chance_1_always);
    tcase_add_test(tc, chance_3_of_8_happens_three_times_in_eight);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void) { return test_run(rng_suite()); }
