/* db: one database: keyspace and expires kept consistent, and the server's lookup and write
 * primitives in their exact order of dict operations (7.0 db.c; engine facts sections 2 and 3, step
 * counts 1.7). Invariant: a key in `expires` is in `main`. What all databases of a server share is
 * `struct db_host`. */
#ifndef LAPSE_CORE_DB_H
#define LAPSE_CORE_DB_H

#include "base.h"
#include "cost.h"
#include "dict.h"
#include "entry.h"
#include "memory.h"
#include "object.h"
#include "observe.h"

struct propagate;
struct expire_replica;

/* Who is asking, as far as expiry cares. */
enum db_client { DB_CLIENT_NORMAL, DB_CLIENT_MASTER_LINK };

/* What a generation decides about keys that are logically expired. */
struct lazy_policy {
    bool replica_hides_from_writes; /* 7.0: on a replica an expired key is missing for every client
                                       but the master link; 3.2 to 6.2: for read-only commands only
                                     */
    bool pause_keeps; /* 6.2: while clients are paused an expired key is missing and stays; and, */
    bool pause_stops_cycle; /* since 3.2, the active cycle does not run */
    bool reads_clock; /* up to 4.0: each check reads the clock; later it is compared with the time
                         at which the outermost command began */
};

struct db_host {
    struct cpu *cpu;
    struct memory *memory;
    const struct keys *keys;
    const struct sink *sink;
    struct propagate *propagate;
    const struct lazy_policy *lazy;
    struct rng *rng;
    const struct pages *pages;
    struct expire_replica *remembered; /* what a writable replica's clients gave deadlines; or NULL
                                        */
    bool has_child;            /* one saves a snapshot: tables are left alone where possible */
    bool is_replica;           /* masterhost is set */
    bool replica_is_writable;  /* replica-read-only is no */
    bool is_paused;            /* CLIENT PAUSE or a failover's, of any kind, */
    ms_t pause_end_ms;         /* until after that cached time */
    bool lazyfree_lazy_expire; /* expired keys leave as UNLINK, values freed elsewhere */
    enum db_client client;     /* of the running command */
    bool command_is_readonly;  /* of the running command, for generations that ask */
    bool in_command; /* lazy checks use command_now_ms inside a command, a fresh clock outside */
    ms_t command_now_ms; /* the cached time: read when the outermost command began */
    uint64_t expired_keys;
    uint64_t keyspace_hits;
    uint64_t keyspace_misses;
};

struct db {
    struct db_host *host;
    struct entries entries;
    struct dict main;
    struct dict expires;
    int64_t avg_ttl_ms;
    uint64_t expires_cursor;
    uint8_t id;
};

enum lookup_flags {
    LOOKUP_READ = 0,
    LOOKUP_WRITE =
        1 << 0, /* for modification: expired keys are deleted, hits and misses not counted */
    LOOKUP_NOSTATS = 1 << 1, /* hits and misses not counted */
};

void db_init(struct db *, uint8_t id, struct db_host *, const struct dict_policy *);
void db_release(struct db *);

/* The entry, or NULL if missing or logically expired; a master deletes and propagates an expired
 * one on the way, and so does a writable replica for its own clients' writes, if its generation
 * hides it from them. Steps: M; if found E; if it has a TTL M again; if it expires now E and M. */
struct entry *db_lookup(struct db *, key_id, unsigned flags);

/* The deadline, or -1 if the key has none or is missing. Steps: E, and M if found. */
ms_t db_deadline_ms(struct db *, key_id);

/* True if logically expired; a master deletes and propagates it, a replica only hides it. */
bool db_expire_if_needed(struct db *, key_id);

/* What an expired key leaves by, on the wire: UNLINK with lazyfree-lazy-expire, else DEL. */
static inline enum word db_expiry_word(const struct db_host *host) {
    return host->lazyfree_lazy_expire ? WORD_UNLINK : WORD_DEL;
}

/* The deletion of an expired key, in the server's order: delete, count, queue DEL or UNLINK.
 * The observers are told how long after its deadline that was, now_ms being now. */
void db_delete_expired(struct db *, key_id, ms_t now_ms, enum expiry_cause);

void db_add(struct db *, key_id, const struct object *); /* must be missing; steps M (grow M) */
void db_overwrite(struct db *, key_id,
                  const struct object *); /* must exist; leaves the TTL; steps M */
/* SET's primitive after its own lookup: adds or overwrites, then removes the TTL unless keep_ttl.
 */
void db_set(struct db *, key_id, const struct object *, bool exists, bool keep_ttl);
/* Changes an existing value in place, without a dict operation (INCR on an unshared integer). */
void db_replace_in_place(struct db *, key_id, const struct object *);
bool db_delete(struct db *, key_id); /* steps E (if not empty), M; true if it existed */
void db_set_deadline(struct db *, key_id, ms_t deadline_ms); /* must exist; steps M, E (grow E) */
bool db_remove_deadline(struct db *, key_id); /* must exist; steps M, E; true if there was one */

/* Empties the database, resets avg_ttl_ms and expires_cursor. Returns the keys dropped. */
uint64_t db_flush(struct db *);

/* A random key that is not logically expired, or KEY_NONE (RANDOMKEY: expired ones met are deleted
 * on a master; on a replica gives up after 100 tries if every key has a TTL). */
key_id db_random_key(struct db *);

/* Modelled bytes of one key with all that hangs on it. */
uint64_t db_key_bytes(const struct db *, key_id);

/* The walker: both dicts, and E within M. */
void db_check(const struct db *);

#endif
