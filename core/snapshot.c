#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"

/* The file's parts (7.0 rdb.c; engine facts 12). */
#define OPCODE_BYTES   1 /* SELECTDB, RESIZEDB, AUX, EOF, and a key's type */
#define MAGIC_BYTES    9 /* REDIS and four digits of the version */
#define CHECKSUM_BYTES 8 /* CRC64 */
#define DEADLINE_BYTES 9 /* EXPIRETIME_MS and 64 bits */
#define REPL_ID_DIGITS 40
#define REDIS_BITS     64

_Static_assert(DATABASES_MAX == sizeof((struct snapshot *)0)->dbs / sizeof(struct snapshot_db),
               "a snapshot has room for every database");

/* A length: 6 or 14 bits in its first bytes, else 32 or 64 bits after one (facts 12.1). */
static uint64_t length_bytes(uint64_t length) {
    if (length < 1 << 6) return 1;
    if (length < 1 << 14) return 2;
    return length <= UINT32_MAX ? 1 + 4 : 1 + 8;
}

static uint64_t raw_string_bytes(uint64_t length) { return length_bytes(length) + length; }

/* 7.0 rdbEncodeInteger and rdbSaveLongLongAsStringObject: the narrowest of 8, 16 and 32 bits, else
 * decimal text. */
static uint64_t number_bytes(int64_t number) {
    if (number >= INT8_MIN && number <= INT8_MAX) return 1 + 1;
    if (number >= INT16_MIN && number <= INT16_MAX) return 1 + 2;
    if (number >= INT32_MIN && number <= INT32_MAX) return 1 + 4;
    return raw_string_bytes(decimal_length(number));
}

static uint64_t value_bytes(const struct object *value) {
    bool is_number = value->encoding == ENCODING_SHARED_INT || value->encoding == ENCODING_INT;
    return is_number ? number_bytes(value->number) : raw_string_bytes(value->length);
}

/* The server marks "no deadline" by -1, so a stored deadline of -1 is lost in its file too. */
uint64_t snapshot_item_bytes(const struct keys *keys, const struct snapshot_item *item) {
    return (item->deadline_ms != -1 ? DEADLINE_BYTES : 0) + OPCODE_BYTES +
           raw_string_bytes(keys_length(keys, item->key)) + value_bytes(&item->value);
}

/* --- what is not keys --- */

static uint64_t aux_bytes(const char *name, uint64_t written_bytes) {
    return OPCODE_BYTES + raw_string_bytes(strlen(name)) + written_bytes;
}

/* 7.0 rdbSaveInfoAuxFields, without what snapshot_describe adds. */
static uint64_t frame_bytes(const struct db_host *host, const struct persist_policy *policy,
                            ms_t now_ms) {
    return MAGIC_BYTES + aux_bytes("redis-ver", raw_string_bytes(strlen(policy->version))) +
           aux_bytes("redis-bits", number_bytes(REDIS_BITS)) +
           aux_bytes("ctime", number_bytes(floor_div(now_ms, 1000))) +
           aux_bytes("used-mem", number_bytes(host->memory->used_bytes)) +
           aux_bytes(policy->aof_field, number_bytes(0)) + OPCODE_BYTES + CHECKSUM_BYTES;
}

void snapshot_describe(struct snapshot *snapshot, repl_id id, int64_t offset, int stream_db) {
    ASSERT(snapshot->id == 0 && id != 0);
    snapshot->id = id;
    snapshot->offset = offset;
    snapshot->stream_db = stream_db;
    snapshot->rdb_bytes +=
        aux_bytes("repl-stream-db", number_bytes(stream_db < 0 ? 0 : stream_db)) +
        aux_bytes("repl-id", raw_string_bytes(REPL_ID_DIGITS)) +
        aux_bytes("repl-offset", number_bytes(offset));
}

static uint64_t db_header_bytes(const struct snapshot_db *db) {
    return OPCODE_BYTES + length_bytes(db->id) + OPCODE_BYTES + length_bytes(db->main_hint) +
           length_bytes(db->expires_hint);
}

/* --- keys --- */

/* What a database's walk is about. */
struct taking {
    struct snapshot *snapshot;
    struct snapshot_db *section;
    const struct db *db;
    bool saves_expired;
    ms_t now_ms;
};

static void take_key(const struct taking *t, key_id id) {
    const struct entry *entry = entries_at(&t->db->entries, id);
    bool has_deadline = dict_has(&t->db->expires, id);
    struct snapshot *snapshot = t->snapshot;
    if (has_deadline && !t->saves_expired && entry->deadline_ms < t->now_ms) {
        snapshot->left_out++;
        return;
    }
    struct snapshot_item *item = &snapshot->items[snapshot->count++];
    *item = (struct snapshot_item){.key = id,
                                   .value = entry_value(entry),
                                   .deadline_ms = has_deadline ? entry->deadline_ms : -1};
    snapshot->rdb_bytes += snapshot_item_bytes(t->db->host->keys, item);
    t->section->count++;
    t->section->expires += has_deadline;
}

static void take_table(const struct taking *t, int table) {
    const struct dict *dict = &t->db->main;
    for (uint64_t i = 0; i < dict_size(dict, table); i++) {
        dict_hint_walk(dict, table, i);
        for (key_id id = dict_bucket(dict, table, i); id != KEY_NONE; id = dict_next(dict, id))
            take_key(t, id);
    }
}

/* An empty database leaves no trace; one whose keys are all left out still has its header. */
static void take_db(struct snapshot *snapshot, const struct db *db, bool saves_expired,
                    ms_t now_ms) {
    if (dict_used(&db->main) == 0) return;
    struct snapshot_db *section = &snapshot->dbs[snapshot->db_count++];
    *section = (struct snapshot_db){.id = db->id,
                                    .first = snapshot->count,
                                    .main_hint = dict_used(&db->main),
                                    .expires_hint = dict_used(&db->expires)};
    struct taking taking = {snapshot, section, db, saves_expired, now_ms};
    take_table(&taking, 0);
    take_table(&taking, 1);
    snapshot->rdb_bytes += db_header_bytes(section);
}

static void make_room(struct snapshot *snapshot, const struct db *dbs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) snapshot->capacity += dict_used(&dbs[i].main);
    snapshot->pages = dbs[0].host->pages;
    if (snapshot->capacity == 0) return;
    snapshot->items = pages_take(snapshot->pages, snapshot->capacity * sizeof *snapshot->items);
}

struct snapshot *snapshot_take(const struct db *dbs, uint32_t count,
                               const struct persist_policy *policy, ms_t now_ms) {
    ASSERT(count > 0 && count <= DATABASES_MAX);
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    ASSERT(snapshot);
    snapshot->references = 1;
    snapshot->stream_db = -1;
    snapshot->rdb_bytes = frame_bytes(dbs[0].host, policy, now_ms);
    make_room(snapshot, dbs, count);
    for (uint32_t i = 0; i < count; i++) take_db(snapshot, &dbs[i], policy->saves_expired, now_ms);
    return snapshot;
}

void snapshot_hold(struct snapshot *snapshot) {
    ASSERT(snapshot->references > 0);
    snapshot->references++;
}

void snapshot_release(struct snapshot *snapshot) {
    if (!snapshot) return;
    ASSERT(snapshot->references > 0);
    if (--snapshot->references > 0) return;
    if (snapshot->items)
        pages_give(snapshot->pages, snapshot->items, snapshot->capacity * sizeof *snapshot->items);
    free(snapshot);
}
