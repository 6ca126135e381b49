/* bench_world: what a simulated key and a simulated command cost in real time. Timed figures are
 * for people; nothing passes or fails by them. Run by `meson test --benchmark -v`. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "engine.h"
#include "world.h"

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    abort();
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static bool ignore_row(void *context, const struct trace_row *row) {
    (void)row;
    ++*(uint64_t *)context;
    return true;
}

struct figures {
    int64_t create_ns, run_ns;
    uint64_t rows, events, commands, expired;
};

static struct figures run(const char *yaml, size_t length) {
    struct scenario_error error;
    struct figures f = {0};
    struct scenario *scenario = scenario_parse(yaml, length, "bench.yaml", ".", NULL, &error);
    if (!scenario) fprintf(stderr, "%s\n", error.message), exit(EXIT_FAILURE);
    struct world_output output = {.context = &f.rows, .row = ignore_row};
    int64_t t0 = now_ns();
    struct world *world = world_create(scenario, &output, &error);
    int64_t t1 = now_ns();
    world_run(world);
    f.create_ns = t1 - t0;
    f.run_ns = now_ns() - t1;
    f.events = world_event_count(world);
    struct engine_stats stats = engine_stats(world_engine(world, 0));
    f.commands = stats.commands_processed;
    f.expired = stats.expired_keys;
    world_destroy(world);
    scenario_destroy(scenario);
    return f;
}

static void lifecycle(uint32_t count, const char *replicas, const char *name) {
    char yaml[1024];
    int length = snprintf(
        yaml, sizeof yaml,
        "name: bench\nseed: 1\nduration: 20s\nservers: {master: {}%s}\npopulations:\n"
        "  keys: {keys: 'key:{n:010}', count: %u, value: 32B, deadline: 1s, load: preloaded}\n",
        replicas, count);
    struct figures f = run(yaml, (size_t)length);
    printf("%-44s %8.1f ns/key (create %.1f, expire %.1f), %llu expired, %llu events\n", name,
           (double)(f.create_ns + f.run_ns) / count, (double)f.create_ns / count,
           (double)f.run_ns / count, (unsigned long long)f.expired, (unsigned long long)f.events);
}

static void commands(const char *mix, const char *name) {
    char yaml[1024];
    int length = snprintf(
        yaml, sizeof yaml,
        "name: bench\nseed: 1\nduration: 4s\ncosts: zero\nservers: {master: {}}\npopulations:\n"
        "  keys: {keys: 'key:{n:010}', count: 1_000_000, value: 32B, ttl: 1h, load: preloaded}\n"
        "clients:\n  load: {rate: 1M/s, arrivals: poisson, connections: 50, population: keys, mix: "
        "%s}\n",
        mix);
    struct figures f = run(yaml, (size_t)length);
    printf("%-44s %8.2f million/s of wall time (%llu commands)\n", name,
           (double)f.commands * 1000 / (double)f.run_ns, (unsigned long long)f.commands);
}

int main(void) {
    lifecycle(1000000, "", "1,000,000 keys, one master");
    lifecycle(1000000,
              ", near: {replica-of: master, link: {latency: 1ms}}, far: {replica-of: master, link: "
              "{latency: 80ms}}",
              "1,000,000 keys, one master and two replicas");
    commands("{'GET {key}': 1}", "GET, uniform over 1,000,000 keys");
    commands("{'GET {key}': 1, 'SET {key} {value} PX {ttl}': 1}", "GET and SET PX, half and half");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory of this process: %ld MB\n", usage.ru_maxrss / 1024);
    return EXIT_SUCCESS;
}
