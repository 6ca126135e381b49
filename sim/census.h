/* census: how many keys with a TTL are logically dead at a moment, and how many bytes they hold,
 * exact without a scan of the keyspace. It keeps counts by deadline (1 ms) in pages of 1,024 ms and
 * a running sum of all deadlines before its reading time; moving that time on, or back after a
 * clock step, walks only the deadlines in between. A page keeps few distinct deadlines in a short
 * list and turns into an array when the list grows, so a million keys cost some bytes each at
 * worst. Invariant: total = sum over pages; passed = sum of those with deadline < now. */
#ifndef LAPSE_SIM_CENSUS_H
#define LAPSE_SIM_CENSUS_H

#include "base.h"

struct census;

struct census *census_create(void);
void census_destroy(struct census *);
void census_add(struct census *, ms_t deadline_ms, uint64_t bytes);
void census_remove(struct census *, ms_t deadline_ms, uint64_t bytes);

struct census_count {
    uint64_t keys;       /* all keys with a TTL */
    uint64_t stale_keys; /* deadline < now: the server's strict test */
    uint64_t stale_bytes;
};
/* The count at now_ms, which becomes the reading time. */
struct census_count census_read(struct census *, ms_t now_ms);
void census_check(const struct census *);

#endif
