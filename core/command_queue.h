/* command_queue: commands kept as plain data, in order, until they are due: what a server owes its
 * replicas before a flush, and what a replica was sent between MULTI and EXEC.
 * Zeroed memory is an empty queue. Owner of its two arrays; arguments are copied in. */
#ifndef LAPSE_CORE_COMMAND_QUEUE_H
#define LAPSE_CORE_COMMAND_QUEUE_H

#include "request.h"

struct queued_command {
    const struct command *command;
    uint32_t first_arg; /* index into args */
    uint32_t argc;
    uint8_t db;
    bool expiry; /* it deletes an expired key */
};

struct command_queue {
    struct queued_command *commands;
    uint32_t count, capacity;
    struct arg *args;
    uint32_t arg_count, arg_capacity;
};

void command_queue_push(struct command_queue *, uint8_t db, const struct command *,
                        const struct arg *argv, uint32_t argc);

/* The arguments of command i; valid until the next push. */
static inline const struct arg *command_queue_argv(const struct command_queue *q, uint32_t i) {
    return q->args + q->commands[i].first_arg;
}

/* The same with its command; the request lasts as long as they do. */
static inline struct request command_queue_request(const struct command_queue *q, uint32_t i) {
    return (struct request){q->commands[i].command, command_queue_argv(q, i), q->commands[i].argc};
}

void command_queue_clear(struct command_queue *);
void command_queue_release(struct command_queue *);

#endif
