/* The experiments with commands, and the order of all of them. */
#include "calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#define CLOCK_READS     1000000
#define CHEAP_COMMANDS  16384 /* a round of what takes a microsecond */
#define SINGLE_COMMANDS 2000  /* a round of what waits for its reply */
#define PIPELINE        64
#define SETTLE_NS       (1200 * NS_PER_MS) /* until the cron has taken up another hz */

/* What the keys of the command experiments are, in 32nds of the keys that fill a table. Nothing is
 * inserted that was not deleted before, so no table grows. */
#define BASE_PARTS     16 /* without TTL */
#define VOLATILE_PARTS 15 /* far TTL */

/* Ranges: parts of the keys, or beyond all of them. */
static const struct row {
    enum figure_id figure;
    enum work_kind kind;
    int first_part, parts; /* < 0: large values, behind the others */
    uint32_t value_bytes, pipeline, commands;
} rows[] = {
    {FIGURE_PING_1, WORK_PING, 0, 1, 0, 1, SINGLE_COMMANDS},
    {FIGURE_PING, WORK_PING, 0, 1, 0, PIPELINE, CHEAP_COMMANDS},
    {FIGURE_INFO, WORK_INFO, 0, 1, 0, 8, 800},
    {FIGURE_GET, WORK_GET, 0, BASE_PARTS, 32, PIPELINE, CHEAP_COMMANDS},
    {FIGURE_GET_1, WORK_GET, 0, BASE_PARTS, 32, 1, SINGLE_COMMANDS},
    {FIGURE_GET_VOLATILE, WORK_GET, BASE_PARTS, VOLATILE_PARTS, 32, PIPELINE, CHEAP_COMMANDS},
    {FIGURE_SET, WORK_SET, 0, BASE_PARTS, 32, PIPELINE, CHEAP_COMMANDS},
    {FIGURE_SET_1, WORK_SET, 0, BASE_PARTS, 32, 1, SINGLE_COMMANDS},
    {FIGURE_DEL, WORK_DEL, 0, BASE_PARTS, 32, PIPELINE, 0},
    {FIGURE_SET_NEW, WORK_SET, 0, BASE_PARTS, 32, PIPELINE, 0},
    {FIGURE_PX_OLD, WORK_SET_PX, BASE_PARTS, VOLATILE_PARTS, 32, PIPELINE, CHEAP_COMMANDS},
    {FIGURE_DEL_VOLATILE, WORK_DEL, BASE_PARTS, VOLATILE_PARTS, 32, PIPELINE, 0},
    {FIGURE_PX_NEW, WORK_SET_PX, BASE_PARTS, VOLATILE_PARTS, 32, PIPELINE, 0},
    {FIGURE_SCAN, WORK_SCAN, 0, BASE_PARTS, 0, 8, 400},
    {FIGURE_SET_16K, WORK_SET, -1, 64, 16384, 8, 512},
    {FIGURE_GET_16K, WORK_GET, -1, 64, 16384, 8, 1024},
    {FIGURE_SET_64K, WORK_SET, -2, 256, 65536, 8, 256},
    {FIGURE_DEL_64K, WORK_DEL, -2, 256, 65536, 8, 256},
    {FIGURE_SET_1M, WORK_SET, -3, 32, 1048576, 8, 32},
    {FIGURE_DEL_1M, WORK_DEL, -3, 32, 1048576, 8, 32},
};
#define ROWS       (sizeof(rows) / sizeof(*rows))
#define LARGE_KEYS 1024 /* room for each of the ranges of large values */

struct work calibrate_work_of(const struct calibration *c, enum figure_id figure) {
    size_t at = 0;
    while (at < ROWS && rows[at].figure != figure) at++;
    ASSERT(at < ROWS);
    const struct row *row = &rows[at];
    uint32_t part = c->keys / 32, parts = (uint32_t)row->parts;
    bool large = row->first_part < 0;
    struct work work = {.kind = row->kind,
                        .first = large ? c->keys + LARGE_KEYS * (uint32_t)(-row->first_part - 1)
                                       : part * (uint32_t)row->first_part,
                        .keys = large ? parts : part * parts,
                        .value_bytes = row->value_bytes,
                        .pipeline = row->pipeline,
                        .commands = row->commands ? row->commands : part};
    return work;
}

bool calibrate_wait(struct calibration *c, ns_t span_ns) {
    for (ns_t end = live_now_ns() + span_ns; live_now_ns() < end;) {
        if (c->interrupted()) return live_fail(&c->live, "interrupted");
        ns_t left = end - live_now_ns();
        live_pause_ns(left < 50 * NS_PER_MS ? left : 50 * NS_PER_MS);
    }
    return true;
}

void calibrate_say(struct calibration *c, enum figure_id id) {
    struct figure *figure = &c->figures[id];
    figure_settle(figure);
    if (figure->count == 0) return;
    printf("  %-44s %10.3f us   +-%5.1f %%\n", figure_names[id], figure->median_ps / 1e6,
           figure->spread * 50);
    fflush(stdout);
}

/* Each piece of work has keys that have not been used for a while, and so are in no cache, except
 * that what is inserted is what was deleted. */
static uint64_t slot_of(enum figure_id id) {
    if (id == FIGURE_SET_NEW) return FIGURE_DEL;
    if (id == FIGURE_PX_NEW) return FIGURE_DEL_VOLATILE;
    return id == FIGURE_R_SET_NEW ? FIGURE_R_DEL : id;
}

bool calibrate_round(struct calibration *c, enum figure_id id, const struct work *work,
                     uint32_t round) {
    uint32_t end = work->first + work->keys;
    if (work->kind >= WORK_SET && work->kind <= WORK_SET_PXAT && end > c->written) c->written = end;
    ns_t before = live_cpu_ns(&c->live);
    if (before < 0) return false;
    uint64_t from = (round * FIGURES + slot_of(id)) * (uint64_t)CHEAP_COMMANDS;
    if (!work_run(&c->live, work, from, c->interrupted)) return false;
    ns_t after = live_cpu_ns(&c->live);
    if (after < 0) return false;
    figure_add(&c->figures[id], (double)(after - before) * 1e3 / work->commands);
    return true;
}

/* Values of 16 KiB are there from the first round on. */
static void count_all(struct calibration *c, struct model *model) {
    for (size_t i = 0; i < ROWS; i++) {
        struct work work = calibrate_work_of(c, rows[i].figure);
        if (rows[i].first_part == -1) model_preload(model, &work);
        model_count(model, &work, c->figures[rows[i].figure].counts);
    }
}

static struct work range(const struct calibration *c, enum work_kind kind, uint32_t first,
                         uint32_t parts) {
    uint32_t part = c->keys / 32;
    return (struct work){.kind = kind,
                         .first = part * first,
                         .keys = part * parts,
                         .value_bytes = 32,
                         .pipeline = 256,
                         .commands = part * parts};
}

static bool load(struct calibration *c, struct model *model) {
    struct work plain = range(c, WORK_SET, 0, BASE_PARTS);
    struct work with_ttl = range(c, WORK_SET_PX, BASE_PARTS, VOLATILE_PARTS);
    model_preload(model, &plain);
    model_preload(model, &with_ttl);
    c->written = c->keys;
    return work_run(&c->live, &plain, 0, c->interrupted) &&
           work_run(&c->live, &with_ttl, 0, c->interrupted);
}

static bool run_rows(struct calibration *c) {
    for (uint32_t round = 0; round < c->rounds; round++)
        for (size_t i = 0; i < ROWS; i++) {
            struct work work = calibrate_work_of(c, rows[i].figure);
            if (!calibrate_round(c, rows[i].figure, &work, round)) return false;
        }
    for (size_t i = 0; i < ROWS; i++) calibrate_say(c, rows[i].figure);
    return true;
}

/* The same call as the server's, on the machine where the server is, we hope. */
static void measure_clock(struct calibration *c) {
    struct timeval now;
    for (uint32_t round = 0; round < c->rounds; round++) {
        clock_t before = clock(); /* CPU time: others may run meanwhile */
        for (int i = 0; i < CLOCK_READS; i++) gettimeofday(&now, NULL);
        double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        figure_add(&c->figures[FIGURE_CLOCK], seconds * 1e12 / CLOCK_READS);
    }
    c->figures[FIGURE_CLOCK].counts[COST_CLOCK_READ] = 1;
    calibrate_say(c, FIGURE_CLOCK);
}

static bool measure_commands(struct calibration *c, struct model *model) {
    printf("commands, %" PRIu32 " keys\n", c->keys / 32 * (BASE_PARTS + VOLATILE_PARTS));
    return live_set_number(&c->live, "hz", 1) && load(c, model) && calibrate_wait(c, SETTLE_NS) &&
           run_rows(c) && calibrate_idle(c, FIGURE_FAR, model);
}

bool calibrate_measure(struct calibration *c) {
    measure_clock(c);
    struct model *empty = model_create(c->live.generation, c->keys / MODEL_KEYS, false);
    bool fine = live_set(&c->live, "dynamic-hz", "no") && calibrate_idle(c, FIGURE_IDLE, empty) &&
                calibrate_storms(c);
    model_destroy(empty);
    struct model *model = model_create(c->live.generation, c->keys / MODEL_KEYS, false);
    fine = fine && measure_commands(c, model);
    if (fine) count_all(c, model);
    model_destroy(model);
    return fine && (!c->start || calibrate_replica(c));
}
