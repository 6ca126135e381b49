#include "replication.h"

#include "heap.h"
#include "world_event.h"

#define SEGMENT_BYTES_MAX (UINT64_C(16) << 10) /* link.h */
#define LOG_LIMIT_MIN     1024                 /* records: so seldom is a log trimmed */

/* ---- making connections ---- */

struct connection *replication_dial(struct node *replica, struct node *master) {
    const struct server_config *config = replica->config;
    struct connection_path path = {.configs = {&config->link, &config->link_up},
                                   .cable = replica->index,
                                   .cable_name = config->name,
                                   .number = replica->dialled++,
                                   .cut = replica->link_cut};
    return connection_create(replica->env->connections, replica, master, &path, &replica->wire);
}

void replication_stand(struct node *replica, struct node *master, ns_t now_ns) {
    engine_wake(master->engine, node_instant(master, now_ns));
    int slot = engine_replica_attach(master->engine);
    ASSERT(slot >= 0); /* the loader refuses more */
    engine_replica_is(master->engine, slot, (int)replica->index);
    struct engine_stats stats = engine_stats(master->engine);
    engine_wake(replica->engine, node_instant(replica, now_ns));
    engine_in_sync(replica->engine, (int)master->index, stats.replid, stats.master_repl_offset);
    struct connection *connection = replication_dial(replica, master);
    connection_stand(connection, slot);
    uint64_t end = stream_log_end(master->log);
    connection->feed = (struct feed){.kept = true,
                                     .started = true,
                                     .sent_serial = end,
                                     .delivered_serial = end,
                                     .applied_serial = end,
                                     .sent_offset = stats.master_repl_offset};
    replica->upstream = master->slots[slot] = connection;
    replica->master = master;
}

struct node *replication_master(const struct node *node) {
    int master = engine_master(node->engine);
    return master == MASTER_NONE ? NULL : &node->env->nodes[master];
}

/* ---- the stream ---- */

/* Whole records, up to a segment's size, at least one. */
static void send_segment(struct connection *connection, struct node *master, ns_t now_ns) {
    struct feed *feed = &connection->feed;
    uint64_t bytes = 0;
    while (feed->sent_serial < master->fed_serial) {
        const struct stream_record *record = stream_log_at(master->log, feed->sent_serial);
        if (bytes > 0 && bytes + record->resp_bytes > SEGMENT_BYTES_MAX) break;
        bytes += record->resp_bytes;
        feed->sent_offset = record->end_offset;
        feed->sent_serial++;
    }
    connection_send_stream(connection, feed->sent_serial, bytes, now_ns);
    engine_replica_written(master->engine, connection->slot, feed->sent_offset);
}

static bool is_lost_to(const struct connection *connection, enum direction end) {
    return connection->broken || connection->ends[end].hung_up;
}

static void pump_stream(struct connection *connection, ns_t now_ns) {
    struct node *master = connection->ends[TO_MASTER].node;
    struct feed *feed = &connection->feed;
    if (!feed->started || master->frozen || is_lost_to(connection, TO_MASTER)) return;
    while (feed->sent_serial < master->fed_serial && connection_has_room(connection, TO_REPLICA))
        send_segment(connection, master, now_ns);
    connection_pump(connection, TO_REPLICA, now_ns);
}

/* ---- a snapshot's file ---- */

/* A socket that is broken takes what nobody will read. */
static bool pipe_may_be_read(const struct node *node) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct connection *connection = node->slots[slot];
        if (!connection || !connection->syncs || connection->broken) continue;
        if (!connection_has_room(connection, TO_REPLICA)) return false;
    }
    return true;
}

static void await_pipe(struct node *node, ns_t now_ns) {
    struct child *child = &node->child;
    if (!child->snapshot || !child->begun || child->under_way || !pipe_may_be_read(node)) return;
    child->under_way = true;
    event_queue_push(node->env->queue, child->ready_ns > now_ns ? child->ready_ns : now_ns,
                     WORLD_PIPE, node->index, child->number);
}

void replication_on_pipe(struct node *node, ns_t now_ns, uint64_t child) {
    struct inbox_item item = {.arrival_ns = now_ns, .kind = INBOX_PIPE, .child = child};
    if (!node->child.snapshot || node->child.number != child) return;
    inbox_push(&node->inbox, &item);
    node_notice(node, now_ns);
}

static void tell_taken(struct connection *connection) {
    struct node *master = connection->ends[TO_MASTER].node;
    if (connection->slot < 0 || master->slots[connection->slot] != connection) return;
    if (connection->channels[TO_REPLICA].sync_waiting == 0)
        engine_pipe_taken(master->engine, connection->slot);
}

/* ---- what leaves at a turn's end ---- */

static void send_out(const struct outgoing *out, ns_t now_ns) {
    struct connection *connection = out->connection;
    switch ((enum outgoing_kind)out->kind) {
    case OUT_DIAL:
        connection_dial(connection, now_ns);
        break;
    case OUT_SEND:
        connection_send(connection, direction_back(out->own_end), &out->message, now_ns);
        if (out->message.kind == REPL_RDB) tell_taken(connection);
        break;
    case OUT_STREAM:
        connection->feed.started = true;
        break;
    case OUT_HANG_UP:
        connection_close(connection, out->own_end, now_ns);
        break;
    }
}

static void keep_least(uint64_t *serial, uint64_t other) {
    if (other < *serial) *serial = other;
}

/* What a replica has not applied is kept while it may come to that, and for its age; what has yet
 * to be sent, until the master knows that nobody listens. UINT64_MAX: nothing is. */
static uint64_t kept_serial(const struct connection *connection, const struct node *master) {
    if (!connection || connection->ends[TO_MASTER].node != master || !connection->feed.kept)
        return UINT64_MAX;
    if (!connection->ends[TO_REPLICA].hung_up) return connection->feed.applied_serial;
    return connection->ends[TO_MASTER].hung_up ? UINT64_MAX : connection->feed.sent_serial;
}

static void trim_log(struct node *node) {
    uint64_t end = stream_log_end(node->log), serial = node->fed_serial;
    const struct connections *table = node->env->connections;
    if (end - stream_log_begin(node->log) < node->log_limit) return;
    struct engine_stats stats = engine_stats(node->engine);
    if (stats.backlog_active)
        keep_least(&serial, stream_log_find(node->log, stats.backlog_first_offset - 1));
    for (uint32_t i = 0; i < table->count; i++)
        keep_least(&serial, kept_serial(table->items[i], node));
    stream_log_trim(node->log, serial);
    node->log_limit = 2 * (end - stream_log_begin(node->log)) + LOG_LIMIT_MIN;
}

void replication_flush(struct node *node, ns_t now_ns) {
    for (uint32_t i = 0; i < node->outgoing_count; i++) {
        send_out(&node->outgoing[i], now_ns);
        connection_drop(node->outgoing[i].connection);
    }
    node->outgoing_count = 0;
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (node->slots[slot]) pump_stream(node->slots[slot], now_ns);
    if (node->child.snapshot && !node->child.begun) child_begin(&node->child, now_ns);
    await_pipe(node, now_ns);
    trim_log(node);
}

/* ---- what a connection delivers ---- */

static struct repl_message *copy_message(const struct repl_message *message) {
    struct repl_message *copy = heap_zero(1, sizeof *copy);
    *copy = *message;
    return copy;
}

static void push_item(struct connection *connection, enum direction direction,
                      struct inbox_item *item) {
    item->peer = connection;
    connection_hold(connection);
    inbox_push(&connection->ends[direction].node->inbox, item);
}

static void push_payload(struct connection *connection, enum direction direction,
                         const struct payload *payload, ns_t now_ns) {
    struct inbox_item item = {.arrival_ns = now_ns, .kind = INBOX_CLOSED};
    switch ((enum payload_kind)payload->kind) {
    case PAYLOAD_SYN_ACK:
        item.kind = INBOX_CONNECTED;
        break;
    case PAYLOAD_CONFIRM:
        item.kind = INBOX_ACCEPT;
        break;
    case PAYLOAD_MESSAGE:
        item.kind = INBOX_MESSAGE;
        item.message = copy_message(&payload->message);
        break;
    case PAYLOAD_STREAM:
        item.kind = INBOX_SEGMENT;
        item.end_serial = connection->feed.delivered_serial = payload->end_serial;
        break;
    case PAYLOAD_END:
        break;
    case PAYLOAD_SYN:
        ASSERT(false); /* the kernel answers it */
        break;
    }
    push_item(connection, direction, &item);
}

static void deliver(struct connection *connection, enum direction direction, ns_t now_ns) {
    struct node *node = connection->ends[direction].node;
    struct payload payload;
    bool arrived = false;
    if (node->frozen) return;
    connection_hold(connection);
    for (; connection_take(connection, direction, now_ns, &payload); arrived = true)
        push_payload(connection, direction, &payload, now_ns);
    connection_pump(connection, direction, now_ns);
    if (direction == TO_REPLICA) {
        tell_taken(connection);
        pump_stream(connection, now_ns);
        await_pipe(connection->ends[TO_MASTER].node, now_ns);
    }
    connection_drop(connection);
    if (arrived) node_notice(node, now_ns);
}

void replication_on_deliver(struct connections *table, const struct event *event) {
    enum direction direction;
    struct connection *connection = connections_find(table, event, &direction);
    if (connection) deliver(connection, direction, event->at_ns);
}

/* The table may grow and connections go meanwhile. */
void replication_thaw(struct node *node, ns_t now_ns) {
    const struct connections *table = node->env->connections;
    for (uint32_t i = 0; i < table->count; i++)
        for (enum direction d = 0; d < DIRECTIONS; d++)
            if (table->items[i] && table->items[i]->ends[d].node == node)
                deliver(table->items[i], d, now_ns);
}

/* ---- what the network does ---- */

void replication_reset(struct node *node, ns_t now_ns) {
    struct connection *connection = node->upstream;
    if (!connection || connection->broken) return;
    connection_break(connection);
    connection_hold(connection);
    for (enum direction d = 0; d < DIRECTIONS; d++) {
        struct inbox_item item = {.arrival_ns = now_ns, .kind = INBOX_CLOSED};
        if (connection->ends[d].hung_up || connection->ends[d].state == END_CLOSED) continue;
        push_item(connection, d, &item);
        node_notice(connection->ends[d].node, now_ns);
    }
    connection_drop(connection);
}

static void each_over_link(struct node *node, ns_t now_ns,
                           void (*act)(struct connection *, ns_t now_ns)) {
    const struct connections *table = node->env->connections;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->items[i] && table->items[i]->cable == node->index) act(table->items[i], now_ns);
}

void replication_cut(struct node *node, ns_t now_ns) {
    if (node->link_cut) return;
    node->link_cut = true;
    each_over_link(node, now_ns, connection_cut);
}

static void heal_connection(struct connection *connection, ns_t now_ns) {
    connection_heal(connection, now_ns);
    pump_stream(connection, now_ns);
}

void replication_heal(struct node *node, ns_t now_ns) {
    if (!node->link_cut) return;
    node->link_cut = false;
    each_over_link(node, now_ns, heal_connection);
}

/* ---- questions ---- */

static bool is_fed(const struct node *replica) {
    return replica->upstream && replica->upstream->feed.started &&
           replica->upstream->ends[TO_MASTER].node == replica->master;
}

/* When the oldest record left that is fed and not applied. One that a turn in progress has made
 * will leave later than now. One that the master no longer keeps left when a row last knew. */
static ns_t oldest_ns(struct node *replica, int64_t offset, ns_t now_ns) {
    const struct stream_log *log = replica->master->log;
    uint64_t serial =
        is_fed(replica) ? replica->upstream->feed.applied_serial : stream_log_find(log, offset);
    if (serial == stream_log_end(log)) return replica->behind_since_ns = now_ns;
    const struct stream_record *record = stream_log_at(log, serial);
    bool is_next = record->end_offset - (int64_t)record->resp_bytes <= offset;
    if (is_next) replica->behind_since_ns = record->fed_ns < now_ns ? record->fed_ns : now_ns;
    return replica->behind_since_ns;
}

void replication_measure(struct node *replica, ns_t now_ns, struct trace_row *row) {
    int64_t offset = engine_offset(replica->master->engine);
    row->lag_bytes = offset - row->repl_offset;
    row->lag_ms = (now_ns - oldest_ns(replica, row->repl_offset, now_ns)) / NS_PER_MS;
    if (!replica->upstream) return;
    row->link_queue_bytes = (int64_t)replica->upstream->channels[TO_REPLICA].link.in_flight_bytes;
    if (is_fed(replica)) row->link_queue_bytes += offset - replica->upstream->feed.sent_offset;
}

bool replication_is_drained(const struct node *replica) {
    return !replica->in_turn && is_fed(replica) && !is_lost_to(replica->upstream, TO_MASTER) &&
           replica->upstream->feed.applied_serial == stream_log_end(replica->master->log);
}

/* ---- the end, and the walker ---- */

void replication_release(struct node *node) {
    for (uint64_t i = 0; i < inbox_count(&node->inbox); i++) {
        struct inbox_item *item = inbox_at(&node->inbox, i);
        if (item->kind != INBOX_MESSAGE || i < node->served) continue;
        message_release(item->message);
        free(item->message);
    }
    for (uint32_t i = 0; i < node->outgoing_count; i++)
        if (node->outgoing[i].kind == OUT_SEND) message_release(&node->outgoing[i].message);
    free(node->outgoing);
    child_end(&node->child);
}

void replication_check(const struct node *node) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++) {
        const struct connection *connection = node->slots[slot];
        if (!connection) continue;
        ASSERT(connection->ends[TO_MASTER].node == node && connection->slot == slot);
        if (!connection->feed.started) continue;
        ASSERT(connection->feed.sent_serial <= node->fed_serial);
        ASSERT(stream_log_begin(node->log) <= kept_serial(connection, node));
        ASSERT(connection->feed.sent_offset <= engine_offset(node->engine));
    }
    ASSERT(node->fed_serial <= stream_log_end(node->log));
    ASSERT(!node->upstream || node->upstream->ends[TO_REPLICA].node == node);
}
