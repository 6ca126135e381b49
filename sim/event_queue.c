/* A 4-ary heap over an array of events by value: children of i are 4i+1 .. 4i+4. Four children fit
 * two cache lines, and the tree is half as deep as a binary one; the order of pops is fixed by
 * (at_ns, sequence) alone, so the arity can change without changing a run. */
#include "event_queue.h"

#include <stdlib.h>
#include <string.h>

enum { ARITY = 4, CAPACITY_INITIAL = 64 };

static bool event_before(const struct event *a, const struct event *b) {
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
}

void event_queue_init(struct event_queue *queue) { memset(queue, 0, sizeof *queue); }

void event_queue_release(struct event_queue *queue) {
    free(queue->heap);
    event_queue_init(queue);
}

static void event_queue_grow(struct event_queue *queue) {
    ASSERT(queue->capacity <= UINT32_MAX / 2);
    queue->capacity = queue->capacity ? queue->capacity * 2 : CAPACITY_INITIAL;
    queue->heap = realloc(queue->heap, queue->capacity * sizeof *queue->heap);
    ASSERT(queue->heap != NULL);
}

/* Moves the hole at `at` up until the event fits in. */
static void event_queue_sift_up(struct event_queue *queue, uint32_t at, const struct event *event) {
    while (at > 0) {
        uint32_t parent = (at - 1) / ARITY;
        if (!event_before(event, &queue->heap[parent])) break;
        queue->heap[at] = queue->heap[parent];
        at = parent;
    }
    queue->heap[at] = *event;
}

static uint64_t event_queue_least_child(const struct event_queue *queue, uint64_t first) {
    uint64_t end = first + ARITY < queue->count ? first + ARITY : queue->count;
    uint64_t least = first;
    for (uint64_t child = first + 1; child < end; child++)
        if (event_before(&queue->heap[child], &queue->heap[least])) least = child;
    return least;
}

/* Moves the hole at the root down until the event fits in. */
static void event_queue_sift_down(struct event_queue *queue, const struct event *event) {
    uint64_t at = 0;
    for (uint64_t first = 1; first < queue->count; first = at * ARITY + 1) {
        uint64_t least = event_queue_least_child(queue, first);
        if (!event_before(&queue->heap[least], event)) break;
        queue->heap[at] = queue->heap[least];
        at = least;
    }
    queue->heap[at] = *event;
}

void event_queue_push(struct event_queue *queue, ns_t at_ns, uint32_t kind, uint32_t subject,
                      uint64_t argument) {
    ASSERT(at_ns >= queue->now_ns);
    if (queue->count == queue->capacity) event_queue_grow(queue);
    struct event event = {.at_ns = at_ns,
                          .sequence = queue->next_sequence++,
                          .kind = kind,
                          .subject = subject,
                          .argument = argument};
    event_queue_sift_up(queue, queue->count++, &event);
}

bool event_queue_pop(struct event_queue *queue, struct event *event) {
    if (queue->count == 0) return false;
    *event = queue->heap[0];
    ASSERT(event->at_ns >= queue->now_ns);
    queue->now_ns = event->at_ns;
    queue->popped++;
    struct event last = queue->heap[--queue->count];
    if (queue->count > 0) event_queue_sift_down(queue, &last);
    return true;
}

const struct event *event_queue_peek(const struct event_queue *queue) {
    return queue->count ? &queue->heap[0] : NULL;
}

void event_queue_check(const struct event_queue *queue) {
    ASSERT(queue->count <= queue->capacity);
    ASSERT(queue->next_sequence == queue->popped + queue->count);
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct event *event = &queue->heap[i];
        ASSERT(event->at_ns >= queue->now_ns);
        ASSERT(event->sequence < queue->next_sequence);
        if (i > 0) ASSERT(event_before(&queue->heap[(i - 1) / ARITY], event));
    }
}
