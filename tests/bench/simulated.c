#include "simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "engine.h"
#include "names.h"
#include "population.h"
#include "world.h"

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    abort();
}

struct rows {
    FILE *trace;
    double count;
};

static bool take_row(void *context, const struct trace_row *row) {
    struct rows *rows = context;
    rows->count++;
    return trace_write_row(rows->trace, row);
}

static void note_end(struct world *world, struct measured *m) {
    struct engine_stats stats = engine_stats(world_engine(world, 0));
    m->notes[NOTE_COMMANDS] = (double)stats.commands_processed;
    m->notes[NOTE_EXPIRED] = (double)stats.expired_keys;
    m->notes[NOTE_KEYS] = (double)stats.keys;
}

static void run(const struct scenario *scenario, struct measured *m) {
    struct rows rows = {.trace = tmpfile()};
    struct world_output output = {.context = &rows, .row = take_row};
    struct scenario_error error;
    if (!rows.trace || !trace_write_header(rows.trace)) abort();
    double began_s = measure_cpu_s();
    struct world *world = world_create(scenario, &output, &error);
    if (!world) abort();
    double created_s = measure_cpu_s();
    world_run(world);
    m->notes[NOTE_CREATE_CPU_S] = created_s - began_s;
    m->notes[NOTE_RUN_CPU_S] = measure_cpu_s() - created_s;
    m->notes[NOTE_ROWS] = rows.count;
    note_end(world, m);
    world_destroy(world);
    fclose(rows.trace);
}

bool simulated_run(const void *yaml, struct measured *m) {
    struct scenario_error error;
    struct scenario *scenario = scenario_parse(yaml, strlen(yaml), "bench.yaml", ".", NULL, &error);
    if (!scenario) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    run(scenario, m);
    scenario_destroy(scenario);
    return true;
}

bool simulated_import(const void *path, struct measured *m) {
    static const uint8_t seed[SIPHASH_SEED_BYTES];
    struct scenario_error error;
    struct names *names = names_create(seed);
    double began_s = measure_wall_s(), began_cpu_s = measure_cpu_s();
    struct csv_rows *rows = csv_rows_read(path, names, DATABASES_MAX, &error);
    if (!rows) return false;
    m->wall_s = measure_wall_s() - began_s;
    m->cpu_s = measure_cpu_s() - began_cpu_s;
    m->notes[NOTE_KEYS] = rows->count;
    csv_rows_destroy(rows);
    names_destroy(names);
    return true;
}
