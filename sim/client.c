#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_event.h"

#define RATE_SPAN_NS UINT64_C(3600000000000000) /* rates count requests in 1,000 h */

/* A closed loop against a server that takes no time at all, without thinking, would stop the clock:
 * a round trip takes at least this long. */
#define ROUND_TRIP_NS_MIN NS_PER_US

static void client_fork_streams(struct client *client) {
    char label[256];
    snprintf(label, sizeof label, "clients.%s", client->config->name);
    struct rng own = rng_fork(client->server->env->root, label);
    client->arrivals = rng_fork(&own, "arrivals");
    client->choices = rng_fork(&own, "choices");
    client->values = rng_fork(&own, "values");
}

/* What stays the same in every request; the rest is filled in when it is sent. */
static struct arg client_literal(struct client *client, const struct arg_template *template) {
    const struct texts *texts = client->server->env->texts;
    struct names *names = client->server->env->names;
    if (template->kind == TEMPLATE_WORD) return arg_word(texts, template->word);
    if (template->kind != TEMPLATE_NAME) return (struct arg){0};
    key_id key = names_intern(names, texts_bytes(texts, template->word),
                              texts_length(texts, template->word));
    return arg_key(names_keys(names), key);
}

static void client_shape_mix(struct client *client) {
    const struct client_config *config = client->config;
    client->shapes = calloc(config->mix_count, sizeof *client->shapes);
    ASSERT(client->shapes && config->mix_count > 0);
    for (uint32_t m = 0; m < config->mix_count; m++) {
        const struct mix_config *mix = &config->mix[m];
        for (uint32_t i = 0; i < mix->argc; i++)
            client->shapes[m][i] = client_literal(client, &mix->args[i]);
    }
}

static void client_connect(struct client *client, uint8_t db, ns_t now_ns) {
    uint32_t count = client->config->connections, *pool;
    if (client->engine_clients[db]) return;
    client->engine_clients[db] = pool = malloc(count * sizeof *pool);
    ASSERT(pool && count > 0);
    for (uint32_t i = 0; i < count; i++) pool[i] = node_connect(client->server, db, now_ns);
}

static void client_connect_all(struct client *client, ns_t now_ns) {
    const struct population *population = client->population;
    client_connect(client, client->config->db, now_ns);
    for (uint32_t i = 0; population && population->rows && i < population->count; i++)
        client_connect(client, population_db(population, i), now_ns);
}

/* Even arrivals do not drift: the i-th is at from + i * 1000 h / rate_per_1000_h, rounded down. */
static void client_advance(struct client *client) {
    if (client->config->poisson) {
        client->next_ns += exponential_draw_ns(
            &client->arrivals, (ns_t)(RATE_SPAN_NS / client->config->rate_per_1000_h));
        return;
    }
    client->next_ns += (ns_t)client->step_ns;
    client->part += client->step_part;
    if (client->part < client->config->rate_per_1000_h) return;
    client->part -= client->config->rate_per_1000_h;
    client->next_ns++;
}

static void client_push(struct client *client, ns_t at_ns, enum world_event kind,
                        uint32_t connection) {
    if (at_ns >= client->config->until_ns) return;
    event_queue_push(client->server->env->queue, at_ns, kind, client->index, connection);
}

static ns_t client_think_ns(struct client *client) {
    if (client->config->think_ns.kind == DISTRIBUTION_NONE) return 0;
    return distribution_draw(&client->config->think_ns, &client->arrivals);
}

static void client_schedule_first(struct client *client) {
    const struct client_config *config = client->config;
    client->next_ns = config->from_ns;
    if (config->rate_per_1000_h == 0) {
        for (uint32_t i = 0; i < config->connections; i++)
            client_push(client, config->from_ns + client_think_ns(client), WORLD_SEND, i);
        return;
    }
    client->step_ns = RATE_SPAN_NS / config->rate_per_1000_h;
    client->step_part = RATE_SPAN_NS % config->rate_per_1000_h;
    if (config->poisson) client_advance(client);
    client_push(client, client->next_ns, WORLD_ARRIVAL, 0);
}

/* What a request says. */

static uint32_t client_pick_mix(struct client *client) {
    const struct client_config *config = client->config;
    if (config->mix_count == 1) return 0;
    uint64_t ticket = rng_below(&client->choices, config->mix_weight);
    uint32_t m = 0;
    while (ticket >= config->mix[m].weight) ticket -= config->mix[m++].weight;
    return m;
}

static key_id client_pick_key(struct client *client, struct client_choice *choice) {
    const struct population *population = client->population;
    uint32_t rank = client->zipf ? zipf_draw(client->zipf, &client->choices)
                                 : (uint32_t)rng_below(&client->choices, population->count);
    if (population->rows) choice->db = population_db(population, rank);
    return population_key(population, rank);
}

/* A population without TTLs has none to give: then the shortest. */
static ms_t client_pick_ttl(struct client *client, key_id key, ms_t now_ms) {
    ms_t ttl_ms = population_draw_ttl(client->population, key, now_ms, &client->values);
    return ttl_ms > 0 ? ttl_ms : 1;
}

static void client_draw_choice(struct client *client, struct client_choice *choice) {
    choice->mix = client_pick_mix(client);
    choice->db = client->config->db;
    const struct mix_config *mix = &client->config->mix[choice->mix];
    for (uint32_t i = 0; i < mix->argc; i++) {
        if (mix->args[i].kind != TEMPLATE_KEY) continue;
        choice->keys[i] = client_pick_key(client, choice);
        engine_prefetch(client->server->engine, choice->db, choice->keys[i]);
    }
}

static void client_hint_places(const struct client *client, const struct client_choice *choice) {
    const struct mix_config *mix = &client->config->mix[choice->mix];
    for (uint32_t i = 0; i < mix->argc; i++)
        if (mix->args[i].kind == TEMPLATE_KEY)
            engine_prefetch_place(client->server->engine, choice->db, choice->keys[i]);
}

/* Requests are drawn two ahead: with a million keys, waiting for memory is what a simulated command
 * costs most. A key's entry and hash are asked for two requests before its turn, and the buckets
 * that the hash names one before. */
static void client_choose(struct client *client) {
    client->next[0] = client->next[1];
    client_draw_choice(client, &client->next[1]);
    client_hint_places(client, &client->next[0]);
}

static void client_fill(struct client *client, const struct mix_config *mix, ms_t now_ms,
                        struct arg *argv) {
    const struct keys *keys = names_keys(client->server->env->names);
    key_id key = KEY_NONE; /* the latest {key} to the left */
    for (uint32_t i = 0; i < mix->argc; i++) {
        switch (mix->args[i].kind) {
        case TEMPLATE_WORD:
        case TEMPLATE_NAME:
            break;
        case TEMPLATE_KEY:
            key = client->next[0].keys[i];
            argv[i] = arg_key(keys, key);
            break;
        case TEMPLATE_VALUE: {
            struct object value = population_draw_value(client->population, &client->values);
            argv[i] = object_to_arg(&value);
            break;
        }
        case TEMPLATE_TTL_MS:
            argv[i] = arg_number(client_pick_ttl(client, key, now_ms));
            break;
        case TEMPLATE_TTL_S:
            argv[i] = arg_number((client_pick_ttl(client, key, now_ms) + 999) / 1000);
            break;
        }
    }
}

void client_init(struct client *client, const struct client_config *config, uint32_t index,
                 struct node *server, const struct population *populations, ns_t now_ns) {
    *client = (struct client){.config = config, .index = index, .server = server};
    client_fork_streams(client);
    client_shape_mix(client);
    if (config->population >= 0) client->population = &populations[config->population];
    client_connect_all(client, now_ns);
    histogram_reset(&client->request_us);
    if (client->population && client->population->count == 0) return; /* a file without rows */
    if (client->population && config->zipf_exponent_milli)
        client->zipf = zipf_create(client->population->count, config->zipf_exponent_milli);
    client_draw_choice(client, &client->next[1]);
    client_choose(client);
    client_schedule_first(client);
}

void client_release(struct client *client) {
    for (int db = 0; db < DATABASES_MAX; db++) free(client->engine_clients[db]);
    free(client->shapes);
    if (client->zipf) zipf_destroy(client->zipf);
}

static void client_request(struct client *client, ns_t now_ns, uint32_t connection) {
    struct node *server = client->server;
    uint32_t m = client->next[0].mix;
    const struct mix_config *mix = &client->config->mix[m];
    struct arg *argv = inbox_reserve(&server->inbox, mix->argc);
    memcpy(argv, client->shapes[m], mix->argc * sizeof *argv);
    client_fill(client, mix, node_wall_ms(server, now_ns), argv);
    uint32_t engine_client = client->engine_clients[client->next[0].db][connection];
    client_choose(client);
    struct inbox_item item = {.arrival_ns = now_ns,
                              .kind = INBOX_REQUEST,
                              .source = SOURCE_CLIENT,
                              .command = mix->command,
                              .argc = (uint16_t)mix->argc,
                              .engine_client = engine_client,
                              .subject = client->index,
                              .connection = connection};
    inbox_push(&server->inbox, &item);
    node_notice(server, now_ns);
}

void client_on_arrival(struct client *client, ns_t now_ns) {
    uint32_t connection = client->next_connection;
    client->next_connection = connection + 1 == client->config->connections ? 0 : connection + 1;
    client_advance(client);
    client_push(client, client->next_ns, WORLD_ARRIVAL, 0);
    client_request(client, now_ns, connection);
}

void client_on_send(struct client *client, ns_t now_ns, uint32_t connection) {
    client_request(client, now_ns, connection);
}

void client_answer(struct client *client, const struct inbox_item *item, ns_t now_ns) {
    histogram_add(&client->request_us, (now_ns - item->arrival_ns) / NS_PER_US, 1);
    if (client->config->rate_per_1000_h) return;
    ns_t next_ns = now_ns + client_think_ns(client);
    if (next_ns < item->arrival_ns + ROUND_TRIP_NS_MIN)
        next_ns = item->arrival_ns + ROUND_TRIP_NS_MIN;
    client_push(client, next_ns, WORLD_SEND, item->connection);
}
