#include "jitter.h"

#include "distribution.h"
#include "fixed_point.h"

const char *const jitter_names[JITTER_KINDS] = {
#define X(id, name, help) name,
    JITTER_LIST(X)
#undef X
};

const char *const jitter_helps[JITTER_KINDS] = {
#define X(id, name, help) help,
    JITTER_LIST(X)
#undef X
};

/* Uniform over low..high, both ends included. */
static ms_t draw_between(struct rng *rng, ms_t low, ms_t high) {
    return low + (ms_t)rng_below(rng, (uint64_t)(high - low) + 1);
}

/* A whole x in -half..half with P(x) proportional to exp(-x^2 / (2 sigma^2)), sigma = half / 3: the
 * exponent is 4.5 (x / half)^2. By rejection: x is drawn uniformly and kept with that probability,
 * which is exact to 2^-48 and takes 2.4 tries in the mean. */
static ms_t draw_gaussian(struct rng *rng, ms_t half) {
    if (half == 0) return 0;
    for (;;) {
        ms_t x = draw_between(rng, -half, half);
        uint64_t ratio = fixed_ratio((uint64_t)(x < 0 ? -x : x), (uint64_t)half);
        uint64_t square = fixed_multiply(ratio, ratio);
        if (rng_next(rng) >> (64 - FIXED_BITS) < fixed_exp_negative(square * 9 / 2)) return x;
    }
}

/* floor of an exponential time of mean span, so P(lead >= k) = exp(-k / span); at most the TTL. */
static ms_t draw_lead(struct rng *rng, ms_t span, ms_t ttl) {
    ms_t lead = exponential_draw_ns(rng, span); /* the unit is the mean's, whichever it is */
    return lead < ttl ? lead : ttl;
}

static ms_t round_up(ms_t ttl, ms_t now, ms_t span) {
    if (span <= 0) return ttl;
    return -floor_div(-(now + ttl), span) * span - now;
}

/* The hash of a key's name chooses its bucket too, and the expire cycle walks buckets in order: taken
 * as it is, deadlines would follow that walk. An application hashes with a function of its own, so
 * here the bits are mixed first (splitmix64's finaliser); a span beyond 2^32 ms is reached as well. */
static uint64_t own_hash(uint32_t key_hash) {
    uint64_t z = key_hash + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static ms_t spread(const struct jitter *jitter, ms_t ttl, ms_t now, uint32_t key_hash,
                   struct rng *rng) {
    ms_t span = jitter->span_ms, half = span / 2;
    switch (jitter->kind) {
    case JITTER_UNIFORM:
        return draw_between(rng, ttl - half, ttl + half);
    case JITTER_SUBTRACT:
        return draw_between(rng, ttl - span, ttl);
    case JITTER_ADD:
        return draw_between(rng, ttl, ttl + span);
    case JITTER_GAUSSIAN:
        return ttl + draw_gaussian(rng, half);
    case JITTER_EXPONENTIAL:
        return ttl - draw_lead(rng, span, ttl);
    case JITTER_HASH:
        return ttl + (ms_t)(own_hash(key_hash) % ((uint64_t)span + 1));
    case JITTER_ROUND:
        return round_up(ttl, now, span);
    case JITTER_NONE:
    case JITTER_KINDS:
        break;
    }
    return ttl;
}

ms_t jitter_apply(const struct jitter *jitter, ms_t ttl_ms, ms_t now_ms, uint32_t key_hash,
                  struct rng *rng) {
    ms_t unit = jitter->resolution_ms > 0 ? jitter->resolution_ms : 1;
    ms_t ttl = spread(jitter, ttl_ms, now_ms, key_hash, rng);
    ttl -= ttl % unit;
    return ttl < unit ? unit : ttl;
}
