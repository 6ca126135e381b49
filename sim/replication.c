#include "replication.h"

#include <stdio.h>

#include "world_event.h"

#define SEGMENT_BYTES_MAX (UINT64_C(16) << 10) /* link.h */
#define NEVER             INT64_MAX

void feed_init(struct feed *feed, struct node *master, struct node *replica, ns_t now_ns) {
    char label[256];
    snprintf(label, sizeof label, "links.%s", replica->config->name);
    ASSERT(master->log && !replica->log);
    *feed =
        (struct feed){.master = master, .replica = replica, .arrival_ns = NEVER, .held_ack = -1};
    link_init(&feed->link, &replica->config->link, rng_fork(master->env->root, label));
    engine_wake(master->engine, node_instant(master, now_ns));
    feed->slot = engine_replica_attach(master->engine);
    ASSERT(feed->slot >= 0);
    replica->master = master;
    feed->sent_offset = engine_stats(master->engine).master_repl_offset;
    feed->sent_serial = feed->delivered_serial = replica->applied_serial =
        stream_log_end(master->log);
}

void feed_release(struct feed *feed) { link_release(&feed->link); }

/* Keeps one SEGMENT in the queue, for the link's next arrival. */
static void feed_schedule(struct feed *feed, ns_t now_ns) {
    ns_t arrival_ns = link_next_arrival(&feed->link);
    if (arrival_ns == feed->arrival_ns) return;
    feed->arrival_ns = arrival_ns;
    feed->schedule++;
    if (arrival_ns == NEVER) return;
    if (arrival_ns < now_ns) arrival_ns = now_ns;
    event_queue_push(feed->master->env->queue, arrival_ns, WORLD_SEGMENT, feed->replica->index,
                     feed->schedule);
}

/* Whole records, up to a segment's size, at least one. */
static void feed_send_segment(struct feed *feed, ns_t now_ns) {
    const struct stream_log *log = feed->master->log;
    uint64_t bytes = 0;
    while (feed->sent_serial < feed->master->fed_serial) {
        const struct stream_record *record = stream_log_at(log, feed->sent_serial);
        if (bytes > 0 && bytes + record->resp_bytes > SEGMENT_BYTES_MAX) break;
        bytes += record->resp_bytes;
        feed->sent_offset = record->end_offset;
        feed->sent_serial++;
    }
    link_send(&feed->link, now_ns, feed->sent_serial, bytes, feed->sent_offset);
    engine_replica_written(feed->master->engine, feed->slot, feed->sent_offset);
}

void feed_pump(struct feed *feed, ns_t now_ns) {
    while (feed->sent_serial < feed->master->fed_serial && link_room_bytes(&feed->link) > 0)
        feed_send_segment(feed, now_ns);
    feed_schedule(feed, now_ns);
}

void feed_on_segment(struct feed *feed, ns_t now_ns, uint64_t schedule) {
    struct segment segment;
    bool arrived = false;
    if (schedule != feed->schedule) return;
    feed->arrival_ns = NEVER;
    while (link_deliver(&feed->link, now_ns, &segment)) {
        struct inbox_item item = {
            .arrival_ns = now_ns, .kind = INBOX_SEGMENT, .end_serial = segment.end_serial};
        ASSERT(segment.end_serial > feed->delivered_serial);
        feed->delivered_serial = segment.end_serial;
        inbox_push(&feed->replica->inbox, &item);
        arrived = true;
    }
    feed_pump(feed, now_ns);
    if (arrived) node_notice(feed->replica, now_ns);
}

static void feed_return_ack(struct feed *feed, ns_t now_ns, int64_t offset) {
    if (feed->link.cut) {
        feed->held_ack = offset;
        return;
    }
    event_queue_push(feed->master->env->queue, link_reverse_arrival(&feed->link, now_ns), WORLD_ACK,
                     feed->replica->index, (uint64_t)offset);
}

void feed_acknowledge(struct feed *feed, ns_t now_ns) {
    struct node *replica = feed->replica;
    if (replica->ack_offset < 0) return;
    feed_return_ack(feed, now_ns, replica->ack_offset);
    replica->ack_offset = -1;
}

/* One that was under way when the link was cut waits as if it had been sent now. */
void feed_on_ack(struct feed *feed, ns_t now_ns, int64_t offset) {
    if (feed->link.cut) {
        if (offset > feed->held_ack) feed->held_ack = offset;
        return;
    }
    struct inbox_item item = {.arrival_ns = now_ns,
                              .kind = INBOX_ACK,
                              .engine_client = (uint32_t)feed->slot,
                              .offset = offset};
    inbox_push(&feed->master->inbox, &item);
    node_notice(feed->master, now_ns);
}

void feed_cut(struct feed *feed, ns_t now_ns) {
    link_cut(&feed->link, now_ns);
    feed_schedule(feed, now_ns);
}

void feed_heal(struct feed *feed, ns_t now_ns) {
    link_heal(&feed->link, now_ns);
    feed_pump(feed, now_ns);
    if (feed->held_ack < 0) return;
    feed_return_ack(feed, now_ns, feed->held_ack);
    feed->held_ack = -1;
}

/* The oldest record that is fed and not applied. One that a turn in progress has made will leave
 * later than now. */
static ns_t feed_oldest_ns(const struct feed *feed, ns_t now_ns) {
    const struct stream_log *log = feed->master->log;
    uint64_t serial = feed->replica->applied_serial;
    if (serial == stream_log_end(log)) return now_ns;
    ns_t fed_ns = stream_log_at(log, serial)->fed_ns;
    return fed_ns < now_ns ? fed_ns : now_ns;
}

void feed_measure(const struct feed *feed, ns_t now_ns, struct trace_row *row) {
    int64_t offset = engine_stats(feed->master->engine).master_repl_offset;
    row->lag_bytes = offset - row->repl_offset;
    row->lag_ms = (now_ns - feed_oldest_ns(feed, now_ns)) / NS_PER_MS;
    row->link_queue_bytes = (int64_t)feed->link.in_flight_bytes + offset - feed->sent_offset;
}

bool feed_is_drained(const struct feed *feed) {
    return !feed->replica->in_turn &&
           feed->replica->applied_serial == stream_log_end(feed->master->log);
}

void feed_check(const struct feed *feed) {
    link_check(&feed->link);
    ASSERT(feed->replica->applied_serial <= feed->delivered_serial);
    ASSERT(feed->delivered_serial <= feed->sent_serial);
    ASSERT(feed->sent_serial <= feed->master->fed_serial);
    ASSERT(feed->master->fed_serial <= stream_log_end(feed->master->log));
    ASSERT(stream_log_begin(feed->master->log) <= feed->replica->applied_serial);
    ASSERT(feed->sent_offset <= engine_stats(feed->master->engine).master_repl_offset);
}
