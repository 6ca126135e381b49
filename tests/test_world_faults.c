/* Connections that break, are made anew and carry snapshots: what a run does with them, by
 * arithmetic where a number is expected, and by random scenarios for the rest. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "world.h"

#define SERVERS_MAX 4
#define DRAIN_NS    (2000 * NS_PER_S)
#define ROUNDS      40

/* A run, and what its rows showed of one server, the second one. */
struct run {
    struct scenario *scenario;
    struct world *world;
    ns_t sync_from_ns, up_again_ns;      /* the first row in which a full sync is on; up after it */
    ns_t loading_from_ns, loading_to_ns; /* first and last row while it loads */
    int64_t errors_loading, errors_else;
};

static bool run_row(void *context, const struct trace_row *row) {
    struct run *run = context;
    if (run->scenario->server_count < 2) return true;
    if (strcmp(row->server, run->scenario->servers[1].name) != 0) return true;
    struct engine_stats stats = engine_stats(world_engine(run->world, 1));
    if (stats.master_link == LINK_SYNC && run->sync_from_ns < 0) run->sync_from_ns = row->at_ns;
    if (stats.master_link == LINK_UP && run->sync_from_ns >= 0 && run->up_again_ns < 0)
        run->up_again_ns = row->at_ns;
    if (stats.loading) {
        if (run->loading_from_ns < 0) run->loading_from_ns = row->at_ns;
        run->loading_to_ns = row->at_ns;
        run->errors_loading += row->error_replies;
    } else {
        run->errors_else += row->error_replies;
    }
    return true;
}

static bool run_interrupted(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    struct run *run = context;
    ck_assert(now_ns <= duration_ns && events > 0);
    world_check(run->world);
    return false;
}

static bool run_reply(void *context, uint32_t event, ns_t at_ns, const char *resp, size_t length) {
    const struct run *run = context;
    ck_assert_uint_lt(event, run->scenario->event_count);
    ck_assert(at_ns >= run->scenario->events[event].at_ns && length > 0 && resp);
    return true;
}

static void run_begin(struct run *run, const char *yaml) {
    struct scenario_error error;
    *run = (struct run){
        .sync_from_ns = -1, .up_again_ns = -1, .loading_from_ns = -1, .loading_to_ns = -1};
    run->scenario = scenario_parse(yaml, strlen(yaml), "faults.yaml", ".", NULL, &error);
    if (!run->scenario) ck_abort_msg("%s\n%s", error.message, yaml);
    struct world_output output = {
        .context = run, .row = run_row, .event_reply = run_reply, .interrupted = run_interrupted};
    run->world = world_create(run->scenario, &output, &error);
    if (!run->world) ck_abort_msg("%s", error.message);
    ck_assert_int_eq(world_run(run->world), WORLD_DONE);
    world_check(run->world);
}

static void run_end(struct run *run) {
    world_destroy(run->world);
    scenario_destroy(run->scenario);
}

static void expect_equal(struct run *run) {
    ck_assert(world_drain(run->world, DRAIN_NS));
    world_check(run->world);
    for (uint32_t i = 1; i < run->scenario->server_count; i++)
        ck_assert_uint_eq(engine_digest(world_engine(run->world, i)),
                          engine_digest(world_engine(run->world, 0)));
}

static struct engine_stats stats_of(const struct run *run, uint32_t server) {
    return engine_stats(world_engine(run->world, server));
}

#define KEYS                                                                                       \
    "populations: {keys: {keys: 'key:{n:06}', count: 1000, value: 100B, load: preloaded}}\n"
#define WRITES                                                                                     \
    "clients: {writer: {server: a, population: keys, rate: 1000/s, mix: {'SET {key} {value}': "    \
    "1}}}\n"

START_TEST(after_a_reset_the_replica_goes_on_where_it_was) {
    struct run run;
    run_begin(
        &run,
        "name: f\nduration: 5s\ncosts: zero\nservers: {a: {}, b: {replica-of: a}}\n" KEYS WRITES
        "events: [{at: 2s, reset: b}, {at: 3s, reset: b}]\n");
    struct engine_stats a = stats_of(&run, 0);
    ck_assert_uint_eq(a.sync_partial_ok, 2);
    ck_assert_uint_eq(a.sync_full, 0);
    ck_assert_uint_eq(a.connected_replicas, 1);
    ck_assert_int_eq(stats_of(&run, 1).master_link, LINK_UP);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

/* In 2 s behind the cut 2,000 commands of more than 100 bytes are written: 16 KiB hold none of the
 * first ones any more. */
START_TEST(what_the_backlog_has_lost_needs_a_full_sync) {
    struct run run;
    run_begin(&run,
              "name: f\nduration: 12s\ncosts: zero\n"
              "servers: {a: {config: {repl-backlog-size: 16kb}}, b: {replica-of: a}}\n" KEYS WRITES
              "events: [{at: 1s, cut: b}, {at: 3s, reset: b}, {at: 3100ms, heal: b}]\n");
    struct engine_stats a = stats_of(&run, 0);
    ck_assert_uint_eq(a.sync_partial_ok, 0);
    ck_assert_uint_eq(a.sync_partial_err, 1);
    ck_assert_uint_eq(a.sync_full, 1);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

/* 10,000 keys of 1 byte for the type, 11 for the name, 2 + 1000 for the value are 10.14 MB; at 8
 * Mbit/s a byte takes a microsecond. Rows are every 100 ms. */
START_TEST(a_thin_link_throttles_a_full_sync) {
    struct run run;
    run_begin(&run,
              "name: f\nduration: 20s\ncosts: zero\ntrace: 100ms\n"
              "servers: {a: {config: {repl-backlog-size: 16kb, repl-diskless-sync-delay: 0}}, b: "
              "{replica-of: a, link: {bandwidth: 8mbit/s, latency: 1ms}}}\n"
              "populations: {keys: {keys: 'key:{n:06}', count: 10000, value: 1000B, load: "
              "preloaded}}\n"
              "clients: {writer: {server: a, population: keys, rate: 1000/s, until: 3s, mix: {'SET "
              "{key} 1': 1}}}\n"
              "events: [{at: 1s, cut: b}, {at: 3s, reset: b}, {at: 3050ms, heal: b}]\n");
    ck_assert_uint_eq(stats_of(&run, 0).sync_full, 1);
    ck_assert_int_ge(run.sync_from_ns, 3 * NS_PER_S);
    ns_t took_ns = run.up_again_ns - run.sync_from_ns;
    /* 3,000 writes at random have made 2,592 +- 20 keys small, of 1 + 11 + 2 bytes */
    int64_t low_ms = (7300 * 1014 + 2700 * 14) / 1000, high_ms = (7500 * 1014 + 2500 * 14) / 1000;
    low_ms -= 100; /* the row before it was seen */
    high_ms += 200;
    ck_assert_int_ge(took_ns, low_ms * NS_PER_MS);
    ck_assert_int_le(took_ns, high_ms * NS_PER_MS);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

/* Cut from 2 s to 22 s with repl-timeout 5: neither hears of the other. */
START_TEST(an_outage_longer_than_the_timeout_breaks_both_sides) {
    static const char text[] =
        "name: f\nduration: %s\ncosts: zero\nservers:\n  a: {config: {repl-timeout: 5}}\n  b: "
        "{replica-of: a, config: {repl-timeout: 5}}\n" KEYS WRITES "events: [{at: 2s, cut: b}%s]\n";
    char yaml[1024];
    struct run run;
    snprintf(yaml, sizeof yaml, text, "21s", "");
    run_begin(&run, yaml);
    ck_assert_uint_eq(stats_of(&run, 0).replicas_timed_out, 1);
    ck_assert_uint_eq(stats_of(&run, 0).connected_replicas, 0);
    ck_assert_int_eq(stats_of(&run, 1).master_link, LINK_DOWN);
    run_end(&run);
    snprintf(yaml, sizeof yaml, text, "35s", ", {at: 22s, heal: b}");
    run_begin(&run, yaml);
    ck_assert_int_eq(stats_of(&run, 1).master_link, LINK_UP);
    ck_assert_uint_eq(stats_of(&run, 0).connected_replicas, 1);
    ck_assert_uint_eq(stats_of(&run, 0).sync_full + stats_of(&run, 0).sync_partial_ok, 1);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

/* At a microsecond a key 200,000 keys load for at least 200 ms. */
START_TEST(a_loading_replica_answers_loading) {
    struct run run;
    run_begin(&run,
              "name: f\nduration: 12s\ncosts: unit\ntrace: 10ms\n"
              "servers: {a: {config: {repl-backlog-size: 16kb, repl-diskless-sync-delay: 0}}, b: "
              "{replica-of: a}}\n"
              "populations: {keys: {keys: 'key:{n:06}', count: 200000, value: 100B, load: "
              "preloaded}}\n"
              "clients:\n  writer: {server: a, population: keys, rate: 1000/s, until: 3s, mix: "
              "{'SET {key} {value}': 1}}\n"
              "  reader: {server: b, population: keys, rate: 1000/s, mix: {'GET {key}': 1}}\n"
              "events: [{at: 1s, cut: b}, {at: 3s, reset: b}, {at: 3050ms, heal: b}]\n");
    ck_assert_uint_eq(stats_of(&run, 0).sync_full, 1);
    ns_t loading_ns = run.loading_to_ns - run.loading_from_ns;
    /* less a row at each end and the last portion of 2 MiB, 18 ms */
    ck_assert_int_ge(loading_ns, 160 * NS_PER_MS);
    ck_assert_int_le(loading_ns, 1000 * NS_PER_MS);
    ck_assert_int_ge(run.errors_loading + run.errors_else, 150);
    ck_assert_int_le(run.errors_loading + run.errors_else, 1000);
    ck_assert_int_gt(run.errors_loading, 0);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

START_TEST(a_chain_of_three_is_equal_in_the_end) {
    struct run run;
    run_begin(&run, "name: f\nduration: 10s\nservers:\n  a: {}\n  b: {replica-of: a}\n  c: "
                    "{replica-of: b}\n" KEYS WRITES
                    "events: [{at: 2s, reset: b}, {at: 3s, reset: c}, {at: 4s, cut: b}, {at: 6s, "
                    "heal: b}]\n");
    ck_assert_uint_eq(stats_of(&run, 0).sync_partial_ok, 1);
    ck_assert_uint_eq(stats_of(&run, 1).sync_partial_ok, 1);
    ck_assert_uint_eq(stats_of(&run, 0).connected_replicas, 1);
    ck_assert_uint_eq(stats_of(&run, 1).connected_replicas, 1);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

START_TEST(a_promoted_replica_takes_its_old_master_as_a_replica) {
    struct run run;
    run_begin(&run, "name: f\nduration: 10s\nservers:\n  a: {}\n  b: {replica-of: a}\n  c: "
                    "{replica-of: a}\n" KEYS WRITES
                    "events:\n  - {at: 2s, command: 'FAILOVER TO b 6379', server: a}\n"
                    "  - {at: 5s, command: 'REPLICAOF b 6379', server: c}\n");
    ck_assert(!stats_of(&run, 1).is_replica);
    ck_assert_int_eq(engine_master(world_engine(run.world, 0)), 1);
    ck_assert_int_eq(engine_master(world_engine(run.world, 2)), 1);
    ck_assert_uint_eq(stats_of(&run, 1).connected_replicas, 2);
    ck_assert_uint_eq(stats_of(&run, 1).sync_full, 0);
    expect_equal(&run);
    run_end(&run);
}
END_TEST

/* --- whatever a scenario says --- */

struct wild {
    char text[8192];
    size_t length;
    struct rng rng;
};

__attribute__((format(printf, 2, 3))) static void line(struct wild *w, const char *format, ...) {
    va_list list;
    size_t left = sizeof w->text - w->length;
    va_start(list, format);
    int length = vsnprintf(w->text + w->length, left - 1, format, list);
    va_end(list);
    ck_assert(length >= 0 && (size_t)length < left - 1);
    w->length += (size_t)length;
    w->text[w->length++] = '\n';
    w->text[w->length] = 0;
}

static uint64_t draw(struct wild *w, uint64_t low, uint64_t high) {
    return low + rng_below(&w->rng, high - low + 1);
}

static void add_server(struct wild *w, char name, char master) {
    static const char *const timeouts[] = {"5", "10", "60"};
    static const char *const backlogs[] = {"16kb", "100kb", "1mb"};
    line(w, "  %c:", name);
    if (master) line(w, "    replica-of: %c", master);
    line(w,
         "    config: {repl-timeout: %s, repl-backlog-size: %s, repl-diskless-sync-delay: %" PRIu64
         ", repl-ping-replica-period: %" PRIu64 "}",
         timeouts[draw(w, 0, 2)], backlogs[draw(w, 0, 2)], draw(w, 0, 2), draw(w, 1, 3));
    line(w,
         "    link: {latency: %" PRIu64 "us, jitter: %" PRIu64
         "us, bandwidth: %s, socket-buffer: %s}",
         draw(w, 0, 20000), draw(w, 0, 1) * draw(w, 0, 5000),
         draw(w, 0, 2) ? "unlimited" : "8mbit/s", draw(w, 0, 2) ? "1MiB" : "20KiB");
}

/* A FAILOVER without a timeout may wait for ever: meanwhile the server lets nobody sync. */
static void add_event(struct wild *w, uint64_t at_ms) {
    char on = (char)('a' + draw(w, 0, 3)), to = (char)('a' + draw(w, 0, 3));
    if (to == on) to = on == 'a' ? 'b' : 'a';
    static const char *const kinds[] = {"cut", "heal", "heal", "reset", "freeze", "thaw", "thaw"};
    static const char *const commands[] = {"REPLICAOF NO ONE",
                                           "FAILOVER TIMEOUT 900",
                                           "FAILOVER ABORT",
                                           "FAILOVER TIMEOUT 500",
                                           "WAIT 1 300",
                                           "WAIT 2 0",
                                           "CLIENT PAUSE 700",
                                           "CLIENT PAUSE 700 WRITE",
                                           "FLUSHALL",
                                           "SET other 1 PX 500",
                                           "INFO",
                                           "CLIENT UNPAUSE"};
    uint64_t what = draw(w, 0, 9);
    if (what < 5)
        line(w, "  - {at: %" PRIu64 "ms, %s: %c}", at_ms, kinds[draw(w, 0, 6)], on);
    else if (what == 5)
        line(w, "  - {at: %" PRIu64 "ms, server: %c, command: 'FAILOVER TO %c 6379 TIMEOUT 800%s'}",
             at_ms, on, to, draw(w, 0, 1) ? " FORCE" : "");
    else if (what == 6)
        line(w, "  - {at: %" PRIu64 "ms, server: %c, command: 'REPLICAOF %c 6379'}", at_ms, on, to);
    else
        line(w, "  - {at: %" PRIu64 "ms, server: %c, command: '%s'}", at_ms, on,
             commands[draw(w, 0, sizeof commands / sizeof *commands - 1)]);
}

static void write_wild(struct wild *w, uint64_t seed, const char *engine) {
    static const char *const costs[] = {"default", "unit", "zero"};
    *w = (struct wild){.rng = rng_seed(seed)};
    uint64_t seconds = draw(w, 5, 30), events = draw(w, 1, 25);
    line(w,
         "name: wild\nseed: %" PRIu64 "\nengine: %s\ncosts: %s\nduration: %" PRIu64 "s\ntrace: %s",
         seed, engine, costs[draw(w, 0, 2)], seconds, draw(w, 0, 1) ? "cycle" : "250ms");
    line(w, "servers:");
    add_server(w, 'a', 0);
    add_server(w, 'b', 'a');
    add_server(w, 'c', draw(w, 0, 1) ? 'a' : 'b');
    add_server(w, 'd', draw(w, 0, 1) ? 'a' : 'c');
    line(w,
         "populations: {keys: {keys: 'k:{n}', count: %" PRIu64
         ", value: %s, ttl: {uniform: [1s, 60s]}, load: preloaded}}",
         draw(w, 1, 3000), draw(w, 0, 1) ? "100B" : "3KiB");
    line(w, "clients:");
    for (char name = 'a'; name <= 'd'; name++)
        line(w,
             "  on-%c: {server: %c, population: keys, rate: %" PRIu64
             "/s, connections: 3, mix: {'SET {key} {value} PX {ttl}': 2, 'GET {key}': 2, 'DEL "
             "{key}': 1}}",
             name, name, draw(w, 1, 300));
    line(w, "events:");
    for (uint64_t i = 0; i < events; i++) add_event(w, draw(w, 1, seconds * 1000 - 1));
}

/* Whom a server follows in the end, over others; -1: they follow each other. */
static int root_of(const struct run *run, uint32_t server) {
    int at = (int)server;
    for (uint32_t steps = 0; steps <= run->scenario->server_count; steps++) {
        int master = engine_master(world_engine(run->world, (uint32_t)at));
        if (master == MASTER_NONE) return at;
        at = master;
    }
    return -1;
}

static bool has_no_circle(const struct run *run) {
    for (uint32_t i = 0; i < run->scenario->server_count; i++)
        if (root_of(run, i) < 0) return false;
    return true;
}

static void expect_followers_equal(struct run *run, const struct wild *w) {
    if (!has_no_circle(run)) return;
    bool drained = world_drain(run->world, DRAIN_NS);
    world_check(run->world);
    if (!has_no_circle(run)) return; /* a failover that was under way */
    if (!drained) ck_abort_msg("not drained:\n%s", w->text);
    for (uint32_t i = 0; i < run->scenario->server_count; i++)
        if (engine_digest(world_engine(run->world, i)) !=
            engine_digest(world_engine(run->world, (uint32_t)root_of(run, i))))
            ck_abort_msg("server %" PRIu32 " differs:\n%s", i, w->text);
}

static void run_wild(uint64_t seed, const char *engine, bool same_data) {
    static struct wild w;
    struct run run;
    write_wild(&w, seed, engine);
    if (getenv("LAPSE_TEST_SHOW")) fprintf(stderr, "%s\n", w.text);
    run_begin(&run, w.text);
    if (same_data) expect_followers_equal(&run, &w);
    run_end(&run);
}

START_TEST(nothing_a_scenario_says_aborts_and_followers_hold_what_their_master_holds) {
    for (uint32_t round = 0; round < test_rounds(ROUNDS); round++)
        run_wild(test_seed() + round, "redis-7.0", true);
}
END_TEST

/* Deadlines that are sent relative are another moment on the replica. */
START_TEST(nothing_aborts_in_a_classic_server) {
    for (uint32_t round = 0; round < test_rounds(ROUNDS) / 4; round++)
        run_wild(test_seed() + 5000 + round, "redis-5.0", false);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("world faults");
    TCase *tcase = tcase_create("faults"), *wild = tcase_create("wild");
    tcase_set_timeout(tcase, 60);
    tcase_set_timeout(wild, 100);
    tcase_add_test(tcase, after_a_reset_the_replica_goes_on_where_it_was);
    tcase_add_test(tcase, what_the_backlog_has_lost_needs_a_full_sync);
    tcase_add_test(tcase, a_thin_link_throttles_a_full_sync);
    tcase_add_test(tcase, an_outage_longer_than_the_timeout_breaks_both_sides);
    tcase_add_test(tcase, a_loading_replica_answers_loading);
    tcase_add_test(tcase, a_chain_of_three_is_equal_in_the_end);
    tcase_add_test(tcase, a_promoted_replica_takes_its_old_master_as_a_replica);
    tcase_add_test(wild, nothing_a_scenario_says_aborts_and_followers_hold_what_their_master_holds);
    tcase_add_test(wild, nothing_aborts_in_a_classic_server);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, wild);
    return test_run(suite);
}
