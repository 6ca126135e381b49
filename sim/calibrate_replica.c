/* The experiments with a replica, which is started for them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calibrate.h"

#define SYNC_LIMIT_NS (60 * NS_PER_S)
#define POLL_NS       (50 * NS_PER_MS)

/* What is measured with a replica, and the piece of work that it repeats. R_SET_NEW puts back
 * what R_DEL deletes. */
static const struct pair {
    enum figure_id figure, same;
} pairs[] = {{FIGURE_R_SET_1, FIGURE_SET_1},
             {FIGURE_R_DEL, FIGURE_DEL},
             {FIGURE_R_SET_NEW, FIGURE_SET_NEW},
             {FIGURE_R_SET_16K, FIGURE_SET_16K}};
#define PAIRS (sizeof(pairs) / sizeof(*pairs))

static bool take_message(struct calibration *c) {
    return live_fail(&c->live, "replica: %.400s", c->replica.message);
}

/* Up, and as far as the master was when asked. */
static bool is_in_sync(struct calibration *c) {
    redisReply *ours = live_info(&c->live), *theirs = live_info(&c->replica);
    char status[16] = "";
    bool same = false;
    if (ours && theirs) {
        live_field(theirs->str, "master_link_status", status, sizeof(status));
        same =
            strcmp(status, "up") == 0 && live_field_number(theirs->str, "slave_repl_offset", -1) >=
                                             live_field_number(ours->str, "master_repl_offset", 0);
    }
    if (ours) freeReplyObject(ours);
    if (theirs) freeReplyObject(theirs);
    return same;
}

static bool wait_for_sync(struct calibration *c) {
    for (ns_t end = live_now_ns() + SYNC_LIMIT_NS; live_now_ns() < end;) {
        if (is_in_sync(c)) return true;
        if (!calibrate_wait(c, POLL_NS)) return false;
    }
    return live_fail(&c->live, "the replica was not in sync within 60 s");
}

static bool attach(struct calibration *c) {
    struct live_order order = {.start = c->start, .db = -1};
    if (!live_set_number(&c->live, "repl-diskless-sync-delay", 0)) return false;
    if (!live_open(&c->replica, &order)) return take_message(c);
    if (!live_do(&c->replica, "REPLICAOF %s %d", c->live.host, c->live.port))
        return take_message(c);
    return wait_for_sync(c);
}

/* The replica's own time for what its master sends; it reads many commands a turn. */
static bool measure_apply(struct calibration *c, uint32_t round) {
    struct work work = calibrate_work_of(c, FIGURE_SET);
    ns_t before = live_cpu_ns(&c->replica);
    if (!work_run(&c->live, &work, (uint64_t)round * work.commands, c->interrupted)) return false;
    if (!wait_for_sync(c)) return false;
    ns_t after = live_cpu_ns(&c->replica);
    if (before < 0 || after < 0) return take_message(c);
    figure_add(&c->figures[FIGURE_APPLY], (double)(after - before) * 1e3 / work.commands);
    return true;
}

static bool run_rounds(struct calibration *c) {
    for (uint32_t round = 0; round < c->rounds; round++) {
        for (size_t i = 0; i < PAIRS; i++) {
            struct work work = calibrate_work_of(c, pairs[i].same);
            if (!calibrate_round(c, pairs[i].figure, &work, round)) return false;
        }
        if (!measure_apply(c, round)) return false;
    }
    return true;
}

/* What the replica is charged: as its master, but for APPLY instead of COMMAND. */
static void count_apply(struct calibration *c) {
    double *counts = c->figures[FIGURE_APPLY].counts;
    memcpy(counts, c->figures[FIGURE_SET].counts, sizeof(c->figures[FIGURE_SET].counts));
    counts[COST_APPLY] = counts[COST_COMMAND];
    counts[COST_COMMAND] = 0;
}

static void count_all(struct calibration *c) {
    struct model *model = model_create(c->live.generation, c->keys / MODEL_KEYS, true);
    struct work plain = calibrate_work_of(c, FIGURE_SET);
    struct work with_ttl = calibrate_work_of(c, FIGURE_PX_OLD);
    struct work large = calibrate_work_of(c, FIGURE_SET_16K);
    model_preload(model, &plain);
    model_preload(model, &with_ttl);
    model_preload(model, &large);
    for (size_t i = 0; i < PAIRS; i++) {
        struct work work = calibrate_work_of(c, pairs[i].same);
        model_count(model, &work, c->figures[pairs[i].figure].counts);
    }
    model_destroy(model);
    count_apply(c);
}

bool calibrate_replica(struct calibration *c) {
    printf("with a replica\n");
    bool fine = live_set_number(&c->live, "hz", 10) && attach(c) && run_rounds(c);
    live_close(&c->replica);
    if (!fine) return false;
    count_all(c);
    for (size_t i = 0; i < PAIRS; i++) calibrate_say(c, pairs[i].figure);
    calibrate_say(c, FIGURE_APPLY);
    return true;
}
