/* figures: what both sides are asked for at every step, as numbers: from the server's INFO and
 * DEBUG HTSTATS texts, and from the engine's own account. -1 stands for what the server does not
 * show: the size of a table without elements. */
#ifndef LAPSE_TESTS_FIGURES_H
#define LAPSE_TESTS_FIGURES_H

#include "bounds.h"
#include "engine.h"

/* X(field): one for the whole server. */
#define SERVER_FIGURES(X)                                                                          \
    X(turns)                                                                                       \
    X(clock_reads)                                                                                 \
    X(commands)                                                                                    \
    X(expired_keys)                                                                                \
    X(stale_hundredths) /* expired_stale_perc as printed, times 100 */                             \
    X(time_cap_reached)                                                                            \
    X(expire_cycle_ms)                                                                             \
    X(keyspace_hits)                                                                               \
    X(keyspace_misses)                                                                             \
    X(used_memory)                                                                                 \
    X(master_repl_offset)                                                                          \
    X(backlog_first_offset)                                                                        \
    X(backlog_histlen)                                                                             \
    X(replication_buffers)

/* X(field): one for each database. */
#define DB_FIGURES(X)                                                                              \
    X(keys)                                                                                        \
    X(expires)                                                                                     \
    X(avg_ttl_ms)                                                                                  \
    X(main_size_0)                                                                                 \
    X(main_used_0)                                                                                 \
    X(main_size_1)                                                                                 \
    X(main_used_1)                                                                                 \
    X(expires_size_0)                                                                              \
    X(expires_used_0)                                                                              \
    X(expires_size_1)                                                                              \
    X(expires_used_1)

enum server_figure {
#define X(name) FIGURE_##name,
    SERVER_FIGURES(X)
#undef X
        SERVER_FIGURE_COUNT
};

enum db_figure {
#define X(name) FIGURE_##name,
    DB_FIGURES(X)
#undef X
        DB_FIGURE_COUNT
};

struct figures {
    int64_t server[SERVER_FIGURE_COUNT];
    int64_t db[DATABASES_MAX][DB_FIGURE_COUNT];
};

extern const char *const server_figure_names[SERVER_FIGURE_COUNT];
extern const char *const db_figure_names[DB_FIGURE_COUNT];

/* Everything that INFO tells. */
void figures_read_info(struct figures *, const char *info);
/* The eight table figures of one database. */
void figures_read_htstats(struct figures *, uint8_t db, const char *htstats);
/* The same two from the engine, turns apart. */
void figures_of_engine(struct figures *, const struct engine *);
void figures_of_tables(struct figures *, uint8_t db, const struct engine *);

#endif
