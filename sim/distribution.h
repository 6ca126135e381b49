/* distribution: integer random variables that a scenario can name: constant, uniform over [low,
 * high], a weighted mix. Draws use integers alone. */
#ifndef LAPSE_SIM_DISTRIBUTION_H
#define LAPSE_SIM_DISTRIBUTION_H

#include "rng.h"

enum distribution_kind {
    DISTRIBUTION_NONE,
    DISTRIBUTION_CONSTANT,
    DISTRIBUTION_UNIFORM,
    DISTRIBUTION_MIX
};

struct weighted_value {
    int64_t value;
    uint32_t weight;
};

struct distribution {
    enum distribution_kind kind;
    int64_t low, high; /* CONSTANT: low; UNIFORM: both ends included */
    struct weighted_value *mix;
    uint32_t mix_count;
    uint64_t mix_weight;
};

int64_t distribution_draw(const struct distribution *, struct rng *);

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
