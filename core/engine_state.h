/* engine_state: the inside of an engine, for the upper rooms of core alone (command, cmd_*, repl,
 * cron, engine). Nothing outside core includes this. */
#ifndef LAPSE_CORE_ENGINE_STATE_H
#define LAPSE_CORE_ENGINE_STATE_H

#include "bounds.h"
#include "db.h"
#include "engine.h"
#include "expire.h"
#include "expire_replica.h"
#include "output_limits.h"
#include "propagate.h"

struct client {
    bool open;
    bool is_master_link;
    bool waits; /* in WAIT */
    uint8_t db; /* selected */
    /* Requests that wait for a pause to end, or behind one that does; queue_next is the first. */
    struct command_queue queue;
    uint32_t queue_next;
    int64_t woff; /* the master's offset after its last command (7.0 c->woff) */
    /* of its WAIT */
    int64_t wait_offset, wait_replicas;
    ms_t wait_end_ms; /* 0: for ever */
    uint64_t wait_serial;
};

/* A replica as its master sees it. `attached` from its PSYNC on: the server's list of replicas. */
enum replica_state {
    REPLICA_FREE,
    REPLICA_OPEN,       /* a connection that has not said PSYNC */
    REPLICA_WAIT_START, /* for a child to be forked (7.0 SLAVE_STATE_WAIT_BGSAVE_START) */
    REPLICA_WAIT_END,   /* for the child that writes for it */
    REPLICA_ONLINE,
    REPLICA_CLOSED, /* hung up in this turn; free at its end */
};

struct engine_replica {
    uint8_t state;
    bool attached;
    bool awaits_ack;  /* online, but the stream is held until its first ACK */
    bool closes_soon; /* at the end of the turn: over its output limit */
    bool pipe_behind; /* has not taken what the pipe gave last */
    int server;       /* its number, or -1 */
    int64_t ack_offset;
    int64_t ack_time_s; /* 0: attached before the time was known */
    int64_t last_word_s;
    int64_t soft_since_s; /* over the soft output limit; 0: not */
};

/* The child that writes a snapshot for replicas. */
enum child_state { CHILD_NONE, CHILD_WRITES, CHILD_ENDED, CHILD_KILLED };

struct sync_child {
    uint8_t state;
    struct snapshot *snapshot; /* while it writes */
    int64_t pipe_s;            /* when the pipe was read last */
};

/* The master as its replica sees it. */
enum upstream_state {
    UPSTREAM_NONE,     /* this is a master */
    UPSTREAM_CONNECT,  /* to be dialled */
    UPSTREAM_DIALLING, /* dialled */
    UPSTREAM_PING,     /* each waits for the reply to what it is called by */
    UPSTREAM_REPLCONF,
    UPSTREAM_PSYNC,
    UPSTREAM_TRANSFER, /* of a snapshot */
    UPSTREAM_LOADING,
    UPSTREAM_UP,
};

struct upstream {
    uint8_t state;
    int master;          /* MASTER_NONE on a replica: joined by hand */
    int64_t last_io_s;   /* until it is up (7.0 repl_transfer_lastio) */
    int64_t last_word_s; /* when it is up; 0: before the time was known */
    int64_t newline_s;   /* when one was sent last */
    bool is_cached;      /* there is a history to go on from */
    uint8_t cached_db;
    /* of the full sync under way */
    repl_id sync_id;
    int64_t sync_offset;
    struct snapshot *snapshot;
    ms_t blocked_cron_ms; /* when the crons that did not run meanwhile were counted last */
    uint64_t loaded;      /* items of it */
    uint32_t section;
    /* what came while the file was loaded */
    bool is_lost;
    bool has_order;
    int order;
};

/* CLIENT PAUSE and its like, by who asked; the most restrictive counts (7.0 pauseClients). */
enum pause_kind { PAUSE_NONE, PAUSE_WRITE, PAUSE_ALL };
enum pause_purpose { PAUSE_BY_COMMAND, PAUSE_BY_FAILOVER, PAUSE_PURPOSES };

struct pause {
    struct {
        uint8_t kind;
        ms_t end_ms;
    } by[PAUSE_PURPOSES];
};

enum failover_state { FAILOVER_NONE, FAILOVER_WAITS, FAILOVER_GOES };

struct failover {
    uint8_t state;
    int target;  /* a server's number; MASTER_NONE: whoever is level first */
    ms_t end_ms; /* 0: none */
    bool force;
};

struct repl_counters {
    uint64_t sync_full, sync_partial_ok, sync_partial_err;
    uint64_t dropped_by_limit, timed_out;
};

struct engine {
    struct engine_env env;
    struct engine_config config;
    struct cpu cpu;
    struct price_table between; /* prices for the tables' size, when they depend on it */
    uint64_t priced_buckets;    /* that size */
    struct memory memory;
    struct db_host host;
    struct db dbs[DATABASES_MAX];
    struct propagate propagate;
    struct backlog backlog;
    struct expire_state expire;
    struct expire_replica remembered; /* deadlines that a writable replica's clients gave */
    struct output_limits limits;      /* the replicas' are in config too, which counts */
    bool active_expire_enabled;       /* DEBUG SET-ACTIVE-EXPIRE */
    struct client *clients;
    uint32_t client_count, client_capacity, clients_open;
    uint32_t master_client; /* the client that the master's stream runs as, while there is a link */
    bool has_master_client;
    /* replication */
    repl_id replid, replid2; /* replid2 0: none */
    int64_t second_offset;   /* second_replid_offset; -1: none */
    struct rng ids;
    struct engine_replica replicas[REPLICAS_MAX]; /* by slot; the same numbers as readers' */
    uint32_t replicas_attached;
    bool slots_end; /* one is to be closed or freed when the turn ends */
    uint32_t good_replicas;
    int64_t no_replicas_since_s;
    struct sync_child child;
    struct upstream upstream;
    struct repl_counters counted;
    struct failover failover;
    struct pause pause;
    uint32_t *postponed; /* clients with a queue, in the order in which they were postponed */
    uint32_t postponed_count, postponed_capacity;
    struct command_queue stalled; /* of the master's stream, while it is paused */
    uint32_t stalled_next;
    uint32_t waiting_clients; /* in WAIT */
    uint64_t wait_serial;
    bool wants_acks; /* get_ack_from_slaves */
    /* cron */
    ns_t next_cron_ns;
    ns_t poll_timeout_ns;
    int64_t written_offset; /* of the stream, when the last turn ended */
    uint64_t cronloops;
    uint64_t replication_cron_loops;
    uint32_t resize_db, rehash_db;
    uint32_t clients_cron_at;
    /* replica side. What was applied is backlog.master_repl_offset. */
    int64_t read_offset;
    bool in_multi;             /* inside the stream's MULTI ... EXEC */
    struct command_queue held; /* from its MULTI on; executed at its EXEC */
    /* the running command */
    uint64_t dirty;
    uint64_t commands_processed;
    struct reply_item *reply;
    uint32_t reply_count, reply_capacity;
};

/* cron.c */
void cron_run(struct engine *); /* serverCron, without its re-arming */

#endif
