/* How a segment travels. It is a train of bytes that takes wire_ns to send and delay_ns to fly. An
 * outage that begins while any of it is on the wire loses what would not have arrived by then; the
 * rest of the train is sent (again) when the outage ends. Example: 10 ms of bytes, 2 ms of flight,
 * sent from 0, an outage over [7, 20): what left before 5 has arrived (a byte that would land at 7
 * has not), the other 5 ms of bytes are sent from 20 and the last one arrives at 27. The next
 * segment starts when the one ahead is sent for good: it cannot be delivered earlier anyway, so
 * that it flew before and was lost, too, makes no difference that could be seen. */
#include "link.h"

#include <stdlib.h>
#include <string.h>

#define NEVER INT64_MAX

enum { SEGMENTS_INITIAL = 16 };

__extension__ typedef unsigned __int128 u128;

static ns_t later(ns_t a, ns_t b) { return a > b ? a : b; }

/* Times beyond the end of int64 are never. */
static ns_t ns_after(ns_t at, ns_t duration) {
    return duration > NEVER - at ? NEVER : at + duration;
}

static ns_t outage_end(const struct outage *outage) {
    return ns_after(outage->at_ns, outage->for_ns);
}

static struct segment *segment_at(const struct link *link, uint32_t index) {
    return &link->segments[(link->segment_first + index) & (link->segment_capacity - 1)];
}

void link_init(struct link *link, const struct link_config *config, struct rng rng) {
    memset(link, 0, sizeof *link);
    link->config = config;
    link->rng = rng;
}

void link_release(struct link *link) {
    free(link->segments);
    link->segments = NULL;
    link->segment_capacity = link->segment_first = link->segment_count = 0;
    link->in_flight_bytes = 0;
}

/* ---- outages ---- */

/* The first outage of the config that ends after this time, or the count. */
static uint32_t link_outage_after(const struct link *link, ns_t at) {
    uint32_t low = 0, high = link->config->outage_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (outage_end(&link->config->outages[middle]) > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool link_is_cut(const struct link *link, ns_t now_ns) {
    uint32_t i = link_outage_after(link, now_ns);
    return link->cut ||
           (i < link->config->outage_count && link->config->outages[i].at_ns <= now_ns);
}

/* An outage over [at, until): the train goes on at `until` with what would have landed at `at` or
 * later. That is never nothing: its last byte was on its way. */
static void segment_interrupt(struct segment *segment, ns_t at, ns_t until) {
    if (at > segment->begin_ns) {
        ns_t landed = at - segment->begin_ns - segment->delay_ns - 1;
        if (landed > 0) segment->wire_ns -= landed < segment->wire_ns ? landed : segment->wire_ns;
    }
    segment->begin_ns = later(segment->begin_ns, until);
}

/* When the last byte arrives if nothing comes between. */
static ns_t segment_landing(const struct segment *segment) {
    return ns_after(ns_after(segment->begin_ns, segment->wire_ns), segment->delay_ns);
}

/* Takes the segment through the outages that begin before `limit`, up to its last sending. */
static void link_pass_outages(const struct link *link, struct segment *segment, ns_t limit) {
    uint32_t i = link_outage_after(link, segment->begin_ns);
    for (; i < link->config->outage_count; i++) {
        const struct outage *outage = &link->config->outages[i];
        if (outage->at_ns >= limit || outage->at_ns > segment_landing(segment)) break;
        segment_interrupt(segment, outage->at_ns, outage_end(outage));
    }
}

/* ---- sending ---- */

static ns_t link_draw_jitter(struct link *link) {
    const struct link_config *config = link->config;
    if (config->jitter.kind != DISTRIBUTION_NONE)
        return distribution_draw(&config->jitter, &link->rng);
    if (config->jitter_ns == 0) return 0;
    return (ns_t)rng_below(&link->rng, (uint64_t)config->jitter_ns + 1);
}

static ns_t link_draw_delay(struct link *link) {
    const struct link_config *config = link->config;
    ns_t latency = config->latency_ns;
    if (config->latency.kind != DISTRIBUTION_NONE)
        latency = distribution_draw(&config->latency, &link->rng);
    return latency + link_draw_jitter(link);
}

/* bytes * 8 / bandwidth, rounded up: a link is never faster than its bandwidth. */
static ns_t link_wire_ns(const struct link *link, uint64_t bytes) {
    uint64_t bandwidth = link->config->bandwidth_bits_per_s;
    if (bandwidth == 0) return 0;
    u128 wire = ((u128)bytes * 8 * (u128)NS_PER_S + bandwidth - 1) / bandwidth;
    return wire > (u128)NEVER ? NEVER : (ns_t)wire;
}

/* Fixes when the segment, which is next to use the wire, is sent and arrives. What is still to
 * come is worked out on a copy: a cut by an event may overtake it. */
static void link_schedule(struct link *link, struct segment *segment, ns_t from_ns) {
    segment->begin_ns = later(from_ns, link->free_ns);
    struct segment last = *segment;
    link_pass_outages(link, &last, NEVER);
    segment->sent_ns = ns_after(last.begin_ns, last.wire_ns);
    segment->arrival_ns = later(segment_landing(&last), link->last_arrival_ns);
    link->free_ns = segment->sent_ns;
    link->last_arrival_ns = segment->arrival_ns;
}

static void link_grow(struct link *link) {
    struct link old = *link;
    link->segment_capacity = old.segment_capacity ? old.segment_capacity * 2 : SEGMENTS_INITIAL;
    link->segments = calloc(link->segment_capacity, sizeof *link->segments);
    ASSERT(link->segments != NULL);
    link->segment_first = 0;
    for (uint32_t i = 0; i < old.segment_count; i++) *segment_at(link, i) = *segment_at(&old, i);
    free(old.segments);
}

uint64_t link_room_bytes(const struct link *link) {
    uint64_t size = link->config->socket_buffer_bytes;
    return link->in_flight_bytes < size ? size - link->in_flight_bytes : 0;
}

ns_t link_send(struct link *link, ns_t now_ns, uint64_t end_serial, uint64_t bytes,
               int64_t end_offset) {
    if (link->segment_count == link->segment_capacity) link_grow(link);
    struct segment *segment = segment_at(link, link->segment_count++);
    *segment = (struct segment){.end_serial = end_serial,
                                .bytes = bytes,
                                .end_offset = end_offset,
                                .begin_ns = now_ns,
                                .wire_ns = link_wire_ns(link, bytes),
                                .delay_ns = link_draw_delay(link)};
    link->in_flight_bytes += bytes;
    if (link->cut)
        segment->sent_ns = segment->arrival_ns = NEVER;
    else
        link_schedule(link, segment, now_ns);
    return segment->arrival_ns;
}

/* ---- arriving ---- */

ns_t link_next_arrival(const struct link *link) {
    return link->segment_count ? segment_at(link, 0)->arrival_ns : NEVER;
}

bool link_deliver(struct link *link, ns_t now_ns, struct segment *segment) {
    ns_t arrival = link_next_arrival(link);
    if (arrival == NEVER || arrival > now_ns) return false;
    *segment = *segment_at(link, 0);
    link->segment_first = (link->segment_first + 1) & (link->segment_capacity - 1);
    link->segment_count--;
    link->in_flight_bytes -= segment->bytes;
    return true;
}

/* ---- cut by an event ---- */

/* What has arrived stays so. Of the first segment that has not, what has landed stays so too; all
 * else is sent when the link heals. */
void link_cut(struct link *link, ns_t now_ns) {
    if (link->cut) return;
    link->cut = true;
    bool first = true;
    for (uint32_t i = 0; i < link->segment_count; i++) {
        struct segment *segment = segment_at(link, i);
        if (segment->arrival_ns < now_ns) continue;
        if (first) link_pass_outages(link, segment, now_ns);
        if (first) segment_interrupt(segment, now_ns, now_ns);
        first = false;
        segment->sent_ns = segment->arrival_ns = NEVER;
    }
    if (link->last_arrival_ns > now_ns) link->last_arrival_ns = now_ns;
}

void link_heal(struct link *link, ns_t now_ns) {
    if (!link->cut) return;
    link->cut = false;
    link->free_ns = now_ns;
    for (uint32_t i = 0; i < link->segment_count; i++) {
        struct segment *segment = segment_at(link, i);
        if (segment->arrival_ns == NEVER) link_schedule(link, segment, now_ns);
    }
}

/* ---- the way back ---- */

ns_t link_reverse_arrival(struct link *link, ns_t now_ns) {
    struct segment message = {.begin_ns = now_ns, .delay_ns = link_draw_delay(link)};
    if (link->cut) return NEVER;
    link_pass_outages(link, &message, NEVER);
    link->last_reverse_ns = later(segment_landing(&message), link->last_reverse_ns);
    return link->last_reverse_ns;
}

/* ---- the walker ---- */

static void segment_check(const struct link *link, const struct segment *segment) {
    ASSERT(segment->begin_ns >= 0 && segment->wire_ns >= 0 && segment->delay_ns >= 0);
    ASSERT(segment->sent_ns <= segment->arrival_ns);
    if (segment->arrival_ns == NEVER) return;
    ASSERT(segment->arrival_ns <= link->last_arrival_ns);
    ASSERT(segment->sent_ns <= link->free_ns);
    uint32_t i = link_outage_after(link, segment->arrival_ns);
    ASSERT(i == link->config->outage_count || link->config->outages[i].at_ns > segment->arrival_ns);
}

void link_check(const struct link *link) {
    ASSERT(link->segment_count <= link->segment_capacity);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < link->segment_count; i++) {
        const struct segment *segment = segment_at(link, i);
        segment_check(link, segment);
        bytes += segment->bytes;
        if (i == 0) continue;
        ASSERT(segment_at(link, i - 1)->end_serial <= segment->end_serial);
        ASSERT(segment_at(link, i - 1)->end_offset <= segment->end_offset);
        ASSERT(segment_at(link, i - 1)->sent_ns <= segment->sent_ns);
        ASSERT(segment_at(link, i - 1)->arrival_ns <= segment->arrival_ns);
    }
    ASSERT(bytes == link->in_flight_bytes);
}
