/* cluster: a few engines wired directly, for tests: connections, messages and stream arrive in the
 * next turn of the receiver, in order, at once or after a delay; a path may be cut, then what goes
 * over it waits. Nothing costs time. The wire's talk is kept as text. */
#ifndef LAPSE_TESTS_CLUSTER_H
#define LAPSE_TESTS_CLUSTER_H

#include "engine.h"
#include "snapshot.h"
#include "support.h"

#define CLUSTER_SERVERS 4
#define CLUSTER_SLOTS   16
#define CLUSTER_WALL_US INT64_C(1700000000000000)

struct cluster;

struct cluster_record { /* of a server's stream */
    struct arg argv[8];
    const struct command *command;
    uint32_t argc, resp_bytes;
    uint8_t db;
    int64_t end_offset;
};

enum cluster_item_kind { ITEM_DIALLED, ITEM_CONNECTED, ITEM_CLOSED, ITEM_MESSAGE, ITEM_STREAM };

struct cluster_item {
    uint8_t kind;
    int from;
    ns_t at_ns; /* when it arrives */
    uint64_t connection;
    struct repl_message message;
    struct cluster_record record;
};

struct cluster_slot {
    uint64_t connection; /* 0: none */
    int peer;
    bool streams;
    bool is_stuck; /* its socket takes nothing */
    int64_t sent_offset;
};

struct cluster_server {
    struct cluster *cluster;
    int number;
    bool is_up; /* takes turns */
    struct sink sink;
    struct engine_env env;
    struct engine_config config; /* change it before cluster_start */
    struct engine *engine;
    us_t wall_offset_us;
    uint32_t client;
    struct cluster_item *inbox;
    uint32_t inbox_count, inbox_capacity;
    struct cluster_record *log;
    uint32_t log_count, log_capacity;
    struct cluster_slot slots[CLUSTER_SLOTS];
    uint64_t up_connection;
    int up_peer;
    struct snapshot *pipe;
    uint64_t pipe_left_bytes;
    char reply[256]; /* the last one of `client`; "" while it waits */
    bool reply_was_late;
    uint32_t blocked;
    uint32_t histories; /* how many have begun */
};

struct cluster {
    struct keys *keys;
    struct texts *texts;
    text_id names[CLUSTER_SERVERS]; /* "s0" .. */
    uint32_t count;
    ns_t now_ns;
    uint64_t connections;
    uint64_t pipe_bytes_per_turn;
    ms_t delay_ms;                              /* of every path */
    bool cut[CLUSTER_SERVERS][CLUSTER_SERVERS]; /* from, to */
    struct cluster_server servers[CLUSTER_SERVERS];
    char talk[8192], told[8192];
};

void cluster_init(struct cluster *, uint32_t count, const char *generation);
void cluster_start(struct cluster *);
void cluster_stop(struct cluster *); /* checks every engine */

/* Time goes on by so much. */
void cluster_run(struct cluster *, ms_t ms);

/* A command of the server's own client in a turn of its own, now; what it causes arrives with the
 * next cluster_run. Words: k0 to k4095 where the command has a key, numbers, ~N for a payload of N
 * bytes.
 */
const char *cluster_do(struct cluster *, int server, const char *line);
const char *cluster_do_as(struct cluster *, int server, uint32_t client, const char *line);

/* A connection to that server at whose other end nobody sits; its slot. And a message over it, in
 * a turn of its own. */
int cluster_accept(struct cluster *, int server);
void cluster_message(struct cluster *, int server, int slot, struct repl_message);

/* Both ways. */
void cluster_cut(struct cluster *, int a, int b, bool cut);

/* In sync from before the run: `replica` follows `master`. */
void cluster_join(struct cluster *, int master, int replica);

/* Makes it the other's replica by REPLICAOF and runs until the link is up. */
void cluster_follow(struct cluster *, int replica, int master);

struct engine_stats cluster_stats(const struct cluster *, int server);
uint64_t cluster_digest(const struct cluster *, int server);

/* Asserts that two servers hold the same at the same offset. */
void cluster_assert_equal(const struct cluster *, int a, int b);

/* What was said since the last call. */
const char *cluster_talk(struct cluster *);

#endif
