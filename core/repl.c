#include "repl.h"

int64_t repl_cached_s(const struct engine *engine) {
    return floor_div(engine->host.command_now_ms, 1000);
}

int64_t repl_fresh_s(const struct engine *engine) {
    return floor_div(cpu_peek_wall_us(&engine->cpu), 1000 * US_PER_MS);
}

void repl_refresh_time(struct engine *engine) {
    if (engine->host.in_command) return;
    engine->host.command_now_ms = wall_ms_of(cpu_peek_wall_us(&engine->cpu));
}

bool repl_has_wire(const struct engine *engine) { return engine->env.sink->hang_up != NULL; }

/* --- messages --- */

void repl_send(struct engine *engine, int peer, struct repl_message message) {
    const struct sink *sink = engine->env.sink;
    if (sink->send)
        sink->send(sink->context, peer, &message);
    else
        snapshot_release(message.snapshot);
}

void repl_send_kind(struct engine *engine, int peer, enum repl_message_kind kind,
                    uint64_t wire_bytes) {
    repl_send(engine, peer, (struct repl_message){.kind = kind, .wire_bytes = wire_bytes});
}

void engine_message(struct engine *engine, int peer, const struct repl_message *message) {
    if (peer == PEER_MASTER)
        repl_hear_master(engine, message);
    else
        repl_hear_replica(engine, peer, message);
}

/* --- ids --- */

void repl_new_id(struct engine *engine) {
    do engine->replid = rng_next(&engine->ids);
    while (engine->replid == 0);
}

void repl_forget_second_id(struct engine *engine) {
    engine->replid2 = 0;
    engine->second_offset = -1;
}

void repl_begin_history(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    backlog_activate(&engine->backlog);
    if (sink->history_began) sink->history_began(sink->context, engine->backlog.master_repl_offset);
}

void repl_listen(struct engine *engine) {
    engine->propagate.listening =
        !engine->host.is_replica && (engine->backlog.active || engine->replicas_attached > 0);
}

/* --- slots --- */

/* Slots run from 0; the first free one is taken. */
int engine_accept(struct engine *engine) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        if (engine->replicas[slot].state != REPLICA_FREE) continue;
        engine->replicas[slot] = (struct engine_replica){
            .state = REPLICA_OPEN, .server = -1, .last_word_s = repl_cached_s(engine)};
        return slot;
    }
    return -1;
}

/* The first replica of a server without history starts one, under an id that nobody has seen
 * (engine facts 7.3.1). */
static void start_history(struct engine *engine) {
    if (engine->replicas_attached != 1 || engine->backlog.active) return;
    repl_new_id(engine);
    repl_forget_second_id(engine);
    repl_begin_history(engine);
}

void repl_attach(struct engine *engine, int slot, enum replica_state state) {
    struct engine_replica *r = &engine->replicas[slot];
    ASSERT(!r->attached);
    r->state = (uint8_t)state;
    r->attached = true;
    engine->replicas_attached++;
    start_history(engine);
    repl_listen(engine);
}

void repl_detach(struct engine *engine, int slot) {
    struct engine_replica *r = &engine->replicas[slot];
    bool awaited_file = r->state == REPLICA_WAIT_END;
    if (engine->backlog.readers[slot].attached) backlog_detach(&engine->backlog, slot);
    bool was_attached = r->attached;
    *r = (struct engine_replica){.state = REPLICA_FREE, .server = -1};
    if (!was_attached) return;
    if (--engine->replicas_attached == 0) engine->no_replicas_since_s = repl_cached_s(engine);
    if (awaited_file) repl_forget_child(engine);
    repl_listen(engine);
    repl_count_good(engine);
}

void repl_hang_up(struct engine *engine, int slot) {
    const struct sink *sink = engine->env.sink;
    if (!repl_has_wire(engine)) return;
    sink->hang_up(sink->context, slot);
    repl_detach(engine, slot);
    engine->replicas[slot].state = REPLICA_CLOSED;
    engine->slots_end = true;
}

void repl_hang_up_all(struct engine *engine) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].attached) repl_hang_up(engine, slot);
}

void repl_end_turn(struct engine *engine) {
    if (!engine->slots_end) return;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        struct engine_replica *r = &engine->replicas[slot];
        if (r->closes_soon) {
            engine->counted.dropped_by_limit++;
            repl_hang_up(engine, slot);
        }
        if (r->state == REPLICA_CLOSED) r->state = REPLICA_FREE;
    }
    engine->slots_end = false;
}

/* Online, and heard of at most min-replicas-max-lag seconds ago (refreshGoodSlavesCount). */
void repl_count_good(struct engine *engine) {
    const struct engine_config *config = &engine->config;
    engine->good_replicas = 0;
    if (config->min_replicas_to_write == 0 || config->min_replicas_max_lag == 0) return;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct engine_replica *r = &engine->replicas[slot];
        int64_t lag_s = repl_cached_s(engine) - r->ack_time_s;
        engine->good_replicas +=
            r->state == REPLICA_ONLINE && lag_s <= config->min_replicas_max_lag;
    }
}

bool repl_is_streaming(const struct engine_replica *r) {
    return r->state == REPLICA_ONLINE && !r->awaits_ack;
}

int repl_slot_of(const struct engine *engine, int server) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].attached && engine->replicas[slot].server == server) return slot;
    return -1;
}

void repl_feed_own(struct engine *engine, enum word word, const struct arg *argv, uint32_t argc) {
    if (engine->host.is_replica || (!engine->backlog.active && engine->replicas_attached == 0))
        return;
    propagate_feed(&engine->propagate, -1, engine->propagate.commands[word], argv, argc);
}

void engine_closed(struct engine *engine, int peer) {
    if (peer != PEER_MASTER) {
        if (engine->replicas[peer].state != REPLICA_CLOSED) repl_detach(engine, peer);
        return;
    }
    switch (engine->upstream.state) {
    case UPSTREAM_DIALLING:
    case UPSTREAM_PING:
    case UPSTREAM_REPLCONF:
    case UPSTREAM_PSYNC:
        engine->upstream.state = UPSTREAM_CONNECT;
        break; /* next second */
    case UPSTREAM_TRANSFER:
        repl_break_handshake(engine, true);
        break;
    case UPSTREAM_LOADING:
        engine->upstream.is_lost = true;
        break; /* read when it is loaded */
    case UPSTREAM_UP:
        repl_lose_master(engine);
        break;
    default:
        break;
    }
}
