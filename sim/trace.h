/* trace: one row a server a cron cycle (or an interval), as CSV. One list drives the struct, the
 * header line, `lapse list columns` and the expectations. Percentages are integers in thousandths
 * and printed with three decimals, so no float is ever formatted. */
#ifndef LAPSE_SIM_TRACE_H
#define LAPSE_SIM_TRACE_H

#include <stdio.h>

#include "base.h"

/* X(field, kind, help); kind INT or MILLI (thousandths). `server` and `role` stand after t_ms as
 * text. */
#define TRACE_LIST(X)                                                                              \
    X(keys, INT, "keys in all databases")                                                          \
    X(expires, INT, "keys with a TTL")                                                             \
    X(stale_keys, INT, "keys past their deadline and still in memory: the truth")                  \
    X(stale_percent, MILLI, "stale_keys of expires")                                               \
    X(stale_percent_estimate, MILLI, "expired_stale_perc as INFO says it")                         \
    X(expired_total, INT, "expired_keys since the start")                                          \
    X(expired_in_cycle, INT, "keys that expire cycles deleted since the last row")                 \
    X(expired_lazily, INT, "keys that commands found expired and deleted since the last row")      \
    X(sampled, INT, "keys that expire cycles looked at since the last row")                        \
    X(iterations, INT, "sampling iterations of expire cycles since the last row")                  \
    X(cycle_us, INT, "time in slow cycles since the last row")                                     \
    X(fast_cycles, INT, "fast cycles that ran since the last row")                                 \
    X(fast_us, INT, "time in fast cycles since the last row")                                      \
    X(time_cap_hits, INT, "expired_time_cap_reached_count since the start")                        \
    X(used_memory_bytes, INT, "used_memory")                                                       \
    X(stale_memory_bytes, INT, "of it, keys past their deadline with all that hangs on them")      \
    X(expires_overhead_bytes, INT, "of it, entries and tables of the expires dicts")               \
    X(backlog_bytes, INT, "of it, replication buffers and backlog")                                \
    X(rehashing, INT, "1 while any dict is rehashing")                                             \
    X(expiry_lag_p50_ms, INT,                                                                      \
      "deletion time minus deadline, of keys deleted since the last row: median")                  \
    X(expiry_lag_p99_ms, INT, "the same: 99th percentile")                                         \
    X(expiry_lag_max_ms, INT, "the same: largest")                                                 \
    X(requests, INT, "requests answered since the last row")                                       \
    X(request_p50_us, INT, "arrival to reply, network apart: median")                              \
    X(request_p99_us, INT, "the same: 99th percentile")                                            \
    X(request_max_us, INT, "the same: largest")                                                    \
    X(error_replies, INT, "requests answered with an error since the last row")                    \
    X(nil_replies, INT, "requests answered nil since the last row")                                \
    X(hits_hidden, INT, "of them, the key was still in this server's memory, past its deadline")   \
    X(busy_percent, MILLI, "share of time that the server worked since the last row")              \
    X(repl_offset, INT, "master_repl_offset; on a replica what it has applied")                    \
    X(lag_bytes, INT, "the master's offset minus this replica's")                                  \
    X(lag_ms, INT, "age of the oldest command that this replica has not applied")                  \
    X(link_queue_bytes, INT, "bytes sent or waiting on the link to this replica")

struct trace_row {
    ns_t at_ns;
    const char *server;
    const char *role; /* "master" or "replica" */
#define X(field, kind, help) int64_t field;
    TRACE_LIST(X)
#undef X
};

enum column_kind { COLUMN_INT, COLUMN_MILLI };

struct trace_column {
    const char *name;
    enum column_kind kind;
    size_t offset; /* in struct trace_row */
    const char *help;
};
extern const struct trace_column trace_columns[];
extern const size_t trace_column_count;

int64_t trace_value(const struct trace_row *, size_t column);

/* One cell: a number by its kind, or a name (in quotes if a comma or a quote is in it). */
void trace_print_value(FILE *, int64_t value, enum column_kind);
void trace_print_text(FILE *, const char *text);

/* Writes the header line, or one row. False when the stream reports an error. */
bool trace_write_header(FILE *);
bool trace_write_row(FILE *, const struct trace_row *);

#endif
