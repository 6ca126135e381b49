/* expect: lines such as `max(master.stale_percent) < 60`, `p99(master.request_us) < 30ms`,
 * `near.reclaimed_99_ms < 8s`.
 *
 *   AGGREGATE(SERVER.COLUMN) OP VALUE   over the trace's rows: max, min, mean, last, sum, p50, p90,
 *                                       p99, p999; SERVER.request_us and SERVER.expiry_lag_ms are
 *                                       all requests, all deleted keys of the run
 *   SERVER.COLUMN OP VALUE              a column of the summary
 *
 * OP is <, <=, >, >=, ==, !=. VALUE is a number with a unit of the column's kind (ms, s, us, KiB,
 * MiB), without one for counts and percentages. */
#ifndef LAPSE_SIM_EXPECT_H
#define LAPSE_SIM_EXPECT_H

#include <stdio.h>

#include "histogram.h"
#include "summary.h"
#include "trace.h"

struct expectation;

/* NULL with a message naming what was expected and the nearest known word. server_names ends with
 * NULL. */
struct expectation *expectation_parse(const char *text, const char *const *server_names,
                                      char *message, size_t size);
void expectation_destroy(struct expectation *);

/* Feeds every row of every server. */
void expectation_add_row(struct expectation *, const struct trace_row *);

struct expectation_result {
    bool holds;
    bool known;      /* false: nothing to measure, as of requests that never came; then it does not
                        hold, whatever the comparison */
    char figure[64]; /* the figure with its unit, as printed */
};
struct expectation_result expectation_finish(const struct expectation *,
                                             const struct summary_row *summaries,
                                             size_t summary_count,
                                             const struct histogram *const *request_us,
                                             const struct histogram *const *expiry_lag_ms);

#endif
