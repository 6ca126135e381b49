#include "propagate.h"

#define BOOKED_APART_BYTES 16384 /* a longer argument can need a block of its own size */

void propagate_init(struct propagate *p, const struct stream_policy *policy,
                    struct backlog *backlog, const struct sink *sink, const struct texts *texts,
                    const struct keys *keys, struct cpu *cpu) {
    *p = (struct propagate){.policy = policy,
                            .backlog = backlog,
                            .sink = sink,
                            .texts = texts,
                            .keys = keys,
                            .cpu = cpu,
                            .selected_db = -1};
}

void propagate_release(struct propagate *p) { command_queue_release(&p->queue); }

/* The server appends token by token, which matters only where one token is larger than a block:
 * then the block is made to its measure. Everything shorter is booked in one go. */
void propagate_book(struct backlog *backlog, const struct arg *argv, uint32_t argc) {
    uint64_t bytes = 1 + decimal_length(argc) + 2;
    for (uint32_t i = 0; i < argc; i++) {
        bytes += 1 + decimal_length(argv[i].length) + 2;
        if (argv[i].length >= BOOKED_APART_BYTES) {
            backlog_feed(backlog, bytes);
            backlog_feed(backlog, argv[i].length);
            bytes = 0;
        } else {
            bytes += argv[i].length;
        }
        bytes += 2;
    }
    backlog_feed(backlog, bytes);
}

static void feed(struct propagate *p, uint8_t db, const struct command *command,
                 const struct arg *argv, uint32_t argc, bool expiry) {
    cpu_charge(p->cpu, COST_PROPAGATE, 1);
    propagate_book(p->backlog, argv, argc);
    struct stream_command fed = {.request = {.command = command, .argv = argv, .argc = argc},
                                 .db = db,
                                 .expiry = expiry,
                                 .resp_bytes = request_resp_bytes(argv, argc),
                                 .end_offset = p->backlog->master_repl_offset};
    p->sink->stream(p->sink->context, &fed);
}

static void feed_word(struct propagate *p, int db, enum word word) {
    struct arg arg = arg_word(p->texts, word);
    propagate_feed(p, db, p->commands[word], &arg, 1);
}

static void select_db(struct propagate *p, int db) {
    struct arg argv[] = {arg_word(p->texts, WORD_SELECT), arg_number(db)};
    p->selected_db = db;
    feed(p, (uint8_t)db, p->commands[WORD_SELECT], argv, 2, false);
}

static void select_and_feed(struct propagate *p, int db, const struct command *command,
                            const struct arg *argv, uint32_t argc, bool expiry) {
    if (db >= 0 && db != p->selected_db) select_db(p, db);
    feed(p, (uint8_t)(p->selected_db < 0 ? 0 : p->selected_db), command, argv, argc, expiry);
}

void propagate_feed(struct propagate *p, int db, const struct command *command,
                    const struct arg *argv, uint32_t argc) {
    select_and_feed(p, db, command, argv, argc, false);
}

static void queue_or_feed(struct propagate *p, uint8_t db, const struct command *command,
                          const struct arg *argv, uint32_t argc, bool expiry) {
    if (!p->listening) return;
    if (!p->policy->batched) {
        select_and_feed(p, db, command, argv, argc, expiry);
        return;
    }
    command_queue_push(&p->queue, db, command, argv, argc);
    p->queue.commands[p->queue.count - 1].expiry = expiry;
}

void propagate_command(struct propagate *p, uint8_t db, const struct command *command,
                       const struct arg *argv, uint32_t argc) {
    queue_or_feed(p, db, command, argv, argc, false);
}

void propagate_expiry(struct propagate *p, uint8_t db, enum word word, key_id key) {
    if (!p->listening) return;
    struct arg argv[] = {arg_word(p->texts, word), arg_key(p->keys, key)};
    queue_or_feed(p, db, p->commands[word], argv, 2, true);
}

/* MULTI carries the first entry's database and EXEC the last one's, so in 7.0 a SELECT precedes the
 * MULTI. */
void propagate_flush(struct propagate *p, bool wrap) {
    uint32_t count = p->queue.count;
    if (count == 0) return;
    wrap = wrap && count > 1;
    if (wrap) feed_word(p, p->queue.commands[0].db, WORD_MULTI);
    for (uint32_t i = 0; i < count; i++) {
        const struct queued_command *q = &p->queue.commands[i];
        select_and_feed(p, q->db, q->command, command_queue_argv(&p->queue, i), q->argc, q->expiry);
    }
    if (wrap) feed_word(p, p->queue.commands[count - 1].db, WORD_EXEC);
    command_queue_clear(&p->queue);
}
