/* expire: the active expire cycle's driver (6.0 to 7.0 expire.c activeExpireCycle; engine facts
 * section 4). SLOW runs from serverCron, FAST from beforeSleep. Both walk the databases round
 * robin, sample each as the generation does, repeat a database while too many of its samples were
 * expired, and look at the clock in every 16th iteration only. The quirk of redis issue 15410 is
 * reproduced: the FAST gate compares stale_fraction, 0 to 1, with a percentage of at least 1, so it
 * opens only after a cycle that ran out of time. */
#ifndef LAPSE_CORE_EXPIRE_H
#define LAPSE_CORE_EXPIRE_H

#include "base.h"
#include "db.h"

enum expire_cycle_type { EXPIRE_CYCLE_SLOW, EXPIRE_CYCLE_FAST };

/* The outcome of sampling one database once. */
struct expire_sample {
    uint64_t sampled;
    uint64_t expired;
    int64_t ttl_sum_ms; /* over keys that still live */
    uint64_t ttl_count;
};

/* How a generation goes about it: numbers, and one function. */
struct expire_policy {
    uint32_t keys_per_loop;   /* at effort 1 */
    uint32_t keys_per_effort; /* more for each step of effort */
    us_t fast_us, fast_us_per_effort;
    uint32_t slow_percent, slow_percent_per_effort;
    uint32_t acceptable_stale_percent; /* at effort 1; one less for each step */
    bool has_effort;                   /* else active-expire-effort is unknown and 1 counts */
    bool fast_gate_has_stale; /* the (mis-scaled) stale estimate is part of the FAST gate */
    bool skips_sparse;        /* a db with more than 4 slots and under 1 % fill is left alone */
    /* Samples up to num keys of the db, expiring those past their deadline. */
    struct expire_sample (*sample)(struct db *, uint64_t num, ms_t now_ms);
    /* Another iteration on the same db? */
    bool (*repeats)(const struct expire_policy *, uint32_t effort, const struct expire_sample *);
};

struct expire_state {
    const struct expire_policy *policy;
    uint32_t current_db;
    bool timelimit_exit;
    us_t last_fast_us;
    double stale_fraction; /* the server's own floating moving average; INFO shows it times 100 */
    uint64_t time_cap_reached;
    us_t cycle_time_us; /* total in executed cycles */
    uint32_t effort;
    uint32_t hz; /* the effective hz, kept by cron */
};

void expire_init(struct expire_state *, const struct expire_policy *, uint32_t effort, uint32_t hz);

/* Runs one cycle over dbs[0..db_count). Reports it to the sink unless its gate stayed shut. */
void expire_cycle(struct expire_state *, enum expire_cycle_type, struct db *dbs, uint32_t db_count);

/* expire_sample.c: the ways to choose which keys to look at. */
struct expire_sample expire_sample_buckets(struct db *, uint64_t num,
                                           ms_t now_ms); /* 6.0 to 7.0: bucket cursor */
struct expire_sample expire_sample_random(struct db *, uint64_t num,
                                          ms_t now_ms); /* up to 5.0: random keys of E */
bool expire_repeats_over_percent(const struct expire_policy *, uint32_t effort,
                                 const struct expire_sample *);
bool expire_repeats_over_quarter(const struct expire_policy *, uint32_t effort,
                                 const struct expire_sample *);

#endif
