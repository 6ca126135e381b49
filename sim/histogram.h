/* histogram: integer log-linear percentiles. Values 0..63 exactly, above that 32 buckets a power of
 * two (relative error under 1/32); sum, count, min and max exactly (a sum beyond 64 bits stays at
 * their maximum). Mergeable; no floating point. All bytes zero is an empty one; a reset needs that
 * or a used one, not fresh memory. */
#ifndef LAPSE_SIM_HISTOGRAM_H
#define LAPSE_SIM_HISTOGRAM_H

#include "base.h"

#define HISTOGRAM_BUCKETS 2048

struct histogram {
    uint64_t count;
    int64_t min, max;
    uint64_t sum;
    uint32_t lowest, highest; /* range of used buckets, so that a reset or a scan is short */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_reset(struct histogram *);
void histogram_add(struct histogram *, int64_t value,
                   uint64_t times); /* negative values count as 0 */
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The value below or at which `per_mille` of the samples lie: the upper edge of its bucket, never
 * above max. 0 when empty. */
int64_t histogram_percentile(const struct histogram *, uint32_t per_mille);
int64_t histogram_mean(const struct histogram *); /* floor; 0 when empty */
void histogram_check(const struct histogram *);

#endif
