/* propagate: commands owed to replicas, queued as they are rewritten and flushed when the outermost
 * command or the expire cycle is done (7.0 server.c alsoPropagate, propagatePendingCommands; engine
 * facts 6.1). Earlier generations feed an expired key's DEL at once: their row says so. Nothing is
 * queued while nobody listens: no backlog, or this server is a replica itself. */
#ifndef LAPSE_CORE_PROPAGATE_H
#define LAPSE_CORE_PROPAGATE_H

#include "backlog.h"
#include "base.h"
#include "command_queue.h"
#include "cost.h"
#include "observe.h"
#include "request.h"

/* What a generation decides about the stream. */
struct stream_policy {
    bool batched; /* 7.0: one queue, flushed once and wrapped in MULTI when it holds two or more;
                     else at once */
    bool absolute_ttls; /* 7.0: relative TTLs leave as PXAT and PEXPIREAT; before: verbatim,
                           relative */
    bool ping_is_lower; /* 6.2 and later write "ping" */
};

struct propagate {
    const struct stream_policy *policy;
    struct backlog *backlog;
    const struct sink *sink;
    const struct texts *texts;
    const struct keys *keys;
    struct cpu *cpu;
    struct command_queue queue;
    int selected_db; /* slaveseldb; -1: the next command needs a SELECT */
    bool listening;  /* a master with a backlog or a replica */
    const struct command *commands[WORDS_KNOWN]; /* of the words that are commands, by enum word */
};

void propagate_init(struct propagate *, const struct stream_policy *, struct backlog *,
                    const struct sink *, const struct texts *, const struct keys *, struct cpu *);
void propagate_release(struct propagate *);

/* Queues (or, unbatched, feeds) one command. argv is copied. */
void propagate_command(struct propagate *, uint8_t db, const struct command *,
                       const struct arg *argv, uint32_t argc);

/* Queues an expired key's "DEL key" or "UNLINK key": an upper-case word and one key. Onlookers tell
 * it apart from a client's. */
void propagate_expiry(struct propagate *, uint8_t db, enum word, key_id);

/* Feeds the queue. Two or more commands are wrapped in MULTI and EXEC if `wrap`; the expire cycle,
 * SCAN and RANDOMKEY never wrap. */
void propagate_flush(struct propagate *, bool wrap);

/* Feeds one command as it is: SELECT first if need be; db -1: never a SELECT (PING). */
void propagate_feed(struct propagate *, int db, const struct command *, const struct arg *argv,
                    uint32_t argc);

/* Books a command's bytes in a replication buffer, in the portions in which the server appends
 * them. */
void propagate_book(struct backlog *, const struct arg *argv, uint32_t argc);

#endif
