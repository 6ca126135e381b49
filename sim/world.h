/* world: owns the run: nodes, links, clients, the event queue and the loop. It is handed a scenario
 * and says what happened through three callbacks; it opens no file. Same scenario and seed: the
 * same callbacks in the same order. */
#ifndef LAPSE_SIM_WORLD_H
#define LAPSE_SIM_WORLD_H

#include "histogram.h"
#include "scenario.h"
#include "stream_log.h"
#include "trace.h"

struct world;

struct world_output {
    void *context;
    /* A finished row; false stops the run (the disk is full). */
    bool (*row)(void *context, const struct trace_row *);
    /* One command of a master's stream, if not NULL. server: index. */
    bool (*stream)(void *context, uint32_t server, ns_t at_ns, const struct stream_command *);
    /* The reply to a timed event's command, if not NULL. RESP text. */
    bool (*event_reply)(void *context, uint32_t event, ns_t at_ns, const char *resp, size_t length);
    /* Asked every few thousand events, sooner where they are heavy: true stops the run at once
     * (Ctrl-C). For progress: now of duration. May be NULL. */
    bool (*interrupted)(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events);
    /* The same while the world is created: done of all keys that are there before the run. */
    bool (*loading)(void *context, uint64_t done, uint64_t all);
};

/* NULL with a message when a population's file cannot be read; with an empty one when loading() has
 * stopped it. */
struct world *world_create(const struct scenario *, const struct world_output *,
                           struct scenario_error *);

enum world_end { WORLD_DONE, WORLD_INTERRUPTED, WORLD_OUTPUT_FAILED };

/* Runs to the end of the scenario's duration, then writes a last row for each server. */
enum world_end world_run(struct world *);
void world_destroy(struct world *);

/* For summaries, tests and benchmarks; server is an index. */
struct engine *world_engine(struct world *, uint32_t server);
const struct histogram *world_request_us(const struct world *, uint32_t server);
const struct histogram *world_expiry_lag_ms(const struct world *, uint32_t server);
/* Latencies of one client as it sees its requests; index in the scenario. */
const struct histogram *world_client_us(const struct world *, uint32_t client);
uint64_t world_event_count(const struct world *);
ns_t world_now_ns(const struct world *);
struct names *world_names(struct world *);
/* Notes of the run for the user (rows of a CSV that were refused, deadlines before the start); NULL
 * past the last. */
const char *world_note(const struct world *, size_t index);

/* Lets links drain: runs on without clients, events and expiry (DEBUG SET-ACTIVE-EXPIRE 0
 * everywhere) until every replica has applied its master's offset, at most `limit_ns` more. True if
 * so. For the test that a replica equals its master. */
bool world_drain(struct world *, ns_t limit_ns);

/* The walker over everything: engines, queue, links, census; and that a census equals its engine's
 * expires. */
void world_check(struct world *);

#endif
