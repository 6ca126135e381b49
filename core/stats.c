#include "repl.h"

/* stats: what an engine tells about itself, its digest, and the walker over all of it. */

static void add_databases(const struct engine *engine, struct engine_stats *stats) {
    for (int i = 0; i < DATABASES_MAX; i++) {
        const struct db *db = &engine->dbs[i];
        stats->keys += dict_used(&db->main);
        stats->expires += dict_used(&db->expires);
        stats->rehashing |= dict_rehashing(&db->main) || dict_rehashing(&db->expires);
    }
}

static void add_expiry(const struct engine *engine, struct engine_stats *stats) {
    stats->expired_keys = engine->host.expired_keys;
    stats->expired_stale_perc = engine->expire.stale_fraction * 100;
    stats->expired_stale_ppm = (uint64_t)(engine->expire.stale_fraction * 1000000 + 0.5);
    stats->expired_time_cap_reached_count = engine->expire.time_cap_reached;
    stats->expire_cycle_us = engine->expire.cycle_time_us;
}

static void add_memory(const struct engine *engine, struct engine_stats *stats) {
    stats->used_memory_bytes = engine->memory.used_bytes;
    stats->used_memory_peak_bytes = engine->memory.peak_bytes;
    for (int class = 0; class < MEMORY_CLASS_COUNT; class ++)
        stats->memory_bytes[class] = engine->memory.bytes[class];
}

static enum master_link link_of(enum upstream_state state) {
    static const enum master_link links[] = {[UPSTREAM_NONE] = LINK_NONE,
                                             [UPSTREAM_CONNECT] = LINK_DOWN,
                                             [UPSTREAM_DIALLING] = LINK_DOWN,
                                             [UPSTREAM_PING] = LINK_HANDSHAKE,
                                             [UPSTREAM_REPLCONF] = LINK_HANDSHAKE,
                                             [UPSTREAM_PSYNC] = LINK_HANDSHAKE,
                                             [UPSTREAM_TRANSFER] = LINK_SYNC,
                                             [UPSTREAM_LOADING] = LINK_SYNC,
                                             [UPSTREAM_UP] = LINK_UP};
    return links[state];
}

int64_t engine_offset(const struct engine *engine) { return engine->backlog.master_repl_offset; }

static void add_replication(const struct engine *engine, struct engine_stats *stats) {
    const struct backlog *backlog = &engine->backlog;
    stats->master_repl_offset = engine_offset(engine);
    stats->backlog_active = backlog->active;
    stats->backlog_size_bytes = backlog->size_bytes;
    stats->backlog_histlen_bytes = backlog->histlen_bytes;
    stats->backlog_first_offset = backlog_first_offset(backlog);
    stats->repl_buffer_bytes = backlog->repl_buffer_bytes;
    stats->connected_replicas = engine->replicas_attached;
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        stats->connected_clients += engine->replicas[slot].state == REPLICA_OPEN;
    stats->good_replicas = engine->good_replicas;
    stats->replid = engine->replid;
    stats->replid2 = engine->replid2;
    stats->second_repl_offset = engine->second_offset;
    stats->sync_full = engine->counted.sync_full;
    stats->sync_partial_ok = engine->counted.sync_partial_ok;
    stats->sync_partial_err = engine->counted.sync_partial_err;
    stats->replicas_dropped_by_limit = engine->counted.dropped_by_limit;
    stats->replicas_timed_out = engine->counted.timed_out;
    stats->master_link = link_of(engine->upstream.state);
    stats->loading = engine_is_loading(engine);
}

struct engine_stats engine_stats(const struct engine *engine) {
    struct engine_stats stats = {.is_replica = engine->host.is_replica,
                                 .hz = engine->expire.hz,
                                 .connected_clients = engine->clients_open,
                                 .keyspace_hits = engine->host.keyspace_hits,
                                 .keyspace_misses = engine->host.keyspace_misses,
                                 .commands_processed = engine->commands_processed,
                                 .clock_reads = engine->cpu.clock_reads};
    add_databases(engine, &stats);
    add_expiry(engine, &stats);
    add_memory(engine, &stats);
    add_replication(engine, &stats);
    return stats;
}

uint64_t engine_key_bytes(const struct engine *engine, uint8_t db, key_id key) {
    return db_key_bytes(&engine->dbs[db], key);
}

static struct engine_key key_found(const struct db *db, key_id id) {
    const struct entry *entry = entries_at(&db->entries, id);
    return (struct engine_key){.db = db->id,
                               .key = id,
                               .value = entry_value(entry),
                               .deadline_ms = dict_has(&db->expires, id) ? entry->deadline_ms : -1,
                               .bytes = db_key_bytes(db, id)};
}

static void tell_table(const struct db *db, int table,
                       void (*tell)(void *context, const struct engine_key *), void *context) {
    for (uint64_t i = 0; i < dict_size(&db->main, table); i++)
        for (key_id id = dict_bucket(&db->main, table, i); id != KEY_NONE;
             id = dict_next(&db->main, id)) {
            struct engine_key key = key_found(db, id);
            tell(context, &key);
        }
}

void engine_each_key(const struct engine *engine,
                     void (*tell)(void *context, const struct engine_key *), void *context) {
    for (int i = 0; i < DATABASES_MAX; i++)
        for (int table = 0; table < 2; table++) tell_table(&engine->dbs[i], table, tell, context);
}

struct engine_db_stats engine_db_stats(const struct engine *engine, uint8_t id) {
    const struct db *db = &engine->dbs[id];
    struct engine_db_stats stats = {.keys = dict_used(&db->main),
                                    .expires = dict_used(&db->expires),
                                    .avg_ttl_ms = db->avg_ttl_ms,
                                    .main_rehash_index = db->main.rehash_index,
                                    .expires_rehash_index = db->expires.rehash_index};
    for (int table = 0; table < 2; table++) {
        stats.main_size[table] = dict_size(&db->main, table);
        stats.main_used[table] = db->main.used[table];
        stats.expires_size[table] = dict_size(&db->expires, table);
        stats.expires_used[table] = db->expires.used[table];
    }
    return stats;
}

/* Mixes one word into a running hash (the finaliser of splitmix64). */
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

static uint64_t key_digest(const struct db *db, key_id id) {
    const struct entry *entry = entries_at(&db->entries, id);
    uint64_t hash = mix(mix(db->id, id), (uint64_t)entry->payload);
    hash = mix(hash, entry->encoding);
    return mix(hash, dict_has(&db->expires, id) ? (uint64_t)entry->deadline_ms : UINT64_MAX);
}

static uint64_t table_digest(const struct db *db, int table) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < dict_size(&db->main, table); i++)
        for (key_id id = dict_bucket(&db->main, table, i); id != KEY_NONE;
             id = dict_next(&db->main, id))
            sum += key_digest(db, id);
    return sum;
}

/* A sum, so that the order of buckets does not show. */
uint64_t engine_digest(const struct engine *engine) {
    uint64_t sum = 0;
    for (int i = 0; i < DATABASES_MAX; i++)
        sum += table_digest(&engine->dbs[i], 0) + table_digest(&engine->dbs[i], 1);
    return sum;
}

/* What the ledger should say of keys and values, summed afresh. */
static void sum_table(const struct db *db, int table, uint64_t *keys_bytes,
                      uint64_t *values_bytes) {
    const struct memory *memory = db->host->memory;
    for (uint64_t i = 0; i < dict_size(&db->main, table); i++)
        for (key_id id = dict_bucket(&db->main, table, i); id != KEY_NONE;
             id = dict_next(&db->main, id)) {
            struct object value = entry_value(entries_at(&db->entries, id));
            uint64_t name_bytes = sds_request_bytes(keys_length(db->host->keys, id));
            *keys_bytes += allocator_usable(memory->allocator, name_bytes);
            *values_bytes += object_usable_bytes(memory, &value);
        }
}

static void check_ledger(const struct engine *engine) {
    uint64_t keys_bytes = expire_replica_check(&engine->remembered), values_bytes = 0;
    int64_t sum = 0;
    for (int i = 0; i < DATABASES_MAX; i++)
        for (int table = 0; table < 2; table++)
            sum_table(&engine->dbs[i], table, &keys_bytes, &values_bytes);
    for (int class = 0; class < MEMORY_CLASS_COUNT; class ++) {
        ASSERT(engine->memory.bytes[class] >= 0);
        sum += engine->memory.bytes[class];
    }
    ASSERT(sum == engine->memory.used_bytes);
    ASSERT((int64_t)keys_bytes == engine->memory.bytes[MEMORY_KEYS]);
    ASSERT((int64_t)values_bytes == engine->memory.bytes[MEMORY_VALUES]);
}

static void check_replicas(const struct engine *engine) {
    uint32_t attached = 0;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct engine_replica *r = &engine->replicas[slot];
        bool is_fed = r->state == REPLICA_WAIT_END || r->state == REPLICA_ONLINE;
        ASSERT(engine->backlog.readers[slot].attached == is_fed);
        ASSERT(r->attached == (is_fed || r->state == REPLICA_WAIT_START));
        ASSERT(r->ack_offset <= engine->backlog.master_repl_offset || !r->attached);
        ASSERT(engine->slots_end || (!r->closes_soon && r->state != REPLICA_CLOSED));
        attached += r->attached;
    }
    ASSERT(attached == engine->replicas_attached);
    ASSERT(attached == 0 || engine->backlog.active);
    ASSERT(engine->host.has_child == (engine->child.state != CHILD_NONE));
    ASSERT((engine->child.snapshot != NULL) == (engine->child.state == CHILD_WRITES));
}

static void check_upstream(const struct engine *engine) {
    const struct upstream *up = &engine->upstream;
    ASSERT(engine->host.is_replica == (up->state != UPSTREAM_NONE));
    ASSERT(engine->has_master_client == (up->state == UPSTREAM_UP));
    ASSERT((up->snapshot != NULL) == (up->state == UPSTREAM_LOADING));
    ASSERT(!(engine->host.is_replica && engine->propagate.listening));
    ASSERT(engine->replid != 0 && (engine->replid2 == 0) == (engine->second_offset == -1));
    ASSERT(up->state != UPSTREAM_UP || engine->in_multi || engine->stalled.count > 0 ||
           engine->read_offset == engine->backlog.master_repl_offset || engine->read_offset == 0);
    ASSERT(engine->in_multi == (engine->held.count > 0));
}

static void check_clients(const struct engine *engine) {
    uint32_t open = 0, waiting = 0;
    for (uint32_t i = 0; i < engine->client_count; i++) {
        const struct client *c = &engine->clients[i];
        open += c->open;
        waiting += c->open && c->waits;
        ASSERT(c->queue_next <= c->queue.count);
    }
    ASSERT(open == engine->clients_open && waiting == engine->waiting_clients);
}

void engine_check(const struct engine *engine) {
    for (int i = 0; i < DATABASES_MAX; i++) db_check(&engine->dbs[i]);
    backlog_check(&engine->backlog);
    check_ledger(engine);
    check_replicas(engine);
    check_upstream(engine);
    check_clients(engine);
}
