/* jitter: the strategies that spread deadlines. Each turns a TTL into another by the key's hash or
 * by draws. Example: ttl 60 s, uniform symmetric span 10 s: 55 s to 65 s, each millisecond alike.
 */
#ifndef LAPSE_SIM_JITTER_H
#define LAPSE_SIM_JITTER_H

#include "keys.h"
#include "rng.h"

/* X(enumerator, name in scenarios, help) */
#define JITTER_LIST(X)                                                                             \
    X(NONE, "none", "every key keeps its TTL")                                                     \
    X(UNIFORM, "uniform", "uniform over [ttl - span/2, ttl + span/2]: the mean stays")             \
    X(SUBTRACT, "subtract", "uniform over [ttl - span, ttl]: never later than asked")              \
    X(ADD, "add", "uniform over [ttl, ttl + span]: never earlier than asked")                      \
    X(GAUSSIAN, "gaussian", "normal, sigma = span/6, cut off at ttl - span/2 and ttl + span/2")    \
    X(EXPONENTIAL, "exponential",                                                                  \
      "earlier by an exponential time of mean span, at most the whole TTL")                        \
    X(HASH, "hash",                                                                                \
      "ttl + a hash of the key's name modulo (span + 1): the same key always the same")              \
    X(ROUND, "round", "the deadline rounded up to a multiple of span: keys gather on purpose")

enum jitter_kind {
#define X(id, name, help) JITTER_##id,
    JITTER_LIST(X)
#undef X
        JITTER_KINDS
};

extern const char *const jitter_names[JITTER_KINDS];
extern const char *const jitter_helps[JITTER_KINDS];

struct jitter {
    enum jitter_kind kind;
    ms_t span_ms;
    ms_t resolution_ms; /* 1, or 1000 when a client writes EX with whole seconds: the TTL is rounded
                           down to it, to at least one unit */
};

/* The TTL that the key gets when it is written at now_ms. At least 1 ms (one unit of resolution).
 * key_hash is the 32-bit hash of its name. */
ms_t jitter_apply(const struct jitter *, ms_t ttl_ms, ms_t now_ms, uint32_t key_hash, struct rng *);

#endif
