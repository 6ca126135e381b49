/* live: a connection to a real server, for `lapse calibrate` and `lapse validate`. It reads before
 * it writes: a server that is loading, a replica, a cluster node, of an unknown version or with
 * data that is not to be touched is refused before anything was changed. What it changes
 * (directives, keys of its own) it puts back. A server that it started lives in a folder of its own
 * and ends with it. */
#ifndef LAPSE_SIM_LIVE_H
#define LAPSE_SIM_LIVE_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

#include "generation.h"

#define LIVE_SETTINGS_MAX 32
#define LIVE_PORT_FIRST   7880 /* of servers that are started: the first free one of these */
#define LIVE_PORT_LAST    7899

struct live_setting {
    char name[48], was[160];
};

struct live {
    redisContext *context;
    char host[128];
    int port;
    pid_t pid; /* of a server that was started here; 0: it was running */
    char folder[32];
    uint32_t db;
    const struct generation *generation;
    char version[32], allocator[48];
    uint64_t startup_bytes; /* used_memory_startup */
    struct live_setting settings[LIVE_SETTINGS_MAX];
    uint32_t setting_count;
    uint64_t commands; /* sent by us */
    char message[512]; /* what went wrong last */
};

/* Which server: `server` is HOST:PORT or HOST, or `start` the path of a redis-server to be started
 * with further `arguments` (ended by NULL, or NULL). `db`: the empty database to use; -1: number 0
 * of a server that has no data at all. */
struct live_order {
    const char *server, *start;
    const char *const *arguments;
    int db;
};

/* Connects and looks. False with a message; then nothing was written. Close in either case. */
bool live_open(struct live *, const struct live_order *);

/* Puts directives back; ends a server that was started and removes its folder. */
void live_close(struct live *);

/* One command, as hiredis formats it. NULL with a message when the connection broke or the server
 * answered with an error. */
redisReply *live_command(struct live *, const char *format, ...);
/* The same when only its success matters. */
bool live_do(struct live *, const char *format, ...);

/* Sends a ready made piece of RESP with `count` commands and reads their replies, all of which must
 * be no errors. */
bool live_exchange(struct live *, const char *bytes, size_t length, uint32_t count);

/* CONFIG SET, the old value kept for live_close. */
bool live_set(struct live *, const char *name, const char *value);
bool live_set_number(struct live *, const char *name, int64_t value);

/* INFO's text; freeReplyObject it. */
redisReply *live_info(struct live *);
/* The value of a field, or false. */
bool live_field(const char *info, const char *name, char *value, size_t size);
int64_t live_field_number(const char *info, const char *name, int64_t missing);
/* "39.31" as 39310. */
int64_t live_field_milli(const char *info, const char *name, int64_t missing);

/* Keys of the selected database; -1 with a message. */
int64_t live_dbsize(struct live *);

/* Commands that a connection had sent are carried out even after it was closed: what clears up must
 * look again. So often, so long apart. */
#define LIVE_CLEAR_TRIES    8
#define LIVE_CLEAR_PAUSE_NS (50 * NS_PER_MS)

/* CPU time that the server's main thread has used: from /proc for one that was started here, exact
 * to the nanosecond, else by INFO. -1 with a message. */
ns_t live_cpu_ns(struct live *);
/* How long the server that was started here was ready to work and had to wait for a CPU, as others
 * had it; -1: not known. A cycle's time limit goes on meanwhile. */
ns_t live_wait_ns(const struct live *);
/* How often the server that was started here went to sleep; -1: not known. */
int64_t live_sleeps(const struct live *);

/* CLOCK_MONOTONIC, and a pause. */
ns_t live_now_ns(void);
void live_pause_ns(ns_t);
int64_t live_wall_ms(void);
ns_t live_wall_ns(void);

/* live_start.c: starts a server on a free port of 127.0.0.1, in a new folder, without persistence.
 * It ends with us, whatever way. */
bool live_start(struct live *, const struct live_order *);
void live_stop(struct live *);

bool live_fail(struct live *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
