/* calibrate_model: an engine that is given the same work as the live server and counts what it
 * charges, so that the prices which are fitted are those that the engine will multiply with. It
 * holds a small copy of the live server's keys: as many as fill its tables to the same degree. */
#ifndef LAPSE_SIM_CALIBRATE_MODEL_H
#define LAPSE_SIM_CALIBRATE_MODEL_H

#include "calibrate_work.h"
#include "cost.h"

#define MODEL_KEYS 65536

struct model;

/* `scale`: live keys for each key of the model, for ranges below scale * MODEL_KEYS. */
struct model *model_create(const struct generation *, uint32_t scale, bool has_replica);
void model_destroy(struct model *);

/* Puts the keys of a WORK_SET or WORK_SET_PX there, uncounted. */
void model_preload(struct model *, const struct work *);

/* Operations that one command of this work is charged, on average. The work is done. */
void model_count(struct model *, const struct work *, double counts[COST_COUNT]);

/* The same for a key that dies in a cycle: one of `one_of` among 2^16 keys with values of that
 * size, in tables twice as large, with one deadline; the fixed parts of turns and crons left out. */
void model_count_storm(const struct generation *, uint32_t one_of, uint32_t value_bytes,
                       double counts[COST_COUNT]);

/* One cron of an idle server. */
void model_count_cron(struct model *, double counts[COST_COUNT]);

#endif
