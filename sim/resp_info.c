/* INFO and DEBUG HTSTATS. Names, order and formats are those of redis-server 7.0.15; fields that
 * the engine has no figure for are left out rather than invented. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "resp.h"

enum { LINE_MAX_BYTES = 256 };

__attribute__((format(printf, 2, 3))) static void info_print(struct resp_buffer *buffer,
                                                             const char *format, ...) {
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0 && (size_t)length < sizeof line);
    resp_append(buffer, line, (size_t)length);
}

static void info_number(struct resp_buffer *buffer, const char *field, int64_t number) {
    info_print(buffer, "%s:%" PRId64 "\r\n", field, number);
}

/* "965.02K". The division is by a power of two and so exact: only printf rounds, and it does so
 * alike everywhere as long as no locale is set, which lapse never does. */
static void info_human(struct resp_buffer *buffer, const char *field, int64_t bytes) {
    static const char units[] = {'K', 'M', 'G', 'T', 'P'};
    if (bytes < 1024) {
        info_print(buffer, "%s:%" PRId64 "B\r\n", field, bytes);
        return;
    }
    size_t unit = 0;
    int64_t size = 1024;
    while (unit + 1 < sizeof units && bytes >= size * 1024) size *= 1024, unit++;
    info_print(buffer, "%s:%.2f%c\r\n", field, (double)bytes / (double)size, units[unit]);
}

/* ---- sections ---- */

static void info_server(struct resp_buffer *buffer, const struct engine *engine) {
    info_number(buffer, "hz", engine_stats(engine).hz);
    info_number(buffer, "configured_hz", engine_config(engine)->hz);
}

static void info_clients(struct resp_buffer *buffer, const struct engine *engine) {
    info_number(buffer, "connected_clients", engine_stats(engine).connected_clients);
}

/* What replicas' buffers take beyond the backlog counts as theirs, if there are replicas (7.0
 * server.c getMemoryOverheadData; engine facts 10.6). */
static int64_t replica_bytes(const struct engine_stats *stats) {
    if (stats->connected_replicas == 0 || stats->repl_buffer_bytes <= stats->backlog_size_bytes)
        return 0;
    return (int64_t)(stats->repl_buffer_bytes - stats->backlog_size_bytes);
}

static void info_memory(struct resp_buffer *buffer, const struct engine *engine) {
    struct engine_stats stats = engine_stats(engine);
    info_number(buffer, "used_memory", stats.used_memory_bytes);
    info_human(buffer, "used_memory_human", stats.used_memory_bytes);
    info_number(buffer, "used_memory_peak", stats.used_memory_peak_bytes);
    info_human(buffer, "used_memory_peak_human", stats.used_memory_peak_bytes);
    info_number(buffer, "used_memory_startup", (int64_t)engine_config(engine)->startup_bytes);
    info_number(buffer, "mem_total_replication_buffers", (int64_t)stats.repl_buffer_bytes);
    info_number(buffer, "mem_clients_slaves", replica_bytes(&stats));
}

static void info_stats(struct resp_buffer *buffer, const struct engine *engine) {
    struct engine_stats stats = engine_stats(engine);
    info_number(buffer, "total_commands_processed", (int64_t)stats.commands_processed);
    info_number(buffer, "expired_keys", (int64_t)stats.expired_keys);
    info_print(buffer, "expired_stale_perc:%.2f\r\n", stats.expired_stale_perc);
    info_number(buffer, "expired_time_cap_reached_count",
                (int64_t)stats.expired_time_cap_reached_count);
    info_number(buffer, "expire_cycle_cpu_milliseconds", stats.expire_cycle_us / US_PER_MS);
    info_number(buffer, "keyspace_hits", (int64_t)stats.keyspace_hits);
    info_number(buffer, "keyspace_misses", (int64_t)stats.keyspace_misses);
}

static void info_replication(struct resp_buffer *buffer, const struct engine *engine) {
    struct engine_stats stats = engine_stats(engine);
    info_print(buffer, "role:%s\r\n", stats.is_replica ? "slave" : "master");
    if (stats.is_replica) info_number(buffer, "slave_repl_offset", stats.master_repl_offset);
    info_number(buffer, "connected_slaves", stats.connected_replicas);
    info_number(buffer, "master_repl_offset", stats.master_repl_offset);
    info_number(buffer, "repl_backlog_active", stats.backlog_active);
    info_number(buffer, "repl_backlog_size", (int64_t)stats.backlog_size_bytes);
    info_number(buffer, "repl_backlog_first_byte_offset",
                stats.backlog_active ? stats.backlog_first_offset : 0);
    info_number(buffer, "repl_backlog_histlen",
                stats.backlog_active ? (int64_t)stats.backlog_histlen_bytes : 0);
}

static void info_keyspace(struct resp_buffer *buffer, const struct engine *engine) {
    for (int64_t db = 0; db < engine_config(engine)->databases; db++) {
        struct engine_db_stats stats = engine_db_stats(engine, (uint8_t)db);
        if (stats.keys == 0 && stats.expires == 0) continue;
        info_print(buffer,
                   "db%" PRId64 ":keys=%" PRIu64 ",expires=%" PRIu64 ",avg_ttl=%" PRId64 "\r\n", db,
                   stats.keys, stats.expires, stats.avg_ttl_ms);
    }
}

static const struct {
    const char *name;
    void (*print)(struct resp_buffer *, const struct engine *);
} sections[] = {
    {"Server", info_server}, {"Clients", info_clients},         {"Memory", info_memory},
    {"Stats", info_stats},   {"Replication", info_replication}, {"Keyspace", info_keyspace},
};

static char lower(char c) { return 'A' <= c && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_word(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return *a == *b;
}

static bool section_wanted(const char *section, const char *name) {
    return !section || same_word(section, name) || same_word(section, "default") ||
           same_word(section, "all") || same_word(section, "everything");
}

void resp_print_info(struct resp_buffer *buffer, const struct engine *engine, const char *section) {
    bool first = true;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!section_wanted(section, sections[i].name)) continue;
        info_print(buffer, "%s# %s\r\n", first ? "" : "\r\n", sections[i].name);
        sections[i].print(buffer, engine);
        first = false;
    }
}

/* ---- DEBUG HTSTATS ---- */

/* A table without elements hides its size, as the server's does (engine facts 11.3). */
static void htstats_table(struct resp_buffer *buffer, int table, uint64_t size, uint64_t used) {
    info_print(buffer, "Hash table %d stats (%s):\n", table,
               table == 0 ? "main hash table" : "rehashing target");
    if (used == 0)
        info_print(buffer, "No stats available for empty dictionaries\n");
    else
        info_print(buffer, " table size: %" PRIu64 "\n number of elements: %" PRIu64 "\n", size,
                   used);
}

static void htstats_dict(struct resp_buffer *buffer, const char *title, const uint64_t size[2],
                         const uint64_t used[2], int64_t rehash_index) {
    info_print(buffer, "[%s]\n", title);
    htstats_table(buffer, 0, size[0], used[0]);
    if (rehash_index >= 0) htstats_table(buffer, 1, size[1], used[1]);
}

void resp_print_htstats(struct resp_buffer *buffer, const struct engine *engine, uint8_t db) {
    struct engine_db_stats stats = engine_db_stats(engine, db);
    htstats_dict(buffer, "Dictionary HT", stats.main_size, stats.main_used,
                 stats.main_rehash_index);
    htstats_dict(buffer, "Expires HT", stats.expires_size, stats.expires_used,
                 stats.expires_rehash_index);
}
