/* connection: what joins a replica's process to its master's, as TCP does. It is dialled (one round
 * trip: SYN, SYN-ACK; the dialler's kernel confirms, and then the master's process can accept it),
 * carries payloads in order each way, and ends. Each direction is a channel: a link of its own and
 * the payloads that it carries or that wait for room in the sender's socket: messages, pieces of
 * the stream, and the end. Where the links are cut everything waits for them to heal, the dialling
 * too.
 *
 * Either side hangs up on its own. What its socket had taken still arrives, then the other side
 * learns it; what waited outside the socket, and all that comes the other way, is lost. A reset
 * ends it for both sides at once. A later connection of the same two servers is another one:
 * nothing passes from one to the next.
 *
 * Owned by the table, which releases it when both ends are closed and no record of an inbox or
 * outbox points to it (`references`). Invariants: in a channel first <= taken <= end, payloads
 * below `taken` are the link's segments one for one; serial numbers of the stream (indexes of the
 * master's log): applied <= delivered <= sent. */
#ifndef LAPSE_SIM_CONNECTION_H
#define LAPSE_SIM_CONNECTION_H

#include "event_queue.h"
#include "link.h"
#include "repl_message.h"

struct node;

enum direction { TO_REPLICA, TO_MASTER, DIRECTIONS };

static inline enum direction direction_back(enum direction direction) {
    return direction == TO_MASTER ? TO_REPLICA : TO_MASTER;
}

/* What bytes on a wire are for. */
enum wire_cause { WIRE_STREAM, WIRE_SYNC, WIRE_CONTROL, WIRE_CAUSES };

/* Taken by the sockets at both ends of one replica's connections, since the start. */
struct wire_bytes {
    uint64_t bytes[DIRECTIONS][WIRE_CAUSES];
};

enum payload_kind {
    PAYLOAD_SYN,
    PAYLOAD_SYN_ACK,
    PAYLOAD_CONFIRM, /* of the SYN-ACK: the connection stands for the master too */
    PAYLOAD_MESSAGE,
    PAYLOAD_STREAM,
    PAYLOAD_END /* the sender has hung up */
};

struct payload {
    uint8_t kind; /* enum payload_kind */
    union {
        struct repl_message message;
        struct { /* STREAM: records below end_serial */
            uint64_t end_serial;
            uint64_t bytes;
        };
    };
};

struct channel {
    struct link link;
    struct payload *payloads; /* ring, by serial number */
    uint64_t capacity, first, taken, end;
    uint64_t sync_waiting; /* payloads of a snapshot's file among those that wait for room */
    ns_t arrival_ns;       /* for which a DELIVER is under way; INT64_MAX: none */
    uint64_t schedule;     /* names that event: any other one is void */
};

enum end_state {
    END_OPENING, /* the replica's: dialled; the master's: not yet to be accepted */
    END_OPEN,
    END_CLOSED
};

struct connection_end {
    struct node *node;
    uint8_t state; /* enum end_state */
    bool hung_up;  /* its process will hear no more of it; in mid-turn this comes before CLOSED */
};

/* The stream on it, once the master's engine has said from where. */
struct feed {
    bool kept;    /* the master keeps its log from applied_serial on: it is promised */
    bool started; /* it is sent as the socket takes it */
    uint64_t sent_serial, delivered_serial, applied_serial;
    int64_t sent_offset;
};

struct connections;

struct connection {
    struct connections *table;
    uint32_t index; /* in the table */
    uint32_t cable; /* the server whose link it runs over */
    uint32_t references;
    struct connection_end ends[DIRECTIONS]; /* by the direction that leads there */
    struct channel channels[DIRECTIONS];
    struct feed feed;
    struct wire_bytes *wire;
    int slot;    /* at the master; -1: none yet */
    bool broken; /* by a reset: nothing is sent or heard any more but that */
    bool syncs;  /* a snapshot's file goes over it, and is not complete */
};

/* All connections of a run. */
struct connections {
    struct connection **items; /* NULL: free */
    uint32_t count;
    struct event_queue *queue;
    const struct rng *root;
    uint64_t schedules;
};

/* What a new one runs over. */
struct connection_path {
    const struct link_config *configs[DIRECTIONS];
    uint32_t cable;
    const char *cable_name; /* its links draw from a stream of this name ... */
    uint64_t number;        /* ... and number; those of the first one have none */
    bool cut;
};

void connections_init(struct connections *, struct event_queue *, const struct rng *root);
void connections_release(struct connections *);

struct connection *connection_create(struct connections *, struct node *replica,
                                     struct node *master, const struct connection_path *,
                                     struct wire_bytes *);

/* Sends the SYN. */
void connection_dial(struct connection *, ns_t now_ns);

/* It was there before the run: nobody dials. */
void connection_stand(struct connection *, int slot);

/* Takes over the message's snapshot. One that cannot arrive any more is dropped. */
void connection_send(struct connection *, enum direction, const struct repl_message *, ns_t now_ns);

/* A piece of the stream goes into the socket, which must have room. */
void connection_send_stream(struct connection *, uint64_t end_serial, uint64_t bytes, ns_t now_ns);

/* Nothing waits outside the socket in this direction, and it has room. */
bool connection_has_room(const struct connection *, enum direction);

/* The process at this end closes it, or has learned that it is closed. */
void connection_close(struct connection *, enum direction end, ns_t now_ns);

/* Both ends lose what was under way, each has yet to learn it. */
void connection_break(struct connection *);

void connection_cut(struct connection *, ns_t now_ns);
void connection_heal(struct connection *, ns_t now_ns);

/* The next payload that has arrived by now, if any; the caller takes over a message's snapshot. */
bool connection_take(struct connection *, enum direction, ns_t now_ns, struct payload *);

/* After taking: what waited goes into the socket. Keeps one DELIVER in the queue. */
void connection_pump(struct connection *, enum direction, ns_t now_ns);

/* The connection and direction that a DELIVER is for, or NULL when it is void. */
struct connection *connections_find(struct connections *, const struct event *, enum direction *);

/* Somebody points to it, or no longer does: then it is released if it is over. */
void connection_hold(struct connection *);
void connection_drop(struct connection *);

void message_release(const struct repl_message *);
void connection_check(const struct connection *);
void connections_check(const struct connections *);

#endif
