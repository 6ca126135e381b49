/* Random scenarios, written as YAML: whatever was sent, whatever the links did, a replica holds
 * what its master holds once the stream has arrived, no request is lost, and a second run says the
 * same. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resp.h"
#include "support.h"
#include "world.h"

/* A hundred megabytes through a socket of 1 KiB over 100 ms take their time. */
#define DRAIN_NS (20000 * NS_PER_S)
#define ROUNDS   60

/* The text of a scenario that grows line by line. */
struct yaml {
    char text[16384];
    size_t length;
    struct rng rng;
    uint32_t populations, replicas;
};

__attribute__((format(printf, 2, 3))) static void yaml_line(struct yaml *yaml, const char *format,
                                                            ...) {
    va_list list;
    size_t left = sizeof yaml->text - yaml->length;
    va_start(list, format);
    int length = vsnprintf(yaml->text + yaml->length, left - 1, format, list);
    va_end(list);
    ck_assert(length >= 0 && (size_t)length < left - 1);
    yaml->length += (size_t)length;
    yaml->text[yaml->length++] = '\n';
    yaml->text[yaml->length] = 0;
}

static uint64_t draw(struct yaml *yaml, uint64_t low, uint64_t high) {
    return low + rng_below(&yaml->rng, high - low + 1);
}

static const char *pick(struct yaml *yaml, const char *const *choices, size_t count) {
    return choices[rng_below(&yaml->rng, count)];
}
#define PICK(yaml, ...)                                                                            \
    pick(yaml, (const char *const[]){__VA_ARGS__},                                                 \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void yaml_add_replica(struct yaml *yaml, uint32_t i) {
    yaml_line(yaml, "  replica%" PRIu32 ":", i);
    yaml_line(yaml, "    replica-of: master");
    yaml_line(yaml, "    clock-offset: %" PRIu64 "ms", draw(yaml, 0, 2000));
    yaml_line(yaml, "    link:");
    yaml_line(yaml, "      latency: %" PRIu64 "us", draw(yaml, 0, 100000));
    yaml_line(yaml, "      jitter: %" PRIu64 "us", draw(yaml, 0, 1) * draw(yaml, 0, 50000));
    yaml_line(yaml, "      bandwidth: %s", PICK(yaml, "unlimited", "1gbit/s", "2mbit/s"));
    yaml_line(yaml, "      socket-buffer: %s", PICK(yaml, "1KiB", "64KiB", "2MiB"));
    if (rng_chance(&yaml->rng, 1, 2)) return;
    yaml_line(yaml, "      outages:");
    yaml_line(yaml, "        - {at: %" PRIu64 "ms, for: %" PRIu64 "ms}", draw(yaml, 0, 900),
              draw(yaml, 1, 500));
    yaml_line(yaml, "        - {at: %" PRIu64 "ms, for: %" PRIu64 "ms}", draw(yaml, 1500, 1800),
              draw(yaml, 1, 5000));
}

static void yaml_add_servers(struct yaml *yaml) {
    yaml_line(yaml, "servers:");
    yaml_line(yaml, "  master:");
    yaml_line(yaml, "    config:");
    yaml_line(yaml, "      hz: %" PRIu64, draw(yaml, 1, 100));
    yaml_line(yaml, "      active-expire-effort: %" PRIu64, draw(yaml, 1, 10));
    yaml_line(yaml, "      lazyfree-lazy-expire: %s", PICK(yaml, "yes", "no"));
    yaml->replicas = (uint32_t)draw(yaml, 1, 3);
    for (uint32_t i = 0; i < yaml->replicas; i++) yaml_add_replica(yaml, i);
}

static void yaml_add_populations(struct yaml *yaml) {
    yaml->populations = (uint32_t)draw(yaml, 1, 3);
    yaml_line(yaml, "populations:");
    for (uint32_t i = 0; i < yaml->populations; i++) {
        yaml_line(yaml, "  keys%" PRIu32 ":", i);
        yaml_line(yaml, "    keys: \"k%" PRIu32 ":{n}\"", i);
        yaml_line(yaml, "    db: %" PRIu64, draw(yaml, 0, 1) * draw(yaml, 0, 15));
        yaml_line(yaml, "    count: %" PRIu64, draw(yaml, 1, 3000));
        yaml_line(yaml, "    value: %s", PICK(yaml, "1B", "{uniform: [0B, 200B]}", "20KiB"));
        yaml_line(yaml, "    ttl: %s", PICK(yaml, "100ms", "{uniform: [1ms, 3s]}", "1s", "1min"));
        yaml_line(yaml, "    jitter: {strategy: %s, span: %" PRIu64 "ms}",
                  PICK(yaml, "none", "uniform", "subtract", "hash", "exponential", "round"),
                  draw(yaml, 1, 1000));
        yaml_line(yaml, "    load: %s", PICK(yaml, "preloaded", "{at: 10ms}", "{over: 1s}"));
    }
}

static void yaml_add_mix(struct yaml *yaml) {
    static const char *const lines[] = {
        "SET {key} {value}",
        "SET {key} {value} PX {ttl}",
        "SET {key} {value} EX {ttl_s} NX",
        "GET {key}",
        "SET {key} 41 KEEPTTL",
        "GETEX {key} PX {ttl}",
        "DEL {key}",
        "UNLINK {key} {key} {key}",
        "EXPIRE {key} {ttl_s}",
        "PEXPIRE {key} {ttl}",
        "PEXPIRE {key} {ttl} GT",
        "PERSIST {key}",
        "INCR {key}",
        "GETDEL {key}",
        "EXISTS {key} {key}",
        "RANDOMKEY",
        "SCAN 0 COUNT 50",
        "PSETEX {key} {ttl} {value}",
        "TTL {key}",
        "GETEX {key} PERSIST",
        "EXPIREAT {key} 1",
    };
    yaml_line(yaml, "    mix:");
    size_t first = draw(yaml, 0, 20), count = draw(yaml, 1, 21);
    for (size_t i = 0; i < count; i++)
        yaml_line(yaml, "      \"%s\": %" PRIu64, lines[(first + i) % 21], draw(yaml, 1, 20));
}

static void yaml_add_client(struct yaml *yaml, uint32_t i, const char *server, bool writes) {
    yaml_line(yaml, "  client%" PRIu32 ":", i);
    yaml_line(yaml, "    server: %s", server);
    yaml_line(yaml, "    population: keys%" PRIu64, draw(yaml, 0, yaml->populations - 1));
    yaml_line(yaml, "    connections: %" PRIu64, draw(yaml, 1, 20));
    if (rng_chance(&yaml->rng, 1, 3))
        yaml_line(yaml, "    think: {uniform: [1ms, 20ms]}");
    else
        yaml_line(yaml, "    rate: %" PRIu64 "/s", draw(yaml, 1, 3000));
    if (rng_chance(&yaml->rng, 1, 3)) yaml_line(yaml, "    popularity: {zipf: 0.99}");
    if (writes)
        yaml_add_mix(yaml);
    else
        yaml_line(yaml, "    mix: {\"GET {key}\": 3, \"PTTL {key}\": 1, \"SET {key} x\": 1}");
}

static void yaml_add_clients(struct yaml *yaml) {
    uint32_t writers = (uint32_t)draw(yaml, 1, 3);
    yaml_line(yaml, "clients:");
    for (uint32_t i = 0; i < writers; i++) yaml_add_client(yaml, i, "master", true);
    yaml_add_client(yaml, writers, "replica0", false);
}

static void yaml_add_events(struct yaml *yaml) {
    yaml_line(yaml, "events:");
    yaml_line(yaml, "  - {at: 300ms, command: \"SET other 1 PX 100\", db: %" PRIu64 "}",
              draw(yaml, 0, 15));
    yaml_line(yaml, "  - {at: %" PRIu64 "ms, command: \"%s\"}", draw(yaml, 0, 1800),
              PICK(yaml, "FLUSHALL", "CONFIG SET hz 7", "PING", "FLUSHDB ASYNC", "INFO"));
    yaml_line(yaml, "  - {at: %" PRIu64 "ms, server: %s, clock-step: %s}", draw(yaml, 0, 1800),
              PICK(yaml, "master", "replica0"), PICK(yaml, "+3s", "-1s"));
    yaml_line(yaml, "  - {at: %" PRIu64 "ms, cut: replica0}", draw(yaml, 100, 1500));
    if (rng_chance(&yaml->rng, 1, 2)) yaml_line(yaml, "  - {at: 1700ms, heal: replica0}");
}

static struct yaml *yaml_create(uint64_t seed, const char *engine) {
    struct yaml *yaml = calloc(1, sizeof *yaml);
    yaml->rng = rng_seed(seed);
    yaml_line(yaml, "name: round");
    yaml_line(yaml, "seed: %" PRIu64, draw(yaml, 0, 1000000));
    yaml_line(yaml, "engine: %s", engine);
    yaml_line(yaml, "costs: %s", PICK(yaml, "default", "unit", "zero"));
    yaml_line(yaml, "duration: %" PRIu64 "ms", draw(yaml, 1800, 3500));
    yaml_line(yaml, "trace: %s", PICK(yaml, "cycle", "100ms"));
    yaml_add_servers(yaml);
    yaml_add_populations(yaml);
    yaml_add_clients(yaml);
    yaml_add_events(yaml);
    return yaml;
}

/* What a run said, folded to one number, and a walk over everything every few thousand events. */
struct watch {
    struct world *world;
    uint64_t hash;
};

static void watch_fold(struct watch *watch, uint64_t word) {
    watch->hash = (watch->hash ^ word) * UINT64_C(0x100000001b3);
}

static bool watch_row(void *context, const struct trace_row *row) {
    struct watch *watch = context;
    watch_fold(watch, (uint64_t)row->at_ns);
    for (size_t i = 0; i < trace_column_count; i++)
        watch_fold(watch, (uint64_t)trace_value(row, i));
    return true;
}

static bool watch_stream(void *context, uint32_t server, ns_t at_ns,
                         const struct stream_command *command) {
    struct watch *watch = context;
    watch_fold(watch, server);
    watch_fold(watch, (uint64_t)at_ns);
    watch_fold(watch, (uint64_t)command->end_offset);
    return true;
}

static bool watch_reply(void *context, uint32_t event, ns_t at_ns, const char *resp,
                        size_t length) {
    struct watch *watch = context;
    ck_assert_uint_gt(length, 0);
    watch_fold(watch, event);
    watch_fold(watch, (uint64_t)at_ns);
    for (size_t i = 0; i < length; i++) watch_fold(watch, (unsigned char)resp[i]);
    return true;
}

static bool watch_interrupted(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    struct watch *watch = context;
    ck_assert(now_ns <= duration_ns && events > 0);
    world_check(watch->world);
    return false;
}

static struct scenario *parse(const struct yaml *yaml) {
    struct scenario_error error;
    struct scenario *scenario =
        scenario_parse(yaml->text, yaml->length, "round.yaml", ".", NULL, &error);
    if (!scenario) ck_abort_msg("%s\n%s", error.message, yaml->text);
    return scenario;
}

static struct world *run(const struct scenario *scenario, struct watch *watch) {
    struct scenario_error error;
    struct world_output output = {watch,       watch_row,         watch_stream,
                                  watch_reply, watch_interrupted, NULL};
    *watch = (struct watch){.hash = 1};
    watch->world = world_create(scenario, &output, &error);
    if (!watch->world) ck_abort_msg("%s", error.message);
    ck_assert_int_eq(world_run(watch->world), WORLD_DONE);
    world_check(watch->world);
    return watch->world;
}

/* Every request that a client sent got its reply from the server; the rest are the loaders' and the
 * events'. */
static void expect_no_reply_lost(const struct scenario *scenario, const struct world *world) {
    for (uint32_t server = 0; server < scenario->server_count; server++) {
        uint64_t clients = 0, others = 0;
        for (uint32_t i = 0; i < scenario->client_count; i++)
            if (scenario->clients[i].server == server) clients += world_client_us(world, i)->count;
        for (uint32_t i = 0; i < scenario->population_count; i++)
            if (scenario->populations[i].server == server && !scenario->populations[i].preloaded)
                others += scenario->populations[i].count + 1; /* SELECT */
        others += scenario->event_count;
        uint64_t answered = world_request_us(world, server)->count;
        ck_assert_uint_le(clients, answered);
        ck_assert_uint_le(answered, clients + others);
    }
}

START_TEST(replica_equals_master_when_the_stream_has_arrived) {
    for (uint32_t round = 0; round < test_rounds(ROUNDS); round++) {
        struct yaml *yaml = yaml_create(test_seed() + round, "redis-7.0");
        struct scenario *scenario = parse(yaml);
        struct watch watch;
        struct world *world = run(scenario, &watch);
        if (!world_drain(world, DRAIN_NS)) ck_abort_msg("not drained:\n%s", yaml->text);
        world_check(world);
        uint64_t digest = engine_digest(world_engine(world, 0));
        for (uint32_t i = 1; i < scenario->server_count; i++)
            if (engine_digest(world_engine(world, i)) != digest)
                ck_abort_msg("server %" PRIu32 " differs (round %" PRIu32 "):\n%s", i, round,
                             yaml->text);
        expect_no_reply_lost(scenario, world);
        world_destroy(world);
        scenario_destroy(scenario);
        free(yaml);
    }
}
END_TEST

/* Deadlines that are sent relative shift with the link; which keys there are does not. */
START_TEST(replica_of_a_classic_master_has_the_same_keys) {
    for (uint32_t round = 0; round < test_rounds(ROUNDS) / 4; round++) {
        struct yaml *yaml = yaml_create(test_seed() + 1000 + round, "redis-7.0");
        struct scenario *scenario = parse(yaml);
        for (uint32_t i = 0; i < scenario->server_count; i++)
            scenario->servers[i].generation = generation_find("redis-5.0");
        struct watch watch;
        struct world *world = run(scenario, &watch);
        ck_assert(world_drain(world, DRAIN_NS));
        world_check(world);
        for (uint32_t i = 1; i < scenario->server_count; i++)
            ck_assert_uint_eq(engine_stats(world_engine(world, i)).keys,
                              engine_stats(world_engine(world, 0)).keys);
        world_destroy(world);
        scenario_destroy(scenario);
        free(yaml);
    }
}
END_TEST

START_TEST(same_scenario_runs_the_same_way_twice) {
    for (uint32_t round = 0; round < test_rounds(ROUNDS) / 4; round++) {
        struct yaml *yaml = yaml_create(test_seed() + 2000 + round, "redis-7.0");
        uint64_t hashes[2], events[2];
        for (int i = 0; i < 2; i++) {
            struct scenario *scenario = parse(yaml);
            struct watch watch;
            struct world *world = run(scenario, &watch);
            hashes[i] = watch.hash;
            events[i] = world_event_count(world);
            world_destroy(world);
            scenario_destroy(scenario);
        }
        ck_assert_uint_eq(hashes[0], hashes[1]);
        ck_assert_uint_eq(events[0], events[1]);
        free(yaml);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("replica equals master");
    TCase *tcase = tcase_create("random scenarios");
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, replica_equals_master_when_the_stream_has_arrived);
    tcase_add_test(tcase, replica_of_a_classic_master_has_the_same_keys);
    tcase_add_test(tcase, same_scenario_runs_the_same_way_twice);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
