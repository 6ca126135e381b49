/* loader: a client that writes a population that is not there before the run: SET key value with
 * its deadline, evenly over a time or back to back on one connection. Preloaded populations are put
 * into the engines here as well. */
#ifndef LAPSE_SIM_LOADER_H
#define LAPSE_SIM_LOADER_H

#include "node.h"
#include "population.h"

struct loader {
    struct population *population;
    uint32_t index; /* of the population */
    struct node *server;
    uint32_t engine_client;
    uint32_t next_item;
    uint8_t db; /* that its connection has selected */
    const struct command *set, *select;
    ns_t next_ns;
    uint64_t step_ns, step_part, part; /* even spacing, exactly, in parts of the count */
};

void loader_init(struct loader *, struct population *, uint32_t index, struct node *server);
void loader_on_load(struct loader *, ns_t now_ns);
void loader_answer(struct loader *, const struct inbox_item *, ns_t now_ns);

/* Puts items [first, end) of a preloaded population into these servers. Returns how many have a
 * deadline that lies before the start of the run. */
uint32_t loader_preload(struct population *, uint32_t first, uint32_t end,
                        struct node *const *nodes, uint32_t count);

#endif
