/* world_state: the inside of a world, for its own rooms alone (world, world_build, world_check).
 * Nothing else includes this. */
#ifndef LAPSE_SIM_WORLD_STATE_H
#define LAPSE_SIM_WORLD_STATE_H

#include "client.h"
#include "loader.h"
#include "node.h"
#include "replication.h"
#include "timed.h"
#include "world.h"
#include "world_event.h"

struct world {
    const struct scenario *scenario;
    struct world_output output;
    struct event_queue queue;
    struct rng root;
    struct names *names;
    struct node_env env;
    struct node *nodes;    /* by server */
    text_id *server_names; /* by server, as commands give them */
    struct connections connections;
    struct population *populations; /* by population, as are loaders */
    struct loader *loaders;         /* only those of populations that are not preloaded */
    struct client *clients;
    struct timed *timed;                                    /* by event of the scenario */
    uint32_t populations_ready, clients_ready, timed_ready; /* how many to release */
    char **notes;
    uint32_t note_count;
    uint64_t loaded, to_load; /* keys there before the run, of all populations */
    uint64_t work;            /* since interrupted() was asked last */
    ns_t now_ns;
    bool has_run;
    bool output_failed;
    bool draining; /* no new requests, no rows, nothing told to the output */
};

/* Takes the next event of the queue and handles it. */
void world_step(struct world *);

static inline bool world_is_replica(const struct world *world, uint32_t server) {
    return world->scenario->servers[server].master >= 0;
}

#endif
