/* calibrate_work: pieces of work for a server: many commands of one kind over a range of keys, a
 * fixed number of them sent at once. The same piece is sent to the live server, which is timed, and
 * to an engine (calibrate_model), which counts the operations that it charges. */
#ifndef LAPSE_SIM_CALIBRATE_WORK_H
#define LAPSE_SIM_CALIBRATE_WORK_H

#include "live.h"
#include "resp.h"

#define WORK_FAR_MS 3600000 /* a TTL that does not end while we look */

enum work_kind {
    WORK_PING,
    WORK_INFO,
    WORK_GET,
    WORK_SET,
    WORK_SET_PX, /* WORK_FAR_MS */
    WORK_SET_PXAT,
    WORK_DEL,
    WORK_SCAN
};

struct work {
    enum work_kind kind;
    uint32_t first, keys; /* a range of keys, visited in a scattered order */
    uint32_t value_bytes;
    uint32_t pipeline; /* commands that are sent at once */
    uint32_t commands; /* altogether */
    int64_t deadline_ms;
};

/* The key of the i-th command. */
uint32_t work_key(const struct work *, uint64_t i);

#define WORK_KEY_BYTES 16 /* of every key's name */
void work_key_name(uint32_t key, char name[WORK_KEY_BYTES + 1]);

/* Where a SCAN begins. */
uint64_t work_cursor(uint64_t i);

/* Sends all of it. `commands` from number `from` on, so that rounds differ. False with a message in
 * live, or when interrupted. */
bool work_run(struct live *, const struct work *, uint64_t from, bool (*interrupted)(void));

/* Deletes keys 0 .. keys - 1 of ours, whether they are there or not. */
bool work_clear(struct live *, uint32_t keys);

#endif
