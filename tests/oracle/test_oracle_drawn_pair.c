/* Drawn pairs: a real master and a real replica whose link is cut, dies and is mended, who are
 * written to, whose keys expire, and of whom the replica is promoted and comes back, in an order
 * drawn from a seed; beside two engines. */
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"
#include "rng.h"
#include "support.h"
#include "tally.h"

#define RUNS  20
#define DEEDS 60

struct draw {
    struct pair *p;
    struct rng rng;
    bool verbose, is_replica, is_whole;
};

static int pick(struct draw *d, int below) { return (int)rng_below(&d->rng, (uint64_t)below); }

static void command(struct draw *d, int side, const char *text) {
    if (d->verbose) fprintf(stderr, "  %d: %s\n", side, text);
    pair_do(d->p, side, text);
}

static void draw_command(struct draw *d) {
    static const char *const templates[] = {
        "SET k%d v PX %d", "SET k%d v PX %d", "SET k%d v PX %d",  "GET k%d",     "DEL k%d k%d",
        "SELECT 1",        "SELECT 0",        "GETEX k%d PX %d",  "INCR n%d",    "PEXPIRE k%d %d",
        "EXISTS k%d k%d",  "DBSIZE",          "SCAN 0 COUNT 100", "PERSIST k%d", "FLUSHDB",
    };
    char text[96];
    int which = pick(d, sizeof templates / sizeof *templates);
    snprintf(text, sizeof text, templates[which], pick(d, 30), 50 + pick(d, 1500));
    command(d, pick(d, 4) == 0, text);
}

static void draw_write(struct draw *d) {
    static const uint32_t sizes[] = {1, 100, 1000, 5000, 30000, 200000};
    uint32_t bytes = sizes[pick(d, sizeof sizes / sizeof *sizes)];
    if (d->verbose) fprintf(stderr, "  write %u\n", bytes);
    pair_write(d->p, (uint32_t)pick(d, 20), bytes);
}

static void draw_config(struct draw *d) {
    static const char *const settings[] = {
        "repl-backlog-size 16384",
        "repl-backlog-size 65536",
        "repl-backlog-size 1048576",
        "repl-backlog-ttl 1",
        "repl-backlog-ttl 3600",
        "repl-timeout 4",
        "repl-timeout 60",
        "repl-diskless-sync-delay 1",
        "repl-diskless-sync-delay 0",
        "replica-serve-stale-data no",
        "replica-serve-stale-data yes",
        "replica-lazy-flush yes",
    };
    char text[96];
    snprintf(text, sizeof text, "CONFIG SET %s",
             settings[pick(d, sizeof settings / sizeof *settings)]);
    command(d, pick(d, 2), text);
}

static void draw_link(struct draw *d) {
    int which = d->is_whole ? pick(d, 2) : 2;
    if (d->verbose) fprintf(stderr, "  link: %d\n", which);
    d->is_whole = which == 2;
    if (which == 0) pair_cut(d->p);
    if (which == 1) pair_freeze(d->p);
    if (which == 2) pair_mend(d->p);
}

static void draw_role(struct draw *d) {
    if (d->verbose) fprintf(stderr, "  role: %d\n", !d->is_replica);
    if (d->is_replica)
        pair_promote(d->p, PAIR_REPLICA);
    else
        pair_join(d->p);
    d->is_replica = !d->is_replica;
}

static void draw_pass(struct draw *d) {
    static const ms_t spans_ms[] = {100, 100, 300, 500, 1000, 2000, 5000};
    ms_t ms = spans_ms[pick(d, sizeof spans_ms / sizeof *spans_ms)];
    if (d->verbose) fprintf(stderr, "  pass %d\n", (int)ms);
    for (; ms > 0; ms -= 100) pair_pass(d->p, 100);
}

static void draw_deed(struct draw *d) {
    int which = pick(d, 100);
    if (which < 30)
        draw_command(d);
    else if (which < 50)
        draw_write(d);
    else if (which < 57)
        draw_config(d);
    else if (which < 67)
        draw_link(d);
    else if (which < 72)
        draw_role(d);
    else
        draw_pass(d);
    pair_compare(d->p);
}

START_TEST(a_drawn_life_of_a_pair_is_the_real_ones) {
    uint64_t seed = test_seed() + (uint64_t)_i;
    char about[64];
    snprintf(about, sizeof about, "LAPSE_TEST_SEED=%llu", (unsigned long long)seed);
    struct draw d = {.p = pair_start(about),
                     .rng = rng_seed(seed),
                     .verbose = getenv("LAPSE_TEST_VERBOSE") != NULL,
                     .is_whole = true};
    draw_role(&d);
    for (int i = 0; i < DEEDS; i++) draw_deed(&d);
    pair_stop(d.p);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle drawn pairs");
    TCase *tcase = tcase_create("drawn pairs");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_drawn_life_of_a_pair_is_the_real_ones, 0, (int)test_rounds(RUNS));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "drawn_pair");
}
