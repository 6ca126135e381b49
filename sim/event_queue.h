/* event_queue: the future event set. Total order: by time, then by the sequence number of the push,
 * so two runs pop the same events in the same order whatever the heap looks like. Owns `now`.
 * Events are small and kept by value. */
#ifndef LAPSE_SIM_EVENT_QUEUE_H
#define LAPSE_SIM_EVENT_QUEUE_H

#include "base.h"

struct event {
    ns_t at_ns;
    uint64_t sequence; /* given by push */
    uint32_t kind;     /* the world's handler */
    uint32_t subject;  /* node, link, client ... */
    uint64_t argument;
};

struct event_queue {
    struct event *heap;
    uint32_t count, capacity;
    uint64_t next_sequence;
    uint64_t popped;
    ns_t now_ns;
};

void event_queue_init(struct event_queue *);
void event_queue_release(struct event_queue *);
void event_queue_push(struct event_queue *, ns_t at_ns, uint32_t kind, uint32_t subject,
                      uint64_t argument);                         /* at >= now */
bool event_queue_pop(struct event_queue *, struct event *);       /* false when empty; moves now */
const struct event *event_queue_peek(const struct event_queue *); /* NULL when empty */
void event_queue_check(const struct event_queue *);

#endif
