/* The fold of one server's rows. Only the last rows that a storm may have begun with are kept:
 * those with fewer stale keys than every row after them, for a row that is followed by one with as
 * few or fewer can never again be the last one below a threshold. */
#include "summary.h"

#include <stdlib.h>

enum { RECLAIMED_50, RECLAIMED_90, RECLAIMED_99, RECLAIMED_100, RECLAIMED_STEPS };

static const int64_t left_percent_max[RECLAIMED_STEPS] = {50, 10, 1, 0};

const struct trace_column summary_columns[] = {
#define X(field, kind, help) {#field, COLUMN_##kind, offsetof(struct summary_row, field), help},
    SUMMARY_LIST(X)
#undef X
};

const size_t summary_column_count = sizeof summary_columns / sizeof summary_columns[0];

struct moment {
    ms_t at_ms;
    int64_t stale_keys;
};

struct summary {
    struct summary_row row;
    ms_t first_ms;
    struct moment last;  /* the row before */
    struct moment *lows; /* stale keys rise strictly; the newest row is the last one */
    size_t low_count, low_capacity;
    ms_t storm_start_ms;                   /* of the peak in row.stale_keys_peak */
    ms_t reclaimed_at_ms[RECLAIMED_STEPS]; /* -1: not yet */
    int64_t double_area_key_ms;            /* twice the area: trapezoids have halves */
    us_t slow_us, fast_us;
};

struct summary *summary_create(const char *server, const char *role) {
    struct summary *summary = calloc(1, sizeof *summary);
    ASSERT(summary != NULL);
    summary->row.server = server;
    summary->row.role = role;
    return summary;
}

void summary_destroy(struct summary *summary) {
    if (!summary) return;
    free(summary->lows);
    free(summary);
}

static void keep_max(int64_t *max, int64_t value) {
    if (value > *max) *max = value;
}

/* ---- the storm ---- */

/* The last row before now with at most half as many stale keys; the first row if there is none. */
static ms_t summary_storm_start(const struct summary *summary, int64_t peak) {
    for (size_t i = summary->low_count; i > 0; i--)
        if (summary->lows[i - 1].stale_keys * 2 <= peak) return summary->lows[i - 1].at_ms;
    return summary->first_ms;
}

static void summary_push_low(struct summary *summary, struct moment now) {
    while (summary->low_count > 0 &&
           summary->lows[summary->low_count - 1].stale_keys >= now.stale_keys)
        summary->low_count--;
    if (summary->low_count == summary->low_capacity) {
        summary->low_capacity = summary->low_capacity ? summary->low_capacity * 2 : 64;
        summary->lows = realloc(summary->lows, summary->low_capacity * sizeof *summary->lows);
        ASSERT(summary->lows != NULL);
    }
    summary->lows[summary->low_count++] = now;
}

static void summary_new_peak(struct summary *summary, struct moment now) {
    summary->row.stale_keys_peak = now.stale_keys;
    summary->storm_start_ms = summary_storm_start(summary, now.stale_keys);
    for (int i = 0; i < RECLAIMED_STEPS; i++) summary->reclaimed_at_ms[i] = -1;
}

static void summary_note_reclaimed(struct summary *summary, struct moment now) {
    int64_t peak = summary->row.stale_keys_peak;
    for (int i = 0; i < RECLAIMED_STEPS; i++)
        if (summary->reclaimed_at_ms[i] < 0 && now.stale_keys * 100 <= left_percent_max[i] * peak)
            summary->reclaimed_at_ms[i] = now.at_ms;
}

static void summary_follow_storm(struct summary *summary, struct moment now) {
    if (now.stale_keys > summary->row.stale_keys_peak)
        summary_new_peak(summary, now);
    else
        summary_note_reclaimed(summary, now);
    summary_push_low(summary, now);
    if (summary->row.rows > 1)
        summary->double_area_key_ms +=
            (now.stale_keys + summary->last.stale_keys) * (now.at_ms - summary->last.at_ms);
    summary->last = now;
}

/* ---- rows ---- */

static void summary_add_totals(struct summary_row *out, const struct trace_row *row) {
    out->keys_at_end = row->keys;
    out->expired_total = row->expired_total;
    out->time_cap_hits = row->time_cap_hits;
    out->used_memory_at_end_bytes = row->used_memory_bytes;
    out->repl_offset = row->repl_offset;
    out->fast_cycles += row->fast_cycles;
    out->requests += row->requests;
    out->nil_replies += row->nil_replies;
    out->error_replies += row->error_replies;
    out->hits_hidden += row->hits_hidden;
}

static void summary_add_peaks(struct summary_row *out, const struct trace_row *row) {
    keep_max(&out->keys_peak, row->keys);
    keep_max(&out->stale_percent_peak, row->stale_percent);
    keep_max(&out->stale_memory_peak_bytes, row->stale_memory_bytes);
    keep_max(&out->cycle_max_us, row->cycle_us + row->fast_us);
    keep_max(&out->used_memory_peak_bytes, row->used_memory_bytes);
    keep_max(&out->lag_bytes_max, row->lag_bytes);
    keep_max(&out->lag_max_ms, row->lag_ms);
    keep_max(&out->link_queue_max_bytes, row->link_queue_bytes);
}

void summary_add(struct summary *summary, const struct trace_row *row) {
    struct moment now = {floor_div(row->at_ns, NS_PER_MS), row->stale_keys};
    ASSERT(summary->row.rows == 0 || now.at_ms >= summary->last.at_ms);
    if (summary->row.rows++ == 0) summary->first_ms = now.at_ms;
    summary_add_totals(&summary->row, row);
    summary_add_peaks(&summary->row, row);
    summary_follow_storm(summary, now);
    summary->slow_us += row->cycle_us;
    summary->fast_us += row->fast_us;
}

/* ---- the result ---- */

static void summary_finish_storm(const struct summary *summary, struct summary_row *out) {
    int64_t *const steps[RECLAIMED_STEPS] = {&out->reclaimed_50_ms, &out->reclaimed_90_ms,
                                             &out->reclaimed_99_ms, &out->reclaimed_100_ms};
    bool storm = out->stale_keys_peak > 0;
    out->storm_start_ms = storm ? summary->storm_start_ms : -1;
    for (int i = 0; i < RECLAIMED_STEPS; i++) {
        bool reached = storm && summary->reclaimed_at_ms[i] >= 0;
        *steps[i] = reached ? summary->reclaimed_at_ms[i] - summary->storm_start_ms : -1;
    }
}

struct summary_row summary_finish(const struct summary *summary, const struct histogram *request_us,
                                  const struct histogram *expiry_lag_ms) {
    struct summary_row out = summary->row;
    summary_finish_storm(summary, &out);
    out.stale_key_seconds = summary->double_area_key_ms / 2000;
    out.slow_cycle_ms = summary->slow_us / US_PER_MS;
    out.fast_cycle_ms = summary->fast_us / US_PER_MS;
    out.expiry_lag_mean_ms = histogram_mean(expiry_lag_ms);
    out.expiry_lag_p50_ms = histogram_percentile(expiry_lag_ms, 500);
    out.expiry_lag_p99_ms = histogram_percentile(expiry_lag_ms, 990);
    out.expiry_lag_max_ms = expiry_lag_ms->max;
    out.request_p50_us = histogram_percentile(request_us, 500);
    out.request_p99_us = histogram_percentile(request_us, 990);
    out.request_p999_us = histogram_percentile(request_us, 999);
    out.request_max_us = request_us->max;
    return out;
}

int64_t summary_value(const struct summary_row *row, size_t column) {
    ASSERT(column < summary_column_count);
    return *(const int64_t *)(const void *)((const char *)row + summary_columns[column].offset);
}

bool summary_write_header(FILE *out) {
    fputs("server,role", out);
    for (size_t i = 0; i < summary_column_count; i++) fprintf(out, ",%s", summary_columns[i].name);
    fputc('\n', out);
    return !ferror(out);
}

bool summary_write_row(FILE *out, const struct summary_row *row) {
    trace_print_text(out, row->server);
    fputc(',', out);
    trace_print_text(out, row->role);
    for (size_t i = 0; i < summary_column_count; i++) {
        fputc(',', out);
        trace_print_value(out, summary_value(row, i), summary_columns[i].kind);
    }
    fputc('\n', out);
    return !ferror(out);
}
