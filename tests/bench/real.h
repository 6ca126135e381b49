/* real: the other side of a benchmark: what a redis-server needs for the same job. Its processor
 * time and peak memory are the server's own; whoever drives it is not counted. */
#ifndef LAPSE_TESTS_REAL_H
#define LAPSE_TESTS_REAL_H

#include "measure.h"

struct real_storm {
    uint32_t keys, value_bytes;
    int64_t deadline_ms, duration_ms;
};

/* A measure_work; the context is a real_storm. Loads by pipelining on the stepped clock, steps by
 * 100 ms, reads INFO at each step as lapse writes a row. Nothing here: false. */
bool real_storm_run(const void *storm, struct measured *);

enum { NOTE_RATE, NOTE_CPU_RATE }; /* commands a second: of wall time, of the server's own */

struct real_load {
    uint32_t keys, requests;
    const char *commands[2]; /* as redis-benchmark takes them; the second may be NULL */
};

/* A measure_work; the context is a real_load: redis-benchmark -P 64 against a server that holds the
 * keys. */
bool real_load_run(const void *load, struct measured *);

#endif
