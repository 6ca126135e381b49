#include "cost.h"

#include <string.h>

const char *const cost_names[COST_COUNT] = {
#define X(id, name, help) name,
    COST_LIST(X)
#undef X
};

const char *const cost_helps[COST_COUNT] = {
#define X(id, name, help) help,
    COST_LIST(X)
#undef X
};

#define UNIT_PS 1000000 /* 1 us */

static const struct price_table profiles[] = {
    /* Measured on redis-server 7.0.15 (Debian) on two virtual cores of an Intel Xeon at 2.6 GHz, by
     * the server's own CPU time, pipelined and not, in idle and in drains of a million keys.
     * Median figures, but for key_checked and key_expired: with them a key with a name of 14 bytes
     * and a value of 100 costs 1.083 us in all, as it did in the repeated runs whose bands
     * tests/test_storm_bands.c holds this table to (0.85 to 1.09 us when the machine had nothing
     * else to do). replica_write, replica_kib and scan_bucket are inferred from kindred operations.
     */
    {.name = "default",
     .about = "measured on redis-server 7.0.15, two virtual cores of an Intel Xeon at 2.6 GHz",
     .ps =
         {
             [COST_TURN] = 4000000,          [COST_CRON] = 16000000,
             [COST_CLOCK_READ] = 30000,      [COST_COMMAND] = 400000,
             [COST_COMMAND_INFO] = 9000000,  [COST_LOOKUP] = 350000,
             [COST_INSERT] = 700000,         [COST_OVERWRITE] = 500000,
             [COST_DEADLINE_SET] = 600000,   [COST_DELETE] = 500000,
             [COST_APART] = 220000,          [COST_VALUE_BYTE] = 220,
             [COST_READ] = 4000000,          [COST_FREE_DOUBLING] = 130000,
             [COST_FREE_PAGE] = 150000,      [COST_CYCLE] = 300000,
             [COST_CYCLE_DB] = 3000,         [COST_KEY_CHECKED] = 130000,
             [COST_BUCKET_STEP] = 5000,      [COST_KEY_EXPIRED] = 8000,
             [COST_REHASH_BUCKET] = 1500,    [COST_REHASH_KEY] = 300000,
             [COST_SCAN_BUCKET] = 150000,    [COST_PROPAGATE] = 270000,
             [COST_REPLICA_WRITE] = 4000000, [COST_REPLICA_KIB] = 200000,
             [COST_APPLY] = 400000,          [COST_FORK_MIB] = 30000000,
             [COST_SAVE_KEY] = 700000,       [COST_SAVE_KIB] = 3000000,
             [COST_PIPE_KIB] = 1300000,      [COST_SYNC_KIB] = 3800000,
             [COST_LOAD_KEY] = 850000,
         }},
    {.name = "zero", .about = "work takes no time", .ps = {0}},
    {.name = "unit",
     .about = "1 us for everything, for sums by hand",
     .ps =
         {
#define X(id, name, help) [COST_##id] = UNIT_PS,
             COST_LIST(X)
#undef X
         }},
};

const struct price_table *price_table_at(size_t index) {
    return index < sizeof profiles / sizeof *profiles ? &profiles[index] : NULL;
}

const struct price_table *price_table_find(const char *name) {
    for (size_t i = 0; price_table_at(i); i++)
        if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
    return NULL;
}

/* Sums of prices stay far from 2^64: a price is at most 10^12 ps (sim's profiles), a difference of
 * exponents at most 63. */
static uint64_t price_between(const struct price_table *prices, int op, uint32_t exponent) {
    uint64_t few = prices->few_exponent, many = prices->many_exponent;
    if (exponent <= few) return prices->ps[op];
    if (exponent >= many) return prices->many_ps[op];
    return (prices->ps[op] * (many - exponent) + prices->many_ps[op] * (exponent - few)) /
           (many - few);
}

const struct price_table *price_table_at_size(const struct price_table *prices, uint64_t buckets,
                                              struct price_table *between) {
    if (prices->few_exponent >= prices->many_exponent) return prices;
    uint32_t exponent = buckets > 0 ? log2_floor(buckets) : 0;
    *between = *prices;
    for (int op = 0; op < COST_COUNT; op++) between->ps[op] = price_between(prices, op, exponent);
    return between;
}
