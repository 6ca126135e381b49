#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "world_state.h"

#define ITEMS_PER_QUESTION 4096 /* between two calls of loading() */
#define NOTE_BYTES         4096

/* Nodes and links are pointed to, so each kind lies in one array that never moves. */
static void *world_array(size_t count, size_t size) {
    void *array = calloc(count ? count : 1, size);
    ASSERT(array);
    return array;
}

static struct names *world_create_names(const struct rng *root) {
    struct rng draws = rng_fork(root, "hash-seed");
    uint8_t seed[SIPHASH_SEED_BYTES];
    for (size_t i = 0; i < sizeof seed; i++) seed[i] = (uint8_t)rng_next(&draws);
    return names_create(seed);
}

static struct world *world_create_empty(const struct scenario *scenario,
                                        const struct world_output *output) {
    struct world *world = world_array(1, sizeof *world);
    world->scenario = scenario;
    world->output = *output;
    world->root = rng_seed(scenario->seed);
    world->names = world_create_names(&world->root);
    event_queue_init(&world->queue);
    world->env = (struct node_env){.queue = &world->queue,
                                   .names = world->names,
                                   .texts = scenario->texts,
                                   .root = &world->root,
                                   .server_count = scenario->server_count,
                                   .connections = &world->connections,
                                   .start_wall_us = scenario->start_wall_us,
                                   .keep_replies = output->event_reply != NULL};
    world->nodes = world_array(scenario->server_count, sizeof *world->nodes);
    world->server_names = world_array(scenario->server_count, sizeof *world->server_names);
    world->env.nodes = world->nodes;
    world->env.server_names = world->server_names;
    connections_init(&world->connections, &world->queue, &world->root);
    world->populations = world_array(scenario->population_count, sizeof *world->populations);
    world->loaders = world_array(scenario->population_count, sizeof *world->loaders);
    world->clients = world_array(scenario->client_count, sizeof *world->clients);
    world->timed = world_array(scenario->event_count, sizeof *world->timed);
    return world;
}

static void world_name_servers(struct world *world) {
    const struct scenario *scenario = world->scenario;
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        const char *name = scenario->servers[i].name;
        world->server_names[i] = texts_intern(scenario->texts, name, strlen(name));
    }
}

/* Its master first: from there on a replica's history is its master's. */
static void world_attach(struct world *world, uint32_t server) {
    int master = world->scenario->servers[server].master;
    if (master < 0 || world->nodes[server].master) return;
    world_attach(world, (uint32_t)master);
    replication_stand(&world->nodes[server], &world->nodes[master], 0);
}

static void world_add_servers(struct world *world) {
    const struct scenario *scenario = world->scenario;
    world_name_servers(world);
    for (uint32_t i = 0; i < scenario->server_count; i++)
        node_init(&world->nodes[i], &world->env, &scenario->servers[i], i);
    for (uint32_t i = 0; i < scenario->server_count; i++) world_attach(world, i);
}

static void world_add_note(struct world *world, const char *format, ...) PRINTF_LIKE(2, 3);
static void world_add_note(struct world *world, const char *format, ...) {
    char *note = world_array(1, NOTE_BYTES);
    va_list list;
    va_start(list, format);
    vsnprintf(note, NOTE_BYTES, format, list);
    va_end(list);
    world->notes[world->note_count++] = note;
}

static void world_note_refused(struct world *world, const struct population *population) {
    const struct csv_rows *rows = population->rows;
    if (!rows || rows->refused == 0) return;
    world_add_note(world, "population %s: %" PRIu32 " rows of %s refused: %s",
                   population->config->name, rows->refused, population->config->from,
                   rows->refused_lines);
}

/* A dump of last week is nothing but stale keys, which is seldom meant. */
static void world_note_past(struct world *world, const struct population *population,
                            uint32_t past) {
    if (past == 0) return;
    world_add_note(world,
                   "population %s: %" PRIu32 " of %" PRIu32 " keys have deadlines before the start "
                   "of the run; is `start` when they were taken?",
                   population->config->name, past, population->count);
}

/* Does it hold what that one holds, over however many masters? */
static bool world_follows(const struct world *world, const struct node *node, uint32_t server) {
    while (node && node != &world->nodes[server]) node = node->master;
    return node != NULL;
}

/* The owner of a population and its replicas; the caller frees the list. */
static struct node **world_holders(struct world *world, const struct population *population,
                                   uint32_t *count) {
    struct node **nodes = world_array(world->scenario->server_count, sizeof *nodes);
    *count = 0;
    for (uint32_t i = 0; i < world->scenario->server_count; i++) {
        struct node *node = &world->nodes[i];
        if (world_follows(world, node, population->config->server)) nodes[(*count)++] = node;
    }
    return nodes;
}

static bool world_goes_on_loading(struct world *world, uint32_t items) {
    world->loaded += items;
    return !world->output.loading ||
           !world->output.loading(world->output.context, world->loaded, world->to_load);
}

/* False: stopped. */
static bool world_preload(struct world *world, struct population *population) {
    uint32_t count, past = 0;
    struct node **nodes = world_holders(world, population, &count);
    bool goes_on = true;
    for (uint32_t i = 0, items; goes_on && i < population->count; i += items) {
        items =
            population->count - i < ITEMS_PER_QUESTION ? population->count - i : ITEMS_PER_QUESTION;
        past += loader_preload(population, i, i + items, nodes, count);
        goes_on = world_goes_on_loading(world, items);
    }
    free(nodes);
    world_note_past(world, population, past);
    return goes_on;
}

/* Patterns before files: a row whose name a pattern writes is that pattern's key, wherever in the
 * scenario the file stands. */
static bool world_register_populations(struct world *world, struct scenario_error *error) {
    const struct scenario *scenario = world->scenario;
    world->populations_ready = scenario->population_count;
    for (int files = 0; files <= 1; files++)
        for (uint32_t i = 0; i < scenario->population_count; i++) {
            const struct population_config *config = &scenario->populations[i];
            if ((config->from != NULL) == (files == 1) &&
                !population_init(&world->populations[i], config, world->names, &world->root,
                                 scenario->start_wall_us, error))
                return false;
        }
    return true;
}

static bool world_init_populations(struct world *world, struct scenario_error *error) {
    const struct scenario *scenario = world->scenario;
    world->notes = world_array(2 * (size_t)scenario->population_count, sizeof *world->notes);
    if (!world_register_populations(world, error)) return false;
    for (uint32_t i = 0; i < scenario->population_count; i++) {
        if (scenario->populations[i].preloaded) world->to_load += world->populations[i].count;
        world_note_refused(world, &world->populations[i]);
    }
    return true;
}

/* False: stopped. */
static bool world_place_populations(struct world *world) {
    const struct scenario *scenario = world->scenario;
    for (uint32_t i = 0; i < scenario->population_count; i++) {
        struct population *population = &world->populations[i];
        const struct population_config *config = &scenario->populations[i];
        if (!config->preloaded)
            loader_init(&world->loaders[i], population, i, &world->nodes[config->server]);
        else if (!world_preload(world, population))
            return false;
    }
    return true;
}

static void world_add_clients(struct world *world) {
    const struct scenario *scenario = world->scenario;
    for (uint32_t i = 0; i < scenario->client_count; i++) {
        const struct client_config *config = &scenario->clients[i];
        client_init(&world->clients[i], config, i, &world->nodes[config->server],
                    world->populations, 0);
        world->clients_ready++;
    }
}

static bool world_add_timed(struct world *world, struct scenario_error *error) {
    const struct scenario *scenario = world->scenario;
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        const struct event_config *config = &scenario->events[i];
        world->timed_ready++;
        if (!timed_init(&world->timed[i], config, i, &world->nodes[config->server], world->timed,
                        error))
            return false;
        event_queue_push(&world->queue, config->at_ns, WORLD_TIMED, i, 0);
    }
    return true;
}

/* Populations come first: their names have consecutive ids, which a command's key must not take. */
struct world *world_create(const struct scenario *scenario, const struct world_output *output,
                           struct scenario_error *error) {
    error->message[0] = '\0';
    if (scenario->failover.present) {
        snprintf(error->message, sizeof error->message,
                 "failover: not simulated yet; leave the block out and say REPLICAOF NO ONE and "
                 "REPLICAOF SERVER PORT as events");
        return NULL;
    }
    struct world *world = world_create_empty(scenario, output);
    world_add_servers(world);
    if (world_init_populations(world, error) && world_place_populations(world)) {
        world_add_clients(world);
        if (world_add_timed(world, error)) return world;
    }
    world_destroy(world);
    return NULL;
}

void world_destroy(struct world *world) {
    const struct scenario *scenario = world->scenario;
    for (uint32_t i = 0; i < world->timed_ready; i++) timed_release(&world->timed[i]);
    for (uint32_t i = 0; i < world->clients_ready; i++) client_release(&world->clients[i]);
    for (uint32_t i = 0; i < world->populations_ready; i++)
        population_release(&world->populations[i]);
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        node_release(&world->nodes[i]);
    }
    connections_release(&world->connections);
    for (uint32_t i = 0; i < world->note_count; i++) free(world->notes[i]);
    event_queue_release(&world->queue);
    names_destroy(world->names);
    free(world->notes);
    free(world->timed);
    free(world->clients);
    free(world->loaders);
    free(world->populations);
    free(world->server_names);
    free(world->nodes);
    free(world);
}
