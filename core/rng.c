#include "rng.h"

/* splitmix64 (Steele, Lea and Flood, 2014): the finaliser, then the generator built on it. */
static uint64_t splitmix_finish(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t splitmix_next(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return splitmix_finish(*state);
}

/* FNV-1a, 64 bits. */
static uint64_t label_hash(const char *label) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *label; label++) hash = (hash ^ (uint8_t)*label) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

struct rng rng_seed(uint64_t seed) {
    struct rng rng = {.seed = seed};
    uint64_t state = seed;
    for (int i = 0; i < 4; i++) rng.state[i] = splitmix_next(&state);
    return rng;
}

/* The label is hashed before it meets the seed, and the sum is mixed again, so that neighbouring
 * seeds with similar labels part completely. */
struct rng rng_fork(const struct rng *parent, const char *label) {
    uint64_t state = parent->seed ^ rotate_left(label_hash(label), 32);
    return rng_seed(splitmix_next(&state) + label_hash(label));
}

uint64_t rng_next(struct rng *rng) {
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* A draw is thrown away when it falls in the last block of `bound` values that 2^64 cuts short:
 * without that the small remainders would come up more often. */
uint64_t rng_below(struct rng *rng, uint64_t bound) {
    ASSERT(bound > 0);
    for (;;) {
        uint64_t draw = rng_next(rng);
        uint64_t remainder = draw % bound;
        if (draw - remainder <= 0 - bound) return remainder;
    }
}

bool rng_chance(struct rng *rng, uint64_t numerator, uint64_t denominator) {
    return rng_below(rng, denominator) < numerator;
}
