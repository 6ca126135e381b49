/* A scenario's clients in real time: one loop over all connections. A request's latency begins when
 * it was due, not when we came to send it, so that waiting behind a slow server is counted. */
#define _GNU_SOURCE /* ppoll: to the microsecond */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "heap.h"
#include "resp.h"
#include "validate.h"

#define RATE_SPAN_NS UINT64_C(3600000000000000) /* rates count requests in 1,000 h */
#define WAIT_NS_MAX  (50 * NS_PER_MS)
#define LATE_NS      (5 * NS_PER_MS)
#define GRACE_NS     (5 * NS_PER_S) /* after the end, for what is still to be answered */
#define NEVER        INT64_MAX

/* Requests that wait for their reply, by when they were due: a ring. */
struct waiting {
    ns_t *due_ns;
    uint32_t first, count, capacity;
};

struct connection {
    redisContext *context;
    struct waiting waiting;
    ns_t next_ns; /* of a closed loop */
    bool unsent;  /* the socket did not take everything */
};

struct player {
    const struct client_config *config;
    const struct population *population;
    struct zipf *zipf;
    struct rng arrivals, choices, values;
    struct connection *connections;
    uint32_t next_connection;
    ns_t next_ns; /* of an open loop */
    uint64_t sent;
    bool is_sampler;
};

struct play {
    struct validation *v;
    struct player *players;
    uint32_t count;
    struct connection events;
    uint32_t next_event;
    us_t start_wall_us;
    ns_t start_ns; /* by the monotonic clock */
    struct played *out;
    struct pollfd *polls;
    struct connection **polled;
    uint32_t connection_count;
    struct resp_buffer buffer;
};

/* ---- connections ---------------------------------------------------------------------------- */

static bool fail_context(struct validation *v, const redisContext *context) {
    return validate_fail(v, "%s:%d: %s", v->live.host, v->live.port, context->errstr);
}

/* Connected and in its database before it stops to block. */
static bool connection_open(struct play *play, struct connection *c, uint8_t db) {
    struct validation *v = play->v;
    c->context = redisConnect(v->live.host, v->live.port);
    ASSERT(c->context);
    if (c->context->err) return fail_context(v, c->context);
    redisReply *reply = redisCommand(c->context, "SELECT %d", (int)db);
    if (!reply) return fail_context(v, c->context);
    freeReplyObject(reply);
    c->context->flags &= ~REDIS_BLOCK;
    play->polled = heap_resize(play->polled, play->connection_count + 1, sizeof *play->polled);
    play->polls = heap_resize(play->polls, play->connection_count + 1, sizeof *play->polls);
    play->polled[play->connection_count] = c;
    play->polls[play->connection_count++] = (struct pollfd){.fd = c->context->fd};
    return true;
}

static void waiting_push(struct waiting *w, ns_t due_ns) {
    if (w->count == w->capacity) {
        uint32_t capacity = w->capacity ? w->capacity * 2 : 16;
        ns_t *larger = heap_zero(capacity, sizeof *larger);
        for (uint32_t i = 0; i < w->count; i++) larger[i] = w->due_ns[(w->first + i) % w->capacity];
        free(w->due_ns);
        *w = (struct waiting){larger, 0, w->count, capacity};
    }
    w->due_ns[(w->first + w->count++) % w->capacity] = due_ns;
}

static ns_t waiting_pop(struct waiting *w) {
    ASSERT(w->count > 0);
    ns_t due_ns = w->due_ns[w->first];
    w->first = (w->first + 1) % w->capacity;
    w->count--;
    return due_ns;
}

static bool connection_flush(struct play *play, struct connection *c) {
    int done = 0;
    if (redisBufferWrite(c->context, &done) != REDIS_OK) return fail_context(play->v, c->context);
    c->unsent = !done;
    return true;
}

static bool connection_send(struct play *play, struct connection *c, const struct arg *argv,
                            uint32_t argc, ns_t due_ns) {
    play->buffer.length = 0;
    resp_print_command(&play->buffer, argv, argc, play->v->names, play->v->scenario->texts);
    redisAppendFormattedCommand(c->context, play->buffer.bytes, play->buffer.length);
    waiting_push(&c->waiting, due_ns);
    return connection_flush(play, c);
}

/* ---- requests: the same draws as the simulated client's -------------------------------------- */

static ns_t now_of(const struct play *play) { return live_now_ns() - play->start_ns; }

static key_id pick_key(struct player *p) {
    uint32_t rank = p->zipf ? zipf_draw(p->zipf, &p->choices)
                            : (uint32_t)rng_below(&p->choices, p->population->count);
    return population_key(p->population, rank);
}

static const struct mix_config *pick_mix(struct player *p) {
    const struct client_config *config = p->config;
    if (config->mix_count == 1) return config->mix;
    uint64_t ticket = rng_below(&p->choices, config->mix_weight);
    uint32_t m = 0;
    while (ticket >= config->mix[m].weight) ticket -= config->mix[m++].weight;
    return &config->mix[m];
}

static struct arg fill_one(struct play *play, struct player *p, const struct arg_template *t,
                           key_id *key, ms_t now_ms) {
    struct validation *v = play->v;
    const struct texts *texts = v->scenario->texts;
    switch (t->kind) {
    case TEMPLATE_NAME:
        return arg_key(names_keys(v->names), names_intern(v->names, texts_bytes(texts, t->word),
                                                          texts_length(texts, t->word)));
    case TEMPLATE_KEY:
        *key = pick_key(p);
        return arg_key(names_keys(v->names), *key);
    case TEMPLATE_VALUE: {
        struct object value = population_draw_value(p->population, &p->values);
        return object_to_arg(&value);
    }
    case TEMPLATE_TTL_MS:
    case TEMPLATE_TTL_S: {
        ms_t ttl_ms = population_draw_ttl(p->population, *key, now_ms, &p->values);
        if (ttl_ms < 1) ttl_ms = 1;
        return arg_number(t->kind == TEMPLATE_TTL_S ? (ttl_ms + 999) / 1000 : ttl_ms);
    }
    case TEMPLATE_WORD:
        break;
    }
    return arg_word(texts, t->word);
}

static bool request(struct play *play, struct player *p, struct connection *c, ns_t due_ns) {
    const struct mix_config *mix = pick_mix(p);
    struct arg argv[12];
    key_id key = KEY_NONE;
    ms_t now_ms = wall_ms_of(play->start_wall_us + due_ns / NS_PER_US);
    for (uint32_t i = 0; i < mix->argc; i++)
        argv[i] = fill_one(play, p, &mix->args[i], &key, now_ms);
    if (now_of(play) - due_ns > LATE_NS) play->out->late++;
    return connection_send(play, c, argv, mix->argc, due_ns);
}

static ns_t think_ns(struct player *p) {
    if (p->config->think_ns.kind == DISTRIBUTION_NONE) return 0;
    return distribution_draw(&p->config->think_ns, &p->arrivals);
}

/* The i-th even arrival is at from + i * 1000 h / rate. */
static void advance(struct player *p) {
    uint64_t rate = p->config->rate_per_1000_h;
    p->sent++;
    if (p->config->poisson)
        p->next_ns += exponential_draw_ns(&p->arrivals, (ns_t)(RATE_SPAN_NS / rate));
    else
        p->next_ns = p->config->from_ns + (ns_t)(RATE_SPAN_NS / rate * p->sent) +
                     (ns_t)(RATE_SPAN_NS % rate * p->sent / rate);
}

/* ---- players -------------------------------------------------------------------------------- */

static bool player_init(struct play *play, struct player *p, const struct client_config *config) {
    char label[256];
    snprintf(label, sizeof label, "clients.%s", config->name);
    struct rng own = rng_fork(&play->v->root, label);
    p->config = config;
    p->arrivals = rng_fork(&own, "arrivals");
    p->choices = rng_fork(&own, "choices");
    p->values = rng_fork(&own, "values");
    if (config->population >= 0) p->population = &play->v->populations[config->population];
    if (p->population && config->zipf_exponent_milli)
        p->zipf = zipf_create(p->population->count, config->zipf_exponent_milli);
    p->connections = heap_zero(config->connections, sizeof *p->connections);
    for (uint32_t i = 0; i < config->connections; i++)
        if (!connection_open(play, &p->connections[i], config->db)) return false;
    p->next_ns = config->from_ns;
    if (config->rate_per_1000_h && config->poisson) advance(p);
    for (uint32_t i = 0; !config->rate_per_1000_h && i < config->connections; i++)
        p->connections[i].next_ns = config->from_ns + think_ns(p);
    return true;
}

struct play *play_create(struct validation *v) {
    struct play *play = heap_zero(1, sizeof *play);
    play->v = v;
    play->count = v->scenario->client_count;
    play->players = heap_zero(play->count, sizeof *play->players);
    bool fine = connection_open(play, &play->events, 0);
    for (uint32_t i = 0; fine && i < play->count; i++) {
        fine = player_init(play, &play->players[i], &v->scenario->clients[i]);
        play->players[i].is_sampler = i + 1 == play->count;
    }
    if (fine) return play;
    play_destroy(play);
    return NULL;
}

void play_destroy(struct play *play) {
    if (!play) return;
    for (uint32_t i = 0; i < play->connection_count; i++) {
        if (play->polled[i]->context) redisFree(play->polled[i]->context);
        free(play->polled[i]->waiting.due_ns);
    }
    for (uint32_t i = 0; i < play->count; i++) {
        free(play->players[i].connections);
        if (play->players[i].zipf) zipf_destroy(play->players[i].zipf);
    }
    resp_buffer_release(&play->buffer);
    free(play->players), free(play->polls), free(play->polled), free(play);
}

/* ---- replies -------------------------------------------------------------------------------- */

static void take_sample(struct play *play, const redisReply *reply, ns_t due_ns) {
    const char *info = reply->str;
    char name[16], value[96];
    struct sample s = {
        .at_ns = due_ns,
        .expired = live_field_number(info, "expired_keys", 0) - play->v->base_expired,
        .estimate_milli = live_field_milli(info, "expired_stale_perc", 0),
        .caps = live_field_number(info, "expired_time_cap_reached_count", 0) - play->v->base_caps,
        .used_memory = live_field_number(info, "used_memory", 0)};
    for (int db = 0; db < 16; db++) {
        snprintf(name, sizeof name, "db%d", db);
        if (!live_field(info, name, value, sizeof value)) continue;
        long long keys = 0, expires = 0;
        if (sscanf(value, "keys=%lld,expires=%lld", &keys, &expires) == 2)
            s.keys += keys, s.expires += expires;
    }
    played_add(play->out, &s);
}

static void answered(struct play *play, struct player *p, struct connection *c,
                     const redisReply *reply) {
    ns_t due_ns = waiting_pop(&c->waiting), now_ns = now_of(play);
    bool counts = p && (!p->is_sampler || play->count == 1);
    if (counts) histogram_add(&play->out->request_us, (now_ns - due_ns) / NS_PER_US, 1);
    if (p && p->is_sampler && reply->type == REDIS_REPLY_STRING) take_sample(play, reply, due_ns);
    if (p && !p->config->rate_per_1000_h) c->next_ns = now_ns + think_ns(p);
}

static bool receive(struct play *play, struct player *p, struct connection *c) {
    if (redisBufferRead(c->context) != REDIS_OK) return fail_context(play->v, c->context);
    for (void *reply = NULL; redisGetReplyFromReader(c->context, &reply) == REDIS_OK && reply;) {
        answered(play, p, c, reply);
        freeReplyObject(reply);
        reply = NULL;
    }
    return !c->context->err || fail_context(play->v, c->context);
}

static struct player *player_of(struct play *play, const struct connection *c) {
    for (uint32_t i = 0; i < play->count; i++) {
        struct player *p = &play->players[i];
        if (c >= p->connections && c < p->connections + p->config->connections) return p;
    }
    return NULL;
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* What is due is sent; when the next thing is. */
static bool send_open(struct play *play, struct player *p, ns_t now_ns, ns_t *next_ns) {
    while (p->next_ns <= now_ns && p->next_ns < p->config->until_ns) {
        ns_t due_ns = p->next_ns;
        struct connection *c = &p->connections[p->next_connection];
        p->next_connection = (p->next_connection + 1) % p->config->connections;
        advance(p);
        if (!request(play, p, c, due_ns)) return false;
    }
    if (p->next_ns < p->config->until_ns && p->next_ns < *next_ns) *next_ns = p->next_ns;
    return true;
}

static bool send_closed(struct play *play, struct player *p, ns_t now_ns, ns_t *next_ns) {
    for (uint32_t i = 0; i < p->config->connections; i++) {
        struct connection *c = &p->connections[i];
        if (c->waiting.count > 0 || c->next_ns >= p->config->until_ns) continue;
        if (c->next_ns > now_ns) {
            if (c->next_ns < *next_ns) *next_ns = c->next_ns;
        } else if (!request(play, p, c, c->next_ns)) {
            return false;
        }
    }
    return true;
}

static bool send_events(struct play *play, ns_t now_ns, ns_t *next_ns) {
    const struct scenario *s = play->v->scenario;
    for (; play->next_event < s->event_count; play->next_event++) {
        const struct event_config *event = &s->events[play->next_event];
        const struct command *command;
        struct arg argv[64];
        char message[256];
        if (event->at_ns > now_ns) {
            if (event->at_ns < *next_ns) *next_ns = event->at_ns;
            return true;
        }
        int argc = resp_parse_line(event->text, play->v->names, s->texts, argv, &command, message,
                                   sizeof message);
        if (argc <= 0) return validate_fail(play->v, "event '%s': %s", event->text, message);
        if (!connection_send(play, &play->events, argv, (uint32_t)argc, event->at_ns)) return false;
    }
    return true;
}

static bool send_due(struct play *play, ns_t now_ns, ns_t *next_ns) {
    *next_ns = NEVER;
    for (uint32_t i = 0; i < play->count; i++) {
        struct player *p = &play->players[i];
        bool fine = p->config->rate_per_1000_h ? send_open(play, p, now_ns, next_ns)
                                               : send_closed(play, p, now_ns, next_ns);
        if (!fine) return false;
    }
    return send_events(play, now_ns, next_ns);
}

static bool wait_for_replies(struct play *play, ns_t span_ns) {
    struct timespec span = {span_ns / NS_PER_S, span_ns % NS_PER_S};
    for (uint32_t i = 0; i < play->connection_count; i++)
        play->polls[i].events = (short)(POLLIN | (play->polled[i]->unsent ? POLLOUT : 0));
    int ready = ppoll(play->polls, play->connection_count, &span, NULL);
    if (ready < 0 && errno != EINTR) return validate_fail(play->v, "%s", strerror(errno));
    for (uint32_t i = 0; ready > 0 && i < play->connection_count; i++) {
        struct connection *c = play->polled[i];
        short events = play->polls[i].revents;
        if (events & POLLOUT && !connection_flush(play, c)) return false;
        if (events & (POLLIN | POLLERR | POLLHUP) && !receive(play, player_of(play, c), c))
            return false;
    }
    return true;
}

static uint32_t waiting_count(const struct play *play) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < play->connection_count; i++) count += play->polled[i]->waiting.count;
    return count;
}

bool play_run(struct play *play, us_t start_wall_us, struct played *out) {
    ns_t end_ns = play->v->scenario->duration_ns, next_ns;
    play->out = out;
    play->start_wall_us = start_wall_us;
    while (live_wall_ms() < wall_ms_of(start_wall_us)) {
        if (play->v->interrupted()) return validate_fail(play->v, "interrupted");
        ns_t left = (wall_ms_of(start_wall_us) - live_wall_ms()) * NS_PER_MS;
        live_pause_ns(left < WAIT_NS_MAX ? left : WAIT_NS_MAX);
    }
    /* We may have slept too long; the keys die by the wall clock all the same. */
    play->start_ns = live_now_ns() - (live_wall_ns() - start_wall_us * NS_PER_US);
    for (;;) {
        ns_t now_ns = now_of(play);
        bool over = now_ns >= end_ns;
        if (play->v->interrupted()) return validate_fail(play->v, "interrupted");
        if ((over && waiting_count(play) == 0) || now_ns >= end_ns + GRACE_NS) return true;
        if (!send_due(play, over ? end_ns - 1 : now_ns, &next_ns)) return false;
        ns_t span_ns = (next_ns < end_ns ? next_ns : end_ns) - now_of(play);
        if (over) span_ns = WAIT_NS_MAX;
        if (span_ns > WAIT_NS_MAX) span_ns = WAIT_NS_MAX;
        if (!wait_for_replies(play, span_ns > 0 ? span_ns : 0)) return false;
    }
}
