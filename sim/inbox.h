/* inbox: what has arrived at one server and waits for its event loop, oldest first. A ring of small
 * records beside a ring of arguments: nothing is allocated for a request once both have grown to
 * the longest queue of the run. Invariant: the arguments of one request lie side by side, and they
 * stay until the record is dropped, so that a request can be executed where it lies. */
#ifndef LAPSE_SIM_INBOX_H
#define LAPSE_SIM_INBOX_H

#include "request.h"

/* All but requests and pipes concern a connection. */
enum inbox_kind {
    INBOX_REQUEST,
    INBOX_CONNECTED, /* the connection that this server dialled stands */
    INBOX_ACCEPT,    /* a server has dialled this one */
    INBOX_MESSAGE,
    INBOX_SEGMENT, /* a piece of the master's stream */
    INBOX_CLOSED,  /* the other side has ended the connection, or it broke */
    INBOX_PIPE     /* a portion of a snapshot's file */
};

/* Who waits for a request's reply. */
enum request_source { SOURCE_CLIENT, SOURCE_LOADER, SOURCE_TIMED };

struct connection;
struct repl_message;

struct inbox_item {
    ns_t arrival_ns;
    uint64_t first_arg; /* serial number in the ring of arguments; set by push */
    union {
        const struct command *command; /* REQUEST */
        struct connection *peer;       /* CONNECTED, ACCEPT, MESSAGE, SEGMENT, CLOSED */
        uint64_t child;                /* PIPE: which one; an older one's portions are void */
    };
    union {
        struct { /* REQUEST */
            uint32_t engine_client;
            uint32_t subject; /* which client, population or timed event */
            union {
                uint32_t connection; /* of that client; of a loader: 1 if the next key waits for
                                        the reply */
                uint32_t text_start; /* of a timed event: where the text of its reply begins */
            };
            uint32_t text_end;
        };
        struct repl_message *message; /* MESSAGE: owned by the record */
        uint64_t end_serial;          /* SEGMENT: records below this, from where the last ended */
        uint64_t bytes;               /* PIPE */
    };
    uint16_t argc;
    uint8_t kind;   /* enum inbox_kind */
    uint8_t source; /* enum request_source */
    bool nil;       /* it was answered nil */
    bool error;     /* it was answered by an error */
    bool hidden;    /* though the key was still there, past its deadline */
    bool waits;     /* its reply comes in a later turn */
    bool last;      /* PIPE: the file ends with it */
};

struct inbox {
    struct inbox_item *items;
    uint64_t item_capacity; /* a power of two, as is arg_capacity */
    uint64_t first, end;    /* serial numbers of the oldest record and of the next one */
    struct arg *args;
    uint64_t arg_capacity;
    uint64_t arg_first, arg_end;
};

void inbox_init(struct inbox *);
void inbox_release(struct inbox *);

static inline uint64_t inbox_count(const struct inbox *inbox) { return inbox->end - inbox->first; }

/* The i-th oldest record, valid until the next push. */
static inline struct inbox_item *inbox_at(const struct inbox *inbox, uint64_t i) {
    return &inbox->items[(inbox->first + i) & (inbox->item_capacity - 1)];
}
static inline const struct arg *inbox_argv(const struct inbox *inbox, const struct inbox_item *i) {
    return &inbox->args[i->first_arg & (inbox->arg_capacity - 1)];
}

/* Room for the arguments of the request that is pushed next; the caller fills them in. */
struct arg *inbox_reserve(struct inbox *, uint32_t argc);

/* Appends a record; one with argc > 0 takes the arguments reserved just before. */
void inbox_push(struct inbox *, const struct inbox_item *);

/* Forgets the `count` oldest records. */
void inbox_drop(struct inbox *, uint64_t count);
void inbox_check(const struct inbox *);

#endif
