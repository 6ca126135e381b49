/* engine_state: the inside of an engine, for the upper rooms of core alone (command, cmd_*, repl,
 * cron, engine). Nothing outside core includes this. */
#ifndef LAPSE_CORE_ENGINE_STATE_H
#define LAPSE_CORE_ENGINE_STATE_H

#include "bounds.h"
#include "db.h"
#include "engine.h"
#include "expire.h"
#include "expire_replica.h"
#include "propagate.h"

struct client {
    bool open;
    bool is_master_link;
    uint8_t db; /* selected */
};

struct engine_replica {
    bool attached;
    int64_t ack_offset;
    int64_t ack_time_s;
};

struct engine {
    struct engine_env env;
    struct engine_config config;
    struct cpu cpu;
    struct memory memory;
    struct db_host host;
    struct db dbs[DATABASES_MAX];
    struct propagate propagate;
    struct backlog backlog;
    struct expire_state expire;
    struct expire_replica remembered; /* deadlines that a writable replica's clients gave */
    bool active_expire_enabled;       /* DEBUG SET-ACTIVE-EXPIRE */
    struct client *clients;
    uint32_t client_count, client_capacity, clients_open;
    uint32_t master_client; /* the client that the master's stream runs as, on a replica */
    struct engine_replica replicas[REPLICAS_MAX];
    /* cron */
    ns_t next_cron_ns;
    ns_t poll_timeout_ns;
    int64_t written_offset; /* of the stream, when the last turn ended */
    uint64_t cronloops;
    uint64_t replication_cron_loops;
    uint32_t resize_db, rehash_db;
    /* replica side */
    int64_t applied_offset; /* of the master's stream; advances after each command, over a MULTI at
                               its EXEC */
    int64_t read_offset;
    bool in_multi;             /* inside the stream's MULTI ... EXEC */
    struct command_queue held; /* what came since its MULTI; executed at its EXEC */
    /* the running command */
    uint64_t dirty;
    uint64_t commands_processed;
    struct reply_item *reply;
    uint32_t reply_count, reply_capacity;
};

/* cron.c */
void cron_run(struct engine *);         /* serverCron, without its re-arming */
void cron_replication(struct engine *); /* replicationCron */

#endif
