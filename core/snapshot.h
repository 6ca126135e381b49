/* snapshot: a data set at the instant of a fork, as an RDB file carries it (7.0 rdb.c; engine facts
 * 7.6, 7.11 and 12). Keys stand in the order in which the server writes them: by database, table 0
 * then table 1, bucket after bucket, each chain from its head. Whether keys past their deadline are
 * written is the generation's. Payloads have a size and no bytes, so a string of more than 20 bytes
 * counts as one that LZF cannot shorten, and a key's name as one that is no decimal number.
 * Invariants: the databases' items follow each other without a gap, and rdb_bytes is the sum of the
 * file's parts as they stand now. Reference counted: snapshot_take gives one reference,
 * snapshot_release drops one; the owner's pages must outlive the last. Taking one costs the server
 * nothing here: its child does the work, and what the fork takes is for its owner to charge. */
#ifndef LAPSE_CORE_SNAPSHOT_H
#define LAPSE_CORE_SNAPSHOT_H

#include "db.h"
#include "repl_message.h"

/* What a generation's RDB files say, and what it does with keys past their deadline. */
struct persist_policy {
    bool saves_expired;    /* they are written as the others are (facts 7.11.1) */
    const char *version;   /* of the aux field redis-ver: "7.0.15" */
    const char *aof_field; /* the last aux field: aof-base (7.0), aof-preamble (4.0 to 6.2) */
};

struct snapshot_item {
    key_id key;
    struct object value;
    ms_t deadline_ms; /* -1: no TTL */
};

struct snapshot_db {
    uint8_t id;
    uint64_t first, count, expires; /* of the items */
    uint64_t main_hint,
        expires_hint; /* what RESIZEDB says: the dicts' fill, keys left out included */
};

struct snapshot {
    uint32_t references;
    struct snapshot_item *items;
    uint64_t count;
    struct snapshot_db dbs[16]; /* those that are not empty, in order */
    uint32_t db_count;
    uint64_t rdb_bytes; /* the file's size */
    uint64_t left_out;  /* keys past their deadline that were not written */
    /* replication: what the aux fields say, by snapshot_describe */
    repl_id id;
    int64_t offset;
    int stream_db; /* -1: none yet, which the file writes as 0 */
    /* whence the items come, to be given back there */
    const struct pages *pages;
    uint64_t capacity;
};

/* Of `count` databases (at least one, all of one server) at wall time now_ms. The file says nothing
 * about replication yet. */
struct snapshot *snapshot_take(const struct db *dbs, uint32_t count, const struct persist_policy *,
                               ms_t now_ms);

/* The aux fields repl-stream-db, repl-id and repl-offset, which a file for a replica has; the
 * file's size grows by them. Once. */
void snapshot_describe(struct snapshot *, repl_id, int64_t offset, int stream_db);

void snapshot_hold(struct snapshot *);
void snapshot_release(struct snapshot *);

/* Bytes of one key in the file: opcode and deadline if it has one, type, name, value. */
uint64_t snapshot_item_bytes(const struct keys *, const struct snapshot_item *);

/* A snapshot of unknown length goes over a socket between two marks (7.0 rdbSaveRioWithEOFMark):
 * "$EOF:", 40 hex digits and CRLF before it, the 40 digits again after it. Not part of rdb_bytes.
 */
#define SNAPSHOT_EOF_MARK_BYTES (5 + 40 + 2 + 40)

#endif
