#include "generation.h"

#include <string.h>

#define FEATURES_7_0                                                                               \
    (FEATURE_GETEX | FEATURE_KEEPTTL | FEATURE_EXPIRE_FLAGS | FEATURE_EFFORT |                     \
     FEATURE_DYNAMIC_HZ | FEATURE_QUOTED_ERRORS)

/* 6.0 to 7.0 (engine facts 4.3 and 4.4). */
#define EXPIRE_BY_BUCKETS                                                                          \
    {                                                                                              \
        .keys_per_loop = 20, .keys_per_effort = 5, .fast_us = 1000, .fast_us_per_effort = 250,     \
        .slow_percent = 25, .slow_percent_per_effort = 2, .acceptable_stale_percent = 10,          \
        .has_effort = true, .fast_gate_has_stale = true, .skips_sparse = true,                     \
        .sample = expire_sample_buckets, .repeats = expire_repeats_over_percent                    \
    }

/* 4.0 and 5.0 (engine facts 4.7). */
#define EXPIRE_BY_CHANCE                                                                           \
    {                                                                                              \
        .keys_per_loop = 20, .fast_us = 1000, .slow_percent = 25, .skips_sparse = true,            \
        .sample = expire_sample_random, .repeats = expire_repeats_over_quarter                     \
    }

static const struct generation generations[] = {
    {
        .name = "redis-7.0",
        .version = "7.0.15",
        .about = "bucket cursor, effort 1 to 10, repeats over 10 % stale; absolute deadlines in "
                 "the stream, DELs of a cycle in one batch",
        .dict = {.grow_factor = 1, .grow_addend = 1, .frozen_below_ratio = 5},
        .lazy = {.replica_hides_from_writes = true, .pause_keeps = true, .pause_stops_cycle = true},
        .stream = {.batched = true, .absolute_ttls = true, .ping_is_lower = true},
        .backlog = {.block_share = 16},
        .persist = {.saves_expired = true, .version = "7.0.15", .aof_field = "aof-base"},
        .expire = EXPIRE_BY_BUCKETS,
        .features = FEATURES_7_0,
    },
    {
        .name = "redis-7.0.5",
        .version = "7.0.5",
        .about = "as redis-7.0, but a replication buffer block grows as large as a write, as it "
                 "did up to 7.0.9 (redis issue 11666), and rehashing goes on while a child saves",
        .dict = {.grow_factor = 1, .grow_addend = 1},
        .lazy = {.replica_hides_from_writes = true, .pause_keeps = true, .pause_stops_cycle = true},
        .stream = {.batched = true, .absolute_ttls = true, .ping_is_lower = true},
        .backlog = {.block_share = 0},
        .persist = {.saves_expired = true, .version = "7.0.5", .aof_field = "aof-base"},
        .expire = EXPIRE_BY_BUCKETS,
        .features = FEATURES_7_0,
    },
    {
        .name = "redis-5.0",
        .version = "5.0.14",
        .about = "20 random keys, again while more than a quarter were expired, no effort; "
                 "relative TTLs in the stream, each DEL as it happens",
        .dict = {.grow_factor = 2, .grow_addend = 0},
        .lazy = {.replica_hides_from_writes = false, .pause_stops_cycle = true},
        .stream = {.batched = false, .absolute_ttls = false, .ping_is_lower = false},
        .backlog = {.is_private = true},
        .persist = {.saves_expired = true, .version = "5.0.14", .aof_field = "aof-preamble"},
        .expire = EXPIRE_BY_CHANCE,
        .features = FEATURE_DYNAMIC_HZ,
    },
    {
        .name = "redis-4.0",
        .version = "4.0.9",
        .about = "as redis-5.0, but a snapshot leaves out keys past their deadline, as that of "
                 "4.0.9 does, each look at a key reads the clock, and hz is fixed",
        .dict = {.grow_factor = 2, .grow_addend = 0},
        .lazy = {.replica_hides_from_writes = false,
                 .pause_stops_cycle = true,
                 .reads_clock = true},
        .stream = {.batched = false, .absolute_ttls = false, .ping_is_lower = false},
        .backlog = {.is_private = true},
        .persist = {.saves_expired = false, .version = "4.0.9", .aof_field = "aof-preamble"},
        .expire = EXPIRE_BY_CHANCE,
        .features = FEATURE_ALWAYS,
    },
};

const struct generation *generation_at(size_t index) {
    return index < sizeof generations / sizeof *generations ? &generations[index] : NULL;
}

const struct generation *generation_find(const char *name) {
    for (size_t i = 0; generation_at(i); i++)
        if (strcmp(generations[i].name, name) == 0) return &generations[i];
    return NULL;
}
