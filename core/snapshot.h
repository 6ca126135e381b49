/* snapshot: a data set at the instant of a fork, as an RDB file carries it (7.0 rdb.c; engine facts
 * 7.6, 7.11 and 12). Keys stand in the order in which the server writes them: by database, table 0
 * then table 1, bucket after bucket, each chain from its head. Whether keys past their deadline are
 * written is the generation's: 3.2 leaves them out, later servers write them. Payloads have a size
 * and no bytes, so a string of more than 20 bytes counts as one that LZF cannot shorten.
 * Reference counted: snapshot_take gives one reference, snapshot_release drops one. */
#ifndef LAPSE_CORE_SNAPSHOT_H
#define LAPSE_CORE_SNAPSHOT_H

#include "db.h"
#include "repl_message.h"

/* What a generation's RDB does with keys past their deadline. */
struct persist_policy {
    bool saves_expired; /* written into snapshots: since 4.0 in RDB files (facts 7.11.1) */
};

struct snapshot_item {
    key_id key;
    struct object value;
    ms_t deadline_ms; /* -1: no TTL */
};

struct snapshot_db {
    uint8_t id;
    uint64_t first, count, expires; /* of the items */
};

struct snapshot {
    uint32_t references;
    struct snapshot_item *items;
    uint64_t count;
    struct snapshot_db dbs[16]; /* those that are not empty, in order */
    uint32_t db_count;
    uint64_t rdb_bytes; /* the file's size */
    uint64_t left_out;  /* keys past their deadline that were not written */
    /* replication: what the aux fields say */
    repl_id id;
    int64_t offset;
    int stream_db; /* -1: none yet */
};

/* Of `count` databases at wall time now_ms. */
struct snapshot *snapshot_take(const struct db *dbs, uint32_t count, const struct persist_policy *,
                               ms_t now_ms);
void snapshot_hold(struct snapshot *);
void snapshot_release(struct snapshot *);

/* Bytes of one key in the file: opcode and deadline if it has one, type, name, value. */
uint64_t snapshot_item_bytes(const struct keys *, const struct snapshot_item *);

#endif
