/* client: one workload of a scenario: open loop at a rate, or closed loop with think time; its keys
 * by popularity, its commands by mix. Arrivals, choice of keys and of what is written come from
 * streams of their own, so that another jitter or mix changes neither when requests come nor whose
 * keys they name. */
#ifndef LAPSE_SIM_CLIENT_H
#define LAPSE_SIM_CLIENT_H

#include "bounds.h"
#include "histogram.h"
#include "node.h"
#include "population.h"
#include "scenario.h"

/* What a request will be: which command of the mix, and by position its keys. */
struct client_choice {
    uint32_t mix;
    key_id keys[12];
    uint8_t db; /* of the last of them */
};

struct client {
    const struct client_config *config;
    uint32_t index;
    struct node *server;
    const struct population *population; /* NULL: no template names a key */
    struct zipf *zipf;                   /* NULL: every key alike */
    struct rng arrivals, choices, values;
    /* By database and connection: a pool for each database that its keys lie in, as a server's
     * client library keeps one; a file's rows may lie in several. */
    uint32_t *engine_clients[DATABASES_MAX];
    uint32_t next_connection;          /* of an open loop */
    ns_t next_ns;                      /* of an open loop: the next arrival */
    uint64_t step_ns, step_part, part; /* even arrivals: the spacing, exactly, in whole ns and
                                          parts of rate_per_1000_h */
    struct arg (*shapes)[12];          /* by mix entry: its words ready made */
    struct client_choice next[2];      /* the next request and the one after it */
    struct histogram request_us;
};

/* `populations` are the run's, by index. Connects and schedules the first requests. */
void client_init(struct client *, const struct client_config *, uint32_t index, struct node *server,
                 const struct population *populations, ns_t now_ns);
void client_release(struct client *);

void client_on_arrival(struct client *, ns_t now_ns);
void client_on_send(struct client *, ns_t now_ns, uint32_t connection);

/* A reply came: it left the server now. */
void client_answer(struct client *, const struct inbox_item *, ns_t now_ns);

#endif
