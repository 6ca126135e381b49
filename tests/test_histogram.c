/* histogram: exact below 64, within 1/32 above, against a sorted array of all samples. */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static struct histogram histogram, other, both; /* 16 KiB each: too much for a stack */

static void reset_all(void) {
    histogram_reset(&histogram);
    histogram_reset(&other);
    histogram_reset(&both);
}

START_TEST(an_empty_histogram_answers_zero) {
    ck_assert_int_eq(histogram_percentile(&histogram, 500), 0);
    ck_assert_int_eq(histogram_mean(&histogram), 0);
    histogram_check(&histogram);
}
END_TEST

START_TEST(values_below_64_are_exact) {
    for (int64_t value = 0; value < 64; value++) {
        histogram_reset(&histogram);
        histogram_add(&histogram, value, 1);
        histogram_add(&histogram, 1000, 1);
        ck_assert_int_eq(histogram_percentile(&histogram, 500), value);
        histogram_check(&histogram);
    }
}
END_TEST

START_TEST(a_percentile_is_the_upper_edge_of_its_bucket) {
    /* 100 and 101 share a bucket of width 2 (64..127 in 32 parts); 102 has the next one. */
    histogram_add(&histogram, 100, 3);
    histogram_add(&histogram, 102, 1);
    ck_assert_int_eq(histogram_percentile(&histogram, 500), 101);
    ck_assert_int_eq(histogram_percentile(&histogram, 750), 101); /* rank 3 of 4 */
    ck_assert_int_eq(histogram_percentile(&histogram, 751), 102); /* rank 4; its edge 103 > max */
}
END_TEST

START_TEST(a_percentile_is_never_above_the_largest_value) {
    histogram_add(&histogram, 1000000, 5);
    ck_assert_int_eq(histogram_percentile(&histogram, 500), 1000000);
    ck_assert_int_eq(histogram_percentile(&histogram, 1000), 1000000);
}
END_TEST

START_TEST(the_extremes_of_int64_have_buckets) {
    histogram_add(&histogram, INT64_MAX, 1);
    histogram_add(&histogram, INT64_MIN, 1); /* negative counts as 0 */
    histogram_check(&histogram);
    ck_assert_int_eq(histogram.min, 0);
    ck_assert_int_eq(histogram_percentile(&histogram, 500), 0);
    ck_assert_int_eq(histogram_percentile(&histogram, 1000), INT64_MAX);
    ck_assert_int_eq(histogram_mean(&histogram), INT64_MAX / 2);
}
END_TEST

START_TEST(a_sum_without_64_bits_saturates) {
    histogram_add(&histogram, INT64_MAX, 3); /* 3 * (2^63 - 1) > 2^64 - 1 */
    ck_assert_uint_eq(histogram.sum, UINT64_MAX);
    ck_assert_int_eq(histogram_mean(&histogram), (int64_t)(UINT64_MAX / 3));
    histogram_check(&histogram);
}
END_TEST

START_TEST(the_mean_is_floored) {
    histogram_add(&histogram, 1, 2);
    histogram_add(&histogram, 6, 1);
    ck_assert_int_eq(histogram_mean(&histogram), 2); /* 8 / 3 */
}
END_TEST

START_TEST(no_times_is_no_sample) {
    histogram_add(&histogram, 77, 0);
    ck_assert_uint_eq(histogram.count, 0);
    ck_assert_int_eq(histogram_percentile(&histogram, 1000), 0);
    histogram_check(&histogram);
}
END_TEST

START_TEST(a_reset_leaves_no_sample_behind) {
    static const struct histogram empty;
    histogram_add(&histogram, 3, 1);
    histogram_add(&histogram, 123456789, 2);
    histogram_reset(&histogram);
    ck_assert_mem_eq(&histogram, &empty, sizeof empty);
}
END_TEST

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The rank by its definition: the first sample with at least per_mille of all at or below it. */
static int64_t naive_percentile(const int64_t *sorted, uint64_t count, uint32_t per_mille) {
    for (uint64_t i = 0; i < count; i++)
        if ((i + 1) * 1000 >= count * per_mille) return sorted[i];
    return 0;
}

static void compare_percentiles(const int64_t *sorted, uint64_t count) {
    for (uint32_t per_mille = 0; per_mille <= 1000; per_mille++) {
        int64_t exact = naive_percentile(sorted, count, per_mille);
        int64_t found = histogram_percentile(&histogram, per_mille);
        ck_assert_int_ge(found, exact);
        ck_assert_int_le(found - exact, exact / 32);
        if (exact < 64) ck_assert_int_eq(found, exact);
    }
}

START_TEST(percentiles_lie_within_a_32nd_of_a_sorted_array) {
    enum { SAMPLES = 1000 };
    int64_t samples[SAMPLES];
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(30); round++) {
        uint64_t count = 1 + rng_below(&rng, SAMPLES), sum = 0;
        histogram_reset(&histogram);
        for (uint64_t i = 0; i < count; i++) {
            samples[i] = (int64_t)(rng_next(&rng) >> (12 + rng_below(&rng, 52)));
            histogram_add(&histogram, samples[i], 1);
            sum += (uint64_t)samples[i];
            if (i % 50 == 0) histogram_check(&histogram);
        }
        qsort(samples, count, sizeof samples[0], compare);
        histogram_check(&histogram);
        ck_assert_int_eq(histogram.min, samples[0]);
        ck_assert_int_eq(histogram.max, samples[count - 1]);
        ck_assert_uint_eq(histogram.sum, sum);
        compare_percentiles(samples, count);
    }
}
END_TEST

START_TEST(a_merge_equals_adding_all_to_one) {
    struct rng rng = rng_seed(test_seed() + 1);
    for (uint32_t round = 0; round < test_rounds(200); round++) {
        reset_all();
        for (uint64_t i = rng_below(&rng, 8); i > 0; i--) {
            int64_t value = (int64_t)(rng_next(&rng) >> (12 + rng_below(&rng, 52)));
            uint64_t times = rng_below(&rng, 4);
            histogram_add(rng_below(&rng, 2) ? &histogram : &other, value, times);
            histogram_add(&both, value, times);
        }
        histogram_merge(&histogram, &other);
        histogram_check(&histogram);
        ck_assert_mem_eq(&histogram, &both, sizeof both);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("histogram");
    TCase *tests = tcase_create("histogram");
    tcase_add_checked_fixture(tests, reset_all, NULL);
    tcase_add_test(tests, an_empty_histogram_answers_zero);
    tcase_add_test(tests, values_below_64_are_exact);
    tcase_add_test(tests, a_percentile_is_the_upper_edge_of_its_bucket);
    tcase_add_test(tests, a_percentile_is_never_above_the_largest_value);
    tcase_add_test(tests, the_extremes_of_int64_have_buckets);
    tcase_add_test(tests, a_sum_without_64_bits_saturates);
    tcase_add_test(tests, the_mean_is_floored);
    tcase_add_test(tests, no_times_is_no_sample);
    tcase_add_test(tests, a_reset_leaves_no_sample_behind);
    tcase_add_test(tests, percentiles_lie_within_a_32nd_of_a_sorted_array);
    tcase_add_test(tests, a_merge_equals_adding_all_to_one);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
