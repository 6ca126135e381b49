/* engine: the public face of one server with the world cut off. Whoever owns it says when it wakes
 * and what arrived; it answers through its sink and says when it wants to wake again. Nothing in it
 * reads a real clock, a file or entropy.
 *
 * One turn of the event loop, in this order (7.0 ae.c; engine facts 0.2):
 *     engine_wake(e, now);                      the poll returned
 *     engine_request / engine_receive ...       what had arrived, in arrival order
 *     if (engine_cron_due(e)) engine_cron(e);
 *     ns_t busy = engine_sleep(e);              beforeSleep: fast expire cycle, then replies and
 * stream leave The server is busy until now.mono_ns + busy; what the sink was given leaves then.
 * What arrives meanwhile waits for the next turn. serverCron is re-armed when it returns: at the
 * meter's time then, plus 1000 / hz ms. */
#ifndef LAPSE_CORE_ENGINE_H
#define LAPSE_CORE_ENGINE_H

#include "backlog.h"
#include "base.h"
#include "cost.h"
#include "generation.h"
#include "memory.h"
#include "observe.h"
#include "request.h"
#include "rng.h"

/* What the engine is handed at birth; everything pointed to outlives it. */
struct engine_env {
    const struct generation *generation;
    const struct allocator *allocator;
    const struct price_table *prices;
    const struct keys *keys;
    struct texts *texts;
    const struct sink *sink;
    struct rng rng;
    const struct pages *pages; /* NULL: calloc and free */
    /* Names of the run's servers, as REPLICAOF and FAILOVER give them, by the number that sink.dial
     * speaks of; and this server's own number, which it tells its master (REPLCONF listening-port).
     * The array may be absent: then no name is known. */
    const text_id *servers;
    uint32_t server_count;
    int self;
};

/* redis.conf directives that the engine has. X(field, directive, kind, default) with kind BOOL, INT
 * or BYTES. */
#define DIRECTIVE_LIST(X)                                                                          \
    X(hz, "hz", INT, 10)                                                                           \
    X(dynamic_hz, "dynamic-hz", BOOL, 1)                                                           \
    X(active_expire_effort, "active-expire-effort", INT, 1)                                        \
    X(lazyfree_lazy_expire, "lazyfree-lazy-expire", BOOL, 0)                                       \
    X(lazyfree_lazy_user_del, "lazyfree-lazy-user-del", BOOL, 0)                                   \
    X(lazyfree_lazy_server_del, "lazyfree-lazy-server-del", BOOL, 0)                               \
    X(activerehashing, "activerehashing", BOOL, 1)                                                 \
    X(databases, "databases", INT, 16)                                                             \
    X(repl_backlog_size, "repl-backlog-size", BYTES, 1048576)                                      \
    X(repl_ping_replica_period, "repl-ping-replica-period", INT, 10)                               \
    X(repl_timeout, "repl-timeout", INT, 60)                                                       \
    X(repl_backlog_ttl, "repl-backlog-ttl", INT, 3600)                                             \
    X(repl_diskless_sync_delay, "repl-diskless-sync-delay", INT, 5)                                \
    X(repl_diskless_sync_max_replicas, "repl-diskless-sync-max-replicas", INT, 0)                  \
    X(replica_serve_stale_data, "replica-serve-stale-data", BOOL, 1)                               \
    X(replica_read_only, "replica-read-only", BOOL, 1)                                             \
    X(replica_lazy_flush, "replica-lazy-flush", BOOL, 0)                                           \
    X(min_replicas_to_write, "min-replicas-to-write", INT, 0)                                      \
    X(min_replicas_max_lag, "min-replicas-max-lag", INT, 10)

struct engine_config {
#define X(field, directive, kind, initial) int64_t field;
    DIRECTIVE_LIST(X)
#undef X
    /* client-output-buffer-limit replica; 0: none */
    uint64_t obuf_hard_bytes, obuf_soft_bytes;
    int64_t obuf_soft_s;
    bool is_replica;        /* at the start: of a master that nobody dials, see engine_in_sync */
    uint64_t startup_bytes; /* used_memory_startup; 876,192 for Debian's 7.0.15 with its default
                               config (facts 10.6) */
};

struct engine_config engine_config_default(void);

struct engine;

struct engine *engine_create(const struct engine_env *, const struct engine_config *);

/* Frees everything; ASSERTs that every memory class but the base has come to zero. */
void engine_destroy(struct engine *);

/* A client connects; its id is small and reused after engine_disconnect. Starts in database 0.
 * Never costs time. */
uint32_t engine_connect(struct engine *);
void engine_disconnect(struct engine *, uint32_t client);

void engine_wake(struct engine *, struct instant now);
void engine_request(struct engine *, uint32_t client, const struct request *);
void engine_cron(struct engine *);
ns_t engine_sleep(struct engine *);

/* How long the poll that follows engine_sleep may wait for the timer: taken before beforeSleep's
 * work and rounded up to whole milliseconds, as epoll does it (7.0 ae.c), so a fast cycle delays
 * the next cron by its own time. 0 when the cron was due already. */
ns_t engine_poll_timeout(const struct engine *);

/* When serverCron is due, by the monotonic clock. The first one 1 ms after the creation at time 0.
 */
ns_t engine_next_cron(const struct engine *);

/* Is it due by now, the turn's work so far included? Never while a file is loaded. Timers are
 * looked at after the turn's requests (7.0 ae.c). */
bool engine_cron_due(const struct engine *);

/* Attaches a replica that is in sync at the present offset; returns its slot or -1. The first one
 * starts the backlog. `written`: its socket took the stream up to there. `acked`: its
 * REPLCONF ACK arrived. */
int engine_replica_attach(struct engine *);
void engine_replica_written(struct engine *, int replica, int64_t offset);
void engine_replica_acked(struct engine *, int replica, int64_t offset);

/* Which server sits in that slot (its own number), for FAILOVER TO. One that has said REPLCONF is
 * known by that. */
void engine_replica_is(struct engine *, int replica, int server);

/* Replica side: one command of the master's stream, read in this turn. Applied, and handed on to
 * this server's own sink verbatim when the applied offset has moved over it. Ignored while there is
 * no link: it was under way when the link was closed. */
void engine_receive(struct engine *, const struct stream_command *);

/* ---- replication as it lives: connections, handshakes, full syncs, roles ----------------------
 */

/* REPLICAOF, from the outside: the server becomes a replica of that one (a number of the owner's,
 * which sink.dial gives back), or, with MASTER_NONE, a master. Before the first engine_wake it is
 * `replicaof` in redis.conf: the first cron connects, and asks for everything. A failover that is
 * under way is aborted; while a file is loaded the order waits for its end. */
#define MASTER_NONE (-1)
void engine_replicaof(struct engine *, int master);

/* A replica that is in sync with its master from before the run, without a word spoken: it goes on
 * from that history. The master's side of it is engine_replica_attach. */
void engine_in_sync(struct engine *, int master, repl_id, int64_t offset);

/* Whom the server follows now (a number of the owner's), or MASTER_NONE. */
int engine_master(const struct engine *);

/* The connection that sink.dial asked for stands, or a connection is gone: closed by the peer,
 * refused, or never made. What the engine itself has hung up is gone without that word; a slot is
 * used again only in a later turn. */
void engine_connected(struct engine *);
void engine_closed(struct engine *, int peer);

/* A server has dialled this one: its slot, or -1 when there is no room. */
int engine_accept(struct engine *);

/* A message of a peer, read in this turn. */
void engine_message(struct engine *, int peer, const struct repl_message *);

/* The parent reads the child's pipe: so many bytes of the file, relayed to every replica that waits
 * for them; `last` with its end. The owner reads on when all of them have taken what came before
 * (7.0 rdbPipeReadHandler: the slowest one holds up all), in portions of at most 16 KiB. */
void engine_pipe(struct engine *, uint64_t bytes, bool last);

/* A replica's socket took what engine_pipe gave it last. Who never says so makes no difference
 * between replicas: once the pipe stands still for more than repl-timeout, all that wait for the
 * file are dropped; else only those that are behind (7.0 repl_last_partial_write). */
void engine_pipe_taken(struct engine *, int replica);

/* While a file is being loaded the server answers -LOADING and runs no cron. Each turn loads 2 MiB
 * of it (loading-process-events-interval-bytes), between engine_wake and engine_sleep; the next one
 * begins as soon as this one's time is over, whether anything has arrived or not. */
bool engine_is_loading(const struct engine *);
void engine_load(struct engine *);

/* Puts a key there as data that the server held before the run: no cost, no stream, no statistics;
 * the dicts grow and step as when it was written. deadline_ms < 0: no TTL. Replaces a key that is
 * there. */
void engine_preload(struct engine *, uint8_t db, key_id, const struct object *, ms_t deadline_ms);

/* The database that a client has selected. */
uint8_t engine_client_db(const struct engine *, uint32_t client);

/* Does nothing but return: does that key exist, seen from outside, without a step or a charge? And
 * its deadline (-1). */
bool engine_peek(const struct engine *, uint8_t db, key_id, struct object *value,
                 ms_t *deadline_ms);

/* How far this server is in its history: a master's master_repl_offset, what a replica has applied
 * of its master's stream. The same as engine_stats says, for callers who ask at every command. */
int64_t engine_offset(const struct engine *);

/* Tells of every key, in no order that means anything, without a step or a charge. deadline_ms -1:
 * no TTL; bytes of modelled memory, as the sink is told them. */
struct engine_key {
    uint8_t db;
    key_id key;
    struct object value;
    ms_t deadline_ms;
    uint64_t bytes;
};
void engine_each_key(const struct engine *, void (*)(void *context, const struct engine_key *),
                     void *context);

/* The modelled memory of one key that is there. */
uint64_t engine_key_bytes(const struct engine *, uint8_t db, key_id);

/* Brings near what a key's command will look at, for a caller who knows it a little ahead: the key
 * and its entry, and later, when they have come, the buckets that it lies in or would. They do
 * nothing else. */
void engine_prefetch(const struct engine *, uint8_t db, key_id);
void engine_prefetch_place(const struct engine *, uint8_t db, key_id);

/* How a replica stands with its master, as far as onlookers tell them apart. */
enum master_link {
    LINK_NONE,      /* a master has none */
    LINK_DOWN,      /* no connection, or one being made */
    LINK_HANDSHAKE, /* connected; until the reply to PSYNC */
    LINK_SYNC,      /* a snapshot is awaited, under way or being loaded */
    LINK_UP,
};

/* What INFO would say, and a little more. Counters are since the start. */
struct engine_stats {
    bool is_replica; /* now */
    uint32_t hz;     /* effective */
    uint32_t connected_clients, connected_replicas;
    uint64_t keys, expires; /* over all databases */
    uint64_t expired_keys, keyspace_hits, keyspace_misses;
    uint64_t expired_stale_ppm; /* the moving average in millionths: 500,000 is the 50.00 of
                                   expired_stale_perc */
    double expired_stale_perc;  /* the same as INFO computes it */
    uint64_t expired_time_cap_reached_count;
    us_t expire_cycle_us;
    uint64_t commands_processed;
    uint64_t clock_reads; /* how often the server would have read the wall clock */
    bool rehashing;       /* any dict of any database */
    int64_t used_memory_bytes, used_memory_peak_bytes;
    int64_t memory_bytes[MEMORY_CLASS_COUNT];
    int64_t master_repl_offset; /* on a replica: how far it has applied */
    bool backlog_active;
    uint64_t backlog_size_bytes, backlog_histlen_bytes;
    int64_t backlog_first_offset;
    uint64_t repl_buffer_bytes;
    repl_id replid, replid2;      /* master_replid, master_replid2; 0: none */
    int64_t second_repl_offset;   /* -1: none */
    enum master_link master_link; /* of a replica */
    bool loading;
    uint64_t sync_full, sync_partial_ok, sync_partial_err;
    uint64_t replicas_dropped_by_limit, replicas_timed_out; /* closed by this master, for what */
    uint32_t good_replicas;
};
struct engine_stats engine_stats(const struct engine *);

struct engine_db_stats {
    uint64_t keys, expires;
    int64_t avg_ttl_ms;
    uint64_t main_size[2], main_used[2], expires_size[2], expires_used[2];
    int64_t main_rehash_index, expires_rehash_index; /* -1: not rehashing */
};
struct engine_db_stats engine_db_stats(const struct engine *, uint8_t db);

const struct engine_config *engine_config(const struct engine *);

/* A digest of the data set, independent of order: equal on a master and a replica that holds the
 * same keys, values and deadlines in the same databases. O(keys). */
uint64_t engine_digest(const struct engine *);

/* Walks every structure; ASSERTs on the first break. O(everything). */
void engine_check(const struct engine *);

#endif
