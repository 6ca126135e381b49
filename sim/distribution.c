#include "distribution.h"

#include "fixed_point.h"
#include "heap.h"
#include "normal.h"

__extension__ typedef unsigned __int128 wide_t;

static int64_t mix_draw(const struct distribution *d, struct rng *rng) {
    uint64_t left = rng_below(rng, d->mix_weight);
    uint32_t i = 0;
    while (left >= d->mix[i].weight) left -= d->mix[i++].weight;
    ASSERT(i < d->mix_count);
    return d->mix[i].value;
}

/* The first value whose cumulative weight is more than the draw. */
static int64_t empirical_draw(const struct distribution *d, struct rng *rng) {
    uint64_t at = rng_below(rng, d->mix_weight);
    uint32_t low = 0, high = d->mix_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->cumulative[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return d->mix[low].value;
}

static int64_t within(const struct distribution *d, uint64_t value) {
    int64_t signed_value = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return signed_value < d->low ? d->low : signed_value > d->high ? d->high : signed_value;
}

/* median * exp(sigma * z) for a standard normal z. */
static int64_t lognormal_draw(const struct distribution *d, struct rng *rng) {
    int64_t z = normal_draw(rng);
    uint64_t median = (uint64_t)d->middle;
    uint64_t y = (uint64_t)((wide_t)d->sigma * (uint64_t)(z < 0 ? -z : z) / (uint64_t)NORMAL_ONE);
    return within(d,
                  z < 0 ? fixed_scale(median, fixed_exp_negative(y)) : fixed_scale_exp(median, y));
}

int64_t distribution_draw(const struct distribution *d, struct rng *rng) {
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->low;
    case DISTRIBUTION_UNIFORM:
        return d->low + (int64_t)rng_below(rng, (uint64_t)(d->high - d->low) + 1);
    case DISTRIBUTION_MIX:
        return mix_draw(d, rng);
    case DISTRIBUTION_LOGNORMAL:
        return lognormal_draw(d, rng);
    case DISTRIBUTION_EXPONENTIAL:
        return within(d, (uint64_t)exponential_draw_ns(rng, d->middle)); /* any unit, as its mean */
    case DISTRIBUTION_EMPIRICAL:
        return empirical_draw(d, rng);
    case DISTRIBUTION_NONE:
        break;
    }
    ASSERT(false); /* whoever draws has asked first whether there is a distribution */
    return 0;
}

void distribution_release(struct distribution *d) {
    free(d->mix);
    free(d->cumulative);
    *d = (struct distribution){0};
}

static void *list_copy(const void *list, size_t count, size_t size) {
    if (!list) return NULL;
    return memcpy(heap_zero(count, size), list, count * size);
}

struct distribution distribution_copy(const struct distribution *d) {
    struct distribution copy = *d;
    copy.mix = list_copy(d->mix, d->mix_count, sizeof *d->mix);
    copy.cumulative = list_copy(d->cumulative, d->mix_count, sizeof *d->cumulative);
    return copy;
}

#define NORMAL_P99 UINT64_C(2326348) /* millionths */

uint64_t lognormal_sigma(int64_t median, int64_t p99) {
    ASSERT(0 < median && median <= p99 && p99 / 1000 <= median);
    uint64_t ln_ratio = fixed_ln((uint64_t)p99) - fixed_ln((uint64_t)median);
    return (uint64_t)((wide_t)ln_ratio * (uint64_t)NORMAL_ONE / NORMAL_P99);
}

static int compare_values(const void *a, const void *b) {
    int64_t x = ((const struct weighted_value *)a)->value;
    int64_t y = ((const struct weighted_value *)b)->value;
    return (x > y) - (x < y);
}

/* Equal values become one where their weights fit together. */
static uint32_t merge_equals(struct weighted_value *values, uint32_t count) {
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        struct weighted_value *last = &values[kept - 1];
        if (values[i].value == last->value && values[i].weight <= UINT32_MAX - last->weight)
            last->weight += values[i].weight;
        else
            values[kept++] = values[i];
    }
    return kept;
}

struct distribution empirical_create(struct weighted_value *values, uint32_t count) {
    ASSERT(count > 0);
    struct distribution d = {.kind = DISTRIBUTION_EMPIRICAL, .mix = values};
    qsort(values, count, sizeof *values, compare_values);
    d.mix_count = merge_equals(values, count);
    d.cumulative = heap_zero(d.mix_count, sizeof *d.cumulative);
    for (uint32_t i = 0; i < d.mix_count; i++) d.cumulative[i] = d.mix_weight += values[i].weight;
    return d;
}

/* Ranks up to ZIPF_SINGLE stand alone; beyond, a band is 1/128 as wide as its first rank is far
 * out. The weights inside a band then part by less than 0.8 % times the exponent, and 2^32 ranks
 * take 2,048 + ln(2^21) / ln(129/128) < 3,930 steps. */
#define ZIPF_SINGLE    2048
#define ZIPF_BAND      128
#define ZIPF_STEPS_MAX 4096

struct zipf_step {
    uint32_t first, count; /* ranks */
    uint64_t cumulative;   /* weight of this step and all before it */
};

struct zipf {
    struct zipf_step *steps;
    uint32_t step_count;
};

/* The weight of a step, Q56 times its ranks: that of its middle rank stands for each. The middle of
 * ranks a..a+n-1, counted from one, is (2a + n + 1) / 2. */
static wide_t zipf_weight(const struct zipf_step *step, uint32_t exponent_milli) {
    uint64_t twice = 2 * (uint64_t)step->first + step->count + 1;
    uint64_t ln = fixed_ln(twice) - fixed_ln(2);
    wide_t y = (wide_t)ln * exponent_milli / 1000;
    uint64_t weight = y > UINT64_MAX ? 0 : fixed_exp_negative((uint64_t)y);
    return (wide_t)weight * step->count;
}

static void zipf_divide(struct zipf *zipf, uint32_t count) {
    zipf->steps = heap_zero(ZIPF_STEPS_MAX, sizeof *zipf->steps);
    for (uint32_t first = 0; first < count;) {
        uint32_t width = first < ZIPF_SINGLE ? 1 : first / ZIPF_BAND;
        if (width > count - first) width = count - first;
        ASSERT(zipf->step_count < ZIPF_STEPS_MAX);
        zipf->steps[zipf->step_count++] = (struct zipf_step){.first = first, .count = width};
        first += width;
    }
}

struct zipf *zipf_create(uint32_t count, uint32_t exponent_milli) {
    ASSERT(count > 0);
    struct zipf *zipf = heap_zero(1, sizeof *zipf);
    zipf_divide(zipf, count);
    wide_t total = 0;
    for (uint32_t i = 0; i < zipf->step_count; i++)
        total += zipf_weight(&zipf->steps[i], exponent_milli);
    uint32_t shift = 0; /* the total is kept in 63 bits, whatever the count and the exponent */
    while (total >> shift >> 63) shift++;
    wide_t sum = 0;
    for (uint32_t i = 0; i < zipf->step_count; i++) {
        sum += zipf_weight(&zipf->steps[i], exponent_milli);
        zipf->steps[i].cumulative = (uint64_t)(sum >> shift);
    }
    return zipf;
}

void zipf_destroy(struct zipf *zipf) {
    if (!zipf) return;
    free(zipf->steps);
    free(zipf);
}

uint32_t zipf_draw(const struct zipf *zipf, struct rng *rng) {
    uint64_t at = rng_below(rng, zipf->steps[zipf->step_count - 1].cumulative);
    uint32_t low = 0, high = zipf->step_count - 1;
    while (low < high) { /* the first step whose cumulative weight is more than `at` */
        uint32_t middle = low + (high - low) / 2;
        if (zipf->steps[middle].cumulative > at)
            high = middle;
        else
            low = middle + 1;
    }
    const struct zipf_step *step = &zipf->steps[low];
    return step->count == 1 ? step->first : step->first + (uint32_t)rng_below(rng, step->count);
}

ns_t exponential_draw_ns(struct rng *rng, ns_t mean_ns) {
    ASSERT(mean_ns >= 0);
    uint64_t u = rng_next(rng) + 1; /* 1 .. 2^64, as 64-bit fractions of one; 2^64 wraps to 0 */
    uint64_t e = u ? FIXED_LN_2_64 - fixed_ln(u) : 0;
    if (e > FIXED_LN_2_64) e = 0; /* rounding just below u = 1 */
    uint64_t wait = fixed_scale((uint64_t)mean_ns, e);
    return wait > INT64_MAX ? INT64_MAX : (ns_t)wait;
}
