#include "repl.h"

/* The master's half of the conversation (7.0 replication.c syncCommand, masterTryPartialResync,
 * replconfCommand; engine facts 7.4 to 7.7). */

#define PONG_BYTES     7             /* "+PONG" and its line end */
#define OKS_BYTES      (2 * 5)       /* "+OK" twice */
#define CONTINUE_BYTES (10 + 40 + 2) /* "+CONTINUE ", 40 digits, line end */
#define REFUSAL        "-NOMASTERLINK Can't SYNC while not connected with my master\r\n"

/* --- slots that were in sync from before the run --- */

int engine_replica_attach(struct engine *engine) {
    int slot = engine_accept(engine);
    if (slot < 0) return -1;
    struct engine_replica *r = &engine->replicas[slot];
    repl_attach(engine, slot, REPLICA_ONLINE);
    backlog_attach_next(&engine->backlog, slot);
    r->ack_time_s = repl_cached_s(engine);
    r->ack_offset = engine->backlog.master_repl_offset;
    repl_count_good(engine);
    return slot;
}

void engine_replica_is(struct engine *engine, int replica, int server) {
    engine->replicas[replica].server = server;
}

void engine_replica_written(struct engine *engine, int replica, int64_t offset) {
    if (engine->backlog.readers[replica].attached) backlog_sent(&engine->backlog, replica, offset);
}

/* --- PSYNC --- */

void repl_refuse(struct engine *engine, int slot) {
    repl_send_kind(engine, slot, REPL_REFUSED, sizeof REFUSAL - 1);
}

/* A replica is asked to take over: it is the master from here on, if they share their history. */
static bool takes_over(struct engine *engine, const struct repl_message *psync) {
    if (!engine->host.is_replica || psync->id != engine->replid) return false;
    repl_promote(engine);
    return true;
}

/* May anybody sync with this server now? */
static bool can_serve(const struct engine *engine) {
    if (engine->failover.state != FAILOVER_NONE) return false;
    return !engine->host.is_replica || engine->upstream.state == UPSTREAM_UP;
}

/* Is it a history that this server shares up to there? The second id counts up to the offset at
 * which the server left it. */
static bool shares_history(const struct engine *engine, const struct repl_message *psync) {
    if (psync->id == 0) return false;
    if (psync->id == engine->replid) return true;
    return psync->id == engine->replid2 && psync->offset <= engine->second_offset;
}

/* One past the last byte is there, with nothing to send. */
static bool is_in_backlog(const struct backlog *b, int64_t offset) {
    return b->active && offset >= backlog_first_offset(b) && offset <= b->master_repl_offset + 1;
}

static void start_stream(struct engine *engine, int slot) {
    const struct sink *sink = engine->env.sink;
    int64_t from = engine->backlog.readers[slot].sent_offset;
    int64_t owed = engine->written_offset - from;
    engine->replicas[slot].awaits_ack = false;
    if (owed > 0) {
        cpu_charge(&engine->cpu, COST_REPLICA_WRITE, 1);
        cpu_charge(&engine->cpu, COST_REPLICA_KIB, ceil_div((uint64_t)owed, BYTES_PER_KIB));
    }
    if (sink->stream_from) sink->stream_from(sink->context, slot, from);
}

static void sync_partially(struct engine *engine, int slot, int64_t offset) {
    struct engine_replica *r = &engine->replicas[slot];
    engine->counted.sync_partial_ok++;
    repl_attach(engine, slot, REPLICA_ONLINE);
    r->ack_time_s = repl_cached_s(engine);
    repl_send(engine, slot,
              (struct repl_message){
                  .kind = REPL_CONTINUE, .id = engine->replid, .wire_bytes = CONTINUE_BYTES});
    backlog_attach_at(&engine->backlog, slot, offset);
    repl_count_good(engine);
    start_stream(engine, slot);
}

/* The child waits for repl-diskless-sync-delay, so that it serves all who come meanwhile. */
static void sync_fully(struct engine *engine, int slot, bool had_history) {
    engine->counted.sync_partial_err += had_history;
    engine->counted.sync_full++;
    repl_attach(engine, slot, REPLICA_WAIT_START);
    if (engine->config.repl_diskless_sync_delay == 0 && !engine->host.has_child) repl_fork(engine);
}

static void hear_psync(struct engine *engine, int slot, const struct repl_message *psync) {
    if (engine->replicas[slot].attached) return;
    if (engine_is_loading(engine) || (psync->failover && !takes_over(engine, psync)) ||
        !can_serve(engine)) {
        repl_refuse(engine, slot);
        return;
    }
    if (shares_history(engine, psync) && is_in_backlog(&engine->backlog, psync->offset))
        sync_partially(engine, slot, psync->offset);
    else
        sync_fully(engine, slot, psync->id != 0);
}

/* --- the rest --- */

/* The largest offset counts, and the time of the latest word. A first ACK after a snapshot lets the
 * stream go; it may come before the cron has seen that the child has ended. */
void repl_take_ack(struct engine *engine, int slot, int64_t offset) {
    struct engine_replica *r = &engine->replicas[slot];
    repl_refresh_time(engine);
    if (!r->attached) return;
    if (offset > r->ack_offset) r->ack_offset = offset;
    r->ack_time_s = repl_cached_s(engine);
    if (r->state == REPLICA_WAIT_END) repl_reap_child(engine);
    if (r->state == REPLICA_ONLINE && r->awaits_ack) start_stream(engine, slot);
}

void engine_replica_acked(struct engine *engine, int replica, int64_t offset) {
    repl_take_ack(engine, replica, offset);
}

/* PING is no command that a loading server answers, nor one without its master's data that is not
 * to show its own. */
static bool answers_ping(const struct engine *engine) {
    bool is_cut_off = engine->host.is_replica && engine->upstream.state != UPSTREAM_UP;
    return !engine_is_loading(engine) && !(is_cut_off && !engine->config.replica_serve_stale_data);
}

static void hear_command(struct engine *engine, int slot, const struct repl_message *message) {
    repl_refresh_time(engine);
    cpu_charge(&engine->cpu, COST_COMMAND, message->kind == REPL_REPLCONF ? 2 : 1);
    if (message->kind == REPL_PSYNC) {
        hear_psync(engine, slot, message);
    } else if (message->kind == REPL_REPLCONF) {
        engine->replicas[slot].server = (int)message->offset;
        repl_send_kind(engine, slot, REPL_OK, OKS_BYTES);
    } else if (answers_ping(engine)) {
        repl_send_kind(engine, slot, REPL_PONG, PONG_BYTES);
    } else {
        repl_refuse(engine, slot);
    }
}

void repl_hear_replica(struct engine *engine, int slot, const struct repl_message *message) {
    struct engine_replica *r = &engine->replicas[slot];
    if (r->state == REPLICA_FREE || r->state == REPLICA_CLOSED) return;
    r->last_word_s = repl_cached_s(engine);
    if (message->kind == REPL_ACK)
        repl_take_ack(engine, slot, message->offset);
    else if (message->kind != REPL_NEWLINE)
        hear_command(engine, slot, message);
}
