/* Drawn: replicas that come, ask, acknowledge, fall silent and go in an order drawn from a seed,
 * while a master writes, expires, waits and is promoted. All that can be seen is compared after
 * each deed. */
#include <stdio.h>
#include <stdlib.h>

#include "rng.h"
#include "standin.h"
#include "support.h"
#include "tally.h"

#define RUNS     40
#define DEEDS    80
#define REPLICAS 3

struct draw {
    struct standins *s;
    struct rng rng;
    bool verbose;
};

static int64_t pick(struct draw *d, int64_t below) {
    return (int64_t)rng_below(&d->rng, (uint64_t)below);
}

static void say(struct draw *d, const char *deed, int64_t a, int64_t b) {
    if (d->verbose) fprintf(stderr, "  %s %lld %lld\n", deed, (long long)a, (long long)b);
}

/* --- what the master does --- */

static void draw_write(struct draw *d) {
    static const uint32_t sizes[] = {1, 100, 1000, 5000, 17000, 40000, 70000, 300000};
    uint32_t bytes = sizes[pick(d, sizeof sizes / sizeof *sizes)];
    say(d, "write", bytes, 0);
    standins_write(d->s, (uint32_t)pick(d, 50), bytes);
}

static void draw_command(struct draw *d) {
    static const char *const templates[] = {
        "SET k%d v PX %d", "GET k%d",         "DEL k%d k%d",    "SELECT 0", "SELECT 1",
        "INCR n%d",        "GETEX k%d PX %d", "PEXPIRE k%d %d", "FLUSHDB",  "SCAN 0 COUNT 100",
    };
    char command[96];
    int which = (int)pick(d, sizeof templates / sizeof *templates);
    snprintf(command, sizeof command, templates[which], (int)pick(d, 20), 50 + (int)pick(d, 2000));
    if (d->verbose) fprintf(stderr, "  %s\n", command);
    standins_do(d->s, command);
}

static void draw_config(struct draw *d) {
    static const struct {
        const char *name;
        int values[4];
    } directives[] = {
        {"repl-backlog-size", {16384, 65536, 300000, 1048576}},
        {"repl-backlog-ttl", {0, 1, 3, 10}},
        {"repl-timeout", {3, 5, 20, 60}},
        {"repl-ping-replica-period", {1, 2, 5, 10}},
        {"repl-diskless-sync-delay", {0, 0, 1, 3}},
        {"repl-diskless-sync-max-replicas", {0, 0, 2, 3}},
        {"min-replicas-to-write", {0, 0, 1, 2}},
        {"min-replicas-max-lag", {1, 2, 5, 10}},
    };
    char command[96];
    int which = (int)pick(d, sizeof directives / sizeof *directives);
    snprintf(command, sizeof command, "CONFIG SET %s %d", directives[which].name,
             directives[which].values[pick(d, 4)]);
    if (d->verbose) fprintf(stderr, "  %s\n", command);
    standins_do(d->s, command);
}

static void draw_pass(struct draw *d) {
    static const ms_t spans_ms[] = {100, 100, 200, 300, 700, 1000, 1500, 4000};
    ms_t ms = spans_ms[pick(d, sizeof spans_ms / sizeof *spans_ms)];
    say(d, "pass", ms, 0);
    standins_pass(d->s, ms);
}

static void draw_promotion(struct draw *d) {
    say(d, "promotion", 0, 0);
    standins_promote(d->s);
}

/* --- what a replica does --- */

static int64_t draw_offset(struct draw *d, int i) {
    const int64_t *seen = d->s->server_seen;
    switch (pick(d, 6)) {
    case 0:
        return seen[STANDIN_first_byte] + pick(d, 3) - 1;
    case 1:
        return seen[STANDIN_offset] + pick(d, 3);
    case 2:
        return seen[STANDIN_second_offset] + pick(d, 3) - 1;
    case 3:
        return 1 + pick(d, seen[STANDIN_offset] + 1);
    default:
        return d->s->all[i].have + 1;
    }
}

/* Mostly the id that is in force. */
static int draw_id(struct draw *d) {
    int64_t which = pick(d, 10);
    if (which == 0) return STANDIN_NOTHING;
    if (which < 3) return (int)pick(d, d->s->ids.server_count + 1);
    if (which < 5) return (int)d->s->server_seen[STANDIN_id2];
    return (int)d->s->server_seen[STANDIN_id];
}

static void draw_arrival(struct draw *d, int i) {
    int64_t offset = draw_offset(d, i);
    int id = draw_id(d);
    say(d, "comes, asks", id, offset);
    standin_greet(d->s, i);
    if (pick(d, 10) == 0) return; /* and says no more */
    standin_ask(d->s, i, id, id == STANDIN_NOTHING ? -1 : offset);
    if (pick(d, 4) > 0) d->s->all[i].acks = true;
}

static void draw_replica(struct draw *d) {
    int i = (int)pick(d, REPLICAS);
    struct standin *p = &d->s->all[i];
    say(d, "replica", i, p->fd < 0);
    if (p->fd >= 0 && p->server_closed) standin_leave(d->s, i);
    if (p->fd < 0) {
        draw_arrival(d, i);
    } else if (pick(d, 3) == 0) {
        say(d, "leaves", i, 0);
        standin_leave(d->s, i);
    } else if (pick(d, 3) == 0) {
        p->acks = !p->acks;
    } else if (p->phase == STANDIN_STREAM) {
        say(d, "acknowledges", p->have, 0);
        standin_acknowledge(d->s, i, p->have);
    }
}

static void draw_deed(struct draw *d) {
    int64_t which = pick(d, 100);
    if (which < 30)
        draw_replica(d);
    else if (which < 50)
        draw_write(d);
    else if (which < 65)
        draw_command(d);
    else if (which < 73)
        draw_config(d);
    else if (which < 76)
        draw_promotion(d);
    else
        draw_pass(d);
    standins_compare(d->s);
}

START_TEST(a_drawn_life_of_replicas_is_the_servers) {
    static const struct standin_limits limits = {1500000, 400000, 2};
    uint64_t seed = test_seed() + (uint64_t)_i;
    char about[64];
    snprintf(about, sizeof about, "LAPSE_TEST_SEED=%llu", (unsigned long long)seed);
    struct draw d = {.rng = rng_seed(seed), .verbose = getenv("LAPSE_TEST_VERBOSE") != NULL};
    d.s = standins_start(about, seed % 2 ? &limits : NULL);
    for (int i = 0; i < DEEDS; i++) draw_deed(&d);
    standins_stop(d.s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle drawn");
    TCase *tcase = tcase_create("drawn");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_drawn_life_of_replicas_is_the_servers, 0, (int)test_rounds(RUNS));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "drawn");
}
