/* child: the process that a server forks to write a snapshot for its replicas, and the pipe between
 * them. It writes the file at the prices of SAVE_KEY and SAVE_KIB, evenly over its bytes; the pipe
 * holds four portions of 16 KiB, then the child waits for its parent to read (7.0
 * rdbPipeReadHandler reads 16 KiB at a time). One at a time; `number` tells its portions from
 * those of a child before. Owned by its node; holds one reference to the snapshot. */
#ifndef LAPSE_SIM_CHILD_H
#define LAPSE_SIM_CHILD_H

#include "cost.h"
#include "snapshot.h"

struct child {
    struct snapshot *snapshot; /* NULL: there is none */
    uint64_t number;
    uint64_t read_bytes, all_bytes;
    uint64_t file_ps; /* what writing all of it takes */
    ns_t ready_ns;    /* when the next portion is in the pipe */
    bool begun;       /* the turn that forked it is over */
    bool under_way;   /* a portion is: as an event, or in the inbox */
};

/* Takes over the reference. */
void child_fork(struct child *, struct snapshot *, const struct price_table *);
void child_end(struct child *);

/* The turn that forked it ended. */
void child_begin(struct child *, ns_t now_ns);

uint64_t child_portion_bytes(const struct child *);

/* The parent has read a portion; true: it was the last one. */
bool child_read(struct child *, ns_t now_ns);

#endif
