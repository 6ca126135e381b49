#include "node.h"

#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "command.h"
#include "heap.h"
#include "huge_pages.h"
#include "replication.h"
#include "world_event.h"

/* The sink: an engine's facts go to the observer, its stream to the log. */

/* Is a nil reply to GET a key that is there all the same, as a replica keeps it? */
static bool node_hides(const struct node *node, const struct request *request, uint8_t db) {
    struct object value;
    ms_t deadline_ms;
    if (request->command != node->get) return false;
    return engine_peek(node->engine, db, request->argv[1].id, &value, &deadline_ms) &&
           deadline_ms >= 0;
}

static void node_keep(struct inbox_item **items, uint32_t *count, uint32_t *capacity,
                      const struct inbox_item *item) {
    *items = heap_grow(*items, capacity, *count, sizeof **items);
    (*items)[(*count)++] = *item;
}

/* Of one connection the oldest request is answered first. */
static struct inbox_item *node_find_late(struct node *node, uint32_t client) {
    for (uint32_t i = 0; i < node->waiting_count; i++) {
        if (node->waiting[i].engine_client != client) continue;
        node_keep(&node->late, &node->late_count, &node->late_capacity, &node->waiting[i]);
        node->waiting_count--;
        memmove(&node->waiting[i], &node->waiting[i + 1],
                (node->waiting_count - i) * sizeof *node->waiting);
        return &node->late[node->late_count - 1];
    }
    return NULL;
}

static void node_take_reply(void *context, uint32_t client, const struct reply *reply) {
    struct node *node = context;
    struct inbox_item *item = reply->request ? node->current : node_find_late(node, client);
    if (!item) return; /* a command of node_command or node_connect */
    ASSERT(client == item->engine_client);
    item->nil = reply->items[0].kind == REPLY_NIL;
    item->error =
        reply->items[0].kind == REPLY_ERROR || reply->items[0].kind == REPLY_UNKNOWN_COMMAND;
    item->hidden = item->nil && reply->request &&
                   node_hides(node, reply->request, engine_client_db(node->engine, client));
    if (item->source != SOURCE_TIMED) return;
    item->text_start = (uint32_t)node->text.length;
    if (node->env->keep_replies)
        resp_print_reply(&node->text, reply, node->engine, node->env->names, node->env->texts);
    item->text_end = (uint32_t)node->text.length;
}

static void node_take_stream(void *context, const struct stream_command *command) {
    struct node *node = context;
    stream_log_append(node->log, command, 0); /* its time is known at the end */
}

static void node_add_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct node *node = context;
    census_add(node->observer.census, deadline_ms, bytes);
}

static void node_remove_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct node *node = context;
    census_remove(node->observer.census, deadline_ms, bytes);
}

static void node_count_expiry(void *context, ms_t lateness_ms, enum expiry_cause cause) {
    struct node *node = context;
    observer_count_expiry(&node->observer, lateness_ms, cause);
}

static void node_count_cycle(void *context, const struct cycle_report *report) {
    struct node *node = context;
    observer_count_cycle(&node->observer, report);
}

/* A request that waits is kept beside the inbox; its copy there only says so. */
static void node_take_blocked(void *context, uint32_t client) {
    struct node *node = context;
    struct inbox_item *item = node->current;
    if (!item || item->waits) return;
    ASSERT(client == item->engine_client);
    item->waits = true;
    node_keep(&node->waiting, &node->waiting_count, &node->waiting_capacity, item);
}

static void node_init_engine(struct node *node) {
    char label[256];
    snprintf(label, sizeof label, "servers.%s", node->config->name);
    struct engine_env env = {
        .generation = node->config->generation,
        .allocator = node->config->allocator,
        .prices = node->config->prices,
        .keys = names_keys(node->env->names),
        .texts = node->env->texts,
        .sink = &node->sink,
        .rng = rng_fork(node->env->root, label),
        .pages = &huge_pages,
        .servers = node->env->server_names,
        .server_count = node->env->server_count,
        .self = (int)node->index,
    };
    node->engine = engine_create(&env, &node->config->engine);
}

void node_init(struct node *node, const struct node_env *env, const struct server_config *config,
               uint32_t index) {
    *node = (struct node){.config = config,
                          .env = env,
                          .index = index,
                          .clock = {config->clock_offset_us, config->clock_drift_ppb},
                          .cron_event_ns = -1,
                          .get = command_find("get", 3)};
    node->sink = (struct sink){
        .context = node,
        .reply = node_take_reply,
        .stream = node_take_stream,
        .deadline_added = node_add_deadline,
        .deadline_removed = node_remove_deadline,
        .key_expired = node_count_expiry,
        .cycle_ended = node_count_cycle,
        .blocked = node_take_blocked,
    };
    replication_fill_sink(&node->sink);
    observer_init(&node->observer);
    inbox_init(&node->inbox);
    node->log = stream_log_create();
    node_init_engine(node);
}

void node_release(struct node *node) {
    replication_release(node);
    engine_destroy(node->engine);
    observer_release(&node->observer);
    inbox_release(&node->inbox);
    resp_buffer_release(&node->text);
    stream_log_destroy(node->log);
    free(node->waiting);
    free(node->late);
}

struct instant node_instant(const struct node *node, ns_t now_ns) {
    return (struct instant){now_ns, clock_wall_us(&node->clock, node->env->start_wall_us, now_ns)};
}

ms_t node_wall_ms(const struct node *node, ns_t now_ns) {
    return wall_ms_of(node_instant(node, now_ns).wall_us);
}

/* Outside of any turn, so what it costs is forgotten. */
static void node_execute(struct node *node, uint32_t client, ns_t now_ns, const char *line) {
    struct arg argv[ARGC_MAX];
    char message[256];
    struct request request = {.argv = argv};
    int argc = resp_parse_line(line, node->env->names, node->env->texts, argv, &request.command,
                               message, sizeof message);
    ASSERT(argc > 0 && !node->current);
    request.argc = (uint32_t)argc;
    engine_wake(node->engine, node_instant(node, now_ns));
    engine_request(node->engine, client, &request);
}

uint32_t node_connect(struct node *node, uint8_t db, ns_t now_ns) {
    char line[32];
    uint32_t client = engine_connect(node->engine);
    if (db == 0) return client;
    snprintf(line, sizeof line, "SELECT %u", (unsigned)db);
    node_execute(node, client, now_ns, line);
    return client;
}

void node_command(struct node *node, ns_t now_ns, const char *line) {
    uint32_t client = engine_connect(node->engine);
    node_execute(node, client, now_ns, line);
    engine_disconnect(node->engine, client);
}

/* The turn. */

static void node_serve_request(struct node *node, struct inbox_item *item) {
    struct request request = {item->command, inbox_argv(&node->inbox, item), item->argc};
    node->current = item;
    engine_request(node->engine, item->engine_client, &request);
    node->current = NULL;
}

static void node_serve(struct node *node, struct inbox_item *item, ns_t now_ns) {
    if (item->kind == INBOX_REQUEST)
        node_serve_request(node, item);
    else
        replication_serve(node, item, now_ns);
}

/* What the turn fed leaves the engine when it ends. */
static ns_t node_work(struct node *node, ns_t now_ns) {
    engine_wake(node->engine, node_instant(node, now_ns));
    if (engine_is_loading(node->engine)) engine_load(node->engine);
    node->served = inbox_count(&node->inbox);
    for (uint64_t i = 0; i < node->served; i++) node_serve(node, inbox_at(&node->inbox, i), now_ns);
    node->cron_ran = engine_cron_due(node->engine);
    if (node->cron_ran) engine_cron(node->engine);
    ns_t busy_ns = engine_sleep(node->engine);
    return node->config->prices->turn_time_vanishes ? 0 : busy_ns;
}

static void node_end_at(struct node *node, ns_t end_ns) {
    node->turn_end_ns = end_ns;
    stream_log_stamp(node->log, node->fed_serial, end_ns);
    event_queue_push(node->env->queue, end_ns, WORLD_TURN_END, node->index, ++node->turn_end_event);
}

static void node_begin_turn(struct node *node, ns_t now_ns) {
    ASSERT(!node->in_turn && !node->frozen);
    node->in_turn = true;
    node->turn++;
    node->busy_since_ns = now_ns;
    ns_t busy_ns = node_work(node, now_ns);
    node->master = replication_master(node);
    node_end_at(node, now_ns + busy_ns);
}

void node_notice(struct node *node, ns_t now_ns) {
    if (!node->in_turn && !node->frozen) node_begin_turn(node, now_ns);
}

void node_freeze(struct node *node, ns_t now_ns) {
    if (node->frozen) return;
    node_settle_busy(node, now_ns);
    node->frozen = true;
    node->frozen_ns = now_ns;
    node->turn_end_event++; /* the one under way is void */
}

/* A poll that was interrupted returns. */
void node_thaw(struct node *node, ns_t now_ns) {
    if (!node->frozen) return;
    node->frozen = false;
    node->busy_since_ns = now_ns;
    if (node->in_turn)
        node_end_at(node, now_ns + node->turn_end_ns - node->frozen_ns);
    else
        node_begin_turn(node, now_ns);
    replication_thaw(node, now_ns);
}

/* epoll counts its timeout, taken before beforeSleep and rounded up to whole milliseconds, from the
 * moment of the poll. */
static ns_t node_poll_end(const struct node *node) {
    return node->poll_ns + engine_poll_timeout(node->engine);
}

static void node_wake_at(struct node *node, ns_t at_ns) {
    event_queue_push(node->env->queue, at_ns, WORLD_WAKE, node->index, node->turn);
}

/* Polls are many and crons few. So only the timer itself stands in the queue from the first poll
 * on, and the rounded-up wake-up is worked out when the timer falls due in sleep. */
static void node_sleep(struct node *node, ns_t now_ns) {
    ns_t timer_ns = engine_next_cron(node->engine);
    node->poll_ns = now_ns;
    if (timer_ns <= now_ns) { /* fell due in beforeSleep, after the timeout was taken */
        node_wake_at(node, node_poll_end(node));
        return;
    }
    if (timer_ns == node->cron_event_ns) return;
    node->cron_event_ns = timer_ns;
    event_queue_push(node->env->queue, timer_ns, WORLD_CRON_DUE, node->index, node->turn);
}

void node_end_turn(struct node *node, ns_t now_ns) {
    ASSERT(node->in_turn);
    node_settle_busy(node, now_ns);
    node->in_turn = false;
    inbox_drop(&node->inbox, node->served);
    node->served = 0;
    node->late_count = 0;
    node->text.length = 0;
}

void node_poll(struct node *node, ns_t now_ns) {
    ASSERT(!node->in_turn);
    if (inbox_count(&node->inbox) || engine_poll_timeout(node->engine) == 0 ||
        engine_is_loading(node->engine))
        node_begin_turn(node, now_ns);
    else
        node_sleep(node, now_ns);
}

void node_on_cron_due(struct node *node, ns_t now_ns) {
    if (node->in_turn || node->frozen || engine_next_cron(node->engine) != now_ns) return;
    ns_t wake_ns = node_poll_end(node);
    if (wake_ns == now_ns)
        node_begin_turn(node, now_ns);
    else
        node_wake_at(node, wake_ns);
}

void node_on_wake(struct node *node, ns_t now_ns, uint64_t turn) {
    if (!node->in_turn && !node->frozen && node->turn == turn) node_begin_turn(node, now_ns);
}

void node_settle_busy(struct node *node, ns_t now_ns) {
    if (!node->in_turn || node->frozen) return;
    node->observer.counts.busy_ns += now_ns - node->busy_since_ns;
    node->busy_since_ns = now_ns;
}
