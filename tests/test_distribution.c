/* distribution: draws against their exact distributions. The tests of fit are chi-square sums over
 * cells of known probability with a fixed seed: with k cells the sum has mean k - 1 and variance
 * 2 (k - 1), and a bound of mean + 5 standard deviations fails a true law less than once in 10^5
 * seeds. The seed is fixed, so a test that passes once passes for ever. */
#include "distribution.h"

#include <math.h>
#include <string.h>

#include "fixed_point.h"
#include "support.h"

#define DRAWS 1000000

static void check_fit(const uint64_t *seen, const long double *probability, uint32_t cells) {
    long double sum = 0;
    for (uint32_t i = 0; i < cells; i++) {
        long double expected = probability[i] * DRAWS, off = (long double)seen[i] - expected;
        ck_assert(expected >= 5); /* below that the sum is not chi-square */
        sum += off * off / expected;
    }
    long double bound = (cells - 1) + 5 * sqrtl(2.0L * (cells - 1));
    ck_assert_msg(sum <= bound, "chi-square %Lf over the bound %Lf", sum, bound);
}

START_TEST(ln_and_exp_are_exact_to_2_48) {
    struct rng rng = rng_seed(1);
    for (int i = 0; i < 100000; i++) {
        uint64_t x = (rng_next(&rng) >> rng_below(&rng, 64)) | 1;
        long double got = (long double)fixed_ln(x) / FIXED_ONE;
        ck_assert(fabsl(got - logl((long double)x)) < 0x1p-48L);
        uint64_t y = rng_next(&rng) >> rng_below(&rng, 30);
        long double e = (long double)fixed_exp_negative(y) / FIXED_ONE;
        ck_assert(fabsl(e - expl(-(long double)y / FIXED_ONE)) < 0x1p-48L);
    }
    ck_assert_uint_eq(fixed_ln(1), 0);
    ck_assert_uint_eq(fixed_exp_negative(0), FIXED_ONE);
    ck_assert_uint_eq(fixed_exp_negative(UINT64_MAX), 0);
}
END_TEST

START_TEST(a_constant_draws_nothing) {
    struct rng rng = rng_seed(1), before = rng;
    struct distribution d = {.kind = DISTRIBUTION_CONSTANT, .low = -7};
    ck_assert_int_eq(distribution_draw(&d, &rng), -7);
    ck_assert_mem_eq(&rng, &before, sizeof rng);
}
END_TEST

START_TEST(uniform_includes_both_ends_and_is_flat) {
    struct rng rng = rng_seed(2);
    struct distribution d = {.kind = DISTRIBUTION_UNIFORM, .low = -3, .high = 6};
    uint64_t seen[10] = {0};
    long double p[10];
    for (int i = 0; i < 10; i++) p[i] = 0.1L;
    for (int i = 0; i < DRAWS; i++) seen[distribution_draw(&d, &rng) + 3]++;
    check_fit(seen, p, 10);
}
END_TEST

START_TEST(a_mix_follows_its_weights) {
    struct rng rng = rng_seed(3);
    struct weighted_value mix[] = {{0, 90}, {1, 9}, {2, 1}};
    struct distribution d = {
        .kind = DISTRIBUTION_MIX, .mix = mix, .mix_count = 3, .mix_weight = 100};
    uint64_t seen[3] = {0};
    long double p[3] = {0.9L, 0.09L, 0.01L};
    for (int i = 0; i < DRAWS; i++) seen[distribution_draw(&d, &rng)]++;
    check_fit(seen, p, 3);
}
END_TEST

/* Cells: ranks 0..15 alone, then doubling groups of ranks to the end. */
static uint32_t zipf_cell(uint32_t rank) {
    return rank < 16 ? rank : 12 + (31 - (uint32_t)__builtin_clz(rank));
}

static void check_zipf(uint32_t count, uint32_t milli) {
    uint64_t seen[64] = {0};
    long double p[64] = {0}, total = 0;
    for (uint32_t r = 0; r < count; r++) {
        long double weight = powl((long double)r + 1, -(long double)milli / 1000);
        p[zipf_cell(r)] += weight;
        total += weight;
    }
    uint32_t cells = zipf_cell(count - 1) + 1;
    for (uint32_t i = 0; i < cells; i++) p[i] /= total;
    struct zipf *zipf = zipf_create(count, milli);
    struct rng rng = rng_seed(4);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t rank = zipf_draw(zipf, &rng);
        ck_assert(rank < count);
        seen[zipf_cell(rank)]++;
    }
    zipf_destroy(zipf);
    check_fit(seen, p, cells);
}

START_TEST(zipf_follows_the_exact_weights) {
    check_zipf(1, 990);
    check_zipf(10, 990);
    check_zipf(3000, 700);
    check_zipf(1000000, 990);
    check_zipf(1000000, 500);
    check_zipf(100000, 0);
}
END_TEST

START_TEST(zipf_takes_any_count_and_exponent) {
    struct rng rng = rng_seed(5);
    static const uint32_t exponents[] = {0, 1, 990, 1000, 10000, UINT32_MAX};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        struct zipf *zipf = zipf_create(UINT32_MAX, exponents[i]);
        for (int n = 0; n < 1000; n++) ck_assert(zipf_draw(zipf, &rng) < UINT32_MAX);
        zipf_destroy(zipf);
    }
}
END_TEST

START_TEST(exponential_times_follow_their_law) {
    struct rng rng = rng_seed(6);
    uint64_t seen[20] = {0};
    long double p[20], sum = 0;
    for (int i = 0; i < DRAWS; i++) { /* cells of a quarter of the mean; the last is open */
        ns_t wait = exponential_draw_ns(&rng, 4000000);
        ck_assert(wait >= 0);
        sum += (long double)wait;
        seen[wait / 1000000 < 19 ? wait / 1000000 : 19]++;
    }
    for (int i = 0; i < 20; i++) p[i] = expl(-i / 4.0L) - (i < 19 ? expl(-(i + 1) / 4.0L) : 0);
    check_fit(seen, p, 20);
    ck_assert(fabsl(sum / DRAWS - 4000000) < 5 * 4000000 / sqrtl(DRAWS));
    ck_assert_int_eq(exponential_draw_ns(&rng, 0), 0);
}
END_TEST

START_TEST(exponential_times_of_a_huge_mean_stay_in_range) {
    struct rng rng = rng_seed(7);
    for (int i = 0; i < 1000; i++) ck_assert(exponential_draw_ns(&rng, INT64_MAX) >= 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("distribution");
    TCase *tcase = tcase_create("distribution");
    tcase_add_test(tcase, ln_and_exp_are_exact_to_2_48);
    tcase_add_test(tcase, a_constant_draws_nothing);
    tcase_add_test(tcase, uniform_includes_both_ends_and_is_flat);
    tcase_add_test(tcase, a_mix_follows_its_weights);
    tcase_add_test(tcase, zipf_follows_the_exact_weights);
    tcase_add_test(tcase, zipf_takes_any_count_and_exponent);
    tcase_add_test(tcase, exponential_times_follow_their_law);
    tcase_add_test(tcase, exponential_times_of_a_huge_mean_stay_in_range);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
