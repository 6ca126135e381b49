#include "expect.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "expect_value.h"
#include "expect_witness.h"
#include "nearest.h"

#define PART_MAX 128 /* of a server's, a column's or an aggregate's name */

#define AGGREGATE_LIST(X)                                                                          \
    X(MAX, "max")                                                                                  \
    X(MIN, "min")                                                                                  \
    X(MEAN, "mean")                                                                                \
    X(LAST, "last")                                                                                \
    X(SUM, "sum")                                                                                  \
    X(P50, "p50")                                                                                  \
    X(P90, "p90")                                                                                  \
    X(P99, "p99")                                                                                  \
    X(P999, "p999")

enum aggregate {
    AGGREGATE_NONE, /* a column of the summary */
#define X(id, name) AGGREGATE_##id,
    AGGREGATE_LIST(X)
#undef X
};

static const char *const aggregate_names[] = {"",
#define X(id, name) name,
                                              AGGREGATE_LIST(X)
#undef X
                                                  NULL};

static const char *const comparison_signs[] = {"<=", ">=", "==", "!=", "<", ">", NULL};
enum comparison { AT_MOST, AT_LEAST, EQUAL, UNEQUAL, BELOW, ABOVE };

/* What stands behind SERVER.COLUMN. */
enum source { SOURCE_SUMMARY, SOURCE_TRACE, SOURCE_REQUEST_US, SOURCE_EXPIRY_LAG_MS };
static const char *const histogram_columns[] = {"request_us", "expiry_lag_ms", NULL};

struct expectation {
    enum aggregate aggregate;
    enum source source;
    enum comparison comparison;
    enum expect_kind kind;
    size_t server; /* index in the names given */
    char *server_name;
    size_t column; /* in trace_columns or summary_columns */
    int64_t scale; /* of the column: 1, or 1000 when its values are thousandths */
    int64_t threshold_milli;
    /* The fold over rows. Values are kept for percentiles alone. */
    uint64_t rows;
    int64_t max, min, last, sum;
    int64_t *values;
    uint64_t capacity;
};

static bool is_percentile(enum aggregate aggregate) { return aggregate >= AGGREGATE_P50; }

static uint32_t per_mille_of(enum aggregate aggregate) {
    static const uint32_t per_mille[] = {500, 900, 990, 999};
    return per_mille[aggregate - AGGREGATE_P50];
}

/* ---- parsing -------------------------------------------------------------------------------- */

/* The text cut in its parts, spaces trimmed. */
struct parts {
    char aggregate[PART_MAX]; /* "" if there is none */
    char server[PART_MAX], column[PART_MAX], value[PART_MAX];
    enum comparison comparison;
};

static bool part_copy(char part[PART_MAX], const char *from, const char *to) {
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    if (to == from || to - from >= PART_MAX) return false;
    memcpy(part, from, (size_t)(to - from));
    part[to - from] = '\0';
    return true;
}

/* "max(master.keys)" or "master.keys", in [text, end). A server's name may have dots, a column's
 * has none: the last one parts them. */
static bool subject_split(const char *text, const char *end, struct parts *parts) {
    const char *open = memchr(text, '(', (size_t)(end - text));
    if (open) {
        while (end > open && end[-1] == ' ') end--;
        if (end[-1] != ')' || !part_copy(parts->aggregate, text, open)) return false;
        text = open + 1, end--;
    }
    const char *dot = end;
    while (dot > text && *--dot != '.') {
    }
    return *dot == '.' && part_copy(parts->server, text, dot) &&
           part_copy(parts->column, dot + 1, end);
}

static bool text_split(const char *text, struct parts *parts) {
    *parts = (struct parts){0};
    const char *sign = text + strcspn(text, "<>=!");
    for (size_t i = 0; comparison_signs[i]; i++) {
        size_t length = strlen(comparison_signs[i]);
        if (strncmp(sign, comparison_signs[i], length) != 0) continue;
        parts->comparison = (enum comparison)i;
        return subject_split(text, sign, parts) &&
               part_copy(parts->value, sign + length, text + strlen(text));
    }
    return false;
}

/* "unknown column 'kesy'; expected one of ...; did you mean 'keys'?" The list only where short. */
static bool unknown(const char *what, const char *word, const char *const *words, bool list,
                    char *message, size_t size) {
    int used = snprintf(message, size, "unknown %s '%s'", what, word);
    for (size_t i = 0; list && words[i] && used >= 0 && (size_t)used < size; i++)
        used += snprintf(message + used, size - (size_t)used, "%s%s",
                         i ? ", " : "; expected one of ", words[i]);
    const char *near = nearest_word(word, words);
    if (near && used >= 0 && (size_t)used < size)
        snprintf(message + used, size - (size_t)used, "; did you mean '%s'?", near);
    return false;
}

static bool find_word(const char *word, const char *const *words, size_t *index) {
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(word, words[*index]) == 0) return true;
    return false;
}

static bool find_column(const char *name, const struct trace_column *columns, size_t count,
                        struct expectation *e) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, columns[i].name) != 0) continue;
        e->column = i;
        e->scale = columns[i].kind == COLUMN_MILLI ? 1000 : 1;
        return true;
    }
    return false;
}

static bool find_histogram(const char *name, struct expectation *e) {
    size_t index;
    if (!find_word(name, histogram_columns, &index)) return false;
    e->source = index ? SOURCE_EXPIRY_LAG_MS : SOURCE_REQUEST_US;
    return true;
}

static bool unknown_column(const char *name, const struct trace_column *columns, size_t count,
                           bool histograms, char *message, size_t size) {
    const char *words[128];
    size_t used = 0;
    for (size_t i = 0; i < count && used < 120; i++) words[used++] = columns[i].name;
    for (size_t i = 0; histograms && histogram_columns[i]; i++)
        words[used++] = histogram_columns[i];
    words[used] = NULL;
    unknown(histograms ? "column of the trace" : "column of the summary", name, words, false,
            message, size);
    size_t length = strlen(message);
    snprintf(message + length, size - length, "%s",
             strchr(message, ';') ? "" : "; `lapse list columns` lists them");
    return false;
}

static bool column_parse(struct expectation *e, const char *name, char *message, size_t size) {
    e->scale = 1;
    e->kind = expect_kind_of(name);
    if (e->aggregate == AGGREGATE_NONE) {
        e->source = SOURCE_SUMMARY;
        return find_column(name, summary_columns, summary_column_count, e) ||
               unknown_column(name, summary_columns, summary_column_count, false, message, size);
    }
    e->source = SOURCE_TRACE;
    if (find_column(name, trace_columns, trace_column_count, e)) return true;
    if (!find_histogram(name, e))
        return unknown_column(name, trace_columns, trace_column_count, true, message, size);
    if (e->aggregate != AGGREGATE_LAST) return true;
    snprintf(message, size, "%s has no last value; expected max, min, mean, sum or p50 to p999",
             name);
    return false;
}

static bool parts_parse(struct expectation *e, const struct parts *parts,
                        const char *const *server_names, char *message, size_t size) {
    size_t aggregate = 0;
    if (*parts->aggregate && !find_word(parts->aggregate, aggregate_names + 1, &aggregate))
        return unknown("aggregate", parts->aggregate, aggregate_names + 1, true, message, size);
    e->aggregate = *parts->aggregate ? (enum aggregate)(aggregate + 1) : AGGREGATE_NONE;
    if (!find_word(parts->server, server_names, &e->server))
        return unknown("server", parts->server, server_names, true, message, size);
    e->server_name = strdup(parts->server);
    ASSERT(e->server_name);
    e->comparison = parts->comparison;
    return column_parse(e, parts->column, message, size) &&
           expect_value_parse(parts->value, e->kind, &e->threshold_milli, message, size);
}

struct expectation *expectation_parse(const char *text, const char *const *server_names,
                                      char *message, size_t size) {
    struct parts parts;
    if (!text_split(text, &parts)) {
        snprintf(message, size,
                 "expected AGGREGATE(SERVER.COLUMN) or SERVER.COLUMN, then <, <=, >, >=, == or "
                 "!=, then a value: `max(master.stale_percent) < 60`, not `%s`",
                 text);
        return NULL;
    }
    struct expectation *e = calloc(1, sizeof(*e));
    ASSERT(e);
    if (parts_parse(e, &parts, server_names, message, size)) return e;
    expectation_destroy(e);
    return NULL;
}

void expectation_destroy(struct expectation *e) {
    if (!e) return;
    free(e->server_name);
    free(e->values);
    free(e);
}

/* ---- the fold ------------------------------------------------------------------------------- */

static enum witness expectation_witness(const struct expectation *e) {
    if (e->source == SOURCE_REQUEST_US) return WITNESS_REQUESTS;
    if (e->source == SOURCE_EXPIRY_LAG_MS) return WITNESS_DELETED;
    return witness_of(e->source == SOURCE_TRACE ? trace_columns[e->column].name
                                                : summary_columns[e->column].name);
}

static void value_keep(struct expectation *e, int64_t value) {
    if (e->rows == e->capacity) {
        e->capacity = e->capacity ? e->capacity * 2 : 256;
        e->values = realloc(e->values, e->capacity * sizeof(*e->values));
        ASSERT(e->values);
    }
    e->values[e->rows] = value;
}

void expectation_add_row(struct expectation *e, const struct trace_row *row) {
    if (e->source != SOURCE_TRACE || strcmp(row->server, e->server_name) != 0) return;
    if (!witness_in_row(expectation_witness(e), row)) return;
    int64_t value = trace_value(row, e->column);
    if (is_percentile(e->aggregate)) value_keep(e, value);
    e->max = e->rows && e->max > value ? e->max : value;
    e->min = e->rows && e->min < value ? e->min : value;
    e->last = value;
    e->sum += value;
    e->rows++;
}

/* ---- the end -------------------------------------------------------------------------------- */

struct figure {
    bool known;
    int64_t value, scale;
};

/* A mean in thousandths, floored. */
static int64_t mean_milli(int64_t sum, uint64_t count, int64_t scale) {
    int64_t n = (int64_t)count, whole = floor_div(sum, n);
    return scale == 1000 ? whole : whole * 1000 + (sum - whole * n) * 1000 / n;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The value at or below which so many per mille of the rows lie: the nearest rank, exactly. */
static int64_t rows_percentile(const struct expectation *e, uint32_t per_mille) {
    int64_t *sorted = malloc(e->rows * sizeof(*sorted));
    ASSERT(sorted);
    memcpy(sorted, e->values, e->rows * sizeof(*sorted));
    qsort(sorted, e->rows, sizeof(*sorted), ascending);
    uint64_t rank = (e->rows * per_mille + 999) / 1000;
    int64_t value = sorted[rank ? rank - 1 : 0];
    free(sorted);
    return value;
}

static struct figure figure_of_rows(const struct expectation *e) {
    struct figure figure = {e->rows > 0, 0, e->scale};
    if (!figure.known) return figure;
    switch (e->aggregate) {
    case AGGREGATE_MAX:
        figure.value = e->max;
        break;
    case AGGREGATE_MIN:
        figure.value = e->min;
        break;
    case AGGREGATE_LAST:
        figure.value = e->last;
        break;
    case AGGREGATE_SUM:
        figure.value = e->sum;
        break;
    case AGGREGATE_MEAN:
        return (struct figure){true, mean_milli(e->sum, e->rows, e->scale), 1000};
    default:
        figure.value = rows_percentile(e, per_mille_of(e->aggregate));
    }
    return figure;
}

static struct figure figure_of_histogram(const struct expectation *e, const struct histogram *h) {
    struct figure figure = {h->count > 0, 0, 1};
    if (!figure.known) return figure;
    switch (e->aggregate) {
    case AGGREGATE_MAX:
        figure.value = h->max;
        break;
    case AGGREGATE_MIN:
        figure.value = h->min;
        break;
    case AGGREGATE_SUM:
        figure.value = (int64_t)h->sum;
        break;
    case AGGREGATE_MEAN:
        return (struct figure){true, mean_milli((int64_t)h->sum, h->count, 1), 1000};
    default:
        figure.value = histogram_percentile(h, per_mille_of(e->aggregate));
    }
    return figure;
}

/* A summary says -1 for what did not happen in its run: that is no small figure. */
static struct figure figure_of_summary(const struct expectation *e,
                                       const struct summary_row *summaries, size_t count,
                                       const struct histogram *request_us,
                                       const struct histogram *expiry_lag_ms) {
    for (size_t i = 0; i < count; i++) {
        const struct summary_row *row = &summaries[i];
        if (strcmp(row->server, e->server_name) != 0) continue;
        int64_t value = summary_value(row, e->column);
        bool known = value >= 0 &&
                     witness_in_summary(expectation_witness(e), row, request_us, expiry_lag_ms);
        return (struct figure){known, value, e->scale};
    }
    return (struct figure){0};
}

static bool comparison_holds(enum comparison comparison, int order) {
    switch (comparison) {
    case BELOW:
        return order < 0;
    case AT_MOST:
        return order <= 0;
    case ABOVE:
        return order > 0;
    case AT_LEAST:
        return order >= 0;
    case EQUAL:
        return order == 0;
    case UNEQUAL:
        return order != 0;
    }
    return false;
}

static struct figure figure_of(const struct expectation *e, const struct summary_row *summaries,
                               size_t count, const struct histogram *request_us,
                               const struct histogram *expiry_lag_ms) {
    switch (e->source) {
    case SOURCE_SUMMARY:
        return figure_of_summary(e, summaries, count, request_us, expiry_lag_ms);
    case SOURCE_TRACE:
        return figure_of_rows(e);
    case SOURCE_REQUEST_US:
        return figure_of_histogram(e, request_us);
    case SOURCE_EXPIRY_LAG_MS:
        break;
    }
    return figure_of_histogram(e, expiry_lag_ms);
}

struct expectation_result expectation_finish(const struct expectation *e,
                                             const struct summary_row *summaries,
                                             size_t summary_count,
                                             const struct histogram *const *request_us,
                                             const struct histogram *const *expiry_lag_ms) {
    struct figure figure =
        figure_of(e, summaries, summary_count, request_us[e->server], expiry_lag_ms[e->server]);
    struct expectation_result result = {.known = figure.known};
    enum witness witness = expectation_witness(e);
    bool never = e->source == SOURCE_SUMMARY && witness == WITNESS_NONE;
    if (figure.known) {
        result.holds = comparison_holds(
            e->comparison, expect_value_compare(figure.value, figure.scale, e->threshold_milli));
        expect_value_print(figure.value, figure.scale, e->kind, result.figure,
                           sizeof(result.figure));
    } else {
        snprintf(result.figure, sizeof(result.figure), "%s",
                 never ? "never in this run" : witness_missing(witness));
    }
    return result;
}
