/* observer: what an onlooker counts of one server: its stale keys, how late keys were deleted, what
 * its cycles did and how long requests took; and the trace row made of it. Nothing here reaches
 * back into the run. Counts and the row's histograms start anew after each row; the whole run's
 * histograms take them in then. */
#ifndef LAPSE_SIM_OBSERVER_H
#define LAPSE_SIM_OBSERVER_H

#include "census.h"
#include "engine.h"
#include "histogram.h"
#include "trace.h"

/* Since the last row. */
struct row_counts {
    int64_t expired[EXPIRY_CAUSES];
    int64_t sampled, iterations;
    us_t slow_us, fast_us;
    int64_t fast_cycles;
    int64_t requests, nil_replies, hits_hidden, error_replies;
    ns_t busy_ns;
};

struct observer {
    struct census *census;
    struct row_counts counts;
    struct histogram request_us, request_us_run;
    struct histogram expiry_lag_ms, expiry_lag_ms_run;
    ns_t row_ns; /* when the last row was, 0 at the start */
    uint64_t rows;
};

void observer_init(struct observer *);
void observer_release(struct observer *);

void observer_count_expiry(struct observer *, ms_t lateness_ms, enum expiry_cause);
void observer_count_cycle(struct observer *, const struct cycle_report *);
void observer_count_reply(struct observer *, us_t latency_us, bool nil, bool hidden, bool error);

/* Fills in all of the row but what concerns the link, and starts the next one. wall_ms is the
 * server's own clock. */
void observer_take_row(struct observer *, const struct engine *, ns_t now_ns, ms_t wall_ms,
                       struct trace_row *);

/* The whole run takes in what came since the last row. */
void observer_close(struct observer *);
void observer_check(struct observer *, const struct engine *, ms_t wall_ms);

#endif
