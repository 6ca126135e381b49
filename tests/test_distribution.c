/* distribution: draws against their exact distributions. The tests of fit are chi-square sums over
 * cells of known probability with a fixed seed: with k cells the sum has mean k - 1 and variance
 * 2 (k - 1), and a bound of mean + 5 standard deviations fails a true law less than once in 10^5
 * seeds. The seed is fixed, so a test that passes once passes for ever. */
#include "distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixed_point.h"
#include "normal.h"
#include "support.h"

__extension__ typedef unsigned __int128 u128;

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

START_TEST(a_number_times_exp_is_exact_to_2_45) {
    struct rng rng = rng_seed(8);
    for (int i = 0; i < 100000; i++) {
        uint64_t x = rng_next(&rng) >> rng_below(&rng, 64), y = rng_below(&rng, 40 * FIXED_ONE);
        long double exact = (long double)x * expl((long double)y / FIXED_ONE);
        uint64_t got = fixed_scale_exp(x, y);
        if (exact > 0x1p64L)
            ck_assert_uint_eq(got, UINT64_MAX);
        else
            ck_assert(fabsl((long double)got - exact) <= 1 + exact * 0x1p-45L);
    }
    ck_assert_uint_eq(fixed_scale_exp(7, 0), 7);
    ck_assert_uint_eq(fixed_scale_exp(0, UINT64_MAX), 0);
    ck_assert_uint_eq(fixed_scale_exp(1, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* Printed quantiles of the standard normal law, to six digits (any table has them). The table of
 * normal.c holds the quarter itself; between two entries it is off by up to 300 millionths. */
START_TEST(normal_quantiles_are_those_of_the_printed_table) {
    static const struct {
        uint64_t per_million; /* below it */
        int64_t z;            /* millionths */
    } printed[] = {{500000, 0},       {750000, 674490},  {800000, 841621},  {900000, 1281552},
                   {950000, 1644854}, {975000, 1959964}, {990000, 2326348}, {995000, 2575829},
                   {999000, 3090232}, {999900, 3719016}, {999990, 4264891}};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        uint64_t u = (uint64_t)((((u128)printed[i].per_million << 64) - 1) / 1000000);
        int64_t z = normal_quantile(u), mirrored = normal_quantile(~u);
        ck_assert_msg(llabs(z - printed[i].z) <= 300, "%d: %lld", (int)i, (long long)z);
        ck_assert_int_eq(mirrored, -z);
    }
    ck_assert_int_eq(normal_quantile((UINT64_C(3) << 62) - 1), 674490);
    ck_assert_int_eq(normal_quantile(0), -normal_quantile(UINT64_MAX));
}
END_TEST

/* Everywhere: the tail beyond z, by libm, is what was asked for. A z off by 0.0003 bends the tail
 * by 0.0003 * density / tail, and that ratio is below z + 1. */
START_TEST(normal_quantiles_invert_the_normal_law) {
    struct rng rng = rng_seed(9);
    int64_t below = normal_quantile(0);
    for (int i = 0; i < 200000; i++) {
        uint64_t tail = rng_next(&rng) >> (1 + rng_below(&rng, 24));
        if (tail < UINT64_C(1) << 39) continue; /* one in 2^25: the last value stands */
        long double z = (long double)normal_quantile(~tail) / NORMAL_ONE;
        long double p = ((long double)tail + 1) * 0x1p-64L, got = erfcl(z / sqrtl(2)) / 2;
        ck_assert_msg(fabsl(got / p - 1) < 0.0003L * (z + 1), "%Lg for %Lg", got, p);
    }
    for (uint64_t u = 0; u < 65536; u++) { /* and it never falls */
        int64_t z = normal_quantile(u << 48);
        ck_assert_int_le(below, z);
        below = z;
    }
}
END_TEST

/* ln(80 / 10) / 2.326348 = 2.079442 / 2.326348 = 0.893865 */
#define MEDIAN INT64_C(10000000)

static struct distribution lognormal(int64_t p99) {
    return (struct distribution){.kind = DISTRIBUTION_LOGNORMAL,
                                 .high = INT64_MAX,
                                 .middle = MEDIAN,
                                 .sigma = lognormal_sigma(MEDIAN, p99)};
}

START_TEST(sigma_follows_from_median_and_p99) {
    ck_assert(fabsl((long double)lognormal_sigma(MEDIAN, 8 * MEDIAN) / FIXED_ONE - 0.893865L) <
              0.000001L);
    ck_assert_uint_eq(lognormal_sigma(MEDIAN, MEDIAN), 0);
    struct distribution d = lognormal(MEDIAN);
    struct rng rng = rng_seed(10);
    for (int i = 0; i < 100; i++) ck_assert_int_eq(distribution_draw(&d, &rng), MEDIAN);
}
END_TEST

/* Draws fall into cells parted by the exact quantiles: median * exp(0.893865 * z).
 *   z      -1.281552   -0.674490   0      0.674490   1.281552   2.326348
 *   below       0.10        0.25   0.50      0.75       0.90       0.99
 *   in ns    3180539     5472208   1e7   18274160   31441211   80000000 */
START_TEST(lognormal_draws_have_the_quantiles_of_their_law) {
    static const long double z[] = {-1.2815516L, -0.6744898L, 0,
                                    0.6744898L,  1.2815516L,  2.3263479L};
    static const long double p[] = {0.10L, 0.15L, 0.25L, 0.25L, 0.15L, 0.09L, 0.01L};
    static const int64_t printed[] = {3180539, 5472208, 10000000, 18274160, 31441211, 80000000};
    struct distribution d = lognormal(8 * MEDIAN);
    struct rng rng = rng_seed(11);
    uint64_t seen[7] = {0};
    int64_t edges[6];
    for (int i = 0; i < 6; i++) {
        edges[i] = (int64_t)(MEDIAN * expl(0.893865L * z[i]));
        ck_assert_int_le(llabs(edges[i] - printed[i]), printed[i] / 100000);
    }
    for (int i = 0; i < DRAWS; i++) {
        int64_t value = distribution_draw(&d, &rng);
        int cell = 0;
        while (cell < 6 && value >= edges[cell]) cell++;
        seen[cell]++;
    }
    check_fit(seen, p, 7);
}
END_TEST

/* The mean is median * exp(sigma^2 / 2) = 10 ms * exp(0.399497) = 14.9107 ms and the deviation is
 * mean * sqrt(exp(sigma^2) - 1) = 14.9107 * 1.1060 = 16.492 ms; of 10^5 draws the mean deviates by
 * 0.0522 ms. Five of these over 20 seeds; cutting off at 5.42 sigma takes less than 10^-5 away. */
START_TEST(lognormal_means_stay_in_bounds_for_many_seeds) {
    struct distribution d = lognormal(8 * MEDIAN);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = rng_seed(test_seed() + seed);
        long double sum = 0;
        for (int i = 0; i < 100000; i++) sum += (long double)distribution_draw(&d, &rng);
        long double mean = sum / 100000;
        ck_assert_msg(fabsl(mean - 14910700) < 5 * 52200, "seed %d: %Lf", (int)seed, mean);
    }
}
END_TEST

START_TEST(lognormal_and_exponential_draws_end_at_their_bounds) {
    struct distribution d = lognormal(1000 * MEDIAN), e = {.kind = DISTRIBUTION_EXPONENTIAL};
    d.low = MEDIAN / 2, d.high = 2 * MEDIAN;
    e.low = 5, e.high = 20, e.middle = 10;
    struct rng rng = rng_seed(12);
    bool low = false, high = false, e_low = false, e_high = false;
    for (int i = 0; i < 1000; i++) {
        int64_t value = distribution_draw(&d, &rng), wait = distribution_draw(&e, &rng);
        ck_assert(d.low <= value && value <= d.high && e.low <= wait && wait <= e.high);
        low |= value == d.low, high |= value == d.high;
        e_low |= wait == e.low, e_high |= wait == e.high;
    }
    ck_assert(low && high && e_low && e_high);
    struct distribution huge = lognormal(1000 * MEDIAN); /* no overflow on the way to the bound */
    huge.middle = INT64_MAX;
    for (int i = 0; i < 1000; i++) ck_assert_int_ge(distribution_draw(&huge, &rng), 0);
}
END_TEST

START_TEST(empirical_draws_follow_the_weights_of_the_file) {
    struct weighted_value *values = malloc(5 * sizeof *values);
    ck_assert_ptr_nonnull(values);
    memcpy(values, (struct weighted_value[]){{30, 5}, {10, 50}, {20, 20}, {10, 20}, {30, 5}},
           5 * sizeof *values);
    struct distribution d = empirical_create(values, 5), copy = distribution_copy(&d);
    ck_assert_uint_eq(d.mix_count, 3);
    ck_assert_uint_eq(d.mix_weight, 100);
    distribution_release(&d);
    struct rng rng = rng_seed(13);
    uint64_t seen[3] = {0};
    static const long double p[] = {0.7L, 0.2L, 0.1L};
    for (int i = 0; i < DRAWS; i++) {
        int64_t value = distribution_draw(&copy, &rng);
        ck_assert(value == 10 || value == 20 || value == 30);
        seen[value / 10 - 1]++;
    }
    check_fit(seen, p, 3);
    distribution_release(&copy);
    ck_assert_int_eq(copy.kind, DISTRIBUTION_NONE);
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
    tcase_add_test(tcase, a_number_times_exp_is_exact_to_2_45);
    tcase_add_test(tcase, normal_quantiles_are_those_of_the_printed_table);
    tcase_add_test(tcase, normal_quantiles_invert_the_normal_law);
    tcase_add_test(tcase, sigma_follows_from_median_and_p99);
    tcase_add_test(tcase, lognormal_draws_have_the_quantiles_of_their_law);
    tcase_add_test(tcase, lognormal_means_stay_in_bounds_for_many_seeds);
    tcase_add_test(tcase, lognormal_and_exponential_draws_end_at_their_bounds);
    tcase_add_test(tcase, empirical_draws_follow_the_weights_of_the_file);
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
