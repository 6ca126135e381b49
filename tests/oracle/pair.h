/* pair: a real master and a real replica on stepped clocks of their own, joined by a wire that can
 * be cut, beside two engines joined in the same way. Bytes on the wire take no time. Both pairs are
 * told the same; what INFO says of either server, and the replies of commands, are compared. */
#ifndef LAPSE_TESTS_PAIR_H
#define LAPSE_TESTS_PAIR_H

#include "lockstep.h"
#include "repl_ids.h"
#include "stream_log.h"

/* X(name) */
#define PAIR_FIGURES(X)                                                                            \
    X(is_replica)                                                                                  \
    X(link_is_up)                                                                                  \
    X(id)                                                                                          \
    X(id2)                                                                                         \
    X(offset)                                                                                      \
    X(second_offset)                                                                               \
    X(first_byte)                                                                                  \
    X(histlen)                                                                                     \
    X(sync_full)                                                                                   \
    X(sync_partial_ok)                                                                             \
    X(sync_partial_err)                                                                            \
    X(replicas)                                                                                    \
    X(expired_keys)                                                                                \
    X(keys)                                                                                        \
    X(expires)

enum pair_figure {
#define X(name) PAIR_##name,
    PAIR_FIGURES(X)
#undef X
        PAIR_FIGURE_COUNT
};

/* pair_proxy.c: what stands between the real two. */
struct pair_proxy {
    int port, listener;
    int to[2]; /* the replica's end and the master's; -1: none */
    int master_port;
    bool is_frozen;
};
void pair_proxy_open(struct pair_proxy *, int master_port);
/* Moves what there is to be moved; true if there was anything. Towards the master only if `back`.
 */
bool pair_proxy_pump(struct pair_proxy *, bool back);
void pair_proxy_cut(struct pair_proxy *);    /* and refuses from now on */
void pair_proxy_freeze(struct pair_proxy *); /* nothing passes, nothing is closed; refuses too */
void pair_proxy_mend(struct pair_proxy *);

/* pair_wire.c: what stands between the two engines. */
struct pair_item {
    struct repl_message message;
    bool from_dialler;
};
struct pair_end { /* one engine and what it has said */
    struct lockstep *ls;
    struct stream_log *log;
    struct snapshot *forked;
    bool wants_dial;
};
/* A connection; there is at most one of each end's own dialling. */
struct pair_link {
    bool is_open, streams;
    bool feeds;    /* the engine that was called writes its stream, and has not heard of the end */
    bool tells[2]; /* that it is closed, to either end */
    int slot;      /* of the engine that was called */
    uint64_t cursor; /* the first record that has not been handed over */
    struct pair_item items[256];
    uint32_t item_count;
};
struct pair_wire {
    struct pair_end ends[2];
    struct pair_link links[2]; /* by the end that dialled */
    bool is_cut, is_frozen;
};
void pair_wire_join(struct pair_wire *, struct lockstep *master, struct lockstep *replica);
void pair_wire_settle(struct pair_wire *);
void pair_wire_cut(struct pair_wire *);
void pair_wire_freeze(struct pair_wire *);
void pair_wire_mend(struct pair_wire *);
void pair_wire_release(struct pair_wire *);

enum { PAIR_MASTER, PAIR_REPLICA }; /* at the start */

struct pair {
    const char *about;
    struct lockstep *side[2];
    struct lockstep_line line[2];
    struct pair_proxy proxy;
    struct pair_wire wire;
    struct repl_ids ids;
    char directory[64];
    int64_t server[2][PAIR_FIGURE_COUNT], engine[2][PAIR_FIGURE_COUNT];
};

/* Not yet joined: pair_join says REPLICAOF. */
struct pair *pair_start(const char *about);
void pair_stop(struct pair *);
void pair_join(struct pair *);

/* A command in words to one of the two; its reply is compared. */
void pair_do(struct pair *, int side, const char *command);
void pair_write(struct pair *, uint32_t key, uint32_t value_bytes); /* to the master */
void pair_pass(struct pair *, ms_t ms);                             /* in steps of 100 ms */
void pair_cut(struct pair *);
void pair_freeze(struct pair *); /* neither end hears of it */
void pair_mend(struct pair *);
void pair_promote(struct pair *, int side); /* REPLICAOF NO ONE */
void pair_compare(struct pair *);

#endif
