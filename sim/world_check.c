#include "world_state.h"

static void world_begin_drain(struct world *world) {
    world->draining = true;
    for (uint32_t i = 0; i < world->scenario->server_count; i++) {
        struct node *node = &world->nodes[i];
        node_command(node, world->now_ns, "DEBUG SET-ACTIVE-EXPIRE 0");
        replication_heal(node, world->now_ns);
        node_thaw(node, world->now_ns);
    }
}

/* Nothing waits anywhere: no request that could still write, no record on its way. */
static bool world_is_drained(const struct world *world) {
    for (uint32_t i = 0; i < world->scenario->server_count; i++) {
        const struct node *node = &world->nodes[i];
        if (node->in_turn || inbox_count(&node->inbox)) return false;
        if (node->master && !replication_is_drained(node)) return false;
    }
    return true;
}

static bool world_drain_until(struct world *world, ns_t until_ns) {
    while (!world_is_drained(world)) {
        const struct event *next = event_queue_peek(&world->queue);
        if (!next || next->at_ns > until_ns) return false;
        world_step(world);
    }
    return true;
}

/* The run's histograms take in the requests that were answered meanwhile. */
bool world_drain(struct world *world, ns_t limit_ns) {
    world_begin_drain(world);
    bool drained = world_drain_until(world, world->now_ns + limit_ns);
    for (uint32_t i = 0; i < world->scenario->server_count; i++)
        observer_close(&world->nodes[i].observer);
    return drained;
}

void world_check(struct world *world) {
    event_queue_check(&world->queue);
    for (uint32_t i = 0; i < world->scenario->server_count; i++) {
        struct node *node = &world->nodes[i];
        engine_check(node->engine);
        observer_check(&node->observer, node->engine, node_wall_ms(node, world->now_ns));
        inbox_check(&node->inbox);
        stream_log_check(node->log);
        replication_check(node);
    }
    connections_check(&world->connections);
}
