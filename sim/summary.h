/* summary: a run folded to one row a server. It is fed trace rows and whole-run histograms. */
#ifndef LAPSE_SIM_SUMMARY_H
#define LAPSE_SIM_SUMMARY_H

#include <stdio.h>

#include "histogram.h"
#include "trace.h"

/* X(field, kind, help). "Reclaimed" speaks of the largest heap of stale keys in the run, the storm:
 * it starts at the last row before the peak at which stale keys were at most half of it (or the
 * first row), and p % are reclaimed at the first row after the peak with at most 100 - p % of the
 * peak left. Half, as a server that expires steadily always holds some stale keys, which are no
 * storm yet. -1: never in this run, or no stale key in it. Of two heaps as large the first one
 * counts; times are differences of t_ms. stale_key_seconds joins the rows by straight lines. */
#define SUMMARY_LIST(X)                                                                            \
    X(rows, INT, "rows in the trace")                                                              \
    X(keys_at_end, INT, "keys at the end")                                                         \
    X(keys_peak, INT, "most keys at any row")                                                      \
    X(expired_total, INT, "expired_keys at the end")                                               \
    X(stale_keys_peak, INT, "most stale keys at any row")                                          \
    X(stale_percent_peak, MILLI, "largest stale_percent of a row")                                 \
    X(stale_key_seconds, INT, "area under stale keys")                                             \
    X(stale_memory_peak_bytes, INT, "most bytes that stale keys held")                             \
    X(storm_start_ms, INT, "last row before the peak of stale keys with at most half of it")       \
    X(reclaimed_50_ms, INT, "time from there until half of the peak was gone")                     \
    X(reclaimed_90_ms, INT, "until 90 % were")                                                     \
    X(reclaimed_99_ms, INT, "until 99 % were")                                                     \
    X(reclaimed_100_ms, INT, "until all were")                                                     \
    X(time_cap_hits, INT, "expired_time_cap_reached_count")                                        \
    X(slow_cycle_ms, INT, "time in slow cycles")                                                   \
    X(fast_cycle_ms, INT, "time in fast cycles")                                                   \
    X(fast_cycles, INT, "fast cycles that ran")                                                    \
    X(cycle_max_us, INT, "most time in cycles, of one row")                                        \
    X(expiry_lag_mean_ms, INT, "deletion time minus deadline: mean")                               \
    X(expiry_lag_p50_ms, INT, "median")                                                            \
    X(expiry_lag_p99_ms, INT, "99th percentile")                                                   \
    X(expiry_lag_max_ms, INT, "largest")                                                           \
    X(requests, INT, "requests answered")                                                          \
    X(error_replies, INT, "of them errors")                                                        \
    X(nil_replies, INT, "of them nil")                                                             \
    X(hits_hidden, INT, "of them with the key still in memory")                                    \
    X(request_p50_us, INT, "arrival to reply: median")                                             \
    X(request_p99_us, INT, "99th percentile")                                                      \
    X(request_p999_us, INT, "99.9th percentile")                                                   \
    X(request_max_us, INT, "largest")                                                              \
    X(used_memory_peak_bytes, INT, "largest used_memory of a row")                                 \
    X(used_memory_at_end_bytes, INT, "used_memory at the end")                                     \
    X(repl_offset, INT, "offset at the end")                                                       \
    X(lag_bytes_max, INT, "largest lag_bytes")                                                     \
    X(lag_max_ms, INT, "largest lag_ms")                                                           \
    X(link_queue_max_bytes, INT, "largest link_queue_bytes")

struct summary_row {
    const char *server;
    const char *role;
#define X(field, kind, help) int64_t field;
    SUMMARY_LIST(X)
#undef X
};

extern const struct trace_column summary_columns[]; /* offset in struct summary_row */
extern const size_t summary_column_count;

struct summary; /* one server's fold in progress */

struct summary *summary_create(const char *server, const char *role);
void summary_destroy(struct summary *);
void summary_add(struct summary *, const struct trace_row *);
struct summary_row summary_finish(const struct summary *, const struct histogram *request_us,
                                  const struct histogram *expiry_lag_ms);
int64_t summary_value(const struct summary_row *, size_t column);
bool summary_write_header(FILE *);
bool summary_write_row(FILE *, const struct summary_row *);

#endif
