/* lockstep: the engine beside the real server, on the same steps. Whatever is done is done to both:
 * time granted, keys loaded, commands sent. The engine runs on a price table where one reading of
 * the wall clock costs `tick_us` and all else is free, and a turn's time vanishes at its end, which
 * is what the server's stepped clock does too; so the two agree to the microsecond as long as they
 * read the clock at the same places. Any difference fails the running test with both sides'
 * figures. */
#ifndef LAPSE_TESTS_LOCKSTEP_H
#define LAPSE_TESTS_LOCKSTEP_H

#include "engine.h"
#include "figures.h"
#include "oracle.h"

struct lockstep_config {
    us_t tick_us;
    int hz, effort, databases; /* 0: the server's default */
    bool lazyfree;             /* lazyfree-lazy-expire and lazyfree-lazy-user-del */
    bool no_rehashing;         /* activerehashing no */
};

struct lockstep {
    struct oracle *oracle;
    struct oracle_link *link;
    struct engine *engine;
    struct keys *keys;
    struct texts *texts;
    struct sink sink;
    struct engine_env env;
    struct price_table prices;
    uint32_t client;
    const char *about; /* named in every failure */
    uint32_t databases_seen; /* figures are compared for databases [0, this) */
    /* taken when both were empty; memory and turns are compared from there */
    struct figures server_base, engine_base;
    int64_t engine_turns;
};

/* Keys PREFIXnnnnnnnn, set one after the other. deadline_ms gives each its absolute deadline, or -1
 * for none; it must lie after now. */
struct lockstep_load {
    uint8_t db;
    const char *prefix;
    uint32_t count, value_bytes;
    ms_t (*deadline_ms)(uint32_t index, ms_t now_ms, const void *context);
    const void *context;
};

struct lockstep *lockstep_start(const char *about, const struct lockstep_config *);
void lockstep_stop(struct lockstep *);

ms_t lockstep_now_ms(const struct lockstep *);

/* Lets both run `us` further, their crons included. Whole milliseconds. */
void lockstep_grant(struct lockstep *, us_t us);

/* Returns the first key's id. */
key_id lockstep_load(struct lockstep *, const struct lockstep_load *);

/* Asks both for every figure; fails the test at the first that differs. */
void lockstep_compare(struct lockstep *);

/* `steps` times: grant, compare. */
void lockstep_steps(struct lockstep *, uint32_t steps, us_t us);

#endif
