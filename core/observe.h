/* observe: the facts an engine reports, and the sink that takes them. An engine speaks through its
 * sink alone: replies, the replication stream, and what an onlooker wants to count. Every function
 * is called during the engine call that caused it, in the order in which things happen; what it is
 * given is valid during the call only. None of the first seven may be NULL. */
#ifndef LAPSE_CORE_OBSERVE_H
#define LAPSE_CORE_OBSERVE_H

#include "base.h"
#include "object.h"
#include "repl_message.h"
#include "request.h"

enum reply_kind {
    REPLY_STATUS, /* text: OK, PONG */
    REPLY_ERROR,  /* text, then word if any, then after: "ERR invalid expire time in '" "set" "'
                     command" */
    REPLY_UNKNOWN_COMMAND, /* the error that quotes the request; the printer has the request */
    REPLY_INTEGER,         /* integer */
    REPLY_VALUE,           /* bulk string: value */
    REPLY_KEY,             /* bulk string: a key's name */
    REPLY_TEXT,            /* bulk string: text */
    REPLY_NUMBER_TEXT,     /* bulk string: integer in decimal (SCAN's cursor, CONFIG GET's figures);
                              unsigned */
    REPLY_NIL,             /* null bulk string */
    REPLY_ARRAY,           /* integer elements follow as items of their own */
    REPLY_INFO,    /* bulk string: the INFO text, printed from engine_stats; word is the section, or
                      TEXT_NONE if there was none or more than one */
    REPLY_HTSTATS, /* bulk string: DEBUG HTSTATS of database `integer` */
};

struct reply_item {
    uint8_t kind; /* enum reply_kind */
    int64_t integer;
    const char *text;  /* static */
    const char *name;  /* static, or NULL: between text and after, instead of word */
    const char *after; /* static, or NULL */
    text_id word;
    key_id key;
    struct object value;
};

/* One command's whole reply. */
struct reply {
    const struct request *request; /* NULL: of a command that had to wait */
    const struct reply_item *items;
    uint32_t count;
};

/* One command of the replication stream, SELECT, MULTI, EXEC and ping included, as it is fed. */
struct stream_command {
    struct request request;
    uint8_t db;          /* the database it works in */
    bool expiry;         /* deletes a key as expired; the bytes do not say so */
    uint32_t resp_bytes; /* its exact length on the wire */
    int64_t end_offset;  /* master_repl_offset after it */
};

enum expiry_cause { EXPIRY_LAZY, EXPIRY_ACTIVE, EXPIRY_CAUSES };

/* One executed active expire cycle; cycles that returned at their gate are not reported. */
struct cycle_report {
    bool fast;
    bool capped; /* ended by its time limit */
    uint32_t iterations;
    uint64_t sampled;
    uint64_t expired;
    us_t elapsed_us; /* by the wall clock, as expire_cycle_cpu_milliseconds counts it */
};

struct sink {
    void *context;
    void (*reply)(void *context, uint32_t client, const struct reply *);
    void (*stream)(void *context, const struct stream_command *);
    /* A key with a TTL came to weigh `bytes` of modelled memory (both entries, key, value), or no
     * longer does. A change of deadline or weight is a removal and an addition. */
    void (*deadline_added)(void *context, ms_t deadline_ms, uint64_t bytes);
    void (*deadline_removed)(void *context, ms_t deadline_ms, uint64_t bytes);
    /* A logically expired key was deleted, lateness_ms (>= 1) after its deadline. */
    void (*key_expired)(void *context, ms_t lateness_ms, enum expiry_cause);
    void (*cycle_ended)(void *context, const struct cycle_report *);
    /* A replica of a master without a number (engine_config.is_replica, joined by hand) tells how
     * far it has applied the stream; with a number that is a message, REPL_ACK. */
    void (*acknowledge)(void *context, int64_t offset);
    /* Replication. An owner who joins engines by hand leaves all of these NULL: then no timeout and
     * no limit closes anything. What these say happens when the turn ends, in the order in which it
     * was said. A connection to that server (a number of the owner's) is wanted; engine_connected
     * or engine_closed answers. */
    void (*dial)(void *context, int master);
    /* A message leaves for a peer: PEER_MASTER or a replica's slot. */
    void (*send)(void *context, int peer, const struct repl_message *);
    /* From now on a replica is to be sent the stream, from the byte after that offset. */
    void (*stream_from)(void *context, int peer, int64_t offset);
    /* The connection to a peer is closed; what was under way to it or from it is lost. */
    void (*hang_up)(void *context, int peer);
    /* A child was forked to write this snapshot, for replicas that wait for it; its pipe is read
     * through engine_pipe. The reference is the receiver's to release. */
    void (*forked)(void *context, struct snapshot *);
    /* The child was killed: its pipe is gone. */
    void (*child_killed)(void *context);
    /* A client's command waits (WAIT, or CLIENT PAUSE, or one before it that waits): its reply
     * comes in a later turn, with no request in it. May be NULL. */
    void (*blocked)(void *context, uint32_t client);
    /* A backlog begins, empty, and the stream's next byte comes after `offset`: what was kept of a
     * stream before is of no use to anybody any more. May be NULL. */
    void (*history_began)(void *context, int64_t offset);
};

#endif
