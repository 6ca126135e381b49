/* rng: a seeded stream of integers, passed by value or pointer and owned by whoever draws from it.
 * xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018) seeded
 * by splitmix64. A fork depends on the parent's seed and the label alone, never on how much the
 * parent has drawn, so a new consumer shifts nobody else's draws. */
#ifndef LAPSE_CORE_RNG_H
#define LAPSE_CORE_RNG_H

#include "base.h"

struct rng {
    uint64_t state[4];
    uint64_t seed; /* what it was seeded with; forks start from this */
};

struct rng rng_seed(uint64_t seed);

/* A stream for the consumer called `label` ("clients.reader.arrivals"). */
struct rng rng_fork(const struct rng *parent, const char *label);

uint64_t rng_next(struct rng *);

/* Uniform in [0, bound), without bias; bound > 0. */
uint64_t rng_below(struct rng *, uint64_t bound);

/* True with probability numerator / denominator; denominator > 0. */
bool rng_chance(struct rng *, uint64_t numerator, uint64_t denominator);

#endif
