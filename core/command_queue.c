#include "command_queue.h"

#include <stdlib.h>
#include <string.h>

static void reserve(struct command_queue *q, uint32_t argc) {
    if (q->count == q->capacity) {
        q->capacity = q->capacity ? q->capacity * 2 : 64;
        q->commands = realloc(q->commands, q->capacity * sizeof *q->commands);
        ASSERT(q->commands);
    }
    while (q->arg_count + argc > q->arg_capacity) {
        q->arg_capacity = q->arg_capacity ? q->arg_capacity * 2 : 256;
        q->args = realloc(q->args, q->arg_capacity * sizeof *q->args);
        ASSERT(q->args);
    }
}

void command_queue_push(struct command_queue *q, uint8_t db, const struct command *command,
                        const struct arg *argv, uint32_t argc) {
    reserve(q, argc);
    q->commands[q->count++] = (struct queued_command){
        .command = command, .first_arg = q->arg_count, .argc = argc, .db = db};
    memcpy(q->args + q->arg_count, argv, argc * sizeof *argv);
    q->arg_count += argc;
}

void command_queue_clear(struct command_queue *q) { q->count = q->arg_count = 0; }

void command_queue_release(struct command_queue *q) {
    free(q->commands);
    free(q->args);
    *q = (struct command_queue){0};
}
