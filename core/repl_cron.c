#include "repl.h"

/* 7.0 replicationCron, once a second by the count of crons; in a failover ten times. All that it
 * compares is in whole seconds, and strictly. */

static bool is_over(const struct engine *engine, int64_t now_s, int64_t since_s) {
    return now_s - since_s > engine->config.repl_timeout;
}

/* The replica's side goes by the clock, not by the cached time. */
static void time_out_master(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    struct upstream *up = &engine->upstream;
    int64_t now_s = repl_fresh_s(engine);
    if (up->master == MASTER_NONE || !repl_has_wire(engine)) return;
    if (up->state == UPSTREAM_UP && up->last_word_s == 0) up->last_word_s = now_s;
    if (up->state >= UPSTREAM_DIALLING && up->state <= UPSTREAM_TRANSFER &&
        is_over(engine, now_s, up->last_io_s)) {
        sink->hang_up(sink->context, PEER_MASTER);
        repl_break_handshake(engine, true);
    } else if (up->state == UPSTREAM_UP && is_over(engine, now_s, up->last_word_s)) {
        sink->hang_up(sink->context, PEER_MASTER);
        repl_lose_master(engine);
    }
}

static void send_ping(struct engine *engine) {
    enum word word = engine->env.generation->stream.ping_is_lower ? WORD_ping : WORD_PING;
    struct arg arg = arg_word(engine->env.texts, word);
    if (engine->failover.state != FAILOVER_NONE && pause_is_on(engine)) return;
    repl_feed_own(engine, WORD_PING, &arg, 1);
}

static bool is_silent(const struct engine *engine, int slot) {
    const struct engine_replica *r = &engine->replicas[slot];
    int64_t now_s = repl_cached_s(engine);
    if (r->state == REPLICA_ONLINE) return is_over(engine, now_s, r->ack_time_s);
    return r->state == REPLICA_WAIT_END && r->pipe_behind &&
           is_over(engine, now_s, engine->child.pipe_s);
}

static void look_at_replicas(struct engine *engine) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        struct engine_replica *r = &engine->replicas[slot];
        if (r->state == REPLICA_WAIT_START) repl_send_kind(engine, slot, REPL_NEWLINE, 1);
        if (r->state == REPLICA_ONLINE && r->ack_time_s == 0) r->ack_time_s = repl_cached_s(engine);
        if (!repl_has_wire(engine) || !is_silent(engine, slot)) continue;
        engine->counted.timed_out++;
        repl_hang_up(engine, slot);
    }
}

/* A master that has had no replica for long forgets its history, and so its name. */
static void forget_history(struct engine *engine) {
    int64_t ttl_s = engine->config.repl_backlog_ttl;
    if (engine->host.is_replica || engine->replicas_attached > 0 || ttl_s == 0) return;
    if (!engine->backlog.active) return;
    if (repl_cached_s(engine) - engine->no_replicas_since_s <= ttl_s) return;
    repl_new_id(engine);
    repl_forget_second_id(engine);
    backlog_forget(&engine->backlog, engine->backlog.master_repl_offset);
    repl_listen(engine);
}

void repl_cron(struct engine *engine) {
    uint64_t period = (uint64_t)engine->config.repl_ping_replica_period;
    repl_look_at_failover(engine);
    time_out_master(engine);
    if (engine->upstream.state == UPSTREAM_CONNECT) repl_dial(engine);
    if (engine->upstream.state == UPSTREAM_UP) repl_send_ack(engine);
    if (engine->replication_cron_loops % period == 0 && engine->replicas_attached > 0)
        send_ping(engine);
    look_at_replicas(engine);
    forget_history(engine);
    repl_start_sync(engine);
    repl_count_good(engine);
    engine->replication_cron_loops++;
}
