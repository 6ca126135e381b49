#include "world.h"

#include <string.h>

#include "world_state.h"

#define WORK_PER_QUESTION 4096 /* between two calls of interrupted() */

/* Rows. */

static void world_write_row(struct world *world, struct node *node, ns_t now_ns) {
    struct trace_row row = {.server = node->config->name,
                            .role = node->master ? "replica" : "master"};
    node_settle_busy(node, now_ns);
    observer_take_row(&node->observer, node->engine, now_ns, node_wall_ms(node, now_ns), &row);
    if (node->master) replication_measure(node, now_ns, &row);
    if (!world->output.row(world->output.context, &row)) world->output_failed = true;
}

static bool world_writes_rows_at_cron(const struct world *world) {
    return world->scenario->trace_interval_ns == 0 && !world->draining;
}

/* What leaves at a turn's end. */

static void world_answer_timed(struct world *world, const struct node *node,
                               const struct inbox_item *item, ns_t now_ns) {
    if (!world->output.event_reply || world->draining) return;
    if (!world->output.event_reply(world->output.context, item->subject, now_ns,
                                   node->text.bytes + item->text_start,
                                   item->text_end - item->text_start))
        world->output_failed = true;
}

static void world_answer(struct world *world, struct node *node, const struct inbox_item *item,
                         ns_t now_ns) {
    observer_count_reply(&node->observer, (now_ns - item->arrival_ns) / NS_PER_US, item->nil,
                         item->hidden, item->error);
    switch ((enum request_source)item->source) {
    case SOURCE_CLIENT:
        client_answer(&world->clients[item->subject], item, now_ns);
        break;
    case SOURCE_LOADER:
        loader_answer(&world->loaders[item->subject], item, now_ns);
        break;
    case SOURCE_TIMED:
        world_answer_timed(world, node, item, now_ns);
        break;
    }
}

static void world_answer_all(struct world *world, struct node *node, ns_t now_ns) {
    for (uint64_t i = 0; i < node->served; i++) {
        const struct inbox_item *item = inbox_at(&node->inbox, i);
        if (item->kind == INBOX_REQUEST && !item->waits) world_answer(world, node, item, now_ns);
    }
    for (uint32_t i = 0; i < node->late_count; i++)
        world_answer(world, node, &node->late[i], now_ns);
}

static void world_tell_stream(struct world *world, const struct node *master, uint64_t serial,
                              ns_t now_ns) {
    if (!world->output.stream || world->draining) return;
    for (; serial < master->fed_serial; serial++) {
        struct stream_command command = stream_log_command(master->log, serial);
        if (!world->output.stream(world->output.context, master->index, now_ns, &command))
            world->output_failed = true;
    }
}

/* What a replica hands on its master has told already. */
static void world_flush(struct world *world, struct node *node, ns_t now_ns) {
    uint64_t serial = node->fed_serial;
    node->fed_serial = stream_log_end(node->log);
    if (!node->master) world_tell_stream(world, node, serial, now_ns);
    replication_flush(node, now_ns);
}

/* Handlers, one a kind of event. */

/* One event may be a turn of thousands of commands or of long cycles: its virtual time in us tells
 * that as well as anything, and its commands where time costs nothing. */
static void world_count_work(struct world *world, const struct node *node, ns_t now_ns) {
    world->work += node->served + (uint64_t)((now_ns - node->busy_since_ns) / NS_PER_US);
}

static void world_on_turn_end(struct world *world, const struct event *event) {
    struct node *node = &world->nodes[event->subject];
    if (event->argument != node->turn_end_event) return;
    world_count_work(world, node, event->at_ns);
    world_answer_all(world, node, event->at_ns);
    node_end_turn(node, event->at_ns);
    world_flush(world, node, event->at_ns);
    if (node->cron_ran && world_writes_rows_at_cron(world))
        world_write_row(world, node, event->at_ns);
    node_poll(node, event->at_ns);
}

static void world_on_cron_due(struct world *world, const struct event *event) {
    node_on_cron_due(&world->nodes[event->subject], event->at_ns);
}

static void world_on_wake(struct world *world, const struct event *event) {
    node_on_wake(&world->nodes[event->subject], event->at_ns, event->argument);
}

static void world_on_deliver(struct world *world, const struct event *event) {
    replication_on_deliver(&world->connections, event);
}

static void world_on_pipe(struct world *world, const struct event *event) {
    replication_on_pipe(&world->nodes[event->subject], event->at_ns, event->argument);
}

static void world_on_arrival(struct world *world, const struct event *event) {
    if (!world->draining) client_on_arrival(&world->clients[event->subject], event->at_ns);
}

static void world_on_send(struct world *world, const struct event *event) {
    if (world->draining) return;
    client_on_send(&world->clients[event->subject], event->at_ns, (uint32_t)event->argument);
}

static void world_on_load(struct world *world, const struct event *event) {
    if (!world->draining) loader_on_load(&world->loaders[event->subject], event->at_ns);
}

static void world_on_timed(struct world *world, const struct event *event) {
    struct timed *timed = &world->timed[event->subject];
    if (world->draining) return;
    switch (timed->config->kind) {
    case EVENT_COMMAND:
        timed_send(timed, event->at_ns);
        break;
    case EVENT_CUT:
        replication_cut(timed->server, event->at_ns);
        break;
    case EVENT_HEAL:
        replication_heal(timed->server, event->at_ns);
        break;
    case EVENT_CLOCK_STEP:
        clock_step(&timed->server->clock, timed->config->step_us);
        break;
    case EVENT_RESET:
        replication_reset(timed->server, event->at_ns);
        break;
    case EVENT_FREEZE:
        node_freeze(timed->server, event->at_ns);
        break;
    case EVENT_THAW:
        node_thaw(timed->server, event->at_ns);
        break;
    }
}

static void world_schedule_interval(struct world *world, ns_t at_ns) {
    if (at_ns < world->scenario->duration_ns)
        event_queue_push(&world->queue, at_ns, WORLD_INTERVAL, 0, 0);
}

static void world_on_interval(struct world *world, const struct event *event) {
    if (world->draining) return;
    for (uint32_t i = 0; i < world->scenario->server_count; i++)
        world_write_row(world, &world->nodes[i], event->at_ns);
    world_schedule_interval(world, event->at_ns + world->scenario->trace_interval_ns);
}

typedef void world_handler(struct world *, const struct event *);

static world_handler *const world_handlers[WORLD_EVENT_KINDS] = {
#define X(id, handler) [WORLD_##id] = world_on_##handler,
    WORLD_EVENT_LIST(X)
#undef X
};

/* The run. */

void world_step(struct world *world) {
    struct event event;
    bool popped = event_queue_pop(&world->queue, &event);
    ASSERT(popped && event.kind < WORLD_EVENT_KINDS && event.at_ns >= world->now_ns);
    world->now_ns = event.at_ns;
    world_handlers[event.kind](world, &event);
}

static bool world_has_more(const struct world *world, ns_t until_ns) {
    const struct event *next = event_queue_peek(&world->queue);
    return next && next->at_ns <= until_ns;
}

static bool world_is_interrupted(struct world *world) {
    if (!world->output.interrupted || ++world->work < WORK_PER_QUESTION) return false;
    world->work = 0;
    return world->output.interrupted(world->output.context, world->now_ns,
                                     world->scenario->duration_ns, world->queue.popped);
}

/* A server whose turn ended with the run has had its last row. */
static void world_write_last_rows(struct world *world) {
    world->now_ns = world->scenario->duration_ns;
    for (uint32_t i = 0; i < world->scenario->server_count; i++) {
        struct node *node = &world->nodes[i];
        if (node->observer.rows == 0 || node->observer.row_ns < world->now_ns)
            world_write_row(world, node, world->now_ns);
    }
}

static void world_close_observers(struct world *world) {
    for (uint32_t i = 0; i < world->scenario->server_count; i++)
        observer_close(&world->nodes[i].observer);
}

static void world_start(struct world *world) {
    ASSERT(!world->has_run);
    world->has_run = true;
    for (uint32_t i = 0; i < world->scenario->server_count; i++) node_poll(&world->nodes[i], 0);
    if (world->scenario->trace_interval_ns)
        world_schedule_interval(world, world->scenario->trace_interval_ns);
}

enum world_end world_run(struct world *world) {
    enum world_end end = WORLD_DONE;
    world_start(world);
    while (end == WORLD_DONE && world_has_more(world, world->scenario->duration_ns)) {
        world_step(world);
        if (world->output_failed)
            end = WORLD_OUTPUT_FAILED;
        else if (world_is_interrupted(world))
            end = WORLD_INTERRUPTED;
    }
    if (end == WORLD_DONE) world_write_last_rows(world);
    world_close_observers(world);
    return world->output_failed ? WORLD_OUTPUT_FAILED : end;
}

/* Questions. */

struct engine *world_engine(struct world *world, uint32_t server) {
    return world->nodes[server].engine;
}

const struct histogram *world_request_us(const struct world *world, uint32_t server) {
    return &world->nodes[server].observer.request_us_run;
}

const struct histogram *world_expiry_lag_ms(const struct world *world, uint32_t server) {
    return &world->nodes[server].observer.expiry_lag_ms_run;
}

const struct histogram *world_client_us(const struct world *world, uint32_t client) {
    return &world->clients[client].request_us;
}

uint64_t world_event_count(const struct world *world) { return world->queue.popped; }
ns_t world_now_ns(const struct world *world) { return world->now_ns; }
struct names *world_names(struct world *world) {
    return world->names;
}

const char *world_note(const struct world *world, size_t index) {
    return index < world->note_count ? world->notes[index] : NULL;
}
