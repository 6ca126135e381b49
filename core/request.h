/* request: a command and its arguments as plain data. No pointer inside, so a request may be
 * queued, copied into the replication stream and kept; what an id means is known by `keys` and
 * `texts`, shared by all servers of a run. */
#ifndef LAPSE_CORE_REQUEST_H
#define LAPSE_CORE_REQUEST_H

#include "base.h"
#include "keys.h"
#include "texts.h"

enum arg_kind {
    ARG_TEXT,   /* a literal word: id is its text_id */
    ARG_KEY,    /* a key: id is its key_id */
    ARG_NUMBER, /* an integer, written in decimal */
    ARG_FILL,   /* a payload of `length` bytes without content; written as that many 'x' */
};

struct arg {
    uint8_t kind;    /* enum arg_kind */
    uint32_t length; /* bytes it takes on the wire, framing apart */
    union {
        uint32_t id;
        int64_t number;
    };
};

static inline struct arg arg_word(const struct texts *texts, text_id id) {
    return (struct arg){.kind = ARG_TEXT, .length = texts_length(texts, id), .id = id};
}
static inline struct arg arg_key(const struct keys *keys, key_id id) {
    return (struct arg){.kind = ARG_KEY, .length = keys_length(keys, id), .id = id};
}
static inline struct arg arg_number(int64_t number) {
    return (struct arg){.kind = ARG_NUMBER, .length = decimal_length(number), .number = number};
}
static inline struct arg arg_fill(uint32_t length) {
    return (struct arg){.kind = ARG_FILL, .length = length};
}

struct command; /* command.h */

/* One command as a client sends it or the stream carries it. argv[0] is the word as typed;
 * `command` is NULL when the server does not know it. argv belongs to the caller and is read only
 * during the call. */
struct request {
    const struct command *command;
    const struct arg *argv;
    uint32_t argc;
};

/* Bytes of the command as a RESP array of bulk strings: what a replication offset advances by. */
uint32_t request_resp_bytes(const struct arg *argv, uint32_t argc);

#endif
