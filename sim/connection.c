#include "connection.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "snapshot.h"
#include "world_event.h"

#define NEVER INT64_MAX

enum { PAYLOADS_INITIAL = 16, CONNECTIONS_GROW = 16 };

void message_release(const struct repl_message *message) { snapshot_release(message->snapshot); }

/* ---- the table ---- */

void connections_init(struct connections *table, struct event_queue *queue,
                      const struct rng *root) {
    *table = (struct connections){.queue = queue, .root = root};
}

static uint32_t connections_place(struct connections *table) {
    for (uint32_t i = 0; i < table->count; i++)
        if (!table->items[i]) return i;
    uint32_t place = table->count;
    table->items = heap_resize(table->items, table->count + CONNECTIONS_GROW, sizeof *table->items);
    memset(table->items + place, 0, CONNECTIONS_GROW * sizeof *table->items);
    table->count += CONNECTIONS_GROW;
    return place;
}

struct connection *connections_find(struct connections *table, const struct event *event,
                                    enum direction *direction) {
    struct connection *connection = table->items[event->subject / DIRECTIONS];
    *direction = event->subject % DIRECTIONS;
    bool valid = connection && connection->channels[*direction].schedule == event->argument;
    return valid ? connection : NULL;
}

/* ---- a channel's ring ---- */

static struct payload *channel_at(const struct channel *channel, uint64_t serial) {
    return &channel->payloads[serial & (channel->capacity - 1)];
}

static void channel_grow(struct channel *channel) {
    struct channel old = *channel;
    channel->capacity = old.capacity ? old.capacity * 2 : PAYLOADS_INITIAL;
    channel->payloads = heap_zero(channel->capacity, sizeof *channel->payloads);
    for (uint64_t i = old.first; i < old.end; i++) *channel_at(channel, i) = *channel_at(&old, i);
    free(old.payloads);
}

static bool payload_is_sync(const struct payload *payload) {
    return payload->kind == PAYLOAD_MESSAGE && payload->message.kind == REPL_RDB;
}

static void payload_release(const struct payload *payload) {
    if (payload->kind == PAYLOAD_MESSAGE) message_release(&payload->message);
}

static uint64_t payload_bytes(const struct payload *payload) {
    if (payload->kind == PAYLOAD_STREAM) return payload->bytes;
    return payload->kind == PAYLOAD_MESSAGE ? payload->message.wire_bytes : 0;
}

static void channel_push(struct channel *channel, const struct payload *payload) {
    if (channel->end - channel->first == channel->capacity) channel_grow(channel);
    *channel_at(channel, channel->end++) = *payload;
    channel->sync_waiting += payload_is_sync(payload);
}

/* Forgets what the socket has not taken. */
static void channel_drop_waiting(struct channel *channel) {
    while (channel->end > channel->taken) payload_release(channel_at(channel, --channel->end));
    channel->sync_waiting = 0;
}

static void channel_release(struct channel *channel) {
    for (uint64_t i = channel->first; i < channel->end; i++)
        payload_release(channel_at(channel, i));
    free(channel->payloads);
    link_release(&channel->link);
    channel->payloads = NULL;
    channel->capacity = channel->first = channel->taken = channel->end = 0;
    channel->sync_waiting = 0;
    channel->schedule = 0;
    channel->arrival_ns = NEVER;
}

/* ---- making and releasing ---- */

static void channel_init(struct connection *connection, enum direction direction,
                         const struct connection_path *path) {
    struct channel *channel = &connection->channels[direction];
    char label[320], number[32] = "";
    if (path->number) snprintf(number, sizeof number, ".%llu", (unsigned long long)path->number);
    snprintf(label, sizeof label, "links.%s%s%s", path->cable_name,
             direction == TO_MASTER ? ".up" : "", number);
    link_init(&channel->link, path->configs[direction], rng_fork(connection->table->root, label));
    channel->arrival_ns = NEVER;
    if (path->cut) link_cut(&channel->link, 0);
}

struct connection *connection_create(struct connections *table, struct node *replica,
                                     struct node *master, const struct connection_path *path,
                                     struct wire_bytes *wire) {
    struct connection *connection = heap_zero(1, sizeof *connection);
    connection->table = table;
    connection->index = connections_place(table);
    connection->cable = path->cable;
    connection->ends[TO_REPLICA].node = replica;
    connection->ends[TO_MASTER].node = master;
    connection->wire = wire;
    connection->slot = -1;
    for (enum direction d = 0; d < DIRECTIONS; d++) channel_init(connection, d, path);
    table->items[connection->index] = connection;
    return connection;
}

static void connection_release(struct connection *connection) {
    for (enum direction d = 0; d < DIRECTIONS; d++) channel_release(&connection->channels[d]);
    connection->table->items[connection->index] = NULL;
    free(connection);
}

void connections_release(struct connections *table) {
    for (uint32_t i = 0; i < table->count; i++)
        if (table->items[i]) connection_release(table->items[i]);
    free(table->items);
    *table = (struct connections){0};
}

/* A master's end that its process has not seen needs no closing. */
static bool connection_is_over(const struct connection *connection) {
    return connection->references == 0 && connection->ends[TO_REPLICA].state == END_CLOSED &&
           connection->ends[TO_MASTER].state != END_OPEN;
}

void connection_hold(struct connection *connection) { connection->references++; }

void connection_drop(struct connection *connection) {
    ASSERT(connection->references > 0);
    connection->references--;
    if (connection_is_over(connection)) connection_release(connection);
}

/* ---- sending ---- */

static void connection_schedule(struct connection *connection, enum direction direction,
                                ns_t now_ns) {
    struct channel *channel = &connection->channels[direction];
    struct connections *table = connection->table;
    ns_t arrival_ns = link_next_arrival(&channel->link);
    if (arrival_ns == channel->arrival_ns) return;
    channel->arrival_ns = arrival_ns;
    channel->schedule = ++table->schedules;
    if (arrival_ns == NEVER) return;
    if (arrival_ns < now_ns) arrival_ns = now_ns;
    event_queue_push(table->queue, arrival_ns, WORLD_DELIVER,
                     connection->index * DIRECTIONS + direction, channel->schedule);
}

static enum wire_cause payload_cause(const struct payload *payload) {
    if (payload->kind == PAYLOAD_STREAM) return WIRE_STREAM;
    return payload_is_sync(payload) ? WIRE_SYNC : WIRE_CONTROL;
}

/* The socket takes the oldest payload that waits. */
static void connection_hand_over(struct connection *connection, enum direction direction,
                                 ns_t now_ns) {
    struct channel *channel = &connection->channels[direction];
    const struct payload *payload = channel_at(channel, channel->taken++);
    uint64_t bytes = payload_bytes(payload);
    channel->sync_waiting -= payload_is_sync(payload);
    connection->wire->bytes[direction][payload_cause(payload)] += bytes;
    link_send(&channel->link, now_ns, channel->taken, bytes, 0);
}

void connection_pump(struct connection *connection, enum direction direction, ns_t now_ns) {
    struct channel *channel = &connection->channels[direction];
    while (channel->taken < channel->end && link_room_bytes(&channel->link) > 0)
        connection_hand_over(connection, direction, now_ns);
    connection_schedule(connection, direction, now_ns);
}

/* What a kernel says, it says at once, whatever waits. */
static void connection_signal(struct connection *connection, enum direction direction,
                              enum payload_kind kind, ns_t now_ns) {
    struct channel *channel = &connection->channels[direction];
    struct payload payload = {.kind = (uint8_t)kind};
    ASSERT(channel->taken == channel->end);
    channel_push(channel, &payload);
    connection_hand_over(connection, direction, now_ns);
    connection_schedule(connection, direction, now_ns);
}

void connection_dial(struct connection *connection, ns_t now_ns) {
    if (!connection->broken) connection_signal(connection, TO_MASTER, PAYLOAD_SYN, now_ns);
}

void connection_stand(struct connection *connection, int slot) {
    for (enum direction d = 0; d < DIRECTIONS; d++) connection->ends[d].state = END_OPEN;
    connection->slot = slot;
}

/* Can the process at the end where `direction` begins still say something? */
static bool connection_speaks(const struct connection *connection, enum direction direction) {
    return !connection->broken && connection->ends[direction_back(direction)].state != END_CLOSED;
}

void connection_send(struct connection *connection, enum direction direction,
                     const struct repl_message *message, ns_t now_ns) {
    struct payload payload = {.kind = PAYLOAD_MESSAGE, .message = *message};
    if (!connection_speaks(connection, direction)) {
        message_release(message);
        return;
    }
    channel_push(&connection->channels[direction], &payload);
    connection_pump(connection, direction, now_ns);
}

bool connection_has_room(const struct connection *connection, enum direction direction) {
    const struct channel *channel = &connection->channels[direction];
    return channel->taken == channel->end && link_room_bytes(&channel->link) > 0;
}

void connection_send_stream(struct connection *connection, uint64_t end_serial, uint64_t bytes,
                            ns_t now_ns) {
    struct payload payload = {.kind = PAYLOAD_STREAM, .end_serial = end_serial, .bytes = bytes};
    ASSERT(connection_speaks(connection, TO_REPLICA) &&
           connection_has_room(connection, TO_REPLICA));
    channel_push(&connection->channels[TO_REPLICA], &payload);
    connection_hand_over(connection, TO_REPLICA, now_ns);
}

/* ---- ending ---- */

/* Without a reference it may be over with that, and gone. */
void connection_close(struct connection *connection, enum direction end, ns_t now_ns) {
    struct connection_end *own = &connection->ends[end];
    const struct connection_end *other = &connection->ends[direction_back(end)];
    bool was_open = own->state == END_OPEN;
    ASSERT(connection->references > 0 && own->state != END_CLOSED);
    own->state = END_CLOSED;
    own->hung_up = true;
    channel_drop_waiting(&connection->channels[direction_back(end)]);
    if (was_open && other->state != END_CLOSED && !connection->broken)
        connection_signal(connection, direction_back(end), PAYLOAD_END, now_ns);
}

void connection_break(struct connection *connection) {
    struct connection_end *master = &connection->ends[TO_MASTER];
    ASSERT(!connection->broken);
    connection->broken = true;
    for (enum direction d = 0; d < DIRECTIONS; d++) {
        struct channel *channel = &connection->channels[d];
        const struct link_config *config = channel->link.config;
        struct rng rng = channel->link.rng;
        channel_release(channel);
        link_init(&channel->link, config, rng);
    }
    if (master->state == END_OPENING) master->state = END_CLOSED;
}

/* ---- cuts ---- */

void connection_cut(struct connection *connection, ns_t now_ns) {
    for (enum direction d = 0; d < DIRECTIONS; d++) {
        link_cut(&connection->channels[d].link, now_ns);
        connection_schedule(connection, d, now_ns);
    }
}

void connection_heal(struct connection *connection, ns_t now_ns) {
    for (enum direction d = 0; d < DIRECTIONS; d++) {
        link_heal(&connection->channels[d].link, now_ns);
        connection_pump(connection, d, now_ns);
    }
}

/* ---- arriving ---- */

/* What the kernels settle between themselves; true: the process is concerned. */
static bool connection_receive(struct connection *connection, enum direction direction,
                               const struct payload *payload, ns_t now_ns) {
    struct connection_end *end = &connection->ends[direction];
    if (end->state == END_CLOSED) return false;
    switch ((enum payload_kind)payload->kind) {
    case PAYLOAD_SYN:
        connection_signal(connection, TO_REPLICA, PAYLOAD_SYN_ACK, now_ns);
        return false;
    case PAYLOAD_SYN_ACK:
        end->state = END_OPEN;
        connection_signal(connection, TO_MASTER, PAYLOAD_CONFIRM, now_ns);
        return true;
    case PAYLOAD_CONFIRM:
        end->state = END_OPEN;
        return true;
    case PAYLOAD_MESSAGE:
    case PAYLOAD_STREAM:
    case PAYLOAD_END:
        break;
    }
    return !end->hung_up;
}

bool connection_take(struct connection *connection, enum direction direction, ns_t now_ns,
                     struct payload *payload) {
    struct channel *channel = &connection->channels[direction];
    struct segment segment;
    channel->arrival_ns = NEVER;
    while (link_deliver(&channel->link, now_ns, &segment)) {
        ASSERT(segment.end_serial == channel->first + 1);
        *payload = *channel_at(channel, channel->first++);
        if (connection_receive(connection, direction, payload, now_ns)) return true;
        payload_release(payload);
    }
    return false;
}

/* ---- the walkers ---- */

static void channel_check(const struct channel *channel) {
    uint64_t bytes = 0, sync = 0;
    link_check(&channel->link);
    ASSERT(channel->first <= channel->taken && channel->taken <= channel->end);
    ASSERT(channel->end - channel->first <= channel->capacity);
    ASSERT(channel->taken - channel->first == channel->link.segment_count);
    for (uint64_t i = channel->first; i < channel->end; i++) {
        const struct payload *payload = channel_at(channel, i);
        if (i < channel->taken)
            bytes += payload_bytes(payload);
        else
            sync += payload_is_sync(payload);
    }
    ASSERT(bytes == channel->link.in_flight_bytes && sync == channel->sync_waiting);
}

void connection_check(const struct connection *connection) {
    const struct feed *feed = &connection->feed;
    for (enum direction d = 0; d < DIRECTIONS; d++) channel_check(&connection->channels[d]);
    ASSERT(connection->table->items[connection->index] == connection);
    ASSERT(!connection_is_over(connection));
    ASSERT(feed->applied_serial <= feed->delivered_serial);
    ASSERT(feed->delivered_serial <= feed->sent_serial);
    ASSERT(!feed->started || connection->slot >= 0);
}

void connections_check(const struct connections *table) {
    for (uint32_t i = 0; i < table->count; i++)
        if (table->items[i]) connection_check(table->items[i]);
}
