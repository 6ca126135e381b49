/* standin: replicas of our own making, at a real master and at the engine as a master at once. Each
 * holds a socket to the server and a slot of the engine, says the same to both, and keeps what
 * either sends it in one spelling: lines as they are, but replication ids by the order of their
 * first appearance (#1, #2, ...) and a snapshot's file as [file BYTES]; then the stream. After
 * every deed of this header all that can be seen of both sides is compared (standins_compare),
 * unless it says otherwise, and a difference fails the test with both.
 *
 * Virtual time stands while a child of the server's writes a snapshot, so a transfer takes none. */
#ifndef LAPSE_TESTS_STANDIN_H
#define LAPSE_TESTS_STANDIN_H

#include "lockstep.h"
#include "repl_ids.h"

#define STANDINS_MAX 4

/* X(name): what INFO says of replication. */
#define STANDIN_FIGURES(X)                                                                         \
    X(id)                                                                                          \
    X(id2)                                                                                         \
    X(offset)                                                                                      \
    X(second_offset)                                                                               \
    X(backlog_active)                                                                              \
    X(backlog_size)                                                                                \
    X(first_byte)                                                                                  \
    X(histlen)                                                                                     \
    X(buffers)                                                                                     \
    X(sync_full)                                                                                   \
    X(sync_partial_ok)                                                                             \
    X(sync_partial_err)                                                                            \
    X(replicas)                                                                                    \
    X(good_replicas) /* -1 where the server does not tell: without min-replicas-to-write */        \
    X(expired_keys)                                                                                \
    X(keys)

enum standin_figure {
#define X(name) STANDIN_##name,
    STANDIN_FIGURES(X)
#undef X
        STANDIN_FIGURE_COUNT
};

/* What the server's bytes are at the moment. */
enum standin_phase { STANDIN_LINES, STANDIN_ANNOUNCED, STANDIN_FILE, STANDIN_STREAM };

struct standin {
    int fd;   /* -1: not connected */
    int slot; /* -1: none */
    enum standin_phase phase;
    char mark[REPL_ID_HEX];             /* that ends the file */
    struct oracle_bytes raw;            /* the server's, not yet understood */
    struct oracle_bytes server, engine; /* since the last comparison */
    bool server_closed, engine_closed;
    bool engine_streams;
    int64_t engine_sent; /* the stream's offset up to which the engine has written to it */
    int64_t have;        /* how far the server's bytes have brought it */
    bool acks;           /* tells `have` each second */
    bool stalled;        /* does not read its socket */
    int64_t stall_base;  /* of the server's count of bytes written to replicas */
};

struct standins {
    struct lockstep *ls;
    struct lockstep_line client; /* writes */
    struct standin all[STANDINS_MAX];
    struct oracle_bytes history; /* the engine's stream from its first byte */
    struct repl_ids ids;
    struct snapshot *forked; /* the engine's child is writing it */
    bool dialled;            /* the engine wants its master, who never answers */
    uint32_t tenths;
    int64_t server_seen[STANDIN_FIGURE_COUNT], engine_seen[STANDIN_FIGURE_COUNT];
};

/* hard, soft, seconds: client-output-buffer-limit replica; hard < 0: the default. */
struct standin_limits {
    int64_t hard_bytes, soft_bytes, soft_s;
};

struct standins *standins_start(const char *about, const struct standin_limits *);
void standins_stop(struct standins *);

/* A command in words, as typed; its reply is compared. */
void standins_do(struct standins *, const char *command);
/* SET of a key of eight letters, to a value of so many bytes, on both. */
void standins_write(struct standins *, uint32_t key, uint32_t value_bytes);
/* Time goes on in steps of 100 ms; whoever acknowledges does so each second. */
void standins_pass(struct standins *, ms_t ms);
/* REPLICAOF a master that is not there, then REPLICAOF NO ONE: a new id, the old one second. */
void standins_promote(struct standins *);
void standins_compare(struct standins *);

/* A connection and the handshake up to the PSYNC. */
void standin_greet(struct standins *, int i);

/* PSYNC with an id of those seen so far: 1 the first, 2 the next, ... 0: one that nobody has.
 * STANDIN_NOTHING asks for everything. Returns true if the server goes on from there. */
#define STANDIN_NOTHING (-1)
bool standin_ask(struct standins *, int i, int id, int64_t offset);

/* All of it: greet, ask for everything, get the file, acknowledge, receive the stream. */
void standin_sync(struct standins *, int i);
void standin_acknowledge(struct standins *, int i, int64_t offset);
void standin_leave(struct standins *, int i);

/* From here on it leaves its socket unread. */
void standin_stall(struct standins *, int i);

#endif
