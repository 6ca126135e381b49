/* link: one directed first-in-first-out pipe between a master and a replica, as a TCP connection
 * behaves: in order, no loss. It takes whole commands into segments of at most 16 KiB (a longer
 * command is a segment of its own), sends one after the other at its bandwidth, and delivers each
 * after its latency and jitter, which may be drawn for each, never before the one ahead of it.
 * While it is cut nothing is sent or delivered: what was to arrive then arrives after it heals, one
 * latency later at the earliest, and the sender's socket fills up. It knows serial numbers of the
 * stream log, bytes and times; it neither reads records nor wakes anybody: the world asks when the
 * next thing happens. A connection has two, one for each direction: a server's `link` and
 * `link_up`, with delays, bandwidth and outages of their own; one alone stands for both when short
 * messages go back by link_reverse_arrival. The config is the caller's and outlives the link.
 * Limits: a link never breaks by itself; whoever holds both ends ends it (repl-timeout, a reset).
 */
#ifndef LAPSE_SIM_LINK_H
#define LAPSE_SIM_LINK_H

#include "rng.h"
#include "scenario.h"

struct segment {
    uint64_t end_serial; /* records below this, from the last segment's end */
    uint64_t bytes;
    int64_t end_offset;
    /* The sending that it is in, or will begin with: from when, for how long, and how long it
       flies. */
    ns_t begin_ns, wire_ns, delay_ns;
    ns_t sent_ns; /* its last byte leaves the sender for the last time */
    ns_t arrival_ns;
};

struct link {
    const struct link_config *config;
    struct rng rng;
    struct segment *segments; /* ring, oldest first */
    uint32_t segment_capacity, segment_first, segment_count;
    uint64_t in_flight_bytes; /* taken and not yet arrived */
    ns_t free_ns;             /* when the wire is free for the next segment */
    ns_t last_arrival_ns;
    ns_t last_reverse_ns;
    bool cut; /* by an event; scheduled outages are in config */
};

void link_init(struct link *, const struct link_config *, struct rng rng);
void link_release(struct link *);

/* Room in the sender's socket: bytes that link_send may take now. A segment is taken whole while
 * there is any room. */
uint64_t link_room_bytes(const struct link *);

/* Takes one segment at now_ns; returns when it arrives, or INT64_MAX while the link is cut by an
 * event. */
ns_t link_send(struct link *, ns_t now_ns, uint64_t end_serial, uint64_t bytes, int64_t end_offset);

/* Pops the oldest segment if it has arrived by now_ns. */
bool link_deliver(struct link *, ns_t now_ns, struct segment *);
ns_t link_next_arrival(const struct link *); /* INT64_MAX if none */

/* A cut by event, and its end: recomputes the arrival of all that is in flight. */
void link_cut(struct link *, ns_t now_ns);
void link_heal(struct link *, ns_t now_ns);
bool link_is_cut(const struct link *, ns_t now_ns); /* by an event or an outage of its config */

/* When a short message (an ACK of `bytes`) sent back now arrives: latency, jitter and outages, no
 * bandwidth. In order. INT64_MAX while the link is cut by an event: lost, and the next ACK says
 * more. One that was on its way when an event cut the link is the caller's to drop. */
ns_t link_reverse_arrival(struct link *, ns_t now_ns);
void link_check(const struct link *);

#endif
