/* timed: the events of a scenario that are commands, parsed before the run. Each server has one
 * connection a database for them, made when the first one needs it. */
#ifndef LAPSE_SIM_TIMED_H
#define LAPSE_SIM_TIMED_H

#include "node.h"
#include "scenario.h"

struct timed {
    const struct event_config *config;
    uint32_t index;
    struct node *server;
    uint32_t engine_client;
    const struct command *command;
    struct arg *argv; /* NULL: not a command */
    uint32_t argc;
};

/* False with a message when the command does not parse. `earlier` are the `index` events before
 * it. */
bool timed_init(struct timed *, const struct event_config *, uint32_t index, struct node *server,
                const struct timed *earlier, struct scenario_error *);
void timed_release(struct timed *);
void timed_send(const struct timed *, ns_t now_ns);

#endif
