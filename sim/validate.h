/* validate: a scenario played to a real server in real time, and the same scenario simulated. Both
 * have one client more, which asks for INFO at a steady rate; its answers, and rows of the
 * simulation at the same moments, are the two traces. Several live runs make a band. */
#ifndef LAPSE_SIM_VALIDATE_H
#define LAPSE_SIM_VALIDATE_H

#include "histogram.h"
#include "live.h"
#include "population.h"
#include "scenario.h"

#define VALIDATE_REPLICAS_MAX 4
#define VALIDATE_RUNS_MAX     32

/* What INFO said, or would have, at a moment after the start. */
struct sample {
    ns_t at_ns;
    int64_t keys, expires, expired, estimate_milli, caps, used_memory;
};

/* One run, live or simulated. */
struct played {
    struct sample *samples;
    uint32_t count, capacity;
    struct histogram request_us; /* of the scenario's clients; of the sampler if it has none */
    uint64_t late;        /* requests that left more than 5 ms after their time: by our own fault */
    ns_t cpu_ns, wait_ns; /* the server's work, and its waiting for a CPU; 0 when not known */
};

struct validation {
    struct scenario *scenario; /* the sampler is its last client */
    struct live_order order;
    uint32_t samples_per_s;
    bool (*interrupted)(void);
    /* while one live run goes on */
    struct live live, replicas[VALIDATE_REPLICAS_MAX];
    struct names *names;
    struct rng root;
    struct population *populations;
    uint64_t due_keys;               /* preloaded ones that die within the run */
    ns_t storm_ns;                   /* the earliest of their deadlines */
    struct price_table *contended;   /* by server, when prices grew */
    int64_t base_bytes;              /* used_memory before any key was there, connections and all */
    int64_t base_expired, base_caps; /* a server that was running has counted before */
    char message[1024];
};

bool validate_fail(struct validation *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the sampler; refuses what cannot be played. */
bool validate_prepare(struct validation *);

/* One live run: loads, waits for the start, plays, cleans up. */
bool validate_live(struct validation *, struct played *);

/* Every price grows by the time that the live server had to wait for a CPU, in thousandths of its
 * work. */
void validate_contend(struct validation *, uint64_t wait_per_mille);

/* The simulation, its rows written to `trace` too unless that is NULL. After a live run, which
 * knows the base memory. */
bool validate_simulate(struct validation *, struct played *, FILE *trace);

void played_add(struct played *, const struct sample *);
void played_release(struct played *);

/* validate_load.c: keys into the server before `start_wall_ms`, the replicas attached behind them.
 * `late`: it took too long. */
bool validate_load(struct validation *, us_t start_wall_us, bool *late);
bool validate_names(struct validation *);
bool validate_clear(struct validation *);
void validate_names_release(struct validation *);

/* validate_play.c: connections are opened before anything is loaded, so that the memory that they
 * take is in the base. */
struct play;
struct play *play_create(struct validation *);
bool play_run(struct play *, us_t start_wall_us, struct played *);
void play_destroy(struct play *);

/* ---- the table (validate_table.c) ------------------------------------------------------------ */

/* X(enumerator, column in validate.csv, label, kind of figure) */
#define METRIC_LIST(X)                                                                             \
    X(RECLAIMED_50, "reclaimed_50_ms", "half reclaimed after", FIGURE_MS)                          \
    X(RECLAIMED_90, "reclaimed_90_ms", "90 % reclaimed after", FIGURE_MS)                          \
    X(RECLAIMED_99, "reclaimed_99_ms", "99 % reclaimed after", FIGURE_MS)                          \
    X(RECLAIMED_100, "reclaimed_100_ms", "all reclaimed after", FIGURE_MS)                         \
    X(ESTIMATE_PEAK, "estimate_peak_percent", "stale estimate, most", FIGURE_PERCENT)              \
    X(ESTIMATE_AREA, "estimate_area_percent_s", "area under it, percent times s", FIGURE_COUNT)    \
    X(CAPS, "time_cap_hits", "cycles ended by time", FIGURE_COUNT)                                 \
    X(MEMORY_PEAK, "used_memory_peak_bytes", "used memory, most", FIGURE_BYTES)                    \
    X(MEMORY_END, "used_memory_end_bytes", "used memory at the end", FIGURE_BYTES)                 \
    X(REQUESTS, "requests", "requests", FIGURE_COUNT)                                              \
    X(P50, "request_p50_us", "request p50", FIGURE_US)                                             \
    X(P99, "request_p99_us", "request p99", FIGURE_US)                                             \
    X(P999, "request_p999_us", "request p99.9", FIGURE_US)                                         \
    X(WORST, "request_max_us", "request, worst", FIGURE_US)

enum metric {
#define X(id, column, label, kind) METRIC_##id,
    METRIC_LIST(X)
#undef X
        METRICS
};

/* Thousandths of the unit; -1000: never. */
struct metrics {
    int64_t milli[METRICS];
};
void metrics_of(const struct validation *, const struct played *, struct metrics *);

/* Of each figure the median of 1 to VALIDATE_RUNS_MAX runs; never counts as the most. */
struct metrics metrics_median(const struct metrics *runs, uint32_t count);

/* The table for a person, and as CSV. */
void validate_print(FILE *, const struct metrics *live, uint32_t runs, const struct metrics *sim);
void validate_write(FILE *, const struct metrics *live, uint32_t runs, const struct metrics *sim);

/* How far the simulated estimate lies outside the band of the live ones, at worst: milli percent,
 * and when; and from their median. */
struct distance {
    int64_t outside_milli, median_milli;
    ns_t at_ns;
};
struct distance validate_distance(const struct played *live, uint32_t runs,
                                  const struct played *sim);

#endif
