/* progress: one line on a terminal that says how far a run is and how long it will still take:
 * first the keys that are loaded, then the run. Only there, only after two seconds, and gone when
 * the run ends. */
#ifndef LAPSE_SIM_PROGRESS_H
#define LAPSE_SIM_PROGRESS_H

#include "base.h"

struct progress {
    bool on;           /* stderr is a terminal */
    bool shown;        /* a line stands there */
    int64_t began_ms;  /* by the machine's monotonic clock */
    int64_t phase_ms;  /* when what is under way began: keys and seconds take their own time */
    int64_t latest_ms; /* when the line was last written */
};

void progress_begin(struct progress *);
void progress_loading(struct progress *, uint64_t done, uint64_t all);
void progress_begin_run(struct progress *);
void progress_running(struct progress *, ns_t done, ns_t all);
void progress_end(struct progress *);

#endif
