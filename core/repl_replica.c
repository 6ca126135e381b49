#include "command.h"
#include "repl.h"

/* The replica's half: the handshake, and the stream (7.0 replication.c syncWithMaster,
 * slaveTryPartialResynchronization, networking.c commandProcessed; engine facts 6.9, 7.4, 7.7). */

#define PING_BYTES     14
#define REPLCONF_BYTES 108 /* listening-port and four digits (49), capa eof capa psync2 (59) */

/* --- the connection --- */

void repl_dial(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    struct upstream *up = &engine->upstream;
    up->state = UPSTREAM_CONNECT;
    if (up->master == MASTER_NONE || !sink->dial) return;
    up->state = UPSTREAM_DIALLING;
    up->last_io_s = repl_cached_s(engine);
    sink->dial(sink->context, up->master);
}

static void hang_up(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    if (sink->hang_up) sink->hang_up(sink->context, PEER_MASTER);
}

/* Whatever was begun is given up. `again`: at once, without waiting for the next second. */
void repl_break_handshake(struct engine *engine, bool again) {
    struct upstream *up = &engine->upstream;
    snapshot_release(up->snapshot);
    up->snapshot = NULL;
    up->state = UPSTREAM_CONNECT;
    if (again) repl_dial(engine);
}

void repl_open_master_client(struct engine *engine, uint8_t db) {
    ASSERT(!engine->has_master_client);
    engine->master_client = engine_connect(engine);
    engine->has_master_client = true;
    struct client *client = &engine->clients[engine->master_client];
    client->is_master_link = true;
    client->db = db;
}

void repl_close_master_client(struct engine *engine) {
    if (!engine->has_master_client) return;
    engine_disconnect(engine, engine->master_client);
    engine->has_master_client = false;
}

/* What was read and not applied is forgotten, an open MULTI with it; what was applied is where the
 * history goes on (replicationCacheMaster). */
static void cache_master(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    up->is_cached = true;
    up->cached_db = engine->clients[engine->master_client].db;
    repl_close_master_client(engine);
    engine->in_multi = false;
    command_queue_clear(&engine->held);
    command_queue_clear(&engine->stalled);
    engine->stalled_next = 0;
    engine->read_offset = engine->backlog.master_repl_offset;
}

void repl_lose_master(struct engine *engine) {
    cache_master(engine);
    repl_dial(engine);
}

/* --- handshake --- */

static void send_psync(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    struct repl_message psync = {.kind = REPL_PSYNC, .offset = -1, .wire_bytes = 4 + 11 + 7 + 8};
    if (up->is_cached) {
        psync.id = engine->replid;
        psync.offset = engine->backlog.master_repl_offset + 1;
        uint32_t digits = decimal_length(psync.offset);
        psync.wire_bytes = 4 + 11 + 47 + 1 + decimal_length(digits) + 2 + digits + 2;
    }
    psync.failover = engine->failover.state == FAILOVER_GOES;
    if (psync.failover) psync.wire_bytes += 14;
    up->state = UPSTREAM_PSYNC;
    repl_send(engine, PEER_MASTER, psync);
}

void engine_connected(struct engine *engine) {
    if (engine->upstream.state != UPSTREAM_DIALLING) return;
    engine->upstream.state = UPSTREAM_PING;
    repl_send_kind(engine, PEER_MASTER, REPL_PING, PING_BYTES);
}

static void send_replconf(struct engine *engine) {
    engine->upstream.state = UPSTREAM_REPLCONF;
    repl_send(engine, PEER_MASTER,
              (struct repl_message){
                  .kind = REPL_REPLCONF, .offset = engine->env.self, .wire_bytes = REPLCONF_BYTES});
}

/* The next try is the next second's. A target that will not take over ends the failover. */
static void be_refused(struct engine *engine) {
    bool was_psync = engine->upstream.state == UPSTREAM_PSYNC;
    hang_up(engine);
    engine->upstream.state = UPSTREAM_CONNECT;
    if (was_psync && engine->failover.state == FAILOVER_GOES) repl_abort_failover(engine);
}

static void come_up(struct engine *engine) {
    struct upstream *up = &engine->upstream;
    up->state = UPSTREAM_UP;
    up->last_word_s = repl_cached_s(engine);
    up->is_cached = false;
    engine->read_offset = engine->backlog.master_repl_offset;
}

/* A new id for the same history: the master was promoted, or is a replica of one that was. Own
 * replicas have to learn it. */
static void take_new_id(struct engine *engine, repl_id id) {
    engine->replid2 = engine->replid;
    engine->second_offset = engine->backlog.master_repl_offset + 1;
    engine->replid = id;
    repl_hang_up_all(engine);
}

static void hear_continue(struct engine *engine, repl_id id) {
    struct upstream *up = &engine->upstream;
    if (!up->is_cached) { /* nothing was there to continue: no server would say so */
        be_refused(engine);
        return;
    }
    if (id != engine->replid) take_new_id(engine, id);
    repl_open_master_client(engine, up->cached_db);
    come_up(engine);
    if (!engine->backlog.active) repl_begin_history(engine);
    repl_end_failover(engine);
}

static void hear_fullresync(struct engine *engine, const struct repl_message *message) {
    engine->upstream.sync_id = message->id;
    engine->upstream.sync_offset = message->offset;
    engine->upstream.state = UPSTREAM_TRANSFER;
    repl_end_failover(engine);
}

/* The bytes go to a file; with the last ones it is loaded. The receiver owns what they bring. */
static void hear_rdb(struct engine *engine, const struct repl_message *message) {
    cpu_charge(&engine->cpu, COST_SYNC_KIB, ceil_div(message->wire_bytes, BYTES_PER_KIB));
    if (message->last) repl_begin_load(engine, message->snapshot);
}

static void hear_in_handshake(struct engine *engine, const struct repl_message *message) {
    enum upstream_state state = engine->upstream.state;
    engine->upstream.last_io_s = repl_cached_s(engine);
    if (message->kind == REPL_REFUSED)
        be_refused(engine);
    else if (state == UPSTREAM_PING && message->kind == REPL_PONG)
        send_replconf(engine);
    else if (state == UPSTREAM_REPLCONF && message->kind == REPL_OK)
        send_psync(engine);
    else if (state == UPSTREAM_PSYNC && message->kind == REPL_CONTINUE)
        hear_continue(engine, message->id);
    else if (state == UPSTREAM_PSYNC && message->kind == REPL_FULLRESYNC)
        hear_fullresync(engine, message);
}

void repl_hear_master(struct engine *engine, const struct repl_message *message) {
    struct upstream *up = &engine->upstream;
    switch (up->state) {
    case UPSTREAM_PING:
    case UPSTREAM_REPLCONF:
    case UPSTREAM_PSYNC:
        hear_in_handshake(engine, message);
        break;
    case UPSTREAM_TRANSFER:
        up->last_io_s = repl_cached_s(engine);
        if (message->kind != REPL_RDB) break;
        hear_rdb(engine, message);
        return;
    case UPSTREAM_UP:
        up->last_word_s = repl_cached_s(engine);
        break;
    default:
        break;
    }
    snapshot_release(message->snapshot);
}

/* --- in sync from before the run --- */

void engine_in_sync(struct engine *engine, int master, repl_id id, int64_t offset) {
    engine->host.is_replica = true;
    repl_listen(engine);
    if (!engine->has_master_client) repl_open_master_client(engine, 0);
    engine->upstream.master = master;
    engine->replid = id;
    repl_forget_second_id(engine);
    backlog_forget(&engine->backlog, offset);
    repl_begin_history(engine);
    engine->written_offset = offset;
    come_up(engine);
}

/* --- the stream --- */

void repl_send_ack(struct engine *engine) {
    const struct sink *sink = engine->env.sink;
    int64_t offset = engine->backlog.master_repl_offset;
    uint32_t digits = decimal_length(offset);
    if (engine->upstream.master == MASTER_NONE)
        sink->acknowledge(sink->context, offset);
    else
        repl_send(engine, PEER_MASTER,
                  (struct repl_message){.kind = REPL_ACK,
                                        .offset = offset,
                                        .wire_bytes = 32 + decimal_length(digits) + digits});
}

static void apply(struct engine *engine, const struct request *request) {
    command_execute(engine, engine->master_client, request);
}

/* What was applied goes on as it came, bytes and all, to whoever follows this server. */
static void hand_on(struct engine *engine, uint8_t db, const struct request *request,
                    int64_t end_offset, uint32_t resp_bytes) {
    const struct sink *sink = engine->env.sink;
    struct stream_command command = {
        .request = *request, .db = db, .resp_bytes = resp_bytes, .end_offset = end_offset};
    sink->stream(sink->context, &command);
}

static void hand_on_held(struct engine *engine, int64_t offset) {
    for (uint32_t i = 0; i < engine->held.count; i++) {
        struct request request = command_queue_request(&engine->held, i);
        uint32_t bytes = request_resp_bytes(request.argv, request.argc);
        hand_on(engine, engine->held.commands[i].db, &request, offset += bytes, bytes);
    }
}

/* The bytes of a transaction reach the replica's own buffer in one piece, those of another command
 * by themselves. */
static void advance(struct engine *engine, int64_t end_offset) {
    backlog_feed(&engine->backlog, (uint64_t)(end_offset - engine->backlog.master_repl_offset));
    ASSERT(engine->backlog.master_repl_offset == end_offset);
}

/* One cached time for all that MULTI held back (7.0 multi.c execCommand); the MULTI itself, first
 * in the queue, was executed when it came. */
static void apply_held(struct engine *engine, uint8_t db, const struct request *exec) {
    engine->host.command_now_ms = cpu_wall_ms(&engine->cpu);
    for (uint32_t i = 1; i < engine->held.count; i++) {
        struct request request = command_queue_request(&engine->held, i);
        apply(engine, &request);
    }
    apply(engine, exec);
    command_queue_push(&engine->held, db, exec->command, exec->argv, exec->argc);
}

static void take(struct engine *engine, uint8_t db, const struct request *request,
                 int64_t end_offset, uint32_t resp_bytes) {
    bool is_exec = request->command == engine->propagate.commands[WORD_EXEC];
    int64_t before = engine->backlog.master_repl_offset;
    if (engine->in_multi && is_exec) {
        apply_held(engine, db, request);
        advance(engine, end_offset);
        hand_on_held(engine, before);
        command_queue_clear(&engine->held);
        return;
    }
    if (!engine->in_multi) apply(engine, request);
    if (engine->in_multi) {
        command_queue_push(&engine->held, db, request->command, request->argv, request->argc);
        return;
    }
    advance(engine, end_offset);
    hand_on(engine, db, request, end_offset, resp_bytes);
}

/* A replica joined by hand learns from the first command where its master stands. */
static void learn_offset(struct engine *engine, const struct stream_command *command) {
    struct backlog *b = &engine->backlog;
    if (engine->upstream.master != MASTER_NONE || b->master_repl_offset != 0) return;
    if (engine->read_offset != 0) return;
    b->master_repl_offset = command->end_offset - command->resp_bytes;
}

static bool is_stalled(struct engine *engine, const struct command *command) {
    return engine->stalled.count > 0 || pause_stops(engine, command);
}

/* From MULTI to EXEC commands are held back and the applied offset stands still; both jump at the
 * EXEC (7.0 networking.c commandProcessed). */
void engine_receive(struct engine *engine, const struct stream_command *command) {
    const struct request *request = &command->request;
    if (engine->upstream.state != UPSTREAM_UP) return;
    learn_offset(engine, command);
    ASSERT(command->end_offset > engine->read_offset);
    engine->read_offset = command->end_offset;
    engine->upstream.last_word_s = repl_cached_s(engine);
    if (is_stalled(engine, request->command))
        command_queue_push(&engine->stalled, command->db, request->command, request->argv,
                           request->argc);
    else
        take(engine, command->db, request, command->end_offset, command->resp_bytes);
}

void repl_run_stalled(struct engine *engine) {
    struct command_queue *stalled = &engine->stalled;
    int64_t offset = engine->backlog.master_repl_offset;
    for (uint32_t i = 0; i < engine->held.count; i++) /* of an open MULTI */
        offset +=
            request_resp_bytes(command_queue_argv(&engine->held, i), engine->held.commands[i].argc);
    while (engine->stalled_next < stalled->count) {
        uint32_t i = engine->stalled_next;
        uint8_t db = stalled->commands[i].db;
        struct request request = command_queue_request(stalled, i);
        if (pause_stops(engine, request.command)) return;
        uint32_t bytes = request_resp_bytes(request.argv, request.argc);
        engine->stalled_next++;
        take(engine, db, &request, offset += bytes, bytes);
    }
    command_queue_clear(stalled);
    engine->stalled_next = 0;
}
