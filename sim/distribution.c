#include "distribution.h"

#include "fixed_point.h"
#include "heap.h"

__extension__ typedef unsigned __int128 wide_t;

static int64_t mix_draw(const struct distribution *d, struct rng *rng) {
    uint64_t left = rng_below(rng, d->mix_weight);
    uint32_t i = 0;
    while (left >= d->mix[i].weight) left -= d->mix[i++].weight;
    ASSERT(i < d->mix_count);
    return d->mix[i].value;
}

int64_t distribution_draw(const struct distribution *d, struct rng *rng) {
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->low;
    case DISTRIBUTION_UNIFORM:
        return d->low + (int64_t)rng_below(rng, (uint64_t)(d->high - d->low) + 1);
    case DISTRIBUTION_MIX:
        return mix_draw(d, rng);
    case DISTRIBUTION_NONE:
        break;
    }
    ASSERT(false); /* whoever draws has asked first whether there is a distribution */
    return 0;
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
