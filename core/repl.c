#include "command.h"

/* Attaching, writing to and hearing from replicas; and a replica's own side of the stream. A
 * replica is in sync from the start: handshake and full sync are not modelled here. */

int engine_replica_attach(struct engine *engine) {
    ASSERT(!engine->config.is_replica);
    int slot = backlog_attach(&engine->backlog);
    if (slot < 0) return -1;
    backlog_activate(&engine->backlog);
    engine->propagate.listening = true;
    engine->replicas[slot] = (struct engine_replica){.attached = true};
    return slot;
}

void engine_replica_written(struct engine *engine, int replica, int64_t offset) {
    backlog_sent(&engine->backlog, replica, offset);
}

/* The largest offset counts, and the cached second of the latest word. */
void engine_replica_acked(struct engine *engine, int replica, int64_t offset) {
    struct engine_replica *r = &engine->replicas[replica];
    ASSERT(r->attached);
    if (offset > r->ack_offset) r->ack_offset = offset;
    r->ack_time_s = wall_ms_of(engine->cpu.began.wall_us) / 1000;
}

static void apply(struct engine *engine, const struct request *request) {
    command_execute(engine, engine->master_client, request);
}

/* One cached time for all that MULTI held back (7.0 multi.c execCommand). */
static void apply_held(struct engine *engine) {
    engine->host.command_now_ms = cpu_wall_ms(&engine->cpu);
    for (uint32_t i = 0; i < engine->held.count; i++) {
        const struct queued_command *q = &engine->held.commands[i];
        struct request request = {q->command, command_queue_argv(&engine->held, i), q->argc};
        apply(engine, &request);
    }
    command_queue_clear(&engine->held);
}

/* From MULTI to EXEC commands are held back and the applied offset stands still; both jump at the
 * EXEC (7.0 networking.c commandProcessed). The bytes go into the replica's own backlog, from which
 * its own replicas would be fed. */
void engine_receive(struct engine *engine, const struct stream_command *command) {
    const struct request *request = &command->request;
    bool is_exec = request->command == engine->propagate.commands[WORD_EXEC];
    ASSERT(engine->config.is_replica && command->end_offset > engine->read_offset);
    engine->read_offset = command->end_offset;
    propagate_book(&engine->backlog, request->argv, request->argc);
    if (engine->in_multi && !is_exec) {
        command_queue_push(&engine->held, command->db, request->command, request->argv,
                           request->argc);
        return;
    }
    if (is_exec) apply_held(engine);
    apply(engine, request);
    if (!engine->in_multi) engine->applied_offset = command->end_offset;
}

static void send_ping(struct engine *engine) {
    enum word word = engine->env.generation->stream.ping_is_lower ? WORD_ping : WORD_PING;
    struct arg arg = arg_word(engine->env.texts, word);
    propagate_feed(&engine->propagate, -1, engine->propagate.commands[WORD_PING], &arg, 1);
}

static bool has_replicas(const struct engine *engine) {
    for (int i = 0; i < REPLICAS_MAX; i++)
        if (engine->replicas[i].attached) return true;
    return false;
}

/* Once a second: a replica tells how far it is, a master pings on every repl-ping-replica-period-th
 * call. */
void cron_replication(struct engine *engine) {
    uint64_t period = (uint64_t)engine->config.repl_ping_replica_period;
    const struct sink *sink = engine->env.sink;
    if (engine->config.is_replica)
        sink->acknowledge(sink->context, engine->applied_offset);
    else if (engine->replication_cron_loops % period == 0 && has_replicas(engine))
        send_ping(engine);
    engine->replication_cron_loops++;
}
