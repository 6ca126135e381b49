#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORT_DEFAULT      6379
#define CONNECT_TIMEOUT_S 2
#define REPLY_TIMEOUT_S   20

bool live_fail(struct live *live, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(live->message, sizeof(live->message), format, list);
    va_end(list);
    return false;
}

/* ---- time ----------------------------------------------------------------------------------- */

static ns_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

ns_t live_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

ns_t live_wall_ns(void) { return clock_ns(CLOCK_REALTIME); }

int64_t live_wall_ms(void) { return live_wall_ns() / NS_PER_MS; }

void live_pause_ns(ns_t ns) {
    if (ns <= 0) return;
    struct timespec span = {ns / NS_PER_S, ns % NS_PER_S};
    nanosleep(&span, NULL); /* a signal ends it early, as it should */
}

/* ---- commands ------------------------------------------------------------------------------- */

static bool fail_broken(struct live *live) {
    const redisContext *c = live->context;
    const char *why = c->errstr[0] ? c->errstr : strerror(errno);
    if (c->err == REDIS_ERR_IO && errno == EAGAIN) why = "no answer within 20 s";
    return live_fail(live, "%s:%d: %s", live->host, live->port, why);
}

static bool fail_refused(struct live *live, const redisReply *reply) {
    return live_fail(live, "%s:%d: %.300s", live->host, live->port, reply->str);
}

static redisReply *command_list(struct live *live, const char *format, va_list list) {
    redisReply *reply = redisvCommand(live->context, format, list);
    live->commands++;
    if (!reply) {
        fail_broken(live);
        return NULL;
    }
    if (reply->type != REDIS_REPLY_ERROR) return reply;
    fail_refused(live, reply);
    freeReplyObject(reply);
    return NULL;
}

redisReply *live_command(struct live *live, const char *format, ...) {
    va_list list;
    va_start(list, format);
    redisReply *reply = command_list(live, format, list);
    va_end(list);
    return reply;
}

bool live_do(struct live *live, const char *format, ...) {
    va_list list;
    va_start(list, format);
    redisReply *reply = command_list(live, format, list);
    va_end(list);
    if (reply) freeReplyObject(reply);
    return reply != NULL;
}

bool live_exchange(struct live *live, const char *bytes, size_t length, uint32_t count) {
    bool fine = true;
    if (redisAppendFormattedCommand(live->context, bytes, length) != REDIS_OK)
        return fail_broken(live);
    live->commands += count;
    for (uint32_t i = 0; i < count; i++) {
        void *reply = NULL;
        if (redisGetReply(live->context, &reply) != REDIS_OK) return fail_broken(live);
        const redisReply *r = reply;
        if (r->type == REDIS_REPLY_ERROR) fine = fail_refused(live, r);
        freeReplyObject(reply);
    }
    return fine;
}

/* ---- INFO ----------------------------------------------------------------------------------- */

redisReply *live_info(struct live *live) {
    redisReply *reply = live_command(live, "INFO");
    if (!reply || reply->type == REDIS_REPLY_STRING) return reply;
    freeReplyObject(reply);
    live_fail(live, "%s:%d: INFO was not answered with text: no Redis server", live->host,
              live->port);
    return NULL;
}

bool live_field(const char *info, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *line = info; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ':') continue;
        line += length + 1;
        snprintf(value, size, "%.*s", (int)strcspn(line, "\r\n"), line);
        return true;
    }
    return false;
}

int64_t live_field_number(const char *info, const char *name, int64_t missing) {
    char value[64];
    return live_field(info, name, value, sizeof(value)) ? strtoll(value, NULL, 10) : missing;
}

/* Digits after the point, as thousandths; further ones are cut. */
static int64_t milli_of(const char *text) {
    char *end;
    int64_t whole = strtoll(text, &end, 10) * 1000, unit = 100;
    if (*end != '.') return whole;
    for (end++; *end >= '0' && *end <= '9' && unit > 0; end++, unit /= 10)
        whole += (*end - '0') * unit;
    return whole;
}

int64_t live_field_milli(const char *info, const char *name, int64_t missing) {
    char value[64];
    return live_field(info, name, value, sizeof(value)) ? milli_of(value) : missing;
}

int64_t live_dbsize(struct live *live) {
    redisReply *reply = live_command(live, "DBSIZE");
    int64_t size = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    if (reply) freeReplyObject(reply);
    return size;
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* Fields whose value, when it is `value`, is a reason to leave the server alone. */
static const struct refusal {
    const char *field, *value, *why;
} refusals[] = {
    {"redis_mode", "sentinel", "is a sentinel; expected a server with keys"},
    {"redis_mode", "cluster", "is a cluster node; lapse has no cluster mode"},
    {"cluster_enabled", "1", "is a cluster node; lapse has no cluster mode"},
    {"loading", "1", "is loading its data; wait until it has"},
    {"async_loading", "1", "is loading its data; wait until it has"},
    {"role", "slave", "is a replica; expected a master"},
};

/* The same, for what our keys and their costs could do to others on a server that was running. */
static const struct refusal foreign[] = {
    {"aof_enabled", "1", "writes an append-only file, which would be in the figures"},
    {"rdb_bgsave_in_progress", "1", "is saving; wait until it has"},
};

static bool check_list(struct live *live, const char *info, const struct refusal *list, size_t n) {
    char value[128];
    for (size_t i = 0; i < n; i++)
        if (live_field(info, list[i].field, value, sizeof(value)) &&
            strcmp(value, list[i].value) == 0)
            return live_fail(live, "%s:%d %s", live->host, live->port, list[i].why);
    return true;
}

static bool check_foreign(struct live *live, const char *info) {
    if (!check_list(live, info, foreign, sizeof(foreign) / sizeof(*foreign))) return false;
    if (live_field_number(info, "connected_slaves", 0) > 0)
        return live_fail(live, "%s:%d has replicas, which would get our keys", live->host,
                         live->port);
    if (live_field_number(info, "maxmemory", 0) > 0)
        return live_fail(live, "%s:%d has maxmemory set: our keys could evict others", live->host,
                         live->port);
    return true;
}

/* "7.0" of "7.0.15" names a generation: the first of that name, if no other is of this very
 * release.
 */
static void choose_generation(struct live *live, const struct generation *generation,
                              size_t length) {
    bool is_same = strcmp(live->version, generation->version) == 0;
    bool is_akin = strncmp(live->version, generation->version, length) == 0;
    if (is_same || (is_akin && !live->generation)) live->generation = generation;
}

static bool check_version(struct live *live, const char *info) {
    char known[256] = "", other[64];
    if (!live_field(info, "redis_version", live->version, sizeof(live->version)))
        return live_fail(live, "%s:%d says no redis_version: no Redis server", live->host,
                         live->port);
    if (live_field(info, "server_name", other, sizeof(other)) && strcmp(other, "redis") != 0)
        return live_fail(live, "%s:%d is %s, which lapse does not know", live->host, live->port,
                         other);
    for (size_t i = 0; generation_at(i); i++) {
        const char *version = generation_at(i)->version;
        size_t length = (size_t)(strrchr(version, '.') - version) + 1, used = strlen(known);
        choose_generation(live, generation_at(i), length);
        if (i && strncmp(generation_at(i - 1)->version, version, length) == 0) continue;
        snprintf(known + used, sizeof(known) - used, "%s%.*s", i ? ", " : "", (int)length - 1,
                 version);
    }
    if (live->generation) return true;
    return live_fail(live, "%s:%d runs version %s; expected one of %s", live->host, live->port,
                     live->version, known);
}

/* "db3:keys=5,..." for the database we want, or for any when none was named. */
static bool check_keyspace(struct live *live, const char *info, int db) {
    const char *section = strstr(info, "# Keyspace");
    char name[16], value[64];
    live->db = db < 0 ? 0 : (uint32_t)db;
    if (db < 0 && section && strstr(section, "\ndb"))
        return live_fail(live, "%s:%d has data; say with --db which empty database to use",
                         live->host, live->port);
    snprintf(name, sizeof(name), "db%" PRIu32, live->db);
    if (live_field(info, name, value, sizeof(value)))
        return live_fail(live, "%s:%d has data in database %" PRIu32 "; expected an empty one",
                         live->host, live->port, live->db);
    return true;
}

static bool check(struct live *live, int db) {
    redisReply *reply = live_info(live);
    if (!reply) return false;
    const char *info = reply->str;
    bool fine = check_list(live, info, refusals, sizeof(refusals) / sizeof(*refusals)) &&
                check_version(live, info) && check_keyspace(live, info, db);
    if (fine && !live->pid) fine = check_foreign(live, info);
    live_field(info, "mem_allocator", live->allocator, sizeof(live->allocator));
    live->startup_bytes = (uint64_t)live_field_number(info, "used_memory_startup", 0);
    freeReplyObject(reply);
    return fine && (live->db == 0 || live_do(live, "SELECT %d", (int)live->db));
}

/* ---- opening and closing -------------------------------------------------------------------- */

static bool parse_address(struct live *live, const char *text) {
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    live->port = colon ? (int)strtol(colon + 1, &end, 10) : PORT_DEFAULT;
    bool number = !colon || (end != colon + 1 && !*end && live->port > 0 && live->port < 65536);
    if (!number || length == 0 || length >= sizeof(live->host))
        return live_fail(live, "'%.100s' is no HOST:PORT", text);
    snprintf(live->host, sizeof(live->host), "%.*s", (int)length, text);
    return true;
}

static bool connect_to(struct live *live) {
    struct timeval limit = {CONNECT_TIMEOUT_S, 0}, patience = {REPLY_TIMEOUT_S, 0};
    live->context = redisConnectWithTimeout(live->host, live->port, limit);
    ASSERT(live->context);
    if (live->context->err)
        return live_fail(live, "%s:%d: cannot connect: %s", live->host, live->port,
                         live->context->errstr);
    redisSetTimeout(live->context, patience);
    return true;
}

bool live_open(struct live *live, const struct live_order *order) {
    *live = (struct live){0};
    if (order->start && !live_start(live, order)) return false;
    if (!order->start && !parse_address(live, order->server)) return false;
    if (!connect_to(live)) return false;
    if (check(live, order->db)) return true;
    if (strstr(live->message, "NOAUTH") || strstr(live->message, "NOPERM"))
        live_fail(live, "%s:%d needs a password, and lapse has none to give", live->host,
                  live->port);
    return false;
}

void live_close(struct live *live) {
    while (live->setting_count > 0 && live->context && !live->context->err) {
        const struct live_setting *s = &live->settings[--live->setting_count];
        live_do(live, "CONFIG SET %s %s", s->name, s->was);
    }
    if (live->context) redisFree(live->context);
    live->context = NULL;
    live_stop(live);
}

/* ---- directives ----------------------------------------------------------------------------- */

static bool setting_keep(struct live *live, const char *name) {
    for (uint32_t i = 0; i < live->setting_count; i++)
        if (strcmp(live->settings[i].name, name) == 0) return true;
    redisReply *reply = live_command(live, "CONFIG GET %s", name);
    if (!reply) return false;
    bool known = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
    ASSERT(live->setting_count < LIVE_SETTINGS_MAX);
    struct live_setting *s = &live->settings[live->setting_count];
    if (known) {
        snprintf(s->name, sizeof(s->name), "%s", name);
        snprintf(s->was, sizeof(s->was), "%s", reply->element[1]->str);
        live->setting_count++;
    }
    freeReplyObject(reply);
    return known || live_fail(live, "%s:%d has no directive %s", live->host, live->port, name);
}

bool live_set(struct live *live, const char *name, const char *value) {
    return setting_keep(live, name) && live_do(live, "CONFIG SET %s %s", name, value);
}

bool live_set_number(struct live *live, const char *name, int64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    return live_set(live, name, text);
}

/* ---- CPU time ------------------------------------------------------------------------------- */

static bool proc_read(const struct live *live, const char *file, char *text, size_t size) {
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)live->pid, (int)live->pid, file);
    FILE *stream = live->pid ? fopen(path, "r") : NULL;
    size_t got = stream ? fread(text, 1, size - 1, stream) : 0;
    text[got] = '\0';
    if (stream) fclose(stream);
    return got > 0;
}

static ns_t cpu_by_info(struct live *live) {
    static const char *const fields[2][2] = {
        {"used_cpu_user_main_thread", "used_cpu_sys_main_thread"},
        {"used_cpu_user", "used_cpu_sys"}}; /* before 6.2 */
    redisReply *reply = live_command(live, "INFO CPU");
    if (!reply) return -1;
    char value[2][64];
    ns_t sum = -1;
    for (int row = 0; row < 2 && sum < 0; row++) {
        if (!live_field(reply->str, fields[row][0], value[0], sizeof(value[0])) ||
            !live_field(reply->str, fields[row][1], value[1], sizeof(value[1])))
            continue;
        sum = (ns_t)((strtod(value[0], NULL) + strtod(value[1], NULL)) * 1e9);
    }
    freeReplyObject(reply);
    if (sum < 0) live_fail(live, "%s:%d: INFO says no CPU time", live->host, live->port);
    return sum;
}

ns_t live_cpu_ns(struct live *live) {
    char text[128];
    if (proc_read(live, "schedstat", text, sizeof(text))) return strtoll(text, NULL, 10);
    return cpu_by_info(live);
}

ns_t live_wait_ns(const struct live *live) {
    char text[128], *end;
    if (!proc_read(live, "schedstat", text, sizeof(text))) return -1;
    strtoll(text, &end, 10);
    return strtoll(end, NULL, 10);
}

int64_t live_sleeps(const struct live *live) {
    char text[4096];
    if (!proc_read(live, "status", text, sizeof(text))) return -1;
    return live_field_number(text, "voluntary_ctxt_switches", -1);
}
