/* bench: what lapse costs in real time and memory, beside what a real redis-server costs for the
 * same job (README.md). Figures are for people: nothing passes or fails by them. Arguments: which
 * benchmark, and the folder for its CSV. From the environment: LAPSE_BENCH_TIMES, how often each
 * is measured; LAPSE_BENCH_100M, that there are 8 GB for a hundred million keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures_table.h"
#include "measure.h"
#include "real.h"
#include "simulated.h"

#define MILLION UINT32_C(1000000)
#define NEAR_AND_FAR                                                                               \
    ", near: {replica-of: master, link: {latency: 1ms}}, "                                         \
    "far: {replica-of: master, link: {latency: 80ms}}"

static double ratio_of(double a, double b) { return a > 0 && b > 0 ? a / b : 0; }

/* --- storm --- */

#define STORM_YAML                                                                                 \
    "name: bench\nseed: 1\nduration: 90s\nservers: {master: {config: {hz: 10}}}\n"                 \
    "populations:\n  keys: {keys: 'key:{n:010}', count: 1_000_000, value: 32B, deadline: 30s, "    \
    "load: %s}\n"

static void storm(struct figures_table *t) {
    static const struct real_storm real = {MILLION, 32, 30000, 90000};
    char preloaded[1024], written[1024];
    snprintf(preloaded, sizeof preloaded, STORM_YAML, "preloaded");
    snprintf(written, sizeof written, STORM_YAML, "{at: 0s, over: 20s}");
    struct measured lapse = measure(simulated_run, preloaded, measure_times(5));
    struct measured by_set = measure(simulated_run, written, measure_times(3));
    struct measured server = measure(real_storm_run, &real, measure_times(2));
    figures_add(t,
                &(struct figure){"processor time; server / lapse", "s", lapse.cpu_s, server.cpu_s,
                                 ratio_of(server.cpu_s, lapse.cpu_s), GOAL_RATIO_AT_LEAST, 10});
    figures_add(t, &(struct figure){"wall time; server / lapse", "s", lapse.wall_s, server.wall_s,
                                    ratio_of(server.wall_s, lapse.wall_s), GOAL_NONE, 0});
    figures_add(t,
                &(struct figure){"processor time, keys written in the run", "s", by_set.cpu_s,
                                 server.cpu_s, ratio_of(server.cpu_s, by_set.cpu_s), GOAL_NONE, 0});
    figures_add(t, &(struct figure){"peak memory; lapse / server", "MiB", lapse.peak_mib,
                                    server.peak_mib, ratio_of(lapse.peak_mib, server.peak_mib),
                                    GOAL_RATIO_AT_MOST, 1.0 / 3});
}

/* --- commands --- */

static void commands_of(struct figures_table *t, const char *name, const char *mix,
                        const struct real_load *load) {
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "name: bench\nseed: 1\nduration: 4s\ncosts: zero\nservers: {master: {}}\n"
             "populations:\n  keys: {keys: 'key:{n:010}', count: 1_000_000, value: 32B, ttl: 1h, "
             "load: preloaded}\nclients:\n  load: {rate: 1M/s, arrivals: poisson, connections: "
             "50, population: keys, mix: %s}\n",
             mix);
    struct measured lapse = measure(simulated_run, yaml, measure_times(5));
    struct measured server = measure(real_load_run, load, measure_times(2));
    double rate = ratio_of(lapse.notes[NOTE_COMMANDS], lapse.notes[NOTE_RUN_CPU_S]) / 1e6;
    double wall_rate = server.notes[NOTE_RATE] / 1e6, cpu_rate = server.notes[NOTE_CPU_RATE] / 1e6;
    char text[128];
    snprintf(text, sizeof text, "%s; lapse / server", name);
    figures_add(t, &(struct figure){text, "M/s", rate, wall_rate, ratio_of(rate, wall_rate),
                                    GOAL_RATIO_AT_LEAST, 5});
    snprintf(text, sizeof text, "%s, of its processor time", name);
    figures_add(t, &(struct figure){text, "M/s", rate, cpu_rate, ratio_of(rate, cpu_rate),
                                    GOAL_AT_LEAST, 3});
}

#define SET_PX "SET key:__rand_int__ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx PX 3600000"

static void commands(struct figures_table *t) {
    commands_of(t, "GET, uniform over 1,000,000 keys", "{'GET {key}': 1}",
                &(struct real_load){MILLION, 3 * MILLION, {"GET key:__rand_int__"}});
    commands_of(t, "GET and SET PX, half and half",
                "{'GET {key}': 1, 'SET {key} {value} PX {ttl}': 1}",
                &(struct real_load){MILLION, 2 * MILLION, {"GET key:__rand_int__", SET_PX}});
}

/* --- size --- */

static struct measured lifecycle(uint32_t keys, const char *replicas, uint32_t times) {
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "name: bench\nseed: 1\nduration: %us\nservers: {master: {}%s}\npopulations:\n"
             "  keys: {keys: 'key:{n:010}', count: %u, value: 32B, deadline: 1s, load: "
             "preloaded}\n",
             20 + keys / 100000, replicas, keys);
    struct measured m = measure(simulated_run, yaml, times);
    if (m.done && m.notes[NOTE_EXPIRED] != keys) fprintf(stderr, "not every key expired\n");
    return m;
}

static void size_of_hundred_million(struct figures_table *t, double ns_at_million) {
    if (!getenv("LAPSE_BENCH_100M")) {
        puts("100,000,000 keys are left out: set LAPSE_BENCH_100M if there are 8 GB");
        return;
    }
    struct measured m = lifecycle(100 * MILLION, "", 1);
    double ns = m.cpu_s * 1e9 / (100 * MILLION);
    figures_add(t, &(struct figure){"100,000,000 keys, one master: peak", "MiB", m.peak_mib, 0, 0,
                                    GOAL_AT_MOST, 7.5e9 / (1 << 20)});
    figures_add(t, &(struct figure){"ns a key's life at 100,000,000; / at 1,000,000", "ns", ns, 0,
                                    ratio_of(ns, ns_at_million), GOAL_RATIO_AT_MOST, 2});
}

static void size(struct figures_table *t) {
    const double keys = 10 * MILLION, mib = 1 << 20;
    struct measured none = lifecycle(1, "", 1);
    struct measured small = lifecycle(MILLION, "", measure_times(5));
    struct measured one = lifecycle(10 * MILLION, "", 1);
    struct measured three = lifecycle(10 * MILLION, NEAR_AND_FAR, 1);
    double ns = small.cpu_s * 1e9 / MILLION, ns_large = one.cpu_s * 1e9 / keys;
    figures_add(t, &(struct figure){"bytes a key, one master of 10,000,000", "B",
                                    (one.peak_mib - none.peak_mib) * mib / keys, 0, 0, GOAL_AT_MOST,
                                    72});
    figures_add(t, &(struct figure){"bytes a key more for each replica", "B",
                                    (three.peak_mib - one.peak_mib) * mib / keys / 2, 0, 0,
                                    GOAL_AT_MOST, 48});
    figures_add(t, &(struct figure){"10,000,000 keys, two replicas: peak", "MiB", three.peak_mib, 0,
                                    0, GOAL_AT_MOST, 1.8e9 / mib});
    figures_add(t, &(struct figure){"10,000,000 keys, two replicas: time", "s", three.cpu_s, 0, 0,
                                    GOAL_AT_MOST, 20});
    figures_add(t, &(struct figure){"ns a key's life at 1,000,000", "ns", ns, 0, 0, GOAL_NONE, 0});
    figures_add(t, &(struct figure){"ns a key's life at 10,000,000; / at 1,000,000", "ns", ns_large,
                                    0, ratio_of(ns_large, ns), GOAL_NONE, 0});
    size_of_hundred_million(t, ns);
}

/* --- quiet --- */

static void quiet(struct figures_table *t) {
    static const char empty[] =
        "name: bench\nseed: 1\nduration: 24h\nservers: {master: {config: {hz: 10}}}\n";
    static const char steady[] =
        "name: bench\nseed: 1\nduration: 24h\nservers: {master: {config: {hz: 10}}}\n"
        "populations:\n  keys: {keys: 'key:{n:010}', count: 1_000_000, value: 32B, ttl: 1h, load: "
        "preloaded}\nclients:\n  load: {rate: 1k/s, arrivals: poisson, connections: 50, "
        "population: keys, mix: {'GET {key}': 4, 'SET {key} {value} PX {ttl}': 1}}\n";
    struct measured nothing = measure(simulated_run, empty, measure_times(3));
    struct measured some = measure(simulated_run, steady, 1);
    figures_add(t, &(struct figure){"24 h with nothing to do, a row each cron", "s", nothing.cpu_s,
                                    0, 0, GOAL_AT_MOST, 0.5});
    figures_add(t, &(struct figure){"24 h of 1,000 commands/s over 1,000,000 keys", "s", some.cpu_s,
                                    0, 0, GOAL_AT_MOST, 40});
}

/* --- import --- */

static bool write_report(const char *path, uint32_t rows) {
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fputs("database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n",
          out);
    for (uint32_t i = 0; i < rows; i++)
        fprintf(out, "0,string,session:%08x,%u,string,%u,%u,2026-01-%02uT%02u:%02u:%02u.%06u\n",
                i * UINT32_C(2654435761), 120 + i % 300, 40 + i % 300, 40 + i % 300, 1 + i % 28,
                i % 24, i / 24 % 60, i / 1440 % 60, i % MILLION);
    return fclose(out) == 0;
}

static void import(struct figures_table *t) {
    const uint32_t rows = 10 * MILLION;
    char path[] = "/tmp/lapse-bench-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return;
    close(fd);
    struct measured m = {0};
    if (write_report(path, rows)) m = measure(simulated_import, path, measure_times(2));
    unlink(path);
    if (m.done && m.notes[NOTE_KEYS] != rows) fprintf(stderr, "not every row was read\n");
    figures_add(t, &(struct figure){"a memory report of 10,000,000 rows", "s", m.cpu_s, 0, 0,
                                    GOAL_AT_MOST, 5});
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(struct figures_table *);
    } benchmarks[] = {{"storm", storm},
                      {"commands", commands},
                      {"size", size},
                      {"quiet", quiet},
                      {"import", import}};
    bool known = false;
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        struct figures_table table;
        if (argc < 2 || strcmp(argv[1], benchmarks[i].name) != 0) continue;
        known = true;
        figures_begin(&table, benchmarks[i].name, argc > 2 ? argv[2] : ".");
        benchmarks[i].run(&table);
        figures_end(&table);
    }
    if (!known) fprintf(stderr, "usage: bench storm|commands|size|quiet|import [FOLDER]\n");
    return known ? EXIT_SUCCESS : EXIT_FAILURE;
}
