/* distribution: integer random variables that a scenario can name: constant, uniform over [low,
 * high], a weighted mix, log-normal, exponential, values of a file. Draws use integers alone and
 * stay within what the scenario may say there. */
#ifndef LAPSE_SIM_DISTRIBUTION_H
#define LAPSE_SIM_DISTRIBUTION_H

#include "rng.h"

enum distribution_kind {
    DISTRIBUTION_NONE,
    DISTRIBUTION_CONSTANT,
    DISTRIBUTION_UNIFORM,
    DISTRIBUTION_MIX,
    DISTRIBUTION_LOGNORMAL,
    DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_EMPIRICAL
};

struct weighted_value {
    int64_t value;
    uint32_t weight;
};

struct distribution {
    enum distribution_kind kind;
    int64_t low, high; /* CONSTANT: low; UNIFORM: both ends included; LOGNORMAL and EXPONENTIAL: a
                          draw beyond an end is that end */
    int64_t middle;    /* LOGNORMAL: the median; EXPONENTIAL: the mean */
    uint64_t sigma;    /* LOGNORMAL: of the logarithm, Q56 (fixed_point.h), at most 3 */
    struct weighted_value *mix; /* EMPIRICAL: ascending, no value twice */
    uint32_t mix_count;
    uint64_t mix_weight;
    uint64_t *cumulative; /* EMPIRICAL: weight of each value and all before it */
};

int64_t distribution_draw(const struct distribution *, struct rng *);

/* A distribution owns its lists. */
void distribution_release(struct distribution *);
struct distribution distribution_copy(const struct distribution *);

/* Sigma of the log-normal with this median and 99th percentile: ln(p99 / median) / 2.326348, the
 * divisor being the normal 99th percentile. 0 < median <= p99 <= 1000 * median. */
uint64_t lognormal_sigma(int64_t median, int64_t p99);

/* Turns weighted values in any order into an EMPIRICAL one, and takes the list over. */
struct distribution empirical_create(struct weighted_value *, uint32_t count);

/* Zipf over ranks 0..count-1, P(rank) proportional to 1 / (rank + 1)^exponent, exponent in
 * thousandths, by integer rejection-free inversion over a precomputed table of cumulative 64-bit
 * weights in at most 4096 steps (ranks beyond are grouped in geometric bands, uniform inside a
 * band). */
struct zipf;
struct zipf *zipf_create(uint32_t count, uint32_t exponent_milli);
void zipf_destroy(struct zipf *);
uint32_t zipf_draw(const struct zipf *, struct rng *);

/* A waiting time of a Poisson process with the given mean, in ns: -mean * ln(u) from an integer
 * table, >= 0. */
ns_t exponential_draw_ns(struct rng *, ns_t mean_ns);

#endif
