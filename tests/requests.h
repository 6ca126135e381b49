/* requests: an engine spoken to in lines of text. A line such as "SET foo bar EX 10" becomes a
 * request, what the engine answers becomes text, and what it feeds to its replicas becomes lines
 * and RESP bytes, each command checked against the length that the engine says it has.
 * Words are separated by blanks; 'single quotes' keep blanks and make an empty word; ~100 is a
 * payload of 100 bytes. Words at a command's key positions are keys, the rest are texts, or, after
 * rig.numbers was set, numbers where they read as one. The engine costs no time: the clock moves by
 * rig_advance alone, and deadlines can be given to the millisecond. */
#ifndef LAPSE_TESTS_REQUESTS_H
#define LAPSE_TESTS_REQUESTS_H

#include "engine.h"
#include "support.h"
#include "texts.h"

#define RIG_WORDS_MAX 64
#define RIG_KEYS_MAX  16384
#define RIG_TEXT_MAX  (1 << 16)
#define RIG_WALL_MS   INT64_C(1700000000000) /* when the clock starts */

struct rig {
    struct texts *texts;
    struct keys *keys;
    char *key_names[RIG_KEYS_MAX + 1]; /* by key_id */
    struct sink sink;
    struct engine_env env;
    struct engine_config config; /* change it, and env, before rig_start */
    struct engine *engine;
    uint32_t client;
    bool numbers;
    struct instant now;
    char reply[RIG_TEXT_MAX];  /* of the last command; "" if there was none */
    char stream[RIG_TEXT_MAX]; /* since the last rig_stream: "SELECT 0; SET foo bar" */
    char taken[RIG_TEXT_MAX];  /* what rig_stream returned */
    char resp[RIG_TEXT_MAX];   /* the same as RESP bytes */
    size_t resp_bytes;
    uint64_t stream_expiries; /* commands fed that delete an expired key, since the start */
    int64_t stream_offset;    /* end_offset of the last command fed */
    int64_t volatile_keys;    /* deadline_added minus deadline_removed */
    uint64_t expired_lazily;
    ms_t last_late_ms;
    int64_t acknowledged; /* the last offset a replica told; -1 */
    int64_t received;     /* bytes of the stream that rig_receive has handed over */
};

/* "redis-7.0" or "redis-5.0". */
void rig_init(struct rig *, const char *generation);
void rig_start(struct rig *);
void rig_attach_replica(struct rig *); /* from here on there is a stream */
void rig_stop(struct rig *);           /* checks the engine's structures on the way */

/* The id of that name, new or known; and back. */
key_id rig_key(struct rig *, const char *name);

/* Reads a line into argv; the request points to it. */
struct request rig_request(struct rig *, const char *line, struct arg argv[RIG_WORDS_MAX]);

/* Executes the line in a turn of its own; returns the reply: "+OK", "-ERR ...", ":1", "$bar",
 * "(nil)", "[$a, $b]". */
const char *rig_do(struct rig *, const char *line);
const char *rig_do_as(struct rig *, uint32_t client, const char *line);

/* The commands fed since the last call, "" if none. */
const char *rig_stream(struct rig *);

/* On a replica: one command of its master's stream. */
void rig_receive(struct rig *, const char *line);

void rig_advance(struct rig *, ms_t);
ms_t rig_now_ms(const struct rig *);

/* One line and what must come back, and the bytes it puts into the stream; NULL: any. */
struct exchange {
    const char *line, *reply;
};
void rig_converse(struct rig *, const struct exchange *, size_t count);
#define RIG_CONVERSE(rig, table) rig_converse(rig, table, sizeof(table) / sizeof *(table))

struct feeding {
    const char *line, *reply, *stream;
};
void rig_feed(struct rig *, const struct feeding *, size_t count);
#define RIG_FEED(rig, table) rig_feed(rig, table, sizeof(table) / sizeof *(table))

#endif
