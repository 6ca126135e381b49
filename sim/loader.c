#include "loader.h"

#include "command.h"
#include "world_event.h"

#define PRELOAD_AHEAD 8 /* keys: their buckets are asked for before their turn comes */

static void loader_schedule(struct loader *loader, ns_t at_ns) {
    event_queue_push(loader->server->env->queue, at_ns, WORLD_LOAD, loader->index, 0);
}

void loader_init(struct loader *loader, struct population *population, uint32_t index,
                 struct node *server) {
    const struct population_config *config = population->config;
    *loader = (struct loader){.population = population,
                              .index = index,
                              .server = server,
                              .set = command_find("set", 3),
                              .select = command_find("select", 6),
                              .next_ns = config->load_at_ns};
    if (population->count == 0) return;
    loader->engine_client = engine_connect(server->engine);
    loader->step_ns = (uint64_t)config->load_over_ns / population->count;
    loader->step_part = (uint64_t)config->load_over_ns % population->count;
    loader_schedule(loader, loader->next_ns);
}

static bool loader_is_paced(const struct loader *loader) {
    return loader->population->config->load_over_ns > 0;
}

/* Item i at load_at + i * load_over / count, rounded down. */
static void loader_advance(struct loader *loader) {
    loader->next_ns += (ns_t)loader->step_ns;
    loader->part += loader->step_part;
    if (loader->part < loader->population->count) return;
    loader->part -= loader->population->count;
    loader->next_ns++;
}

static void loader_push(struct loader *loader, const struct command *command, uint32_t argc,
                        ns_t now_ns) {
    struct inbox_item item = {.arrival_ns = now_ns,
                              .kind = INBOX_REQUEST,
                              .source = SOURCE_LOADER,
                              .command = command,
                              .argc = (uint16_t)argc,
                              .engine_client = loader->engine_client,
                              .subject = loader->index,
                              .connection = command == loader->set};
    inbox_push(&loader->server->inbox, &item);
}

static void loader_select(struct loader *loader, uint8_t db, ns_t now_ns) {
    struct arg *argv = inbox_reserve(&loader->server->inbox, 2);
    argv[0] = arg_word(loader->server->env->texts, WORD_SELECT);
    argv[1] = arg_number(db);
    loader->db = db;
    loader_push(loader, loader->select, 2, now_ns);
}

static void loader_set(struct loader *loader, const struct population_item *item, ns_t now_ns) {
    const struct node_env *env = loader->server->env;
    bool absolute = item->deadline_ms >= 0, relative = !absolute && item->ttl_ms >= 0;
    uint32_t argc = absolute || relative ? 5 : 3;
    struct arg *argv = inbox_reserve(&loader->server->inbox, argc);
    argv[0] = arg_word(env->texts, WORD_SET);
    argv[1] = arg_key(names_keys(env->names), item->key);
    argv[2] = object_to_arg(&item->value);
    if (argc == 5) {
        argv[3] = arg_word(env->texts, absolute ? WORD_PXAT : WORD_PX);
        argv[4] = arg_number(absolute ? item->deadline_ms : item->ttl_ms);
    }
    loader_push(loader, loader->set, argc, now_ns);
}

void loader_on_load(struct loader *loader, ns_t now_ns) {
    struct population_item item =
        population_next(loader->population, loader->next_item++,
                        node_wall_ms(loader->server, now_ns), loader->server->env->start_wall_us);
    if (item.db != loader->db) loader_select(loader, item.db, now_ns);
    loader_set(loader, &item, now_ns);
    if (loader_is_paced(loader) && loader->next_item < loader->population->count) {
        loader_advance(loader);
        loader_schedule(loader, loader->next_ns);
    }
    node_notice(loader->server, now_ns);
}

void loader_answer(struct loader *loader, const struct inbox_item *item, ns_t now_ns) {
    bool next_waits = item->connection && !loader_is_paced(loader);
    if (next_waits && loader->next_item < loader->population->count)
        loader_schedule(loader, now_ns);
}

/* Names come in order and so do their entries; the buckets do not. */
static void loader_look_ahead(const struct population *population, uint32_t i,
                              struct node *const *nodes, uint32_t count) {
    if (population->count - i <= PRELOAD_AHEAD) return;
    key_id key = population_key(population, i + PRELOAD_AHEAD);
    uint8_t db =
        population->rows ? population->rows->rows[i + PRELOAD_AHEAD].db : population->config->db;
    for (uint32_t n = 0; n < count; n++) engine_prefetch_place(nodes[n]->engine, db, key);
}

/* The wall clock of the run's start, not of a server with an offset: deadlines are one truth. */
uint32_t loader_preload(struct population *population, uint32_t first, uint32_t end,
                        struct node *const *nodes, uint32_t count) {
    us_t start_wall_us = nodes[0]->env->start_wall_us;
    ms_t start_ms = wall_ms_of(start_wall_us);
    uint32_t past = 0;
    for (uint32_t i = first; i < end; i++) {
        loader_look_ahead(population, i, nodes, count);
        struct population_item item = population_next(population, i, start_ms, start_wall_us);
        ms_t deadline_ms = item.deadline_ms;
        if (deadline_ms < 0 && item.ttl_ms >= 0) deadline_ms = start_ms + item.ttl_ms;
        past += deadline_ms >= 0 && deadline_ms < start_ms;
        for (uint32_t n = 0; n < count; n++)
            engine_preload(nodes[n]->engine, item.db, item.key, &item.value, deadline_ms);
    }
    return past;
}
