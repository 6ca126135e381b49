#include <stdlib.h>

#include "command.h"
#include "repl.h"

/* CLIENT PAUSE and the pause of a failover (7.0 networking.c pauseClients; engine facts 3.7).
 * Commands that have to wait are kept, and executed in beforeSleep when they need wait no more. */

static enum pause_kind kind_of(const struct pause *pause) {
    enum pause_kind kind = PAUSE_NONE;
    for (int by = 0; by < PAUSE_PURPOSES; by++)
        if (pause->by[by].kind > kind) kind = pause->by[by].kind;
    return kind;
}

/* What the databases have to know of it. */
static void tell_host(struct engine *engine) {
    struct db_host *host = &engine->host;
    const struct pause *pause = &engine->pause;
    host->is_paused = kind_of(pause) != PAUSE_NONE;
    host->pause_end_ms = INT64_MIN;
    for (int by = 0; by < PAUSE_PURPOSES; by++)
        if (pause->by[by].kind != PAUSE_NONE && pause->by[by].end_ms > host->pause_end_ms)
            host->pause_end_ms = pause->by[by].end_ms;
}

/* Each ends strictly after its end, by the cached time. */
bool pause_is_on(struct engine *engine) {
    struct pause *pause = &engine->pause;
    if (kind_of(pause) == PAUSE_NONE) return false;
    for (int by = 0; by < PAUSE_PURPOSES; by++)
        if (pause->by[by].end_ms < engine->host.command_now_ms) pause->by[by].kind = PAUSE_NONE;
    tell_host(engine);
    return engine->host.is_paused;
}

bool pause_stops(struct engine *engine, const struct command *command) {
    if (!engine->host.is_paused) return false;
    enum pause_kind kind = kind_of(&engine->pause);
    return kind == PAUSE_ALL || (kind == PAUSE_WRITE && command && command->flags & COMMAND_WRITE);
}

bool pause_stops_cycle(struct engine *engine) {
    return engine->host.lazy->pause_stops_cycle && pause_is_on(engine);
}

/* Two of one purpose: the longer and the stricter stay. */
void pause_begin(struct engine *engine, enum pause_purpose by, enum pause_kind kind, ms_t end_ms) {
    struct pause *pause = &engine->pause;
    if (pause->by[by].kind == PAUSE_NONE) pause->by[by].end_ms = end_ms;
    if (pause->by[by].kind < kind) pause->by[by].kind = (uint8_t)kind;
    if (pause->by[by].end_ms < end_ms) pause->by[by].end_ms = end_ms;
    tell_host(engine);
}

void pause_end(struct engine *engine, enum pause_purpose by) {
    engine->pause.by[by].kind = PAUSE_NONE;
    tell_host(engine);
}

/* --- what has to wait --- */

static void enlist(struct engine *engine, uint32_t client) {
    if (engine->postponed_count == engine->postponed_capacity) {
        engine->postponed_capacity =
            engine->postponed_capacity ? engine->postponed_capacity * 2 : 16;
        engine->postponed =
            realloc(engine->postponed, engine->postponed_capacity * sizeof *engine->postponed);
        ASSERT(engine->postponed);
    }
    engine->postponed[engine->postponed_count++] = client;
}

void pause_postpone(struct engine *engine, uint32_t client, const struct request *request) {
    const struct sink *sink = engine->env.sink;
    struct client *c = &engine->clients[client];
    if (c->queue.count == 0) enlist(engine, client);
    command_queue_push(&c->queue, 0, request->command, request->argv, request->argc);
    if (sink->blocked) sink->blocked(sink->context, client);
}

/* Up to the first command that has to wait again. */
static void run_queue(struct engine *engine, uint32_t client) {
    struct client *c = &engine->clients[client];
    while (c->queue_next < c->queue.count && !c->waits) {
        struct request request = command_queue_request(&c->queue, c->queue_next);
        if (pause_stops(engine, request.command)) return;
        c->queue_next++;
        command_execute_late(engine, client, &request);
        c = &engine->clients[client];
    }
    if (c->queue_next < c->queue.count) return;
    command_queue_clear(&c->queue);
    c->queue_next = 0;
}

void pause_run_postponed(struct engine *engine) {
    uint32_t left = 0, count = engine->postponed_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t client = engine->postponed[i];
        if (engine->clients[client].open) run_queue(engine, client);
        if (engine->clients[client].queue.count > 0) engine->postponed[left++] = client;
    }
    engine->postponed_count = left;
    if (engine->stalled.count > 0 && engine->upstream.state == UPSTREAM_UP)
        repl_run_stalled(engine);
}
