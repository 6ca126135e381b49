/* simulated: lapse's side of a benchmark: a scenario is run as `lapse run` runs it, its trace
 * written to a file that is gone afterwards. */
#ifndef LAPSE_TESTS_SIMULATED_H
#define LAPSE_TESTS_SIMULATED_H

#include "measure.h"

/* The notes of a simulated run. */
enum {
    NOTE_CREATE_CPU_S, /* of making the world, preloaded keys and all */
    NOTE_RUN_CPU_S,
    NOTE_COMMANDS, /* of the first server */
    NOTE_EXPIRED,
    NOTE_KEYS, /* at the end */
    NOTE_ROWS
};

/* A measure_work; the context is the scenario's YAML. */
bool simulated_run(const void *yaml, struct measured *);

/* A measure_work; the context is the path of a CSV: reads it alone. NOTE_KEYS is its rows. */
bool simulated_import(const void *path, struct measured *);

#endif
