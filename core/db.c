#include "db.h"

#include "expire_replica.h"
#include "propagate.h"

#define ENTRY_REQUEST_BYTES 24  /* three words: key, value or deadline, next */
#define RANDOM_KEY_TRIES    100 /* on a replica whose keys all have a TTL (7.0 db.c dbRandomKey) */

void db_init(struct db *db, uint8_t id, struct db_host *host, const struct dict_policy *policy) {
    *db = (struct db){.host = host, .id = id, .entries = {.host = host->pages}};
    dict_init(&db->main, DICT_MAIN, &db->entries, host->keys, host->cpu, host->memory, policy);
    dict_init(&db->expires, DICT_EXPIRES, &db->entries, host->keys, host->cpu, host->memory,
              policy);
    db->main.child = db->expires.child = &host->has_child;
}

void db_release(struct db *db) {
    db_flush(db);
    entries_release(&db->entries);
}

uint64_t db_key_bytes(const struct db *db, key_id id) {
    const struct memory *memory = db->host->memory;
    struct object value = entry_value(entries_at(&db->entries, id));
    uint64_t entry_bytes = allocator_usable(memory->allocator, ENTRY_REQUEST_BYTES);
    uint64_t name_bytes = sds_request_bytes(keys_length(db->host->keys, id));
    return entry_bytes + allocator_usable(memory->allocator, name_bytes) +
           object_usable_bytes(memory, &value) + (dict_has(&db->expires, id) ? entry_bytes : 0);
}

/* The onlooker's books: called before and after whatever changes a volatile key's deadline or
 * weight. */
static void tell_removed(const struct db *db, key_id id) {
    if (!dict_has(&db->expires, id)) return;
    const struct sink *sink = db->host->sink;
    sink->deadline_removed(sink->context, entries_at(&db->entries, id)->deadline_ms,
                           db_key_bytes(db, id));
}

static void tell_added(const struct db *db, key_id id) {
    if (!dict_has(&db->expires, id)) return;
    const struct sink *sink = db->host->sink;
    sink->deadline_added(sink->context, entries_at(&db->entries, id)->deadline_ms,
                         db_key_bytes(db, id));
}

ms_t db_deadline_ms(struct db *db, key_id id) {
    if (!dict_find(&db->expires, id)) return -1;
    dict_find(&db->main, id); /* a sanity lookup that is compiled into the server */
    return entries_at(&db->entries, id)->deadline_ms;
}

static ms_t lazy_now_ms(struct db_host *host) {
    bool is_cached = host->in_command && !host->lazy->reads_clock;
    return is_cached ? host->command_now_ms : cpu_wall_ms(host->cpu);
}

/* A stored negative deadline counts as none (7.0 keyIsExpired returns early). `now_ms` is set if
 * there is a deadline to compare it with. */
static bool is_past(struct db *db, key_id id, ms_t *now_ms) {
    ms_t deadline_ms = db_deadline_ms(db, id);
    if (deadline_ms < 0) return false;
    *now_ms = lazy_now_ms(db->host);
    return *now_ms > deadline_ms;
}

/* Does a replica take this logically expired key for missing? To the master's stream all live. */
static bool replica_hides(const struct db_host *host) {
    if (host->client == DB_CLIENT_MASTER_LINK) return false;
    return host->lazy->replica_hides_from_writes || host->command_is_readonly;
}

/* Properly expired at the end of the pause, or by the server that has become the master. */
static bool is_kept_by_pause(const struct db_host *host) {
    return host->is_paused && host->lazy->pause_keeps && host->pause_end_ms >= host->command_now_ms;
}

/* `for_write`: the key is looked up to be changed. On a writable replica such a look deletes it,
 * and nobody is told (7.0 expireIfNeeded, EXPIRE_FORCE_DELETE_EXPIRED). */
static bool expire_if_needed(struct db *db, key_id id, bool for_write) {
    const struct db_host *host = db->host;
    ms_t now_ms;
    if (!is_past(db, id, &now_ms)) return false;
    if (host->is_replica && !replica_hides(host)) return false;
    if (host->is_replica && !(for_write && host->replica_is_writable)) return true;
    if (is_kept_by_pause(host)) return true;
    db_delete_expired(db, id, now_ms, EXPIRY_LAZY);
    return true;
}

bool db_expire_if_needed(struct db *db, key_id id) { return expire_if_needed(db, id, false); }

struct entry *db_lookup(struct db *db, key_id id, unsigned flags) {
    bool found = dict_find(&db->main, id) && !expire_if_needed(db, id, flags & LOOKUP_WRITE);
    if (!(flags & (LOOKUP_WRITE | LOOKUP_NOSTATS))) {
        db->host->keyspace_hits += found;
        db->host->keyspace_misses += !found;
    }
    return found ? entries_at(&db->entries, id) : NULL;
}

void db_delete_expired(struct db *db, key_id id, ms_t now_ms, enum expiry_cause cause) {
    struct db_host *host = db->host;
    ms_t late_ms = now_ms - entries_at(&db->entries, id)->deadline_ms;
    db_delete(db, id);
    propagate_expiry(host->propagate, db->id, db_expiry_word(host), id);
    host->expired_keys++;
    host->sink->key_expired(host->sink->context, late_ms, cause);
}

void db_add(struct db *db, key_id id, const struct object *value) {
    entry_set_value(entries_touch(&db->entries, id), value);
    bool added = dict_add(&db->main, id);
    ASSERT(added);
    memory_take(db->host->memory, MEMORY_KEYS, sds_request_bytes(keys_length(db->host->keys, id)));
    object_take(db->host->memory, value);
}

/* Tells the onlooker nothing. */
static void replace_value(struct db *db, key_id id, const struct object *value) {
    struct entry *entry = entries_at(&db->entries, id);
    struct object old = entry_value(entry);
    object_give(db->host->memory, &old);
    object_charge_free(db->host->cpu, &old);
    entry_set_value(entry, value);
    object_take(db->host->memory, value);
}

void db_replace_in_place(struct db *db, key_id id, const struct object *value) {
    tell_removed(db, id);
    replace_value(db, id, value);
    tell_added(db, id);
}

static void charge_overwrite(struct db *db, key_id id) {
    bool found = dict_find(&db->main, id);
    ASSERT(found);
    cpu_charge(db->host->cpu, COST_OVERWRITE, 1);
}

void db_overwrite(struct db *db, key_id id, const struct object *value) {
    charge_overwrite(db, id);
    db_replace_in_place(db, id, value);
}

/* The key leaves the expires dict; what was told of it before stands as it is. */
static bool forget_deadline(struct db *db, key_id id) {
    bool found = dict_find(&db->main, id);
    ASSERT(found);
    return dict_delete(&db->expires, id);
}

/* A key that is to lose its TTL is taken off the onlooker's books before its weight changes. */
static void overwrite_and_forget(struct db *db, key_id id, const struct object *value) {
    charge_overwrite(db, id);
    tell_removed(db, id);
    replace_value(db, id, value);
    forget_deadline(db, id);
}

void db_set(struct db *db, key_id id, const struct object *value, bool exists, bool keep_ttl) {
    if (exists && !keep_ttl) {
        overwrite_and_forget(db, id, value);
    } else if (exists) {
        db_overwrite(db, id, value);
    } else {
        db_add(db, id, value);
        if (!keep_ttl) db_remove_deadline(db, id);
    }
}

/* What one SET asks for in one size class lies side by side and comes into the caches together;
 * each further class is one more place to go to. Measured on a million keys, Debian's jemalloc:
 * names of 16 bytes and values of 32 (entries and name in the class of 32, value in that of 64)
 * take 0.92 us to die, names of 14 bytes (class of 16) 1.10 to 1.15, values of 100 bytes (three
 * classes) 1.18 and 1.34. */
static uint32_t count_places(const struct db *db, uint64_t name_usable_bytes,
                             const struct object *value) {
    const struct allocator *allocator = db->host->memory->allocator;
    uint64_t sizes[4] = {allocator_usable(allocator, ENTRY_REQUEST_BYTES), name_usable_bytes};
    uint32_t count = 2 + object_places(allocator, value, sizes + 2), places = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = 0;
        while (sizes[before] != sizes[i]) before++;
        places += before == i;
    }
    return places;
}

/* Takes name and value off the ledger; returns the value. */
static struct object give_back(struct db *db, key_id id) {
    struct object value = entry_value(entries_at(&db->entries, id));
    uint64_t name_bytes = sds_request_bytes(keys_length(db->host->keys, id));
    uint64_t usable_bytes = memory_give(db->host->memory, MEMORY_KEYS, name_bytes);
    cpu_charge(db->host->cpu, COST_APART, count_places(db, usable_bytes, &value) - 1);
    object_give(db->host->memory, &value);
    return value;
}

bool db_delete(struct db *db, key_id id) {
    tell_removed(db, id);
    dict_delete(&db->expires, id);
    if (!dict_delete(&db->main, id)) return false;
    struct object value = give_back(db, id);
    object_charge_free(db->host->cpu, &value);
    return true;
}

/* 7.0 setExpire: by a client's command, not by the master's stream, a load or a preload. */
static void remember(struct db *db, key_id id) {
    const struct db_host *host = db->host;
    if (!host->is_replica || !host->replica_is_writable || !host->remembered) return;
    if (host->in_command && host->client == DB_CLIENT_NORMAL)
        expire_replica_remember(host->remembered, id, db->id);
}

void db_set_deadline(struct db *db, key_id id, ms_t deadline_ms) {
    bool found = dict_find(&db->main, id);
    ASSERT(found);
    tell_removed(db, id);
    dict_add(&db->expires, id);
    entries_at(&db->entries, id)->deadline_ms = deadline_ms;
    tell_added(db, id);
    remember(db, id);
}

bool db_remove_deadline(struct db *db, key_id id) {
    tell_removed(db, id);
    return forget_deadline(db, id);
}

/* Gives back what hangs on every key of one table; the dicts drop their own part. */
static void forget_table(struct db *db, int table) {
    for (uint64_t i = 0; i < dict_size(&db->main, table); i++)
        for (key_id id = dict_bucket(&db->main, table, i); id != KEY_NONE;
             id = dict_next(&db->main, id)) {
            tell_removed(db, id);
            give_back(db, id);
        }
}

uint64_t db_flush(struct db *db) {
    uint64_t dropped = dict_used(&db->main);
    forget_table(db, 0);
    forget_table(db, 1);
    cpu_charge(db->host->cpu, COST_DELETE, dropped);
    dict_clear(&db->expires);
    dict_clear(&db->main);
    db->avg_ttl_ms = 0;
    db->expires_cursor = 0;
    return dropped;
}

key_id db_random_key(struct db *db) {
    bool all_volatile = dict_used(&db->main) == dict_used(&db->expires);
    bool stays = db->host->is_replica || is_kept_by_pause(db->host); /* 7.0 asks the first only */
    for (int tries = 1;; tries++) {
        key_id id = dict_random(&db->main, db->host->rng);
        if (id == KEY_NONE || !dict_find(&db->expires, id)) return id;
        if (all_volatile && stays && tries == RANDOM_KEY_TRIES) return id;
        if (!db_expire_if_needed(db, id)) return id;
    }
}

static void check_table(const struct db *db, int table) {
    for (uint64_t i = 0; i < dict_size(&db->expires, table); i++)
        for (key_id id = dict_bucket(&db->expires, table, i); id != KEY_NONE;
             id = dict_next(&db->expires, id))
            ASSERT(dict_has(&db->main, id));
}

void db_check(const struct db *db) {
    dict_check(&db->main);
    dict_check(&db->expires);
    check_table(db, 0);
    check_table(db, 1);
}
