/* measure: what a piece of work costs in real time and memory. It runs in a process of its own, so
 * that its peak memory is its own too, and may run several times: the run that took least processor
 * time counts, as whatever disturbs a run makes it longer. Processor time is what the ratios rest
 * on; on a machine with nothing else to do lapse's wall time is the same. */
#ifndef LAPSE_TESTS_MEASURE_H
#define LAPSE_TESTS_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum { MEASURE_NOTES = 8 };

struct measured {
    bool done;
    double wall_s, cpu_s; /* of the process, or of what it timed itself */
    double peak_mib;
    double notes[MEASURE_NOTES]; /* whatever the work wants to say */
};

/* Fills in the notes, and any figure that it knows better than the one who waits for it (else 0).
 * False: it could not be done, and it has said why. */
typedef bool measure_work(const void *context, struct measured *);

/* The best of `times` runs. */
struct measured measure(measure_work *, const void *context, uint32_t times);

/* Seconds of the monotonic clock, and of this process's processor time. */
double measure_wall_s(void);
double measure_cpu_s(void);

/* LAPSE_BENCH_TIMES, or this. */
uint32_t measure_times(uint32_t usual);

#endif
