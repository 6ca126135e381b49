/* Expiry: every figure of the engine equals the real server's at every step, over configurations
 * that differ in hz, effort, tick, size and the shape of the deadlines. */
#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define MS_US INT64_C(1000)

/* How deadlines lie. `spread_ms` is what a shape makes of it. */
enum shape {
    SHAPE_ONE,       /* all after spread_ms */
    SHAPE_UNIFORM,   /* anywhere within spread_ms */
    SHAPE_WAVES,     /* half after spread_ms, half after twice that */
    SHAPE_FEW,       /* 1 in 100 after spread_ms, the rest long after the end */
    SHAPE_MIXED,     /* each third: none, after spread_ms, long after the end */
    SHAPE_SURVIVORS, /* all but 1 in 1000 after spread_ms: tables become nearly empty */
};

enum meanwhile {
    MEANWHILE_NOTHING,
    MEANWHILE_DELETES, /* clients delete every 7th key, a few in every step */
    MEANWHILE_READS,   /* clients read keys round the deadline */
    MEANWHILE_EXTENDS, /* clients move deadlines */
    MEANWHILE_LOADS,   /* more keys come in every step */
};

struct trial {
    const char *about;
    struct lockstep_config config;
    uint32_t keys, value_bytes;
    enum shape shape;
    ms_t spread_ms;
    uint32_t databases; /* each gets that many keys; 0: one */
    enum meanwhile meanwhile;
    uint32_t steps;
    ms_t step_ms;
};

static const struct trial trials[] = {
    {"no keys at all", {.tick_us = 10}, 0, 0, SHAPE_ONE, 0, 0, 0, 50, 100},
    {"one key", {.tick_us = 10}, 1, 10, SHAPE_ONE, 250, 0, 0, 60, 10},
    {"19 keys", {.tick_us = 100}, 19, 10, SHAPE_UNIFORM, 900, 0, 0, 120, 10},
    {"10,000 keys of one deadline", {.tick_us = 10}, 10000, 32, SHAPE_ONE, 1000, 0, 0, 60, 100},
    {"100,000 uniform", {.tick_us = 10}, 100000, 32, SHAPE_UNIFORM, 3000, 0, 0, 60, 100},
};

static ms_t shaped(uint32_t index, ms_t now_ms, const void *context) {
    const struct trial *t = context;
    const ms_t never_ms = 1000000;
    uint32_t mixed = index * UINT32_C(2654435761);
    switch (t->shape) {
    case SHAPE_ONE:
        return now_ms + t->spread_ms;
    case SHAPE_UNIFORM:
        return now_ms + 1 + (ms_t)((uint64_t)mixed * (uint64_t)t->spread_ms >> 32);
    case SHAPE_WAVES:
        return now_ms + t->spread_ms * (1 + (index & 1));
    case SHAPE_FEW:
        return now_ms + (index % 100 == 0 ? t->spread_ms : never_ms);
    case SHAPE_MIXED:
        return index % 3 == 0 ? -1 : now_ms + (index % 3 == 1 ? t->spread_ms : never_ms);
    case SHAPE_SURVIVORS:
        return now_ms + (index % 1000 == 0 ? never_ms : t->spread_ms);
    }
    return -1;
}

static void load(struct lockstep *ls, const struct trial *t, uint8_t db, const char *prefix) {
    key_id first = names_add_range(ls->names, prefix, "", 8, 0, t->keys);
    lockstep_load(ls, db, first, t->keys, t->value_bytes, shaped, t);
}

START_TEST(every_figure_is_equal_at_every_step) {
    const struct trial *t = &trials[_i];
    struct lockstep *ls = lockstep_start(t->about, &t->config);
    lockstep_compare(ls);
    if (t->keys) load(ls, t, 0, "key:");
    lockstep_compare(ls);
    lockstep_steps(ls, t->steps, t->step_ms * MS_US);
    lockstep_stop(ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle expiry");
    TCase *tcase = tcase_create("figures");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_figure_is_equal_at_every_step, 0,
                        (int)(sizeof trials / sizeof *trials));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "expiry");
}
