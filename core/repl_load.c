#include "repl.h"

/* The end of a full sync at the replica: old data out, the file in (7.0 replication.c
 * readSyncBulkPayload, replicationAttachToNewMaster, rdb.c rdbLoadRioWithLoadingCtx; engine facts
 * 7.6.5 and 0.2.3). Meanwhile the server is blocked but for a look at its sockets every 2 MiB. */

#define EVENTS_EVERY_BYTES (UINT64_C(2) << 20) /* loading-process-events-interval-bytes */

/* At most one a second: the master must not take the silence for death. */
static void send_newline(struct engine *engine) {
    int64_t now_s = repl_fresh_s(engine);
    if (engine->upstream.newline_s == now_s) return;
    engine->upstream.newline_s = now_s;
    repl_send_kind(engine, PEER_MASTER, REPL_NEWLINE, 1);
}

/* With replica-lazy-flush the tables are handed to another thread. */
static void drop_all(struct engine *engine) {
    engine->cpu.muted += engine->config.replica_lazy_flush != 0;
    for (int64_t i = 0; i < engine->config.databases; i++) db_flush(&engine->dbs[i]);
    engine->cpu.muted -= engine->config.replica_lazy_flush != 0;
    expire_replica_forget(&engine->remembered);
}

/* RESIZEDB: both tables are made to measure before the first key. */
static void presize(struct engine *engine, const struct snapshot *snapshot) {
    for (uint32_t i = 0; i < snapshot->db_count; i++) {
        const struct snapshot_db *section = &snapshot->dbs[i];
        struct db *db = &engine->dbs[section->id];
        if (section->main_hint > 0) dict_presize(&db->main, section->main_hint);
        if (section->expires_hint > 0) dict_presize(&db->expires, section->expires_hint);
    }
}

void repl_begin_load(struct engine *engine, struct snapshot *snapshot) {
    struct upstream *up = &engine->upstream;
    up->is_cached = false;
    repl_hang_up_all(engine);
    if (engine->replicas_attached == 0)
        backlog_forget(&engine->backlog, engine->backlog.master_repl_offset);
    send_newline(engine);
    drop_all(engine);
    up->snapshot = snapshot;
    up->loaded = up->section = 0;
    up->is_lost = up->has_order = false;
    repl_refresh_time(engine); /* blockingOperationStarts */
    up->blocked_cron_ms = engine->host.command_now_ms;
    up->state = UPSTREAM_LOADING;
    presize(engine, snapshot);
}

bool engine_is_loading(const struct engine *engine) {
    return engine->upstream.state == UPSTREAM_LOADING;
}

/* Keys past their deadline are kept: a replica waits for its master's DEL (engine facts 7.11). */
static uint64_t load_item(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    const struct snapshot *snapshot = up->snapshot;
    const struct snapshot_item *item = &snapshot->items[up->loaded++];
    while (up->loaded > snapshot->dbs[up->section].first + snapshot->dbs[up->section].count)
        up->section++;
    struct db *db = &engine->dbs[snapshot->dbs[up->section].id];
    db_add(db, item->key, &item->value);
    if (item->deadline_ms >= 0) db_set_deadline(db, item->key, item->deadline_ms);
    return snapshot_item_bytes(engine->env.keys, item);
}

/* What was said meanwhile is acted upon now: an order to change the role, or the connection's end,
 * which the server reads when it reads its socket again. */
static void catch_up(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    if (up->is_lost) repl_lose_master(engine);
    if (!up->has_order) return;
    up->has_order = false;
    engine_replicaof(engine, up->order);
}

static void end_load(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    int db = up->snapshot->stream_db;
    snapshot_release(up->snapshot);
    up->snapshot = NULL;
    engine->replid = up->sync_id;
    repl_forget_second_id(engine);
    backlog_forget(&engine->backlog, up->sync_offset);
    repl_begin_history(engine);
    engine->written_offset = engine->read_offset = up->sync_offset;
    repl_open_master_client(engine, (uint8_t)(db < 0 ? 0 : db));
    up->state = UPSTREAM_UP;
    up->last_word_s = repl_cached_s(engine);
    repl_send_ack(engine);
    catch_up(engine);
}

/* Crons that would have run count as if they had, for jobs of a longer period; seen between one
 * portion of the file and the next, so a short file has none (7.0 processEventsWhileBlocked,
 * whileBlockedCron). */
static void count_missed_crons(struct engine *engine) {
    ms_t *counted_ms = &engine->upstream.blocked_cron_ms;
    repl_refresh_time(engine);
    while (*counted_ms < engine->host.command_now_ms) {
        *counted_ms += 1000 / engine->expire.hz;
        engine->cronloops++;
    }
}

void engine_load(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    uint64_t bytes = 0, before = up->loaded;
    ASSERT(engine_is_loading(engine));
    if (before > 0) count_missed_crons(engine);
    engine->cpu.muted++;
    while (up->loaded < up->snapshot->count && bytes < EVENTS_EVERY_BYTES)
        bytes += load_item(engine);
    engine->cpu.muted--;
    cpu_charge(&engine->cpu, COST_LOAD_KEY, up->loaded - before);
    if (up->loaded == up->snapshot->count)
        end_load(engine);
    else
        send_newline(engine);
}
