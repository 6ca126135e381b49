/* failure: what the program says when an invariant of its own breaks. */
#ifndef LAPSE_SIM_FAILURE_H
#define LAPSE_SIM_FAILURE_H

#include "base.h"

struct world;

/* From now on a broken invariant names this seed and this world's event number; NULL: no longer. */
void failure_watch(const struct world *, uint64_t seed);

#endif
