/* Expiry: every figure of the engine equals the real server's at every step, over configurations
 * that differ in hz, effort, tick, size, the shape of the deadlines and what clients do meanwhile.
 */
#include <stdio.h>

#include "lockstep.h"
#include "support.h"
#include "tally.h"

/* How deadlines lie; `after_ms` is what a shape makes of it. */
enum shape {
    ONE,       /* all after after_ms */
    UNIFORM,   /* anywhere within after_ms */
    WAVES,     /* half after after_ms, half after twice that */
    FEW,       /* 1 in 100 after after_ms, the rest long after the end */
    MIXED,     /* a third each: none at all, after after_ms, long after the end */
    SURVIVORS, /* all but 1 in 1,000 after after_ms: the table is nearly empty then */
};

/* What clients do in every step. */
enum meanwhile {
    NOTHING,
    DELETES, /* keys go, in the order of their numbers, a share in every step */
    READS,   /* keys are read, before and after their deadlines */
    EXTENDS, /* deadlines are moved, taken away and set */
    GROWS,   /* more keys come */
    WIPES,   /* all but one in 1,000 are deleted at once, in the third step */
};

struct trial {
    const char *about;
    struct lockstep_config config;
    uint32_t keys, value_bytes;
    enum shape shape;
    ms_t after_ms;
    enum meanwhile meanwhile;
    uint32_t steps;
    ms_t step_ms;
    bool preloaded; /* the engine has the first database's keys from before */
};

#define DRAWN_TRIALS 60
#define NEVER_MS     1000000

/* One line each: about; keys, bytes of a value; shape, when; clients; steps, ms each; what differs
 * from the server's defaults. */
#define T(about, keys, bytes, shape, after, meanwhile, steps, ms, ...)                             \
    { about, {__VA_ARGS__}, keys, bytes, shape, after, meanwhile, steps, ms, false }
/* clang-format off */
static const struct trial trials[] = {
    T("no keys", 0, 0, ONE, 0, NOTHING, 60, 100, .tick_us = 10),
    T("one key", 1, 10, ONE, 250, NOTHING, 60, 10, .tick_us = 10),
    T("nine keys, one dead", 9, 10, UNIFORM, 900, NOTHING, 120, 10, .tick_us = 10),
    T("19 keys", 19, 10, UNIFORM, 900, NOTHING, 120, 10, .tick_us = 100),
    T("a second of ticks", 300, 10, UNIFORM, 1000, NOTHING, 150, 10, .tick_us = 1000),
    T("10,000 of one deadline", 10000, 32, ONE, 1000, NOTHING, 60, 100, .tick_us = 10),
    T("100,000 of one deadline", 100000, 32, ONE, 1000, NOTHING, 60, 100, .tick_us = 10),
    T("100,000 of one deadline, 10 ms", 100000, 5, ONE, 1000, NOTHING, 300, 10, .tick_us = 20),
    T("100,000 uniform", 100000, 32, UNIFORM, 3000, NOTHING, 60, 100, .tick_us = 10),
    T("100,000 uniform, slow clock", 100000, 32, UNIFORM, 3000, NOTHING, 60, 100, .tick_us = 200),
    T("100,000 uniform, frozen turns", 100000, 32, UNIFORM, 3000, NOTHING, 60, 100, .tick_us = 0),
    T("20,000 in two waves", 20000, 32, WAVES, 700, NOTHING, 60, 100, .tick_us = 50),
    T("1 dead among 99 fresh", 50000, 32, FEW, 300, NOTHING, 80, 100, .tick_us = 10),
    T("1 dead among 99 fresh, effort 10", 50000, 32, FEW, 300, NOTHING, 80, 100,
      .tick_us = 10, .effort = 10),
    T("a third without deadline", 30000, 32, MIXED, 500, NOTHING, 60, 100, .tick_us = 50),
    T("below 1 % fill", 60000, 32, SURVIVORS, 300, NOTHING, 60, 100, .tick_us = 1),
    T("below 1 % fill, frozen turns", 60000, 32, SURVIVORS, 300, NOTHING, 60, 100, .tick_us = 0),
    T("hz 1", 20000, 32, UNIFORM, 5000, NOTHING, 100, 100, .tick_us = 10, .hz = 1),
    T("hz 1, effort 10", 20000, 32, ONE, 1500, NOTHING, 100, 100,
      .tick_us = 100, .hz = 1, .effort = 10),
    T("hz 50", 20000, 32, UNIFORM, 1000, NOTHING, 150, 10, .tick_us = 10, .hz = 50),
    T("hz 50, effort 3", 20000, 32, ONE, 300, NOTHING, 150, 10,
      .tick_us = 100, .hz = 50, .effort = 3),
    T("hz 100", 20000, 32, UNIFORM, 1000, NOTHING, 150, 10, .tick_us = 50, .hz = 100),
    T("hz 100, effort 5", 20000, 32, WAVES, 300, NOTHING, 150, 10,
      .tick_us = 20, .hz = 100, .effort = 5),
    T("hz 500", 20000, 32, UNIFORM, 700, NOTHING, 100, 10, .tick_us = 50, .hz = 500),
    T("hz 500, effort 10", 20000, 32, ONE, 300, NOTHING, 100, 10,
      .tick_us = 10, .hz = 500, .effort = 10),
    T("hz 300: a period that is no divisor", 5000, 32, UNIFORM, 900, NOTHING, 100, 10,
      .tick_us = 10, .hz = 300),
    T("effort 3", 50000, 32, UNIFORM, 2000, NOTHING, 60, 100, .tick_us = 10, .effort = 3),
    T("effort 5", 50000, 32, ONE, 500, NOTHING, 60, 100, .tick_us = 10, .effort = 5),
    T("effort 10", 50000, 32, UNIFORM, 2000, NOTHING, 60, 100, .tick_us = 10, .effort = 10),
    T("three databases", 10000, 32, UNIFORM, 1500, NOTHING, 60, 100,
      .tick_us = 50, .databases_seen = 3),
    T("sixteen databases", 2000, 32, ONE, 500, NOTHING, 60, 100,
      .tick_us = 100, .databases_seen = 16),
    T("deletes meanwhile", 30000, 32, UNIFORM, 3000, DELETES, 60, 100, .tick_us = 50),
    T("reads meanwhile", 30000, 32, UNIFORM, 3000, READS, 60, 100, .tick_us = 50),
    T("deadlines move meanwhile", 30000, 32, UNIFORM, 3000, EXTENDS, 60, 100, .tick_us = 50),
    T("keys come meanwhile", 8000, 32, UNIFORM, 3000, GROWS, 60, 100, .tick_us = 50),
    T("nearly all deleted at once", 60000, 32, UNIFORM, 2000, WIPES, 60, 100, .tick_us = 10),
    T("values of 1,000 bytes", 5000, 1000, ONE, 500, NOTHING, 40, 100, .tick_us = 50),
    T("values of 20,000 bytes", 300, 20000, UNIFORM, 1000, NOTHING, 40, 100, .tick_us = 50),
    T("growth under way at the deadline", 8300, 32, ONE, 200, READS, 60, 100,
      .tick_us = 50, .no_rehashing = true),
    T("shrink under way at the deadline", 60000, 32, SURVIVORS, 300, READS, 60, 100,
      .tick_us = 50, .no_rehashing = true),
    T("no rehashing by the cron, keys come", 4000, 32, UNIFORM, 900, GROWS, 100, 10,
      .tick_us = 10, .hz = 100, .no_rehashing = true),
    T("lazyfree, big values", 300, 20000, ONE, 500, DELETES, 40, 100,
      .tick_us = 50, .lazyfree = true),
    T("lazyfree, small values", 20000, 32, UNIFORM, 900, DELETES, 40, 100,
      .tick_us = 50, .lazyfree = true),
    T("four databases are all there are", 10000, 32, WAVES, 500, NOTHING, 60, 100,
      .tick_us = 50, .databases = 4, .databases_seen = 4),
    T("a single database", 20000, 32, UNIFORM, 900, READS, 100, 10,
      .tick_us = 100, .hz = 50, .effort = 5, .databases = 1),
    T("a big drop under effort 10", 100000, 32, SURVIVORS, 300, READS, 60, 100,
      .tick_us = 20, .effort = 10),
    /* 1,700 us are 17 readings, which is what 16 iterations and a look at the clock make. */
    T("the time limit is met to the microsecond", 8000, 32, ONE, 200, NOTHING, 80, 10,
      .tick_us = 100, .hz = 147, .databases = 1),
    T("1,000,000 of one deadline", 1000000, 32, ONE, 1000, NOTHING, 30, 100, .tick_us = 10),
};
/* clang-format on */
#undef T

/* What a scenario's keys are before it begins must lie as if they had been set. */
static const struct trial preloaded_trials[] = {
    {"preloaded", {.tick_us = 20}, 20000, 32, UNIFORM, 2000, NOTHING, 40, 100, true},
    {"preloaded, growth under way",
     {.tick_us = 20, .no_rehashing = true},
     8300,
     32,
     MIXED,
     500,
     READS,
     40,
     100,
     true},
};

static uint32_t scattered(uint32_t index) { return index * UINT32_C(2654435761); }

static ms_t shaped(uint32_t index, ms_t now_ms, const void *context) {
    const struct trial *t = context;
    switch (t->shape) {
    case ONE:
        return now_ms + t->after_ms;
    case UNIFORM:
        return now_ms + 1 + (ms_t)((uint64_t)scattered(index) * (uint64_t)t->after_ms >> 32);
    case WAVES:
        return now_ms + t->after_ms * (1 + (index & 1));
    case FEW:
        return now_ms + (index % 100 == 0 ? t->after_ms : NEVER_MS);
    case MIXED:
        return index % 3 == 0 ? -1 : now_ms + (index % 3 == 1 ? t->after_ms : NEVER_MS);
    case SURVIVORS:
        return now_ms + (index % 1000 == 0 ? NEVER_MS : t->after_ms);
    }
    return -1;
}

/* A trial that runs. */
struct run {
    const struct trial *trial;
    struct lockstep *ls;
    key_id first; /* in database 0 */
    struct lockstep_line line;
    uint32_t step, at;
};

static struct arg key_at(const struct run *run, uint32_t index) {
    return arg_key(names_keys(run->ls->names), run->first + index % run->trial->keys);
}

static void queue(struct run *run, const char *name, struct arg key, uint32_t argc,
                  int64_t number) {
    struct arg argv[] = {lockstep_word(run->ls, name), key, arg_number(number)};
    lockstep_queue(run->ls, &run->line, argv, argc);
}

static void delete_some(struct run *run) {
    uint32_t share = run->trial->keys / run->trial->steps;
    for (uint32_t i = 0; i < share; i++)
        queue(run, i % 2 ? "DEL" : "UNLINK", key_at(run, run->at++), 2, 0);
}

static void read_some(struct run *run) {
    for (uint32_t i = 0; i < 100; i++)
        queue(run, i % 2 ? "GET" : "EXISTS", key_at(run, scattered(run->at++)), 2, 0);
}

static void extend_some(struct run *run) {
    static const char *const commands[] = {"PEXPIRE", "PERSIST", "EXPIRE", "PEXPIRE"};
    static const uint32_t argc[] = {3, 2, 3, 3};
    static const int64_t numbers[] = {700, 0, 2, 0};
    for (uint32_t i = 0; i < 100; i++)
        queue(run, commands[i % 4], key_at(run, scattered(run->at++)), argc[i % 4], numbers[i % 4]);
}

static void grow_some(struct run *run) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "more%u:", run->step);
    key_id first = names_add_range(run->ls->names, prefix, "", 4, 0, 200);
    for (uint32_t i = 0; i < 200; i++) {
        struct arg argv[] = {lockstep_word(run->ls, "SET"),
                             arg_key(names_keys(run->ls->names), first + i),
                             arg_fill(run->trial->value_bytes), lockstep_word(run->ls, "PX"),
                             arg_number(1 + i * 10)};
        lockstep_queue(run->ls, &run->line, argv, 5);
    }
}

static void wipe(struct run *run) {
    if (run->step != 3) return;
    for (uint32_t i = 0; i < run->trial->keys; i++)
        if (i % 1000 != 0) queue(run, "DEL", key_at(run, i), 2, 0);
}

static void do_meanwhile(struct run *run) {
    static void (*const deeds[])(struct run *) = {
        [DELETES] = delete_some, [READS] = read_some, [EXTENDS] = extend_some,
        [GROWS] = grow_some,     [WIPES] = wipe,
    };
    if (run->trial->meanwhile == NOTHING) return;
    run->line = lockstep_connect(run->ls);
    deeds[run->trial->meanwhile](run);
    lockstep_flush(run->ls, &run->line);
    lockstep_disconnect(run->ls, &run->line);
}

static void load(struct run *run) {
    const struct trial *t = run->trial;
    for (uint8_t db = 0; t->keys && db < run->ls->databases_seen; db++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "db%u:", db);
        key_id first = names_add_range(run->ls->names, prefix, "", 8, 0, t->keys);
        if (db == 0) run->first = first;
        if (t->preloaded)
            lockstep_preload(run->ls, first, t->keys, t->value_bytes, shaped, t);
        else
            lockstep_load(run->ls, db, first, t->keys, t->value_bytes, shaped, t);
    }
}

static void run_trial(const struct trial *t) {
    struct run run = {.trial = t, .ls = lockstep_start(t->about, &t->config)};
    lockstep_compare(run.ls);
    load(&run);
    lockstep_compare(run.ls);
    for (run.step = 1; run.step <= t->steps; run.step++) {
        lockstep_steps(run.ls, 1, t->step_ms * US_PER_MS);
        do_meanwhile(&run);
    }
    lockstep_stop(run.ls);
}

START_TEST(every_figure_is_equal_at_every_step) { run_trial(&trials[_i]); }
END_TEST

START_TEST(preloaded_keys_lie_as_if_they_had_been_set) { run_trial(&preloaded_trials[_i]); }
END_TEST

/* --- drawn configurations --- */

static const char *const shape_names[] = {"one", "uniform", "waves", "few", "mixed", "survivors"};
static const char *const meanwhile_names[] = {"nothing", "deletes", "reads",
                                              "extends", "grows",   "wipes"};

/* Small numbers as often as large ones. */
static uint32_t draw_size(struct rng *rng, uint64_t most) {
    return 1 + (uint32_t)rng_below(rng, 1 + rng_below(rng, 1 + rng_below(rng, most)));
}

static void draw_config(struct rng *rng, struct lockstep_config *c) {
    static const int hz[] = {10, 10, 10, 1, 20, 50, 100, 250, 333, 500};
    static const us_t ticks_us[] = {0, 1, 3, 10, 30, 100, 200, 500};
    c->hz = hz[rng_below(rng, 10)];
    c->effort = 1 + (int)rng_below(rng, 10);
    c->tick_us = ticks_us[rng_below(rng, 8)];
    c->databases = 1 + (int)rng_below(rng, 16);
    c->databases_seen = 1 + (uint32_t)rng_below(rng, (uint64_t)c->databases);
    c->lazyfree = rng_chance(rng, 1, 4);
    c->no_rehashing = rng_chance(rng, 1, 4);
}

static void draw_trial(struct rng *rng, struct trial *t, char *about, size_t size) {
    draw_config(rng, &t->config);
    t->keys = draw_size(rng, 60000 / t->config.databases_seen);
    t->value_bytes = draw_size(rng, 300);
    t->shape = (enum shape)rng_below(rng, 6);
    t->meanwhile = (enum meanwhile)rng_below(rng, 6);
    t->step_ms = rng_chance(rng, 1, 2) ? 100 : 10;
    t->steps = t->step_ms == 10 ? 120 : 50;
    t->after_ms = 1 + (ms_t)rng_below(rng, t->steps * (uint64_t)t->step_ms / 2);
    snprintf(about, size, "hz %d, effort %d, tick %lld us, %u x %u keys, %s in %lld ms, %s",
             t->config.hz, t->config.effort, (long long)t->config.tick_us, t->config.databases_seen,
             t->keys, shape_names[t->shape], (long long)t->after_ms, meanwhile_names[t->meanwhile]);
    t->about = about;
}

START_TEST(every_figure_is_equal_in_a_drawn_configuration_too) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    struct trial t = {0};
    char about[256];
    draw_trial(&rng, &t, about, sizeof about);
    run_trial(&t);
}
END_TEST

/* hz doubles while there are more than 200 clients to each call: 450 make it 4 of 1. */
START_TEST(hz_follows_the_clients_as_the_servers_does) {
    struct lockstep_config config = {.tick_us = 50, .hz = 1, .dynamic_hz = true, .restless = true};
    struct lockstep *ls = lockstep_start("dynamic hz", &config);
    struct lockstep_line lines[450];
    const ms_t after_ms = 3000;
    const struct trial t = {.shape = UNIFORM, .after_ms = after_ms};
    key_id first = names_add_range(ls->names, "key:", "", 8, 0, 5000);
    lockstep_load(ls, 0, first, 5000, 10, shaped, &t);
    for (int i = 0; i < 450; i++) {
        lines[i] = lockstep_connect(ls);
        if (i % 50 == 0) lockstep_steps(ls, 2, 100 * US_PER_MS);
    }
    lockstep_steps(ls, 20, 100 * US_PER_MS);
    ck_assert_uint_eq(engine_stats(ls->engine).hz, 4);
    for (int i = 0; i < 450; i++) {
        lockstep_disconnect(ls, &lines[i]);
        if (i % 50 == 0) lockstep_steps(ls, 2, 100 * US_PER_MS);
    }
    lockstep_steps(ls, 20, 100 * US_PER_MS);
    lockstep_stop(ls);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

int main(void) {
    Suite *suite = suite_create("oracle expiry");
    TCase *tcase = tcase_create("figures");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_figure_is_equal_at_every_step, 0, COUNT(trials));
    tcase_add_loop_test(tcase, every_figure_is_equal_in_a_drawn_configuration_too, 0,
                        (int)test_rounds(DRAWN_TRIALS));
    tcase_add_loop_test(tcase, preloaded_keys_lie_as_if_they_had_been_set, 0,
                        COUNT(preloaded_trials));
    tcase_add_test(tcase, hz_follows_the_clients_as_the_servers_does);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "expiry");
}
