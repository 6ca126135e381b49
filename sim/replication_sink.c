#include "heap.h"
#include "replication.h"

/* What an engine says to others during a turn. Connections are looked up at once: within one turn
 * the same peer may be hung up and dialled anew. */

static struct connection *peer_connection(const struct node *node, int peer) {
    return peer == PEER_MASTER ? node->upstream : node->slots[peer];
}

/* The end of that connection at which the server itself sits. */
static enum direction own_end(int peer) { return peer == PEER_MASTER ? TO_REPLICA : TO_MASTER; }

static struct outgoing *note(struct node *node, enum outgoing_kind kind, int peer,
                             struct connection *connection) {
    node->outgoing = heap_grow(node->outgoing, &node->outgoing_capacity, node->outgoing_count,
                               sizeof *node->outgoing);
    struct outgoing *out = &node->outgoing[node->outgoing_count++];
    *out = (struct outgoing){
        .kind = (uint8_t)kind, .own_end = (uint8_t)own_end(peer), .connection = connection};
    connection_hold(connection);
    return out;
}

static void take_dial(void *context, int master) {
    struct node *node = context;
    ASSERT(!node->upstream);
    if (master == (int)node->index) return;
    node->upstream = replication_dial(node, &node->env->nodes[master]);
    note(node, OUT_DIAL, PEER_MASTER, node->upstream);
}

/* From here on the records behind that offset are promised. */
static void keep_stream(struct node *node, struct feed *feed, int64_t offset) {
    feed->sent_serial = stream_log_find(node->log, offset);
    feed->delivered_serial = feed->applied_serial = feed->sent_serial;
    feed->sent_offset = offset;
    feed->kept = true;
}

static void take_send(void *context, int peer, const struct repl_message *message) {
    struct node *node = context;
    struct connection *connection = peer_connection(node, peer);
    if (!connection) {
        message_release(message);
        return;
    }
    if (message->kind == REPL_FULLRESYNC) {
        keep_stream(node, &connection->feed, message->offset);
        connection->syncs = true;
    }
    if (message->kind == REPL_RDB && message->last) connection->syncs = false;
    note(node, OUT_SEND, peer, connection)->message = *message;
}

static void take_stream_from(void *context, int peer, int64_t offset) {
    struct node *node = context;
    struct connection *connection = peer_connection(node, peer);
    if (!connection) return;
    keep_stream(node, &connection->feed, offset);
    note(node, OUT_STREAM, peer, connection);
}

static void take_hang_up(void *context, int peer) {
    struct node *node = context;
    struct connection *connection = peer_connection(node, peer);
    if (!connection) return;
    connection->ends[own_end(peer)].hung_up = true;
    note(node, OUT_HANG_UP, peer, connection);
    if (peer == PEER_MASTER)
        node->upstream = NULL;
    else
        node->slots[peer] = NULL;
}

static void take_forked(void *context, struct snapshot *snapshot) {
    struct node *node = context;
    child_fork(&node->child, snapshot, node->config->prices);
}

static void take_child_killed(void *context) {
    struct node *node = context;
    child_end(&node->child);
}

static void take_history(void *context, int64_t offset) {
    struct node *node = context;
    (void)offset;
    stream_log_begin_history(node->log);
}

/* Engines here have numbers: what a replica acknowledges is a message. */
static void take_acknowledge(void *context, int64_t offset) { (void)context, (void)offset; }

void replication_fill_sink(struct sink *sink) {
    sink->acknowledge = take_acknowledge;
    sink->dial = take_dial;
    sink->send = take_send;
    sink->stream_from = take_stream_from;
    sink->hang_up = take_hang_up;
    sink->forked = take_forked;
    sink->child_killed = take_child_killed;
    sink->history_began = take_history;
}
