#include "repl.h"

/* Promotion, demotion and the manual failover that does both (7.0 replication.c
 * replicationUnsetMaster, replicationSetMaster, updateFailoverStatus; engine facts 7.10). */

static void leave_master(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    struct upstream *up = &engine->upstream;
    bool has_connection = up->state > UPSTREAM_CONNECT;
    if (up->state == UPSTREAM_UP) {
        up->master = MASTER_NONE; /* so that nobody dials it again */
        repl_lose_master(engine);
    }
    if (has_connection && sink->hang_up) sink->hang_up(sink->context, PEER_MASTER);
}

/* The old id is good for what was common; what comes from here on has a new one. Own replicas are
 * sent away and come back for a partial resync. */
void repl_promote(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    if (!engine->host.is_replica) return;
    leave_master(engine);
    repl_break_handshake(engine, false);
    up->state = UPSTREAM_NONE;
    up->master = MASTER_NONE;
    up->is_cached = false;
    engine->replid2 = engine->replid;
    engine->second_offset = engine->backlog.master_repl_offset + 1;
    repl_new_id(engine);
    repl_hang_up_all(engine);
    engine->propagate.selected_db = -1;
    engine->host.is_replica = false;
    engine->no_replicas_since_s = repl_cached_s(engine);
    repl_listen(engine);
}

/* What a master has of itself is as good as a link that was lost: it asks to go on from its own
 * offset (replicationCacheMasterUsingMyself). Without a backlog it still has none. */
static void cache_oneself(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    up->is_cached = true;
    up->cached_db = 0;
}

void repl_demote(struct engine *engine, int master) {
    struct upstream *up = &engine->upstream;
    bool was_master = !engine->host.is_replica;
    if (!was_master) {
        leave_master(engine);
        repl_break_handshake(engine, false);
    }
    wait_break_all(engine);
    engine->host.is_replica = true;
    if (was_master) cache_oneself(engine);
    repl_listen(engine);
    up->master = master;
    repl_dial(engine);
}

/* `replicaof` in redis.conf: no history of its own to offer, and the first cron connects. */
static void be_born_a_replica(struct engine *engine, int master) {
    engine->host.is_replica = true;
    engine->upstream.state = UPSTREAM_CONNECT;
    engine->upstream.master = master;
    repl_listen(engine);
}

void engine_replicaof(struct engine *engine, int master) {
    struct upstream *up = &engine->upstream;
    if (engine_is_loading(engine)) {
        up->has_order = true;
        up->order = master;
        return;
    }
    bool is_started = engine->host.command_now_ms != 0;
    if (is_started) repl_refresh_time(engine);
    repl_abort_failover(engine);
    if (master == MASTER_NONE)
        repl_promote(engine);
    else if (!is_started)
        be_born_a_replica(engine, master);
    else if (!engine->host.is_replica || up->master != master)
        repl_demote(engine, master);
}

int engine_master(const struct engine *engine) { return engine->upstream.master; }

/* --- failover --- */

void repl_end_failover(struct engine *engine) {
    if (engine->failover.state == FAILOVER_NONE) return;
    engine->failover = (struct failover){.state = FAILOVER_NONE, .target = MASTER_NONE};
    pause_end(engine, PAUSE_BY_FAILOVER);
}

void repl_abort_failover(struct engine *engine) {
    if (engine->failover.state == FAILOVER_GOES) repl_promote(engine);
    repl_end_failover(engine);
}

static void go_over(struct engine *engine, int server) {
    engine->failover.state = FAILOVER_GOES;
    engine->failover.target = server;
    repl_demote(engine, server);
}

/* The replica that is level: the target if there is one, else the first. */
static int level_slot(const struct engine *engine) {
    const struct failover *f = &engine->failover;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct engine_replica *r = &engine->replicas[slot];
        if (!r->attached || r->server < 0) continue;
        if (r->ack_offset != engine->backlog.master_repl_offset) continue;
        if (f->target == MASTER_NONE || r->server == f->target) return slot;
    }
    return -1;
}

void repl_look_at_failover(struct engine *engine) {
    const struct failover *f = &engine->failover;
    if (f->state != FAILOVER_WAITS) return;
    if (f->end_ms > 0 && engine->host.command_now_ms >= f->end_ms) {
        if (f->force)
            go_over(engine, f->target);
        else
            repl_abort_failover(engine);
        return;
    }
    int slot = level_slot(engine);
    if (slot >= 0) go_over(engine, engine->replicas[slot].server);
}
