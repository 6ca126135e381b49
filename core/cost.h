/* cost: what an operation costs in virtual time, and the meter of one event-loop turn.
 * Core charges counts of operations; a price table, which is data, gives each a price in integer
 * picoseconds, so that a bucket step of half a nanosecond is not rounded to nothing. The fresh wall
 * clock of a turn is its beginning plus what the turn has spent, and so a loop that watches the
 * clock (the expire cycle) stops by its own work, as in the server. Example: 16 iterations of 20
 * keys at 1,100,000 ps a key cost 352 us; the cycle's 1,000 us limit falls in the 3rd check. */
#ifndef LAPSE_CORE_COST_H
#define LAPSE_CORE_COST_H

#include "base.h"

/* X(enumerator, name in files, what one unit of it is) */
#define COST_LIST(X)                                                                               \
    X(TURN, "turn", "one turn of the event loop: poll, beforeSleep, system calls")                 \
    X(CRON, "cron", "the fixed part of serverCron")                                                \
    X(CLOCK_READ, "clock_read", "one reading of the wall clock")                                   \
    X(COMMAND, "command", "reading, parsing and dispatching one command, and writing its reply")   \
    X(COMMAND_INFO, "command_info", "INFO, above what any command costs")                          \
    X(LOOKUP, "lookup", "finding a key in the keyspace")                                           \
    X(INSERT, "insert", "adding a key")                                                            \
    X(OVERWRITE, "overwrite", "replacing the value of a key")                                      \
    X(DEADLINE_SET, "deadline_set", "writing a deadline into the expires dict")                    \
    X(DELETE, "delete", "deleting a key and its small value")                                      \
    X(APART, "apart", "deleting a key: each further place in memory that its parts lie in")        \
    X(VALUE_BYTE, "value_byte", "one byte of a value that is copied in or out")                    \
    X(READ, "read", "each further read of a request that is longer than one read")                 \
    X(FREE_DOUBLING, "free_doubling",                                                              \
      "freeing a value, by doubling of its size from 64 B to 16 KiB")                              \
    X(FREE_PAGE, "free_page", "the same, by started 4 KiB beyond 16 KiB")                          \
    X(CYCLE, "cycle", "starting one active expire cycle")                                          \
    X(CYCLE_DB, "cycle_db", "turning to one database inside a cycle")                              \
    X(KEY_CHECKED, "key_checked", "comparing one key's deadline inside the cycle")                 \
    X(BUCKET_STEP, "bucket_step", "visiting one bucket of the expires dict inside the cycle")      \
    X(KEY_EXPIRED, "key_expired",                                                                  \
      "deleting one expired key inside the cycle, delete and propagation apart")                   \
    X(REHASH_BUCKET, "rehash_bucket", "passing one bucket while rehashing")                        \
    X(REHASH_KEY, "rehash_key", "moving one key to the other table")                               \
    X(SCAN_BUCKET, "scan_bucket", "visiting one bucket for SCAN")                                  \
    X(PROPAGATE, "propagate", "feeding one command to the replication buffer")                     \
    X(REPLICA_WRITE, "replica_write", "one write to one replica's socket")                         \
    X(REPLICA_KIB, "replica_kib", "each started KiB written to one replica")                       \
    X(APPLY, "apply", "reading and dispatching one command from the master")                       \
    X(FORK_MIB, "fork_mib", "forking, by MiB of used memory: the page tables are copied")          \
    X(SAVE_KEY, "save_key", "writing one key to a snapshot, in the child")                         \
    X(SAVE_KIB, "save_kib", "writing one KiB of a snapshot, in the child")                         \
    X(PIPE_KIB, "pipe_kib", "relaying one KiB of a snapshot from the child to the replicas")       \
    X(SYNC_KIB, "sync_kib", "taking one KiB of a snapshot from the master")                        \
    X(LOAD_KEY, "load_key", "loading one key of a snapshot")

enum cost_op {
#define X(id, name, help) COST_##id,
    COST_LIST(X)
#undef X
        COST_COUNT
};

/* Prices by operation. Owned by whoever loaded it; outlives every engine that uses it.
 * A key costs more where many lie about, as fewer of them are in the CPU's caches: on one machine
 * one that dies in a cycle takes 0.7 us of 131,072 and 1.1 us of 1,048,576. So a table may hold
 * two prices, for few and for many; sizes between take what lies between, by doublings of the
 * keyspace's tables, sizes beyond take the nearer one's. */
struct price_table {
    const char *name;
    const char *about;                   /* of a built-in one: where it comes from */
    uint64_t ps[COST_COUNT];             /* with tables of 2^few_exponent buckets and fewer */
    uint64_t many_ps[COST_COUNT];        /* with 2^many_exponent and more */
    uint8_t few_exponent, many_exponent; /* equal: one price for all sizes, which is ps */
    bool turn_time_vanishes; /* true in lockstep with a stepped real server: a turn's time is gone
                                when it ends */
};

/* Names and one-line help of the operations, by enum cost_op. */
extern const char *const cost_names[COST_COUNT];
extern const char *const cost_helps[COST_COUNT];

/* A built-in profile ("default", "zero", "unit") or NULL. `unit` charges 1 us for everything: for
 * tests by arithmetic. */
const struct price_table *price_table_find(const char *name);

/* The built-in profiles in order; NULL past the last. */
const struct price_table *price_table_at(size_t index);

/* The meter of one engine. A turn starts with cpu_begin; totals go on over turns. */
struct cpu {
    const struct price_table *prices;
    struct instant began; /* when this turn began */
    uint64_t spent_ps;    /* what this turn has cost so far */
    uint64_t muted;       /* > 0 while work is free: data that was there before the run */
    uint64_t clock_reads; /* readings of the wall clock since the start, for observers */
};

/* The prices of a table between its two, for a keyspace whose tables have so many buckets: fills
 * `between` and returns it, or returns the table itself when it has but one price for all. */
const struct price_table *price_table_at_size(const struct price_table *, uint64_t buckets,
                                              struct price_table *between);

static inline void cpu_begin(struct cpu *cpu, struct instant now) {
    cpu->began = now;
    cpu->spent_ps = 0;
}

static inline void cpu_charge(struct cpu *cpu, enum cost_op op, uint64_t count) {
    if (cpu->muted == 0) cpu->spent_ps += cpu->prices->ps[op] * count;
}

/* The wall clock now, without the reading that the server would pay for: where its own reading is
 * no part of what is modelled. */
static inline us_t cpu_peek_wall_us(const struct cpu *cpu) {
    return cpu->began.wall_us + (us_t)(cpu->spent_ps / PS_PER_US);
}

/* The wall clock now, read afresh: the reading itself is charged first, as the server's loop pays
 * it. */
static inline us_t cpu_wall_us(struct cpu *cpu) {
    cpu_charge(cpu, COST_CLOCK_READ, 1);
    cpu->clock_reads++;
    return cpu_peek_wall_us(cpu);
}

static inline ms_t cpu_wall_ms(struct cpu *cpu) { return wall_ms_of(cpu_wall_us(cpu)); }

/* What the turn has cost, for observers: no charge, rounded up so that work never takes no time at
 * all. */
static inline ns_t cpu_spent_ns(const struct cpu *cpu) {
    return (ns_t)((cpu->spent_ps + PS_PER_NS - 1) / PS_PER_NS);
}

#endif
