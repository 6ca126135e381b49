/* comparison: the variants of one scenario run side by side, and what they make together:
 * compare.csv (variant, then the columns of the summary), the table, the expectations. */
#ifndef LAPSE_SIM_COMPARISON_H
#define LAPSE_SIM_COMPARISON_H

#include "recording.h"

struct comparison {
    struct recording_order order; /* without variant and folder */
    const char *const *variants;
    size_t count;
    const char *folder; /* each variant goes below it */
    bool base_is_own;   /* the scenario has a variant called `base`; else that word means none */
};

/* Checks every variant before anything is written; runs; prints to stdout. The worst exit code of
 * all. */
enum exit_code comparison_run(const struct comparison *);

#endif
