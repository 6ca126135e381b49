/* progress: one line on a terminal that says how far a run is and how long it will still take. Only
 * there, only after two seconds, and gone when the run ends. */
#ifndef LAPSE_SIM_PROGRESS_H
#define LAPSE_SIM_PROGRESS_H

#include "base.h"

struct progress {
    bool on;           /* stderr is a terminal */
    bool shown;        /* a line stands there */
    int64_t began_ms;  /* by the machine's monotonic clock */
    int64_t latest_ms; /* when the line was last written */
};

void progress_begin(struct progress *);
void progress_update(struct progress *, ns_t done, ns_t all);
void progress_end(struct progress *);

/* "done of all, about TIME left" for these figures; for tests. */
void progress_print(char *buffer, size_t size, ns_t done, ns_t all, int64_t elapsed_ms);

#endif
