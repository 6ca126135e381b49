/* expect_witness: columns that stand at 0 for want of anything to measure: latencies without
 * requests, lateness without deleted keys, a master's lag. That 0 is no small latency, and an
 * expectation must not pass on it. */
#ifndef LAPSE_SIM_EXPECT_WITNESS_H
#define LAPSE_SIM_EXPECT_WITNESS_H

#include "histogram.h"
#include "summary.h"
#include "trace.h"

/* What must have been there for a column to mean something. */
enum witness { WITNESS_NONE, WITNESS_REQUESTS, WITNESS_DELETED, WITNESS_LINK };

enum witness witness_of(const char *column);
bool witness_in_row(enum witness, const struct trace_row *);
bool witness_in_summary(enum witness, const struct summary_row *,
                        const struct histogram *request_us, const struct histogram *expiry_lag_ms);

/* "unknown: no request in this run" */
const char *witness_missing(enum witness);

#endif
