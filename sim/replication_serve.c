/* What other servers have sent, in the turn that reads it. */
#include "heap.h"
#include "replication.h"

/* Records of the stream: far enough on that memory answers in time, near enough that it is not
 * thrown out again. */
#define HINT_FAR  8
#define HINT_NEAR 4

static enum direction own_end(const struct node *node, const struct connection *connection) {
    return connection->ends[TO_REPLICA].node == node ? TO_REPLICA : TO_MASTER;
}

static int peer_of(const struct node *node, const struct connection *connection) {
    return own_end(node, connection) == TO_REPLICA ? PEER_MASTER : connection->slot;
}

/* The key of a record a little further on in what has arrived. */
static void hint_record(const struct node *node, const struct stream_log *log, uint64_t serial,
                        uint64_t end_serial, void (*hint)(const struct engine *, uint8_t, key_id)) {
    if (serial >= end_serial) return;
    struct stream_command command = stream_log_command(log, serial);
    if (command.request.argc < 2 || command.request.argv[1].kind != ARG_KEY) return;
    hint(node->engine, command.db, command.request.argv[1].id);
}

/* The keys of a segment are known before their turn comes, and wait for memory together. */
static void serve_segment(struct node *node, struct connection *connection, uint64_t end_serial) {
    const struct stream_log *log = connection->ends[TO_MASTER].node->log;
    uint64_t *applied = &connection->feed.applied_serial;
    ASSERT(*applied < end_serial && end_serial <= connection->feed.delivered_serial);
    for (; *applied < end_serial; ++*applied) {
        struct stream_command command = stream_log_command(log, *applied);
        hint_record(node, log, *applied + HINT_FAR, end_serial, engine_prefetch);
        hint_record(node, log, *applied + HINT_NEAR, end_serial, engine_prefetch_place);
        engine_receive(node->engine, &command);
    }
}

static void serve_accept(struct node *node, struct connection *connection, ns_t now_ns) {
    int slot = engine_accept(node->engine);
    connection->slot = slot;
    if (slot >= 0)
        node->slots[slot] = connection;
    else
        connection_close(connection, TO_MASTER, now_ns);
}

static void serve_closed(struct node *node, struct connection *connection, ns_t now_ns) {
    enum direction end = own_end(node, connection);
    connection_close(connection, end, now_ns);
    if (end == TO_REPLICA)
        node->upstream = NULL;
    else
        node->slots[connection->slot] = NULL;
    engine_closed(node->engine, end == TO_REPLICA ? PEER_MASTER : connection->slot);
}

static void serve_peer(struct node *node, const struct inbox_item *item, ns_t now_ns) {
    struct connection *connection = item->peer;
    switch ((enum inbox_kind)item->kind) {
    case INBOX_CONNECTED:
        engine_connected(node->engine);
        break;
    case INBOX_ACCEPT:
        serve_accept(node, connection, now_ns);
        break;
    case INBOX_MESSAGE:
        engine_message(node->engine, peer_of(node, connection), item->message);
        break;
    case INBOX_SEGMENT:
        serve_segment(node, connection, item->end_serial);
        break;
    case INBOX_CLOSED:
        serve_closed(node, connection, now_ns);
        break;
    case INBOX_REQUEST:
    case INBOX_PIPE:
        ASSERT(false); /* no connection's */
        break;
    }
}

static void serve_pipe(struct node *node, const struct inbox_item *item, ns_t now_ns) {
    struct child *child = &node->child;
    if (!child->snapshot || item->child != child->number) return;
    uint64_t bytes = child_portion_bytes(child);
    bool last = child_read(child, now_ns);
    engine_pipe(node->engine, bytes, last);
}

void replication_serve(struct node *node, struct inbox_item *item, ns_t now_ns) {
    if (item->kind == INBOX_PIPE) {
        serve_pipe(node, item, now_ns);
        return;
    }
    if (!item->peer->ends[own_end(node, item->peer)].hung_up)
        serve_peer(node, item, now_ns);
    else if (item->kind == INBOX_MESSAGE)
        message_release(item->message);
    if (item->kind == INBOX_MESSAGE) free(item->message);
    connection_drop(item->peer);
}
