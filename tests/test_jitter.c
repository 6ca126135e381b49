/* jitter: every strategy against its exact distribution, by chi-square over cells of known
 * probability. With k cells the sum has mean k - 1 and variance 2 (k - 1); the bound is mean + 5
 * standard deviations. Seeds are fixed. */
#include "jitter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define DRAWS 400000
#define TTL   60000
#define NOW   INT64_C(1767225600123)

static ms_t apply(enum jitter_kind kind, ms_t span, struct rng *rng) {
    struct jitter jitter = {.kind = kind, .span_ms = span, .resolution_ms = 1};
    return jitter_apply(&jitter, TTL, NOW, (uint32_t)rng_next(rng), rng);
}

/* probability(value) for each TTL from low to high; nothing may fall outside. */
static void check_law(enum jitter_kind kind, ms_t span, ms_t low, ms_t high,
                      long double (*weight)(ms_t offset, ms_t span)) {
    static uint64_t seen[2001];
    uint32_t cells = (uint32_t)(high - low + 1);
    ck_assert(cells <= 2001);
    memset(seen, 0, sizeof seen);
    struct rng rng = rng_seed(11);
    for (int i = 0; i < DRAWS; i++) {
        ms_t ttl = apply(kind, span, &rng);
        ck_assert_msg(ttl >= low && ttl <= high, "%s: %lld", jitter_names[kind], (long long)ttl);
        seen[ttl - low]++;
    }
    long double total = 0, sum = 0;
    for (ms_t t = low; t <= high; t++) total += weight(t - TTL, span);
    for (ms_t t = low; t <= high; t++) {
        long double expected = weight(t - TTL, span) / total * DRAWS;
        ck_assert(expected >= 4);
        long double off = (long double)seen[t - low] - expected;
        sum += off * off / expected;
    }
    long double bound = (cells - 1) + 5 * sqrtl(2.0L * (cells - 1));
    ck_assert_msg(sum <= bound, "%s: chi-square %Lf over %Lf", jitter_names[kind], sum, bound);
}

static long double flat(ms_t offset, ms_t span) {
    (void)offset, (void)span;
    return 1;
}

static long double bell(ms_t offset, ms_t span) { /* sigma = half / 3 */
    long double sigma = (long double)(span / 2) / 3, x = (long double)offset / sigma;
    return expl(-x * x / 2);
}

START_TEST(none_keeps_the_ttl) {
    struct rng rng = rng_seed(1);
    ck_assert_int_eq(apply(JITTER_NONE, 1000, &rng), TTL);
}
END_TEST

START_TEST(uniform_is_flat_around_the_ttl) {
    check_law(JITTER_UNIFORM, 1000, TTL - 500, TTL + 500, flat);
    check_law(JITTER_UNIFORM, 1001, TTL - 500, TTL + 500, flat);
    check_law(JITTER_UNIFORM, 1, TTL, TTL, flat);
}
END_TEST

START_TEST(subtract_is_flat_before_the_ttl) {
    check_law(JITTER_SUBTRACT, 1000, TTL - 1000, TTL, flat);
}
END_TEST

START_TEST(add_is_flat_after_the_ttl) { check_law(JITTER_ADD, 1000, TTL, TTL + 1000, flat); }
END_TEST

START_TEST(gaussian_is_a_bell_cut_off_at_three_sigma) {
    check_law(JITTER_GAUSSIAN, 300, TTL - 150, TTL + 150, bell);
    check_law(JITTER_GAUSSIAN, 0, TTL, TTL, flat);
}
END_TEST

START_TEST(hash_is_flat_and_the_same_for_the_same_key) {
    check_law(JITTER_HASH, 999, TTL, TTL + 999, flat);
    struct rng rng = rng_seed(1);
    struct jitter jitter = {.kind = JITTER_HASH, .span_ms = 999, .resolution_ms = 1};
    ms_t ttl = jitter_apply(&jitter, TTL, NOW, 123456, &rng);
    ck_assert_int_eq(jitter_apply(&jitter, TTL, NOW + 77, 123456, &rng), ttl);
}
END_TEST

/* Buckets come from the low bits of the same hash, and the cycle walks them in order. */
START_TEST(hash_does_not_follow_the_buckets) {
    struct rng rng = rng_seed(1);
    struct jitter jitter = {.kind = JITTER_HASH, .span_ms = 65535, .resolution_ms = 1};
    uint64_t late = 0;
    for (uint32_t hash = 0; hash < 1000; hash++) /* the first thousand buckets of a million */
        late += jitter_apply(&jitter, TTL, NOW, hash, &rng) >= TTL + 32768;
    ck_assert(late > 400 && late < 600);
}
END_TEST

START_TEST(hash_reaches_the_end_of_a_long_span) {
    struct rng rng = rng_seed(1);
    struct jitter jitter = {.kind = JITTER_HASH, .span_ms = INT64_C(1) << 40, .resolution_ms = 1};
    ms_t most = 0;
    for (uint32_t hash = 0; hash < 1000; hash++) {
        ms_t ttl = jitter_apply(&jitter, TTL, NOW, hash, &rng);
        most = ttl > most ? ttl : most;
    }
    ck_assert(most > INT64_C(1) << 39);
}
END_TEST

/* floor of an exponential time: P(lead = k) = exp(-k / span) (1 - exp(-1 / span)). Cells of 100 ms;
 * the last is open. */
START_TEST(exponential_leads_follow_their_law) {
    struct rng rng = rng_seed(12);
    uint64_t seen[50] = {0};
    for (int i = 0; i < DRAWS; i++) {
        ms_t lead = TTL - apply(JITTER_EXPONENTIAL, 1000, &rng);
        ck_assert(lead >= 0 && lead < TTL);
        seen[lead / 100 < 49 ? lead / 100 : 49]++;
    }
    long double sum = 0;
    for (int i = 0; i < 50; i++) {
        long double p = expl(-i / 10.0L) - (i < 49 ? expl(-(i + 1) / 10.0L) : 0);
        long double off = (long double)seen[i] - p * DRAWS;
        sum += off * off / (p * DRAWS);
    }
    ck_assert_msg(sum < 49 + 5 * sqrtl(98), "chi-square %Lf", sum);
}
END_TEST

/* With mean span = ttl, P(lead >= ttl) = exp(-1): those keys get the least TTL. */
START_TEST(exponential_leads_end_at_the_whole_ttl) {
    struct rng rng = rng_seed(13);
    uint64_t least = 0;
    for (int i = 0; i < DRAWS; i++) {
        ms_t ttl = apply(JITTER_EXPONENTIAL, TTL, &rng);
        ck_assert(ttl >= 1 && ttl <= TTL);
        least += ttl == 1;
    }
    long double p = expl(-1 + 1.0L / TTL), sigma = sqrtl(DRAWS * p * (1 - p));
    ck_assert(fabsl((long double)least - DRAWS * p) < 5 * sigma);
}
END_TEST

START_TEST(round_gathers_deadlines_on_multiples_of_span) {
    struct rng rng = rng_seed(1);
    struct jitter jitter = {.kind = JITTER_ROUND, .span_ms = 5000, .resolution_ms = 1};
    for (ms_t now = NOW; now < NOW + 20000; now += 7) {
        ms_t deadline = now + jitter_apply(&jitter, TTL, now, 0, &rng);
        ck_assert_int_eq(deadline % 5000, 0);
        ck_assert(deadline >= now + TTL && deadline < now + TTL + 5000);
    }
}
END_TEST

START_TEST(whole_seconds_round_down_to_at_least_one) {
    struct rng rng = rng_seed(14);
    struct jitter jitter = {.kind = JITTER_ADD, .span_ms = 3999, .resolution_ms = 1000};
    uint64_t seen[4] = {0};
    for (int i = 0; i < DRAWS; i++) {
        ms_t ttl = jitter_apply(&jitter, 1000, NOW, 0, &rng);
        ck_assert_int_eq(ttl % 1000, 0);
        seen[ttl / 1000 - 1]++;
    }
    for (int i = 0; i < 4; i++) /* 1000 of 4000 each: sigma = sqrt(n / 4 * 3 / 4) = 274 */
        ck_assert(llabs((long long)seen[i] - DRAWS / 4) < 5 * 274);
    jitter.kind = JITTER_NONE;
    ck_assert_int_eq(jitter_apply(&jitter, 200, NOW, 0, &rng), 1000);
}
END_TEST

START_TEST(no_ttl_falls_below_one_millisecond) {
    struct rng rng = rng_seed(15);
    for (int kind = 0; kind < JITTER_KINDS; kind++)
        for (int i = 0; i < 1000; i++) {
            struct jitter jitter = {.kind = (enum jitter_kind)kind, .span_ms = 1000};
            ck_assert(jitter_apply(&jitter, 3, NOW, (uint32_t)i, &rng) >= 1);
        }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("jitter");
    TCase *tcase = tcase_create("jitter");
    tcase_add_test(tcase, none_keeps_the_ttl);
    tcase_add_test(tcase, uniform_is_flat_around_the_ttl);
    tcase_add_test(tcase, subtract_is_flat_before_the_ttl);
    tcase_add_test(tcase, add_is_flat_after_the_ttl);
    tcase_add_test(tcase, gaussian_is_a_bell_cut_off_at_three_sigma);
    tcase_add_test(tcase, hash_is_flat_and_the_same_for_the_same_key);
    tcase_add_test(tcase, hash_does_not_follow_the_buckets);
    tcase_add_test(tcase, hash_reaches_the_end_of_a_long_span);
    tcase_add_test(tcase, exponential_leads_follow_their_law);
    tcase_add_test(tcase, exponential_leads_end_at_the_whole_ttl);
    tcase_add_test(tcase, round_gathers_deadlines_on_multiples_of_span);
    tcase_add_test(tcase, whole_seconds_round_down_to_at_least_one);
    tcase_add_test(tcase, no_ttl_falls_below_one_millisecond);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
