/* population: which keys exist, of what size and TTL. A population is enumerated, never stored:
 * item i of a population is the same whenever it is asked for, as its draws come from a stream
 * forked by its name and are made in order. */
#ifndef LAPSE_SIM_POPULATION_H
#define LAPSE_SIM_POPULATION_H

#include "scenario.h"

struct population {
    const struct population_config *config;
    struct names *names;
    key_id first_key; /* ids first_key .. first_key + count - 1, in order (CSV: registered row by
                         row) */
    uint32_t count;
    struct rng rng;        /* for values and TTLs of the load, drawn in order of items */
    struct csv_rows *rows; /* when it comes from a file */
};

struct population_item {
    key_id key;
    uint8_t db;
    struct object value;
    ms_t ttl_ms; /* relative, jitter applied; -1: none */
    ms_t
        deadline_ms; /* absolute; -1: none. Of a preloaded or CSV key, or of an absolute deadline */
};

/* Registers the names. `root` is the run's generator. False with a message when its file cannot be
 * read or has no row that can be placed. */
bool population_init(struct population *, const struct population_config *, struct names *,
                     const struct rng *root, us_t start_wall_us, struct scenario_error *);
void population_release(struct population *);

/* The key of item i. Rows of a file may name a key twice, so their ids need not follow each other.
 */
key_id population_key(const struct population *, uint32_t i);

/* The database of item i: rows of a file name their own. */
uint8_t population_db(const struct population *, uint32_t i);

/* Item i; items are asked for in order 0, 1, 2 ... exactly once (draws). now_ms is the wall clock
 * at its writing. */
struct population_item population_next(struct population *, uint32_t i, ms_t now_ms,
                                       us_t start_wall_us);

/* A fresh TTL in ms by the population's distribution and jitter, for a client's {ttl}; -1: the
 * population has none. */
ms_t population_draw_ttl(const struct population *, key_id, ms_t now_ms, struct rng *);
struct object population_draw_value(const struct population *, struct rng *);

/* The CSV of rdb-tools' memory report. Rows that cannot be placed are counted, the first ten named
 * by line. */
struct csv_row {
    uint8_t db;
    key_id key;
    uint32_t value_bytes; /* from size_in_bytes less what lapse's own model gives key and entries,
                             at least 1 */
    ms_t deadline_ms;     /* absolute unix; -1: none */
};
struct csv_rows {
    struct csv_row *rows;
    uint32_t count;
    uint32_t refused;
    char *refused_lines; /* "line 12: 7 columns, expected 8; line ..." for the first ten; "" if none
                          */
};
/* NULL with a message on a file that cannot be read or whose header is not such a report's. */
struct csv_rows *csv_rows_read(const char *path, struct names *, uint32_t databases,
                               struct scenario_error *);
struct csv_rows *csv_rows_parse(const char *bytes, size_t length, const char *path, struct names *,
                                uint32_t databases, struct scenario_error *);
void csv_rows_destroy(struct csv_rows *);

#endif
