#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin_state.h"

const char *const standin_figure_names[STANDIN_FIGURE_COUNT] = {
#define X(name) #name,
    STANDIN_FIGURES(X)
#undef X
};

/* Those of them that are plain numbers of INFO, and their names there. */
static const struct {
    enum standin_figure figure;
    const char *field;
} plain[] = {
    {STANDIN_offset, "master_repl_offset"},
    {STANDIN_second_offset, "second_repl_offset"},
    {STANDIN_backlog_active, "repl_backlog_active"},
    {STANDIN_backlog_size, "repl_backlog_size"},
    {STANDIN_first_byte, "repl_backlog_first_byte_offset"},
    {STANDIN_histlen, "repl_backlog_histlen"},
    {STANDIN_buffers, "mem_total_replication_buffers"},
    {STANDIN_sync_full, "sync_full"},
    {STANDIN_sync_partial_ok, "sync_partial_ok"},
    {STANDIN_sync_partial_err, "sync_partial_err"},
    {STANDIN_replicas, "connected_slaves"},
    {STANDIN_good_replicas, "min_slaves_good_slaves"},
    {STANDIN_expired_keys, "expired_keys"},
};

/* The text after "\nname:", or NULL. */
static const char *field(const char *info, const char *name) {
    char line[64];
    snprintf(line, sizeof line, "\n%s:", name);
    const char *at = strstr(info, line);
    return at ? at + strlen(line) : NULL;
}

static int64_t number(const char *info, const char *name) {
    const char *at = field(info, name);
    return at ? strtoll(at, NULL, 10) : -1;
}

/* Over all databases: dbN:keys=..., */
static int64_t keys_of(const char *info) {
    int64_t keys = 0;
    for (const char *at = info; (at = strstr(at, ":keys=")); at++)
        keys += strtoll(at + strlen(":keys="), NULL, 10);
    return keys;
}

static const char *ask_info(struct standins *s) {
    static const char *const info[] = {"INFO"};
    return oracle_ask(s->ls->oracle, s->ls->asker.link, 1, info);
}

int64_t standins_bytes_written(struct standins *s) {
    int64_t bytes = number(ask_info(s), "total_net_repl_output_bytes");
    lockstep_engine_info(s->ls);
    return bytes;
}

static void look_at_server(struct standins *s) {
    const char *info = ask_info(s);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        s->server_seen[plain[i].figure] = number(info, plain[i].field);
    s->server_seen[STANDIN_keys] = keys_of(info);
    s->server_seen[STANDIN_id] = repl_ids_of_server(&s->ids, field(info, "master_replid"));
    s->server_seen[STANDIN_id2] = repl_ids_of_server(&s->ids, field(info, "master_replid2"));
}

static void look_at_engine(struct standins *s) {
    struct engine_stats e = engine_stats(s->ls->engine);
    bool tells_good = s->server_seen[STANDIN_good_replicas] >= 0;
    int64_t seen[STANDIN_FIGURE_COUNT] = {
        [STANDIN_id] = repl_ids_of_engine(&s->ids, e.replid),
        [STANDIN_id2] = repl_ids_of_engine(&s->ids, e.replid2),
        [STANDIN_offset] = e.master_repl_offset,
        [STANDIN_second_offset] = e.second_repl_offset,
        [STANDIN_backlog_active] = e.backlog_active,
        [STANDIN_backlog_size] = (int64_t)e.backlog_size_bytes,
        [STANDIN_first_byte] = e.backlog_active ? e.backlog_first_offset : 0,
        [STANDIN_histlen] = (int64_t)e.backlog_histlen_bytes,
        [STANDIN_buffers] = (int64_t)e.repl_buffer_bytes,
        [STANDIN_sync_full] = (int64_t)e.sync_full,
        [STANDIN_sync_partial_ok] = (int64_t)e.sync_partial_ok,
        [STANDIN_sync_partial_err] = (int64_t)e.sync_partial_err,
        [STANDIN_replicas] = e.connected_replicas,
        [STANDIN_good_replicas] = tells_good ? (int64_t)e.good_replicas : -1,
        [STANDIN_expired_keys] = (int64_t)e.expired_keys,
        [STANDIN_keys] = (int64_t)e.keys,
    };
    memcpy(s->engine_seen, seen, sizeof seen);
}

void standins_look(struct standins *s) {
    look_at_server(s);
    lockstep_engine_info(s->ls);
    look_at_engine(s);
}
