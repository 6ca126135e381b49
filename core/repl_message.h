/* repl_message: what a replica and its master say to each other outside the stream of commands
 * (7.0 replication.c; engine facts 7.4 to 7.7). The wire is the business of whoever joins engines:
 * messages of one connection arrive in order, between the stream's commands, or not at all. A
 * message that carries a snapshot owns one reference to it; whoever drops it unread releases it. */
#ifndef LAPSE_CORE_REPL_MESSAGE_H
#define LAPSE_CORE_REPL_MESSAGE_H

#include "base.h"

struct snapshot;

/* A replication id: 40 hex digits in the server, a drawn number here. 0: none, the "?" of a PSYNC.
 */
typedef uint64_t repl_id;

/* X(enumerator, what it is, who says it) */
#define REPL_MESSAGE_LIST(X)                                                                       \
    X(PING, "PING of the handshake", "replica")                                                    \
    X(PONG, "+PONG", "master")                                                                     \
    X(REPLCONF, "REPLCONF listening-port and REPLCONF capa, in one write", "replica")              \
    X(OK, "+OK to each of them", "master")                                                         \
    X(PSYNC, "PSYNC id offset [FAILOVER]; id 0 and offset -1: everything", "replica")              \
    X(CONTINUE, "+CONTINUE id: the stream follows from the offset asked for", "master")            \
    X(FULLRESYNC, "+FULLRESYNC id offset: a snapshot follows", "master")                           \
    X(REFUSED, "an error that says: try again later (-NOMASTERLINK, -LOADING)", "master")          \
    X(NEWLINE, "a newline that keeps the connection alive", "both")                                \
    X(RDB, "bytes of the snapshot's file; `last` with its end", "master")                          \
    X(ACK, "REPLCONF ACK offset", "replica")

enum repl_message_kind {
#define X(id, help, speaker) REPL_##id,
    REPL_MESSAGE_LIST(X)
#undef X
        REPL_MESSAGE_KINDS
};

struct repl_message {
    uint8_t kind;  /* enum repl_message_kind */
    bool failover; /* of a PSYNC: the receiver is to become the master */
    bool last;     /* of an RDB: the file is complete with it */
    repl_id id;
    int64_t offset; /* of a REPLCONF: the number of the server that speaks */
    uint64_t wire_bytes;
    struct snapshot *snapshot; /* of an RDB that is the last one: what was in the file */
};

/* A peer is a replica's slot at its master, or this: the master. */
#define PEER_MASTER (-1)

#endif
