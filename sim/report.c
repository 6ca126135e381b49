#include "report.h"

#include <inttypes.h>
#include <string.h>

#define LABEL_WIDTH  28
#define COLUMN_WIDTH 15
#define COLUMNS_MAX  5 /* side by side; more go below */

/* What the table shows, in this order. */
static const struct line {
    const char *column;
    enum figure_kind kind;
    const char *label;
} lines[] = {
    {"keys_peak", FIGURE_COUNT, "keys, most"},
    {"keys_at_end", FIGURE_COUNT, "keys at the end"},
    {"expired_total", FIGURE_COUNT, "expired"},
    {"stale_keys_peak", FIGURE_COUNT, "stale keys, most"},
    {"stale_percent_peak", FIGURE_PERCENT, "stale share, most"},
    {"stale_memory_peak_bytes", FIGURE_BYTES, "memory held by stale keys"},
    {"used_memory_peak_bytes", FIGURE_BYTES, "used memory, most"},
    {"storm_start_ms", FIGURE_MS, "storm: past half its peak at"},
    {"reclaimed_50_ms", FIGURE_MS, "half reclaimed after"},
    {"reclaimed_99_ms", FIGURE_MS, "99 % reclaimed after"},
    {"reclaimed_100_ms", FIGURE_MS, "all reclaimed after"},
    {"time_cap_hits", FIGURE_COUNT, "cycles ended by time"},
    {"slow_cycle_ms", FIGURE_MS, "in slow cycles"},
    {"fast_cycle_ms", FIGURE_MS, "in fast cycles"},
    {"cycle_max_us", FIGURE_US, "most time in cycles, one row"},
    {"expiry_lag_p50_ms", FIGURE_MS, "deleted after deadline, p50"},
    {"expiry_lag_max_ms", FIGURE_MS, "the same, most"},
    {"requests", FIGURE_COUNT, "requests"},
    {"nil_replies", FIGURE_COUNT, "nil replies"},
    {"error_replies", FIGURE_COUNT, "error replies"},
    {"hits_hidden", FIGURE_COUNT, "nil, key still in memory"},
    {"request_p50_us", FIGURE_US, "request p50"},
    {"request_p99_us", FIGURE_US, "request p99"},
    {"request_max_us", FIGURE_US, "request, worst"},
    {"lag_max_ms", FIGURE_MS, "replica lag, most"},
    {"lag_bytes_max", FIGURE_BYTES, "replica lag, most bytes"},
};

/* Latencies mean nothing where there were no requests, times of reclaim nothing where no key was
 * ever stale, and a replica's own cycles do not run. */
static const char *witness_of(const char *column) {
    if (strncmp(column, "request_", 8) == 0) return "requests";
    if (strncmp(column, "reclaimed_", 10) == 0 || strncmp(column, "storm_", 6) == 0)
        return "stale_keys_peak";
    if (strncmp(column, "expiry_lag_", 11) == 0) return "expired_total";
    return NULL;
}

static bool cell_speaks(const struct table *t, size_t row, const struct line *line) {
    const char *witness = witness_of(line->column);
    size_t column = table_column(t, witness ? witness : line->column);
    return column != TABLE_NO_COLUMN && table_milli(t, row, column) != 0;
}

static void line_print(FILE *out, const struct table *t, const size_t *rows, size_t count,
                       const struct line *line) {
    size_t column = table_column(t, line->column);
    bool speaks = false;
    for (size_t i = 0; i < count; i++) speaks = speaks || cell_speaks(t, rows[i], line);
    if (column == TABLE_NO_COLUMN || !speaks) return;
    fprintf(out, "%-*s", LABEL_WIDTH, line->label);
    for (size_t i = 0; i < count; i++) {
        char figure[FIGURE_SIZE] = "-";
        bool blank = witness_of(line->column) && !cell_speaks(t, rows[i], line);
        if (!blank) figure_print(figure, line->kind, table_milli(t, rows[i], column));
        fprintf(out, " %*s", COLUMN_WIDTH - 1, figure);
    }
    fputc('\n', out);
}

void report_print_table(FILE *out, const struct table *t, const size_t *rows, size_t count,
                        const char *heading) {
    size_t column = table_column(t, heading);
    if (column == TABLE_NO_COLUMN) return;
    for (size_t first = 0; first < count; first += COLUMNS_MAX) {
        size_t wide = count - first < COLUMNS_MAX ? count - first : COLUMNS_MAX;
        fprintf(out, "%s%-*s", first ? "\n" : "", LABEL_WIDTH, "");
        for (size_t i = 0; i < wide; i++)
            fprintf(out, " %*s", COLUMN_WIDTH - 1, table_cell(t, rows[first + i], column));
        fputc('\n', out);
        for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
            line_print(out, t, rows + first, wide, &lines[i]);
    }
}

void report_print_expectations(FILE *out, const struct recording *r) {
    bool colour = talk_has_colour(out);
    for (uint32_t i = 0; i < r->scenario->expectation_count; i++) {
        const struct expectation_result *result = &r->results[i];
        const char *on = !colour ? "" : result->holds ? "\033[32m" : "\033[1;31m";
        fprintf(out, "%s%s%s  %s   (%s)\n", on, result->holds ? "PASS" : "FAIL",
                colour ? "\033[0m" : "", r->scenario->expectations[i].text, result->figure);
    }
}

void report_print_heading(FILE *out, const struct recording *r) {
    const struct scenario *scenario = r->scenario;
    char duration[FIGURE_SIZE];
    figure_print(duration, FIGURE_MS, scenario->duration_ns / NS_PER_US);
    fprintf(out, "%s%s%s, seed %" PRIu64 ", %s of virtual time, %" PRIu64 " events\n",
            scenario->name, r->order->variant ? ", variant " : "",
            r->order->variant ? r->order->variant : "", scenario->seed, duration, r->events);
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        const struct server_config *s = &scenario->servers[i];
        fprintf(out, "%s: %s (%s), allocator %s, costs %s\n", s->name, s->generation->name,
                s->generation->version, s->allocator->name, s->prices->name);
    }
}
