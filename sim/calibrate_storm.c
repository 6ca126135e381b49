/* The experiments that wait: crons of an idle server, tables that grow, keys that die together. */
#include <inttypes.h>
#include <stdio.h>

#include "calibrate.h"

#define IDLE_NS        (400 * NS_PER_MS)
#define IDLE_HZ        500
#define STORM_HZ       10
#define REHASH_NS      (1000 * NS_PER_MS)
#define LEAD_MS        300 /* between the end of a storm's preparation and its deadline */
#define SETTLE_NS      (1200 * NS_PER_MS)
#define STORM_LIMIT_NS (60 * NS_PER_S)
#define POLL_NS        (100 * NS_PER_MS)
#define WAKE_NS        80000 /* what a cron is late by, when nobody counts the server's sleeps */
#define STORM_PIPELINE 256
#define SPARE_PARTS    20              /* of a nearly full table one is free */
#define BUDGET_NS      (30 * NS_PER_S) /* of all storms, once there is one of each kind */

/* How many crons ran: one a sleep of an idle server, if its sleeps are known. */
static double crons_in(const struct live *live, int64_t sleeps_before, ns_t elapsed) {
    int64_t sleeps = live_sleeps(live);
    if (sleeps >= 0 && sleeps_before >= 0) return (double)(sleeps - sleeps_before);
    return (double)elapsed / (double)(NS_PER_S / IDLE_HZ + WAKE_NS);
}

bool calibrate_idle(struct calibration *c, enum figure_id id, struct model *model) {
    if (!live_set_number(&c->live, "hz", IDLE_HZ) || !calibrate_wait(c, SETTLE_NS)) return false;
    for (uint32_t round = 0; round < c->rounds; round++) {
        int64_t sleeps = live_sleeps(&c->live);
        ns_t began = live_now_ns(), before = live_cpu_ns(&c->live);
        if (before < 0 || !calibrate_wait(c, IDLE_NS)) return false;
        ns_t after = live_cpu_ns(&c->live), elapsed = live_now_ns() - began;
        double crons = crons_in(&c->live, sleeps, elapsed);
        if (after < 0) return false;
        if (crons > 0) figure_add(&c->figures[id], (double)(after - before) * 1e3 / crons);
    }
    model_count_cron(model, c->figures[id].counts);
    calibrate_say(c, id);
    return true;
}

/* What idle crons would have taken in that time. */
static double idle_ps(const struct calibration *c, ns_t elapsed) {
    double period_ns = (double)NS_PER_S / STORM_HZ + WAKE_NS;
    return (double)elapsed / period_ns * c->figures[FIGURE_IDLE].median_ps;
}

static struct work storm_keys(const struct calibration *c, int64_t deadline_ms) {
    return (struct work){.kind = WORK_SET_PXAT,
                         .keys = c->keys,
                         .value_bytes = 32,
                         .pipeline = STORM_PIPELINE,
                         .commands = c->keys,
                         .deadline_ms = deadline_ms};
}

/* One key more than the tables hold, and both double: each key moves twice, less the work of the
 * expire cycle that runs meanwhile, which idle crons have too. */
static bool measure_rehash(struct calibration *c, int64_t deadline_ms) {
    struct work one = storm_keys(c, deadline_ms);
    one.first = c->keys, one.keys = one.commands = one.pipeline = 1;
    int64_t sleeps = live_sleeps(&c->live);
    ns_t began = live_now_ns(), before = live_cpu_ns(&c->live);
    if (before < 0 || !work_run(&c->live, &one, 0, c->interrupted)) return false;
    if (!calibrate_wait(c, REHASH_NS)) return false;
    ns_t after = live_cpu_ns(&c->live), elapsed = live_now_ns() - began;
    if (after < 0) return false;
    ns_t asleep = elapsed - (after - before);
    double idle = crons_in(&c->live, sleeps, asleep) * c->figures[FIGURE_IDLE].median_ps;
    figure_add(&c->figures[FIGURE_REHASH],
               ((double)(after - before) * 1e3 - idle) / (2.0 * c->keys));
    return true;
}

static bool measure_drain(struct calibration *c, enum figure_id id, int64_t deadline_ms,
                          uint32_t dying, int64_t living) {
    ns_t began = live_now_ns(), before = live_cpu_ns(&c->live), limit = began + STORM_LIMIT_NS;
    int64_t left = living + 1;
    if (before < 0 || !calibrate_wait(c, (deadline_ms - live_wall_ms()) * NS_PER_MS)) return false;
    while (left > living && live_now_ns() < limit) {
        if (!calibrate_wait(c, POLL_NS)) return false;
        left = live_dbsize(&c->live);
    }
    if (left < 0) return false;
    if (left > living) return live_fail(&c->live, "keys do not expire: is the expire cycle off?");
    if (!calibrate_wait(c, 3 * POLL_NS)) return false; /* the tables shrink */
    ns_t after = live_cpu_ns(&c->live), elapsed = live_now_ns() - began;
    if (after < 0) return false;
    double busy_ps = (double)(after - before) * 1e3 - idle_ps(c, elapsed);
    figure_add(&c->figures[id], busy_ps / dying);
    return true;
}

/* All of the keys die, or half of them and the others live on. */
static bool storm_load(struct calibration *c, int64_t deadline_ms, uint32_t dying) {
    struct work die = storm_keys(c, deadline_ms), live = die;
    die.keys = die.commands = dying;
    live.kind = WORK_SET_PX;
    live.first = dying;
    live.keys = live.commands = dying > c->keys / 2 ? 0 : c->keys - dying;
    c->written = c->keys + 1;
    return live_set_number(&c->live, "hz", IDLE_HZ) &&
           work_run(&c->live, &die, 0, c->interrupted) &&
           (live.keys == 0 || work_run(&c->live, &live, 0, c->interrupted));
}

/* `load_ns`: what the loading took last time. The deadline must not come before all is ready. Where
 * all die the tables are nearly full, as a million keys' are; where a half lives on, one key more
 * makes them grow, and dies too. */
static bool storm(struct calibration *c, enum figure_id id, ns_t *load_ns) {
    bool full = id == FIGURE_STORM;
    uint32_t dying = full ? c->keys - c->keys / SPARE_PARTS : c->keys / 2;
    int64_t ready_ms = (*load_ns * 3 / 2 + REHASH_NS) / NS_PER_MS + 2 * LEAD_MS;
    int64_t deadline_ms = live_wall_ms() + ready_ms;
    ns_t began = live_now_ns();
    if (!storm_load(c, deadline_ms, dying)) return false;
    *load_ns = live_now_ns() - began;
    bool in_time = live_wall_ms() + REHASH_NS / NS_PER_MS + LEAD_MS < deadline_ms;
    bool fine =
        !in_time ||
        (calibrate_wait(c, POLL_NS) && (full || measure_rehash(c, deadline_ms)) &&
         live_set_number(&c->live, "hz", STORM_HZ) &&
         measure_drain(c, id, deadline_ms, full ? dying : dying + 1, full ? 0 : c->keys - dying));
    if (!fine || (in_time && id == FIGURE_STORM)) return fine;
    return work_clear(&c->live, c->written); /* too late: the next try knows how long it takes */
}

/* Storms of larger values, of as many keys as hold a quarter of a GiB at most: what it takes to
 * free one. */
static const struct value_storm {
    enum figure_id figure;
    uint32_t value_bytes, keys;
} value_storms[] = {{FIGURE_STORM_1K, 1024, 65536},
                    {FIGURE_STORM_16K, 16384, 8192},
                    {FIGURE_STORM_64K, 65536, 4096}};
#define VALUE_STORM_KEYS_MAX 262144 /* beyond it these few keys are not dear enough to compare */
#define VALUE_STORMS         (sizeof(value_storms) / sizeof(*value_storms))

static bool value_storm(struct calibration *c, const struct value_storm *s) {
    int64_t load_ms = (int64_t)s->keys * (8 + s->value_bytes / 512) / 1000;
    struct work work = storm_keys(c, live_wall_ms() + load_ms + 3 * LEAD_MS);
    work.keys = work.commands = s->keys;
    work.value_bytes = s->value_bytes, work.pipeline = 8;
    if (s->keys > c->written) c->written = s->keys;
    if (!live_set_number(&c->live, "hz", STORM_HZ) || !work_run(&c->live, &work, 0, c->interrupted))
        return false;
    if (live_wall_ms() > work.deadline_ms) return work_clear(&c->live, c->written);
    return measure_drain(c, s->figure, work.deadline_ms, s->keys, 0);
}

static bool measure_values(struct calibration *c) {
    if (c->keys > VALUE_STORM_KEYS_MAX) return true;
    for (uint32_t round = 0; round < (c->rounds + 1) / 2; round++)
        for (size_t i = 0; i < VALUE_STORMS; i++)
            if (!value_storm(c, &value_storms[i])) return false;
    for (size_t i = 0; i < VALUE_STORMS; i++) {
        enum figure_id figure = value_storms[i].figure;
        model_count_storm(c->live.generation, 1, value_storms[i].value_bytes,
                          c->figures[figure].counts);
        calibrate_say(c, figure);
    }
    return true;
}

bool calibrate_storms(struct calibration *c) {
    struct figure *rehash = &c->figures[FIGURE_REHASH];
    struct figure *all = &c->figures[FIGURE_STORM], *half = &c->figures[FIGURE_STORM_HALF];
    uint32_t wanted = (c->rounds + 1) / 2, tries = 2 * wanted + 3;
    ns_t load_ns = (ns_t)c->keys * 2500; /* a guess: 2.5 us a key */
    printf("storms of %" PRIu32 " keys\n", c->keys + 1);
    ns_t end = live_now_ns() + BUDGET_NS;
    while ((all->count < wanted || half->count < wanted) && tries-- > 0) {
        if (half->count > 0 && live_now_ns() > end) break;
        if (!storm(c, all->count > half->count ? FIGURE_STORM_HALF : FIGURE_STORM, &load_ns))
            return false;
    }
    if (half->count == 0) return live_fail(&c->live, "loading keys takes longer each time");
    rehash->counts[COST_REHASH_KEY] = rehash->counts[COST_REHASH_BUCKET] = 1;
    model_count_storm(c->live.generation, 1, 32, all->counts);
    model_count_storm(c->live.generation, 2, 32, half->counts);
    calibrate_say(c, FIGURE_REHASH);
    calibrate_say(c, FIGURE_STORM);
    calibrate_say(c, FIGURE_STORM_HALF);
    return measure_values(c);
}
