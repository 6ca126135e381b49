#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "talk.h"
#include "validate.h"

#define NEVER INT64_C(-1000)

static const struct metric_row {
    const char *column, *label;
    enum figure_kind kind;
} metric_rows[METRICS] = {
#define X(id, column, label, kind) {column, label, kind},
    METRIC_LIST(X)
#undef X
};

/* ---- figures of one run ---------------------------------------------------------------------- */

/* From the earliest deadline until so much of what is due was gone, as INFO saw it. */
static int64_t reclaimed_milli(const struct validation *v, const struct played *p, int percent) {
    for (uint32_t i = 0; i < p->count; i++) {
        const struct sample *s = &p->samples[i];
        if (s->at_ns < v->storm_ns || v->due_keys == 0) continue;
        if (s->expired * 100 >= (int64_t)v->due_keys * percent)
            return (s->at_ns - v->storm_ns) / NS_PER_US;
    }
    return NEVER;
}

static void take_samples(const struct played *p, int64_t *milli) {
    double area = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct sample *s = &p->samples[i];
        if (s->estimate_milli > milli[METRIC_ESTIMATE_PEAK])
            milli[METRIC_ESTIMATE_PEAK] = s->estimate_milli;
        if (s->used_memory * 1000 > milli[METRIC_MEMORY_PEAK])
            milli[METRIC_MEMORY_PEAK] = s->used_memory * 1000;
        if (i + 1 < p->count)
            area += (double)s->estimate_milli * (double)(s[1].at_ns - s->at_ns) / 1e9;
    }
    milli[METRIC_ESTIMATE_AREA] = (int64_t)area;
    if (p->count == 0) return;
    milli[METRIC_CAPS] = p->samples[p->count - 1].caps * 1000;
    milli[METRIC_MEMORY_END] = p->samples[p->count - 1].used_memory * 1000;
}

void metrics_of(const struct validation *v, const struct played *p, struct metrics *m) {
    *m = (struct metrics){0};
    m->milli[METRIC_RECLAIMED_50] = reclaimed_milli(v, p, 50);
    m->milli[METRIC_RECLAIMED_90] = reclaimed_milli(v, p, 90);
    m->milli[METRIC_RECLAIMED_99] = reclaimed_milli(v, p, 99);
    m->milli[METRIC_RECLAIMED_100] = reclaimed_milli(v, p, 100);
    take_samples(p, m->milli);
    m->milli[METRIC_REQUESTS] = (int64_t)p->request_us.count * 1000;
    m->milli[METRIC_P50] = histogram_percentile(&p->request_us, 500) * 1000;
    m->milli[METRIC_P99] = histogram_percentile(&p->request_us, 990) * 1000;
    m->milli[METRIC_P999] = histogram_percentile(&p->request_us, 999) * 1000;
    m->milli[METRIC_WORST] = p->request_us.max * 1000;
}

/* ---- bands ----------------------------------------------------------------------------------- */

struct band {
    int64_t low, median, high;
};

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Never sorts last. */
static struct band band_of(const struct metrics *live, uint32_t runs, int metric) {
    int64_t sorted[VALIDATE_RUNS_MAX];
    ASSERT(runs > 0 && runs <= VALIDATE_RUNS_MAX);
    for (uint32_t i = 0; i < runs; i++) {
        int64_t value = live[i].milli[metric];
        sorted[i] = value < 0 ? INT64_MAX : value;
    }
    qsort(sorted, runs, sizeof(*sorted), compare);
    struct band band = {sorted[0], sorted[runs / 2], sorted[runs - 1]};
    if (band.low == INT64_MAX) band.low = NEVER;
    if (band.median == INT64_MAX) band.median = NEVER;
    if (band.high == INT64_MAX) band.high = NEVER;
    return band;
}

struct metrics metrics_median(const struct metrics *runs, uint32_t count) {
    struct metrics medians;
    for (int i = 0; i < METRICS; i++) medians.milli[i] = band_of(runs, count, i).median;
    return medians;
}

/* "inside", or how far from the median. */
static const char *verdict(char text[32], const struct band *band, int64_t value) {
    bool above = band->high < 0 || value <= band->high;
    if ((value >= 0 && value >= band->low && band->low >= 0 && above) || value == band->median)
        return "inside";
    if (value < 0 || band->median <= 0) return "outside";
    snprintf(text, 32, "%+.1f %%", ((double)value / (double)band->median - 1) * 100);
    return text;
}

void validate_print(FILE *out, const struct metrics *live, uint32_t runs,
                    const struct metrics *sim) {
    fprintf(out, "%-34s %14s %14s %14s %14s\n", "", "live, least", "median", "most", "lapse");
    for (int i = 0; i < METRICS; i++) {
        char figure[4][FIGURE_SIZE], text[32];
        struct band band = band_of(live, runs, i);
        enum figure_kind kind = metric_rows[i].kind;
        fprintf(out, "%-34s %14s %14s %14s %14s  %s\n", metric_rows[i].label,
                figure_print(figure[0], kind, band.low), figure_print(figure[1], kind, band.median),
                figure_print(figure[2], kind, band.high),
                figure_print(figure[3], kind, sim->milli[i]), verdict(text, &band, sim->milli[i]));
    }
}

static void print_milli(FILE *out, int64_t milli) {
    if (milli < 0)
        fputs(",-1", out);
    else
        fprintf(out, ",%" PRId64 ".%03" PRId64, milli / 1000, milli % 1000);
}

void validate_write(FILE *out, const struct metrics *live, uint32_t runs,
                    const struct metrics *sim) {
    fputs("figure,live_low,live_median,live_high,lapse,verdict\n", out);
    for (int i = 0; i < METRICS; i++) {
        char text[32];
        struct band band = band_of(live, runs, i);
        fputs(metric_rows[i].column, out);
        print_milli(out, band.low), print_milli(out, band.median), print_milli(out, band.high);
        print_milli(out, sim->milli[i]);
        fprintf(out, ",%s\n", verdict(text, &band, sim->milli[i]));
    }
}

/* ---- the estimate, moment by moment ---------------------------------------------------------- */

/* The sample at that moment; the grid is the same for all, but one may have been lost. */
static const struct sample *sample_at(const struct played *p, ns_t at_ns) {
    for (uint32_t i = 0; i < p->count; i++)
        if (p->samples[i].at_ns / NS_PER_MS == at_ns / NS_PER_MS) return &p->samples[i];
    return NULL;
}

struct distance validate_distance(const struct played *live, uint32_t runs,
                                  const struct played *sim) {
    struct distance worst = {0};
    for (ns_t at_ns = 0; sim->count && at_ns <= sim->samples[sim->count - 1].at_ns;
         at_ns += NS_PER_S) {
        const struct sample *ours = sample_at(sim, at_ns);
        int64_t sorted[VALIDATE_RUNS_MAX];
        uint32_t count = 0;
        for (uint32_t i = 0; i < runs; i++) {
            const struct sample *theirs = sample_at(&live[i], at_ns);
            if (theirs) sorted[count++] = theirs->estimate_milli;
        }
        if (!ours || count == 0) continue;
        qsort(sorted, count, sizeof(*sorted), compare);
        int64_t value = ours->estimate_milli, below = sorted[0] - value;
        int64_t above = value - sorted[count - 1], outside = below > above ? below : above;
        if (outside > worst.outside_milli)
            worst = (struct distance){outside, llabs(value - sorted[count / 2]), at_ns};
    }
    return worst;
}
