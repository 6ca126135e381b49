/* lockstep: the engine beside the real server, on the same steps. Whatever is done is done to both:
 * time granted, commands sent. The engine runs on a price table where one reading of the wall clock
 * costs `tick_us` and all else is free, and a turn's time vanishes at its end, which is what the
 * server's stepped clock does too; so the two agree to the microsecond as long as they read the
 * clock at the same places. Any difference fails the running test with both sides' figures. */
#ifndef LAPSE_TESTS_LOCKSTEP_H
#define LAPSE_TESTS_LOCKSTEP_H

#include "engine.h"
#include "figures.h"
#include "names.h"
#include "oracle.h"

struct lockstep_config {
    us_t tick_us;
    int hz, effort, databases; /* 0: the server's default */
    bool lazyfree;             /* lazyfree-lazy-expire and lazyfree-lazy-user-del */
    bool no_rehashing;         /* activerehashing no */
    bool dynamic_hz;
    bool restless;           /* starts at once, memory not compared */
    uint32_t databases_seen; /* figures are compared for databases [0, this); 0: for the first */
    struct lockstep *mate;   /* whose names and texts it shares; or NULL */
    int number;              /* among servers that know each other */
    const char *directory;   /* where the server may write; or NULL */
    /* client-output-buffer-limit replica, where has_limits; else the default's */
    bool has_limits;
    uint64_t obuf_hard_bytes, obuf_soft_bytes;
    int64_t obuf_soft_s;
};

/* One client's connection to both, and what is queued on it for the next turn. */
struct lockstep_line {
    struct oracle_link *link;
    uint32_t client;
    struct oracle_bytes sent; /* what the server will get */
    struct arg *args;         /* the same for the engine */
    uint32_t arg_count, arg_capacity;
    uint32_t *argc;
    uint32_t count, capacity;
};

struct lockstep {
    const char *about; /* named in every failure */
    struct lockstep *mate;
    const struct generation *generation; /* NULL: redis-7.0 */
    int number;
    struct oracle *oracle;
    struct engine *engine;
    struct names *names;
    struct texts *texts;
    struct sink sink;
    struct engine_env env;
    struct price_table prices;
    uint32_t databases_seen;
    bool restless;
    int64_t engine_turns;
    struct lockstep_line asker; /* figures are asked for here and nowhere else */
    struct oracle_bytes server_replies, engine_replies;
    struct oracle_link *replica; /* or NULL */
    int replica_slot;
    struct oracle_bytes server_stream, engine_stream; /* since the last look */
    /* of a client that waits (WAIT): kept apart, as they come when they will */
    int64_t late_client; /* -1: none */
    struct oracle_bytes late_replies;
    void *company;                         /* standin.c's */
    void (*turn_ended)(struct lockstep *); /* or NULL */
    /* when both were empty and at rest: some figures are compared from there */
    struct figures server_base, engine_base;
};

struct lockstep *lockstep_start(const char *about, const struct lockstep_config *);
void lockstep_stop(struct lockstep *);

/* Only the engine's side of `ls`, without a server. */
void lockstep_make_engine(struct lockstep *, us_t tick_us, const struct engine_config *);
void lockstep_drop_engine(struct lockstep *);

ms_t lockstep_now_ms(const struct lockstep *);

/* Lets both run `us` further, their crons included. Whole milliseconds. */
void lockstep_grant(struct lockstep *, us_t us);

/* The engine's part where the server alone is asked for INFO: commands refresh the cached time. */
void lockstep_engine_info(struct lockstep *);

/* Asks both for every figure; fails the test if one differs. */
void lockstep_compare(struct lockstep *);

/* `steps` times: grant, compare. */
void lockstep_steps(struct lockstep *, uint32_t steps, us_t us);

/* Fails the test, or, where one process tries sequence after sequence, ends that process. */
extern bool lockstep_fails_by_exit;
_Noreturn void lockstep_fail(struct lockstep *, const char *what);

/* From here on turns, readings, commands and memory are counted anew on both sides. */
void lockstep_rebase(struct lockstep *);

/* --- lockstep_replica.c --- */

/* Gives both a replica, in sync, while they are still empty; rests again, if rest is wanted. */
void lockstep_attach_replica(struct lockstep *);

/* It tells both how far it is; due within repl-timeout. */
void lockstep_ack(struct lockstep *);

/* What was fed since the last look. */
void lockstep_compare_stream(struct lockstep *);

/* --- lockstep_line.c --- */

struct lockstep_line lockstep_connect(struct lockstep *);
void lockstep_disconnect(struct lockstep *, struct lockstep_line *);

struct arg lockstep_word(struct lockstep *, const char *text);

/* Queues a command; the queue goes out by itself before it exceeds what the server reads in one
 * turn. */
void lockstep_queue(struct lockstep *, struct lockstep_line *, const struct arg *argv,
                    uint32_t argc);

/* Sends the queue and compares the replies, byte for byte. */
void lockstep_flush(struct lockstep *, struct lockstep_line *);

/* Both in one. */
void lockstep_command(struct lockstep *, struct lockstep_line *, const struct arg *argv,
                      uint32_t argc);

/* The deadline of the index-th key of a load, in ms since 1970, or -1 for none. */
typedef ms_t (*lockstep_deadline)(uint32_t index, ms_t now_ms, const void *context);

/* Sets keys [first, first + count) on a connection of its own, which is closed again, so that its
 * buffers do not count as memory. */
void lockstep_load(struct lockstep *, uint8_t db, key_id first, uint32_t count,
                   uint32_t value_bytes, lockstep_deadline, const void *context);

/* The same keys, which the server gets by SET and the engine as data that was there before. Turns,
 * readings and commands are set off. */
void lockstep_preload(struct lockstep *, key_id first, uint32_t count, uint32_t value_bytes,
                      lockstep_deadline, const void *context);

/* One turn of the engine for each the server has had since `turns`, but one: that one is the
 * caller's. */
void lockstep_catch_up(struct lockstep *, int64_t turns);

void lockstep_turn_begin(struct lockstep *, int64_t now_us);
void lockstep_turn_end(struct lockstep *);

#endif
