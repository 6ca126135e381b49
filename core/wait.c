#include "command.h"
#include "repl.h"

/* WAIT (7.0 replication.c waitCommand, processClientsWaitingReplicas; engine facts 7.9.2). */

int64_t wait_count(const struct engine *engine, int64_t offset) {
    int64_t count = 0;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct engine_replica *r = &engine->replicas[slot];
        count += r->state == REPLICA_ONLINE && r->ack_offset >= offset;
    }
    return count;
}

void wait_begin(struct engine *engine, struct client *client, int64_t replicas, ms_t end_ms) {
    client->waits = true;
    client->wait_offset = client->woff;
    client->wait_replicas = replicas;
    client->wait_end_ms = end_ms;
    client->wait_serial = ++engine->wait_serial;
    engine->waiting_clients++;
    engine->wants_acks = true;
}

static void answer(struct engine *engine, uint32_t client, struct reply_item item) {
    const struct sink *sink = engine->env.sink;
    struct reply reply = {.request = NULL, .items = &item, .count = 1};
    engine->clients[client].waits = false;
    engine->waiting_clients--;
    sink->reply(sink->context, client, &reply);
}

static void answer_count(struct engine *engine, uint32_t client, int64_t count) {
    answer(engine, client, (struct reply_item){.kind = REPLY_INTEGER, .integer = count});
}

/* Strictly after its end, by the clock. */
void wait_time_out(struct engine *engine) {
    if (engine->waiting_clients == 0) return;
    ms_t now_ms = cpu_wall_ms(&engine->cpu);
    for (uint32_t i = 0; i < engine->client_count; i++) {
        const struct client *c = &engine->clients[i];
        if (!c->open || !c->waits || c->wait_end_ms == 0 || c->wait_end_ms >= now_ms) continue;
        answer_count(engine, i, wait_count(engine, c->wait_offset));
    }
}

/* The one that began to wait last before `serial`, or client_count. */
static uint32_t waiting_before(const struct engine *engine, uint64_t serial) {
    uint32_t found = engine->client_count;
    uint64_t latest = 0;
    for (uint32_t i = 0; i < engine->client_count; i++) {
        const struct client *c = &engine->clients[i];
        if (!c->open || !c->waits || c->wait_serial >= serial || c->wait_serial <= latest) continue;
        found = i;
        latest = c->wait_serial;
    }
    return found;
}

/* The latest comes first, and a count that was made for a later offset is taken for an earlier one
 * too, though that may have more by now. */
void wait_look(struct engine *engine) {
    int64_t last_offset = 0, last_count = 0;
    uint64_t serial = UINT64_MAX;
    while (engine->waiting_clients > 0) {
        uint32_t i = waiting_before(engine, serial);
        if (i == engine->client_count) return;
        const struct client *c = &engine->clients[i];
        serial = c->wait_serial;
        if (!(last_offset && last_offset >= c->wait_offset && last_count > c->wait_replicas)) {
            int64_t count = wait_count(engine, c->wait_offset);
            if (count < c->wait_replicas) continue;
            last_offset = c->wait_offset;
            last_count = count;
        }
        answer_count(engine, i, last_count);
    }
}

/* Not while clients are paused: it would move the offset. */
void wait_ask(struct engine *engine) {
    const struct texts *texts = engine->env.texts;
    if (!engine->wants_acks || pause_is_on(engine)) return;
    struct arg argv[] = {arg_word(texts, WORD_REPLCONF), arg_word(texts, WORD_GETACK),
                         arg_word(texts, WORD_STAR)};
    engine->wants_acks = false;
    repl_feed_own(engine, WORD_REPLCONF, argv, 3);
}

void wait_break_all(struct engine *engine) {
    for (uint32_t i = 0; engine->waiting_clients > 0 && i < engine->client_count; i++)
        if (engine->clients[i].open && engine->clients[i].waits)
            answer(engine, i,
                   (struct reply_item){.kind = REPLY_ERROR,
                                       .text = "UNBLOCKED force unblock from blocking operation, "
                                               "instance state changed (master -> replica?)"});
}
