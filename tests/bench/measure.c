#define _DEFAULT_SOURCE /* wait4 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double measure_wall_s(void) { return seconds(CLOCK_MONOTONIC); }
double measure_cpu_s(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

uint32_t measure_times(uint32_t usual) {
    const char *given = getenv("LAPSE_BENCH_TIMES");
    int times = given ? atoi(given) : 0;
    return times > 0 ? (uint32_t)times : usual;
}

static _Noreturn void become_worker(measure_work *work, const void *context, int answer) {
    struct measured m = {0};
    m.done = work(context, &m);
    fflush(NULL);
    ssize_t written = write(answer, &m, sizeof m);
    _exit(written == sizeof m ? EXIT_SUCCESS : EXIT_FAILURE);
}

static double of_timeval(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

/* What the work did not say itself, its end says. */
static void complete(struct measured *m, pid_t worker, double began_s) {
    struct rusage usage;
    int status;
    if (wait4(worker, &status, 0, &usage) != worker || status != 0) m->done = false;
    if (m->wall_s == 0) m->wall_s = measure_wall_s() - began_s;
    if (m->cpu_s == 0) m->cpu_s = of_timeval(usage.ru_utime) + of_timeval(usage.ru_stime);
    if (m->peak_mib == 0) m->peak_mib = (double)usage.ru_maxrss / 1024;
}

static struct measured measure_once(measure_work *work, const void *context) {
    struct measured m = {0};
    int ends[2];
    double began_s = measure_wall_s();
    fflush(NULL);
    if (pipe(ends) != 0) abort();
    pid_t worker = fork();
    if (worker < 0) abort();
    if (worker == 0) become_worker(work, context, ends[1]);
    close(ends[1]);
    if (read(ends[0], &m, sizeof m) != sizeof m) m = (struct measured){0};
    close(ends[0]);
    complete(&m, worker, began_s);
    return m;
}

struct measured measure(measure_work *work, const void *context, uint32_t times) {
    struct measured best = {0};
    for (uint32_t i = 0; i < times; i++) {
        struct measured m = measure_once(work, context);
        if (m.done && (!best.done || m.cpu_s < best.cpu_s)) best = m;
    }
    return best;
}
