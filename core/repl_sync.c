#include "repl.h"

/* Full syncs at the master, without a disk, as is the default of 7.0 (rdbSaveToSlavesSockets,
 * rdbPipeReadHandler, updateSlavesWaitingBgsave; engine facts 7.6). One child at a time writes for
 * all that wait; who comes later waits for the next. */

#define FULLRESYNC_BYTES (12 + 40 + 1 + 2) /* "+FULLRESYNC ", id, blank, line end; offset apart */

/* How many wait, and how long the one that has been silent longest. */
static uint32_t count_waiting(const struct engine *engine, int64_t *idle_s) {
    uint32_t count = 0;
    *idle_s = 0;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct engine_replica *r = &engine->replicas[slot];
        if (r->state != REPLICA_WAIT_START) continue;
        int64_t silent_s = repl_cached_s(engine) - r->last_word_s;
        if (silent_s > *idle_s) *idle_s = silent_s;
        count++;
    }
    return count;
}

void repl_start_sync(struct engine *engine) {
    const struct engine_config *config = &engine->config;
    int64_t idle_s, most = config->repl_diskless_sync_max_replicas;
    uint32_t count = count_waiting(engine, &idle_s);
    if (count == 0 || engine->host.has_child) return;
    if (idle_s >= config->repl_diskless_sync_delay || (most > 0 && count >= most))
        repl_fork(engine);
}

/* From here on the stream is kept for it; the first new byte gives it its reference. */
static void promise_stream(struct engine *engine, int slot) {
    int64_t offset = engine->backlog.master_repl_offset;
    engine->replicas[slot].state = REPLICA_WAIT_END;
    backlog_attach_next(&engine->backlog, slot);
    repl_send(engine, slot,
              (struct repl_message){.kind = REPL_FULLRESYNC,
                                    .id = engine->replid,
                                    .offset = offset,
                                    .wire_bytes = FULLRESYNC_BYTES + decimal_length(offset)});
}

/* The database in which the stream goes on after the snapshot: the one last selected, or, on a
 * replica, that of the stream it follows (rdbPopulateSaveInfo). */
static int stream_db(const struct engine *engine) {
    if (engine->has_master_client) return engine->clients[engine->master_client].db;
    return engine->propagate.selected_db < 0 ? 0 : engine->propagate.selected_db;
}

static struct snapshot *take_snapshot(struct engine *engine) {
    struct snapshot *snapshot =
        snapshot_take(engine->dbs, (uint32_t)engine->config.databases,
                      &engine->env.generation->persist, engine->host.command_now_ms);
    snapshot_describe(snapshot, engine->replid, engine->backlog.master_repl_offset,
                      stream_db(engine));
    return snapshot;
}

void repl_fork(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    struct snapshot *snapshot = take_snapshot(engine);
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].state == REPLICA_WAIT_START) promise_stream(engine, slot);
    engine->propagate.selected_db = -1;
    cpu_charge(&engine->cpu, COST_FORK_MIB,
               ceil_div((uint64_t)engine->memory.used_bytes, BYTES_PER_MIB));
    engine->host.has_child = true;
    engine->child = (struct sync_child){
        .state = CHILD_WRITES, .snapshot = snapshot, .pipe_s = repl_cached_s(engine)};
    if (!sink->forked) return;
    snapshot_hold(snapshot);
    sink->forked(sink->context, snapshot);
}

static void drop_snapshot(struct engine *engine) {
    snapshot_release(engine->child.snapshot);
    engine->child.snapshot = NULL;
}

static void relay(struct engine *engine, int slot, uint64_t bytes, bool last) {
    struct repl_message message = {.kind = REPL_RDB, .last = last, .wire_bytes = bytes};
    if (last) {
        message.snapshot = engine->child.snapshot;
        snapshot_hold(message.snapshot);
    }
    engine->replicas[slot].pipe_behind = !last;
    repl_send(engine, slot, message);
}

void engine_pipe(struct engine *engine, uint64_t bytes, bool last) {
    if (engine->child.state != CHILD_WRITES) return; /* killed meanwhile */
    engine->child.pipe_s = repl_cached_s(engine);
    cpu_charge(&engine->cpu, COST_PIPE_KIB, ceil_div(bytes, BYTES_PER_KIB));
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].state == REPLICA_WAIT_END) relay(engine, slot, bytes, last);
    if (!last) return;
    engine->child.state = CHILD_ENDED;
    drop_snapshot(engine);
}

void engine_pipe_taken(struct engine *engine, int replica) {
    engine->replicas[replica].pipe_behind = false;
}

static void bring_online(struct engine *engine, int slot) {
    struct engine_replica *r = &engine->replicas[slot];
    r->state = REPLICA_ONLINE;
    r->awaits_ack = true;
    r->pipe_behind = false;
    r->ack_time_s = repl_cached_s(engine);
    repl_count_good(engine);
}

/* Then the next child may start at once. */
void repl_reap_child(struct engine *engine) {
    bool has_ended = engine->child.state == CHILD_ENDED;
    if (!has_ended && engine->child.state != CHILD_KILLED) return;
    engine->child.state = CHILD_NONE;
    engine->host.has_child = false;
    for (int slot = 0; has_ended && slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].state == REPLICA_WAIT_END) bring_online(engine, slot);
    repl_start_sync(engine);
}

/* The server kills a child that writes for nobody when it next reads the pipe; here at once. */
void repl_forget_child(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    if (engine->child.state != CHILD_WRITES) return;
    for (int other = 0; other < REPLICAS_MAX; other++)
        if (engine->replicas[other].state == REPLICA_WAIT_END) return;
    engine->child.state = CHILD_KILLED; /* the cron will see it */
    drop_snapshot(engine);
    if (sink->child_killed) sink->child_killed(sink->context);
}
