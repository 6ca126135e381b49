/* replication: the way of a master's stream to one replica. Records leave the engine when their
 * turn ends, wait in the master's log until the link has room, travel in segments of whole records,
 * and are forgotten when every replica has applied them. ACKs travel back; one that meets a cut
 * waits for its end. Invariant: applied <= delivered <= sent <= fed, as serial numbers of the
 * log. */
#ifndef LAPSE_SIM_REPLICATION_H
#define LAPSE_SIM_REPLICATION_H

#include "link.h"
#include "node.h"

struct feed {
    struct node *master, *replica;
    struct link link;
    int slot; /* at the master */
    uint64_t sent_serial, delivered_serial;
    int64_t sent_offset;
    ns_t arrival_ns;   /* for which a SEGMENT is under way; INT64_MAX: none */
    uint64_t schedule; /* counts those: an older one is void */
    int64_t held_ack;  /* of a replica behind a cut; -1: none */
};

/* Attaches a replica in sync at the present offset. The feed does not move afterwards. */
void feed_init(struct feed *, struct node *master, struct node *replica, ns_t now_ns);
void feed_release(struct feed *);

/* Sends what the link has room for. */
void feed_pump(struct feed *, ns_t now_ns);

/* Sends the replica's acknowledgement, if its turn made one. */
void feed_acknowledge(struct feed *, ns_t now_ns);

void feed_on_segment(struct feed *, ns_t now_ns, uint64_t schedule);
void feed_on_ack(struct feed *, ns_t now_ns, int64_t offset);
void feed_cut(struct feed *, ns_t now_ns);
void feed_heal(struct feed *, ns_t now_ns);

/* Fills in a replica's lag. */
void feed_measure(const struct feed *, ns_t now_ns, struct trace_row *);

/* Has the replica applied all that its master fed? */
bool feed_is_drained(const struct feed *);
void feed_check(const struct feed *);

#endif
