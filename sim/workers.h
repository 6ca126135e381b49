/* workers: independent jobs in child processes, a few at a time. What a job prints is kept in a
 * file of its own and shown in the order of jobs, so that the result does not depend on who was
 * first. */
#ifndef LAPSE_SIM_WORKERS_H
#define LAPSE_SIM_WORKERS_H

#include <stdio.h>

#include "talk.h"

/* Runs in a child; prints to `out`; returns the job's exit code. */
typedef enum exit_code worker_fn(void *context, size_t job, FILE *out);

struct worker_result {
    enum exit_code code;
    FILE *output; /* rewound; or NULL when the job never started */
};

/* Runs jobs 0 .. count - 1, `at_once` of them at a time, and waits for all. Once one was
 * interrupted or `interrupted` says so, no further one starts. False when processes cannot be made.
 */
bool workers_run(size_t count, size_t at_once, worker_fn *, void *context,
                 bool (*interrupted)(void), struct worker_result *results);
void workers_release(struct worker_result *, size_t count);

#endif
