#include "observer.h"

#define MILLI_PERCENT 100000 /* thousandths of a percent in the whole */

void observer_init(struct observer *o) {
    *o = (struct observer){.census = census_create()};
    histogram_reset(&o->request_us);
    histogram_reset(&o->request_us_run);
    histogram_reset(&o->expiry_lag_ms);
    histogram_reset(&o->expiry_lag_ms_run);
}

void observer_release(struct observer *o) { census_destroy(o->census); }

void observer_count_expiry(struct observer *o, ms_t lateness_ms, enum expiry_cause cause) {
    o->counts.expired[cause]++;
    histogram_add(&o->expiry_lag_ms, lateness_ms, 1);
}

void observer_count_cycle(struct observer *o, const struct cycle_report *report) {
    o->counts.sampled += (int64_t)report->sampled;
    o->counts.iterations += report->iterations;
    if (!report->fast) {
        o->counts.slow_us += report->elapsed_us;
        return;
    }
    o->counts.fast_cycles++;
    o->counts.fast_us += report->elapsed_us;
}

void observer_count_reply(struct observer *o, us_t latency_us, bool nil, bool hidden, bool error) {
    o->counts.requests++;
    o->counts.nil_replies += nil;
    o->counts.hits_hidden += hidden;
    o->counts.error_replies += error;
    histogram_add(&o->request_us, latency_us, 1);
}

static int64_t milli_percent(uint64_t part, uint64_t whole) {
    return whole ? (int64_t)(part * MILLI_PERCENT / whole) : 0;
}

static void observer_fill_keys(struct observer *o, const struct engine_stats *stats, ms_t wall_ms,
                               struct trace_row *row) {
    struct census_count census = census_read(o->census, wall_ms);
    row->keys = (int64_t)stats->keys;
    row->expires = (int64_t)stats->expires;
    row->stale_keys = (int64_t)census.stale_keys;
    row->stale_percent = milli_percent(census.stale_keys, stats->expires);
    row->stale_percent_estimate = (int64_t)(stats->expired_stale_ppm / 10);
    row->stale_memory_bytes = (int64_t)census.stale_bytes;
    row->expired_total = (int64_t)stats->expired_keys;
    row->time_cap_hits = (int64_t)stats->expired_time_cap_reached_count;
    row->rehashing = stats->rehashing;
}

static void observer_fill_memory(const struct engine_stats *stats, struct trace_row *row) {
    const int64_t *bytes = stats->memory_bytes;
    row->used_memory_bytes = stats->used_memory_bytes;
    row->expires_overhead_bytes = bytes[MEMORY_EXPIRES_ENTRIES] + bytes[MEMORY_EXPIRES_TABLES];
    row->backlog_bytes = bytes[MEMORY_BACKLOG] + bytes[MEMORY_REPLICA_BUFFERS];
}

static void observer_fill_counts(const struct observer *o, ns_t now_ns, struct trace_row *row) {
    const struct row_counts *counts = &o->counts;
    row->expired_in_cycle = counts->expired[EXPIRY_ACTIVE];
    row->expired_lazily = counts->expired[EXPIRY_LAZY];
    row->sampled = counts->sampled;
    row->iterations = counts->iterations;
    row->cycle_us = counts->slow_us;
    row->fast_cycles = counts->fast_cycles;
    row->fast_us = counts->fast_us;
    row->requests = counts->requests;
    row->nil_replies = counts->nil_replies;
    row->error_replies = counts->error_replies;
    row->hits_hidden = counts->hits_hidden;
    row->busy_percent = milli_percent((uint64_t)counts->busy_ns, (uint64_t)(now_ns - o->row_ns));
}

static void observer_fill_histograms(const struct observer *o, struct trace_row *row) {
    row->expiry_lag_p50_ms = histogram_percentile(&o->expiry_lag_ms, 500);
    row->expiry_lag_p99_ms = histogram_percentile(&o->expiry_lag_ms, 990);
    row->expiry_lag_max_ms = o->expiry_lag_ms.count ? o->expiry_lag_ms.max : 0;
    row->request_p50_us = histogram_percentile(&o->request_us, 500);
    row->request_p99_us = histogram_percentile(&o->request_us, 990);
    row->request_max_us = o->request_us.count ? o->request_us.max : 0;
}

void observer_close(struct observer *o) {
    histogram_merge(&o->request_us_run, &o->request_us);
    histogram_merge(&o->expiry_lag_ms_run, &o->expiry_lag_ms);
    histogram_reset(&o->request_us);
    histogram_reset(&o->expiry_lag_ms);
    o->counts = (struct row_counts){0};
}

void observer_take_row(struct observer *o, const struct engine *engine, ns_t now_ns, ms_t wall_ms,
                       struct trace_row *row) {
    struct engine_stats stats = engine_stats(engine);
    row->at_ns = now_ns;
    observer_fill_keys(o, &stats, wall_ms, row);
    observer_fill_memory(&stats, row);
    row->repl_offset = stats.master_repl_offset;
    observer_fill_counts(o, now_ns, row);
    observer_fill_histograms(o, row);
    observer_close(o);
    o->row_ns = now_ns;
    o->rows++;
}

void observer_check(struct observer *o, const struct engine *engine, ms_t wall_ms) {
    struct engine_stats stats = engine_stats(engine);
    struct census_count census = census_read(o->census, wall_ms);
    census_check(o->census);
    ASSERT(census.keys == stats.expires && census.stale_keys <= census.keys);
    histogram_check(&o->request_us);
    histogram_check(&o->request_us_run);
    histogram_check(&o->expiry_lag_ms);
    histogram_check(&o->expiry_lag_ms_run);
}
