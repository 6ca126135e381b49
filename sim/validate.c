/* One live run, and the simulation of the same. */
#include "validate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "world.h"

#define TRIES         5
#define LEAD_MS       1500 /* before the start, and more by what loading takes */
#define LEAD_NS_KEY   4000
#define LEAD_NS_KIB   1500
#define REPLICA_LEAD  4       /* a replica has to be given all of it, too */
#define SAMPLES_EXACT 3600000 /* requests in 1,000 h of one a second */

bool validate_fail(struct validation *v, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(v->message, sizeof(v->message), format, list);
    va_end(list);
    return false;
}

void played_add(struct played *p, const struct sample *sample) {
    p->samples = heap_grow(p->samples, &p->capacity, p->count, sizeof(*p->samples));
    p->samples[p->count++] = *sample;
}

void played_release(struct played *p) {
    free(p->samples);
    p->samples = NULL;
}

/* ---- what can be played ---------------------------------------------------------------------- */

static bool refuse_events(struct validation *v) {
    for (uint32_t i = 0; i < v->scenario->event_count; i++) {
        const struct event_config *event = &v->scenario->events[i];
        if (event->kind != EVENT_COMMAND)
            return validate_fail(v, "links cannot be cut nor clocks moved on a real server");
        if (event->server != 0 || event->db != 0)
            return validate_fail(v, "event '%s' is not for database 0 of the master", event->text);
    }
    return true;
}

static bool refuse_parts(struct validation *v) {
    const struct scenario *s = v->scenario;
    uint32_t replicas = 0;
    for (uint32_t i = 0; i < s->server_count; i++) {
        if (i > 0 && s->servers[i].master < 0)
            return validate_fail(v, "'%s' is a second master; expected one", s->servers[i].name);
        if (s->servers[i].master > 0)
            return validate_fail(v, "'%s' replicates a replica; expected the master",
                                 s->servers[i].name);
        replicas += s->servers[i].master >= 0;
    }
    if (s->failover.present)
        return validate_fail(v, "a failover cannot be played on a real server");
    if (s->servers[0].master >= 0)
        return validate_fail(v, "'%s' is a replica; expected a master first", s->servers[0].name);
    if (replicas > VALIDATE_REPLICAS_MAX)
        return validate_fail(v, "%" PRIu32 " replicas; expected at most %d", replicas,
                             VALIDATE_REPLICAS_MAX);
    if (replicas && !v->order.start)
        return validate_fail(v,
                             "the scenario has a replica, which --start brings; --server cannot");
    for (uint32_t i = 0; i < s->population_count; i++)
        if (!s->populations[i].preloaded)
            return validate_fail(v, "population '%s' is written during the run; expected preloaded",
                                 s->populations[i].name);
    for (uint32_t i = 0; i < s->client_count; i++)
        if (s->clients[i].server != 0)
            return validate_fail(v, "client '%s' is not for the master", s->clients[i].name);
    return refuse_events(v);
}

/* The same INFO in both worlds; it wakes the real server, and so must wake the simulated one. */
static void add_sampler(struct validation *v) {
    struct scenario *s = v->scenario;
    char message[128];
    s->clients = heap_resize(s->clients, s->client_count + 1, sizeof *s->clients);
    struct client_config *sampler = &s->clients[s->client_count++];
    *sampler = (struct client_config){.name = heap_text("validate-sampler", 16),
                                      .connections = 1,
                                      .rate_per_1000_h = v->samples_per_s * SAMPLES_EXACT,
                                      .mix = heap_zero(1, sizeof(struct mix_config)),
                                      .mix_count = 1,
                                      .mix_weight = 1,
                                      .population = -1,
                                      .until_ns = s->duration_ns};
    bool parsed = template_parse(s->texts, "INFO", sampler->mix, message, sizeof message);
    ASSERT(parsed);
    sampler->mix->weight = 1;
    s->trace_interval_ns = NS_PER_S / v->samples_per_s;
}

bool validate_prepare(struct validation *v) {
    if (!refuse_parts(v)) return false;
    add_sampler(v);
    return true;
}

/* ---- one live run ---------------------------------------------------------------------------- */

static bool set_directives(struct validation *v) {
    const struct engine_config *config = &v->scenario->servers[0].engine;
    bool fine = true;
#define BOOL(name, value)  fine = fine && live_set(&v->live, name, (value) ? "yes" : "no")
#define INT(name, value)   fine = fine && live_set_number(&v->live, name, value)
#define BYTES(name, value) INT(name, value)
#define X(field, directive, kind, initial)                                                         \
    if (strcmp(directive, "databases") != 0 &&                                                     \
        (strcmp(directive, "active-expire-effort") != 0 || v->live.generation->expire.has_effort)) \
        kind(directive, config->field);
    DIRECTIVE_LIST(X)
#undef X
#undef BOOL
#undef INT
#undef BYTES
    return fine || validate_fail(v, "%s", v->live.message);
}

static bool open_server(struct validation *v) {
    const struct generation *generation = v->scenario->servers[0].generation;
    if (!live_open(&v->live, &v->order)) return validate_fail(v, "%s", v->live.message);
    if (v->live.generation != generation)
        return validate_fail(v, "the scenario runs %s, %s:%d is %s", generation->name, v->live.host,
                             v->live.port, v->live.version);
    return set_directives(v);
}

/* Memory the first time alone: later, tables of keys that were cleared may be in it. */
static bool take_base(struct validation *v) {
    redisReply *reply = live_info(&v->live);
    if (!reply) return validate_fail(v, "%s", v->live.message);
    if (!v->base_bytes) v->base_bytes = live_field_number(reply->str, "used_memory", 0);
    v->base_expired = live_field_number(reply->str, "expired_keys", 0);
    v->base_caps = live_field_number(reply->str, "expired_time_cap_reached_count", 0);
    freeReplyObject(reply);
    return true;
}

/* A first guess of how long before the start the loading must begin. */
static ms_t lead_ms(const struct validation *v) {
    ns_t ns = 0;
    for (uint32_t i = 0; i < v->scenario->population_count; i++) {
        const struct population *p = &v->populations[i];
        int64_t kib = p->rows ? 1 : p->config->value_bytes.low / 1024;
        ns += p->count * (LEAD_NS_KEY + LEAD_NS_KIB * kib);
    }
    if (v->scenario->server_count > 1) ns = ns * REPLICA_LEAD + 2 * NS_PER_S;
    return LEAD_MS + ns / NS_PER_MS;
}

static void close_replicas(struct validation *v) {
    for (int i = 0; i < VALIDATE_REPLICAS_MAX; i++) {
        live_close(&v->replicas[i]);
        v->replicas[i] = (struct live){0};
    }
}

/* A server of ours is started anew: one that has had a replica keeps a backlog, into which the next
 * try would write. */
static bool start_over(struct validation *v) {
    if (!v->live.pid) return validate_clear(v) || validate_fail(v, "%s", v->live.message);
    live_close(&v->live);
    v->live = (struct live){0};
    return open_server(v);
}

/* The draws of populations begin anew each time. */
static bool load_and_play(struct validation *v, struct played *out) {
    ms_t lead = 0;
    for (int i = 0; i < TRIES; i++, lead *= 2) {
        bool late = false;
        validate_names_release(v);
        if (!validate_names(v)) return false;
        if (lead == 0) lead = lead_ms(v);
        struct play *play = play_create(v);
        us_t start_wall_us = (live_wall_ms() + lead) * US_PER_MS;
        bool fine = play && take_base(v) && validate_load(v, start_wall_us, &late);
        ns_t cpu_ns = v->live.pid ? live_cpu_ns(&v->live) : -1, wait_ns = live_wait_ns(&v->live);
        if (fine && !late) fine = play_run(play, start_wall_us, out);
        if (cpu_ns >= 0) out->cpu_ns = live_cpu_ns(&v->live) - cpu_ns;
        if (wait_ns >= 0) out->wait_ns = live_wait_ns(&v->live) - wait_ns;
        play_destroy(play);
        if (!fine || !late) return fine;
        close_replicas(v);
        if (!start_over(v)) return false;
    }
    return validate_fail(v, "loading the keys takes longer each time");
}

bool validate_live(struct validation *v, struct played *out) {
    bool fine = open_server(v) && load_and_play(v, out);
    close_replicas(v);
    if (!v->live.pid && v->names && !validate_clear(v))
        fine = validate_fail(v, "%s; our keys are still there", v->live.message);
    live_close(&v->live);
    validate_names_release(v);
    return fine;
}

void validate_contend(struct validation *v, uint64_t wait_per_mille) {
    struct scenario *s = v->scenario;
    v->contended = heap_zero(s->server_count, sizeof *v->contended);
    for (uint32_t i = 0; i < s->server_count; i++) {
        v->contended[i] = *s->servers[i].prices;
        for (int op = 0; op < COST_COUNT; op++)
            v->contended[i].ps[op] += v->contended[i].ps[op] * wait_per_mille / 1000;
        s->servers[i].prices = &v->contended[i];
    }
}

/* ---- the simulation -------------------------------------------------------------------------- */

struct simulating {
    struct validation *v;
    struct played *out;
    FILE *trace;
};

static bool on_row(void *context, const struct trace_row *row) {
    struct simulating *s = context;
    if (strcmp(row->server, s->v->scenario->servers[0].name) == 0) {
        struct sample sample = {.at_ns = row->at_ns,
                                .keys = row->keys,
                                .expires = row->expires,
                                .expired = row->expired_total,
                                .estimate_milli = row->stale_percent_estimate,
                                .caps = row->time_cap_hits,
                                .used_memory = row->used_memory_bytes};
        if (row->at_ns < s->v->scenario->duration_ns) played_add(s->out, &sample);
    }
    return !s->trace || trace_write_row(s->trace, row);
}

static bool on_interrupted(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    const struct simulating *s = context;
    (void)now_ns, (void)duration_ns, (void)events;
    return s->v->interrupted();
}

bool validate_simulate(struct validation *v, struct played *out, FILE *trace) {
    struct simulating s = {v, out, trace};
    struct world_output output = {.context = &s, .row = on_row, .interrupted = on_interrupted};
    struct scenario_error error;
    if (v->base_bytes) v->scenario->servers[0].engine.startup_bytes = (uint64_t)v->base_bytes;
    struct world *world = world_create(v->scenario, &output, &error);
    if (!world) return validate_fail(v, "%s", error.message);
    if (trace) trace_write_header(trace);
    enum world_end end = world_run(world);
    uint32_t count = v->scenario->client_count;
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 < count || count == 1)
            histogram_merge(&out->request_us, world_client_us(world, i));
    world_destroy(world);
    if (end == WORLD_OUTPUT_FAILED) return validate_fail(v, "the trace could not be written");
    return end == WORLD_DONE || validate_fail(v, "interrupted");
}
