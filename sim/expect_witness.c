#include "expect_witness.h"

#include <string.h>

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_replica(const char *role) { return strcmp(role, "master") != 0; }

enum witness witness_of(const char *column) {
    if (starts_with(column, "request_")) return WITNESS_REQUESTS;
    if (starts_with(column, "expiry_lag_")) return WITNESS_DELETED;
    if (starts_with(column, "lag_") || starts_with(column, "link_")) return WITNESS_LINK;
    return WITNESS_NONE;
}

bool witness_in_row(enum witness witness, const struct trace_row *row) {
    if (witness == WITNESS_REQUESTS) return row->requests > 0;
    if (witness == WITNESS_DELETED) return row->expired_in_cycle + row->expired_lazily > 0;
    return witness == WITNESS_NONE || is_replica(row->role);
}

bool witness_in_summary(enum witness witness, const struct summary_row *row,
                        const struct histogram *request_us, const struct histogram *expiry_lag_ms) {
    if (witness == WITNESS_REQUESTS) return request_us->count > 0;
    if (witness == WITNESS_DELETED) return expiry_lag_ms->count > 0;
    return witness == WITNESS_NONE || is_replica(row->role);
}

const char *witness_missing(enum witness witness) {
    static const char *const texts[] = {
        "unknown: nothing to measure in this run", "unknown: no request in this run",
        "unknown: no key was deleted past its deadline", "unknown: a master lags behind nobody"};
    return texts[witness];
}
