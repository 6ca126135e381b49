/* Buckets: index v for v < 64; above, the 5 bits below the leading one choose one of 32 buckets of
 * the power of two. Example: 100 = 1.100100b * 2^6, so exponent 6, its lower edge's top six bits
 * are 110010b = 50, width 2^1: bucket 32 * 1 + 50 = 82 holds 100 and 101. INT64_MAX (exponent 62)
 * gets 32 * 57 + 63 = 1887, below HISTOGRAM_BUCKETS. */
#include "histogram.h"

#include <string.h>

enum { EXACT = 64, PER_POWER = 32, PER_POWER_BITS = 5 };

static uint32_t bucket_shift(uint64_t value) { return log2_floor(value) - PER_POWER_BITS; }

static uint32_t bucket_of(uint64_t value) {
    if (value < EXACT) return (uint32_t)value;
    uint32_t shift = bucket_shift(value);
    return PER_POWER * shift + (uint32_t)(value >> shift);
}

static int64_t bucket_upper_edge(uint32_t bucket) {
    if (bucket < EXACT) return bucket;
    uint32_t shift = bucket / PER_POWER - 1;
    uint64_t mantissa = PER_POWER + bucket % PER_POWER;
    return (int64_t)(((mantissa + 1) << shift) - 1);
}

void histogram_reset(struct histogram *h) {
    if (h->count > 0)
        memset(&h->buckets[h->lowest], 0, (h->highest - h->lowest + 1) * sizeof h->buckets[0]);
    h->count = h->sum = 0;
    h->min = h->max = 0;
    h->lowest = h->highest = 0;
}

/* Saturates: a clock stepped by centuries makes latenesses whose sum has no 64 bits; the mean is
 * then too low, but nothing wraps. */
static uint64_t sum_after(uint64_t sum, uint64_t value, uint64_t times) {
    uint64_t product;
    if (__builtin_mul_overflow(value, times, &product)) return UINT64_MAX;
    return __builtin_add_overflow(sum, product, &sum) ? UINT64_MAX : sum;
}

static void histogram_widen(struct histogram *h, int64_t min, int64_t max) {
    bool first = h->count == 0;
    if (first || min < h->min) h->min = min;
    if (first || max > h->max) h->max = max;
    h->lowest = bucket_of((uint64_t)h->min);
    h->highest = bucket_of((uint64_t)h->max);
}

void histogram_add(struct histogram *h, int64_t value, uint64_t times) {
    if (times == 0) return;
    if (value < 0) value = 0;
    histogram_widen(h, value, value);
    h->count += times;
    h->sum = sum_after(h->sum, (uint64_t)value, times);
    h->buckets[bucket_of((uint64_t)value)] += times;
}

void histogram_merge(struct histogram *into, const struct histogram *from) {
    if (from->count == 0) return;
    histogram_widen(into, from->min, from->max);
    into->count += from->count;
    into->sum = sum_after(into->sum, from->sum, 1);
    for (uint32_t i = from->lowest; i <= from->highest; i++) into->buckets[i] += from->buckets[i];
}

/* ceil(count * per_mille / 1000) without a product that overflows; the first sample at least. */
static uint64_t rank_of(uint64_t count, uint32_t per_mille) {
    uint64_t rank = count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
    return rank > 0 ? rank : 1;
}

int64_t histogram_percentile(const struct histogram *h, uint32_t per_mille) {
    ASSERT(per_mille <= 1000);
    if (h->count == 0) return 0;
    uint64_t rank = rank_of(h->count, per_mille);
    uint64_t seen = 0;
    for (uint32_t i = h->lowest; i <= h->highest; i++) {
        seen += h->buckets[i];
        if (seen < rank) continue;
        int64_t edge = bucket_upper_edge(i);
        return edge < h->max ? edge : h->max;
    }
    ASSERT(!"buckets hold fewer samples than count");
    return h->max;
}

int64_t histogram_mean(const struct histogram *h) {
    return h->count ? (int64_t)(h->sum / h->count) : 0;
}

void histogram_check(const struct histogram *h) {
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (i < h->lowest || i > h->highest || h->count == 0) ASSERT(h->buckets[i] == 0);
    }
    ASSERT(seen == h->count);
    if (h->count == 0) return;
    ASSERT(0 <= h->min && h->min <= h->max);
    ASSERT(h->buckets[h->lowest] > 0 && h->buckets[h->highest] > 0);
    ASSERT(h->lowest == bucket_of((uint64_t)h->min) && h->highest == bucket_of((uint64_t)h->max));
    ASSERT(h->sum >= (uint64_t)h->max);
}
