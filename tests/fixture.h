/* fixture: one engine with everything it is handed, for tests. The sink counts; it keeps no text.
 */
#ifndef LAPSE_TESTS_FIXTURE_H
#define LAPSE_TESTS_FIXTURE_H

#include "engine.h"
#include "support.h"
#include "texts.h"

struct fixture {
    struct keys *keys;
    struct texts *texts;
    struct sink sink;
    struct engine_env env;
    struct engine_config config; /* change it before fixture_start */
    struct engine *engine;
    uint32_t client;
    ns_t now_ns;
    us_t wall_start_us;
    /* what the sink has seen */
    struct cycle_report last_cycle;
    uint64_t cycles, fast_cycles, capped_cycles, expired_lazily, expired_actively;
    uint64_t stream_commands, stream_bytes;
    int64_t stale_books_keys, stale_books_bytes; /* deadline_added minus deadline_removed */
    ms_t late_sum_ms, late_max_ms, late_min_ms;
    struct reply_item reply[4]; /* the first items of the last reply */
    uint32_t reply_count;
};

#define FIXTURE_WALL_US INT64_C(1700000000000000)

void fixture_init(struct fixture *, const char *generation, const struct price_table *);
void fixture_start(struct fixture *);
void fixture_stop(struct fixture *);

/* Registers PREFIX0 .. PREFIX(count-1); returns the first id. */
key_id fixture_keys(struct fixture *, const char *prefix, uint32_t count);

/* Preloads keys [first, first + count) with 32-byte values; deadline < 0: none. */
void fixture_preload(struct fixture *, uint8_t db, key_id first, uint32_t count, ms_t deadline_ms);

ms_t fixture_wall_ms(const struct fixture *);

/* One turn at the next cron's time; returns the turn's busy time. */
ns_t fixture_cron_turn(struct fixture *);

/* One turn at `now_ns` without a cron. */
ns_t fixture_idle_turn(struct fixture *, ns_t now_ns);

/* A command in a turn of its own, now. Up to 8 words; keys are given as ids by arg_key. */
void fixture_command(struct fixture *, const struct arg *argv, uint32_t argc);

#endif
