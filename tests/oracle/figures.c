#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const server_figure_names[SERVER_FIGURE_COUNT] = {
#define X(name) #name,
    SERVER_FIGURES(X)
#undef X
};

const char *const db_figure_names[DB_FIGURE_COUNT] = {
#define X(name) #name,
    DB_FIGURES(X)
#undef X
};

#define HIDDEN (-1)

/* --- INFO --- */

/* The text after "name:" at the start of a line, or "0". */
static const char *field(const char *info, const char *name) {
    size_t length = strlen(name);
    for (const char *line = info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') return line + length + 1;
    }
    return "0";
}

static int64_t number(const char *info, const char *name) {
    return strtoll(field(info, name), NULL, 10);
}

/* "12.34" as 1234: two digits always follow the point. */
static int64_t hundredths(const char *text) {
    char *point;
    int64_t whole = strtoll(text, &point, 10);
    return whole * 100 + (*point == '.' ? strtoll(point + 1, NULL, 10) : 0);
}

static void read_keyspace(struct figures *f, const char *info, int id) {
    char name[8];
    long long keys = 0, expires = 0, avg_ttl_ms = 0;
    snprintf(name, sizeof name, "db%d", id);
    sscanf(field(info, name), "keys=%lld,expires=%lld,avg_ttl=%lld", &keys, &expires, &avg_ttl_ms);
    f->db[id][FIGURE_keys] = keys;
    f->db[id][FIGURE_expires] = expires;
    f->db[id][FIGURE_avg_ttl_ms] = avg_ttl_ms;
}

void figures_read_info(struct figures *f, const char *info) {
    f->server[FIGURE_commands] = number(info, "total_commands_processed");
    f->server[FIGURE_expired_keys] = number(info, "expired_keys");
    f->server[FIGURE_stale_hundredths] = hundredths(field(info, "expired_stale_perc"));
    f->server[FIGURE_time_cap_reached] = number(info, "expired_time_cap_reached_count");
    f->server[FIGURE_expire_cycle_ms] = number(info, "expire_cycle_cpu_milliseconds");
    f->server[FIGURE_keyspace_hits] = number(info, "keyspace_hits");
    f->server[FIGURE_keyspace_misses] = number(info, "keyspace_misses");
    f->server[FIGURE_used_memory] = number(info, "used_memory");
    f->server[FIGURE_master_repl_offset] = number(info, "master_repl_offset");
    f->server[FIGURE_backlog_first_offset] = number(info, "repl_backlog_first_byte_offset");
    f->server[FIGURE_backlog_histlen] = number(info, "repl_backlog_histlen");
    f->server[FIGURE_replication_buffers] = number(info, "mem_total_replication_buffers");
    for (int id = 0; id < DATABASES_MAX; id++) read_keyspace(f, info, id);
}

/* --- DEBUG HTSTATS --- */

/* The number after `label` within [text, end), or HIDDEN. */
static int64_t labelled(const char *text, const char *end, const char *label) {
    const char *at = strstr(text, label);
    return at && at < end ? strtoll(at + strlen(label), NULL, 10) : HIDDEN;
}

static void read_table(int64_t *size, int64_t *used, const char *text, const char *end) {
    *size = labelled(text, end, "table size: ");
    *used = labelled(text, end, "number of elements: ");
    if (*used == HIDDEN) *used = 0;
}

/* One dict's part of the text: table 0, then table 1 if it is rehashing. */
static void read_dict(int64_t *out, const char *text, const char *end) {
    const char *second = strstr(text, "Hash table 1 ");
    if (!second || second > end) second = end;
    read_table(&out[0], &out[1], text, second);
    read_table(&out[2], &out[3], second, end);
}

void figures_read_htstats(struct figures *f, uint8_t db, const char *htstats) {
    const char *expires = strstr(htstats, "[Expires HT]");
    ASSERT(expires);
    read_dict(&f->db[db][FIGURE_main_size_0], htstats, expires);
    read_dict(&f->db[db][FIGURE_expires_size_0], expires, expires + strlen(expires));
}

/* --- the engine --- */

static void of_table(int64_t *out, uint64_t size, uint64_t used) {
    out[0] = used ? (int64_t)size : HIDDEN;
    out[1] = (int64_t)used;
}

void figures_of_tables(struct figures *f, uint8_t id, const struct engine *engine) {
    struct engine_db_stats db = engine_db_stats(engine, id);
    int64_t *out = f->db[id];
    for (int t = 0; t < 2; t++) {
        of_table(&out[FIGURE_main_size_0 + 2 * t], db.main_size[t], db.main_used[t]);
        of_table(&out[FIGURE_expires_size_0 + 2 * t], db.expires_size[t], db.expires_used[t]);
    }
}

static void of_keyspace(struct figures *f, uint8_t id, const struct engine *engine) {
    struct engine_db_stats db = engine_db_stats(engine, id);
    f->db[id][FIGURE_keys] = (int64_t)db.keys;
    f->db[id][FIGURE_expires] = (int64_t)db.expires;
    f->db[id][FIGURE_avg_ttl_ms] = db.keys ? db.avg_ttl_ms : 0; /* without keys INFO has no line */
}

/* INFO prints two decimals; the same conversion keeps the same rounding. */
static int64_t printed_hundredths(double percent) {
    char text[64];
    snprintf(text, sizeof text, "%.2f", percent);
    return hundredths(text);
}

void figures_of_engine(struct figures *f, const struct engine *engine) {
    struct engine_stats s = engine_stats(engine);
    f->server[FIGURE_clock_reads] = (int64_t)s.clock_reads;
    f->server[FIGURE_commands] = (int64_t)s.commands_processed;
    f->server[FIGURE_expired_keys] = (int64_t)s.expired_keys;
    f->server[FIGURE_stale_hundredths] = printed_hundredths(s.expired_stale_perc);
    f->server[FIGURE_time_cap_reached] = (int64_t)s.expired_time_cap_reached_count;
    f->server[FIGURE_expire_cycle_ms] = s.expire_cycle_us / 1000;
    f->server[FIGURE_keyspace_hits] = (int64_t)s.keyspace_hits;
    f->server[FIGURE_keyspace_misses] = (int64_t)s.keyspace_misses;
    f->server[FIGURE_used_memory] = s.used_memory_bytes;
    f->server[FIGURE_master_repl_offset] = s.master_repl_offset;
    f->server[FIGURE_backlog_first_offset] = s.backlog_active ? s.backlog_first_offset : 0;
    f->server[FIGURE_backlog_histlen] = (int64_t)s.backlog_histlen_bytes;
    f->server[FIGURE_replication_buffers] = (int64_t)s.repl_buffer_bytes;
    for (uint8_t id = 0; id < DATABASES_MAX; id++) of_keyspace(f, id, engine);
}
