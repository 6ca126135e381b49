#include "cost.h"

#include <string.h>

const char *const cost_names[COST_COUNT] = {
#define X(id, name, help) name,
    COST_LIST(X)
#undef X
};

const char *const cost_helps[COST_COUNT] = {
#define X(id, name, help) help,
    COST_LIST(X)
#undef X
};

#define UNIT_PS 1000000 /* 1 us */

static const struct price_table profiles[] = {
    {.name = "default",
     .ps =
         {
             [COST_TURN] = 15000000,         [COST_CRON] = 20000000,
             [COST_CLOCK_READ] = 30000,      [COST_COMMAND] = 1200000,
             [COST_COMMAND_INFO] = 60000000, [COST_LOOKUP] = 100000,
             [COST_INSERT] = 250000,         [COST_OVERWRITE] = 150000,
             [COST_DEADLINE_SET] = 200000,   [COST_DELETE] = 400000,
             [COST_VALUE_BYTE] = 60,         [COST_FREE_PAGE] = 50000,
             [COST_CYCLE] = 500000,          [COST_CYCLE_DB] = 5000,
             [COST_KEY_CHECKED] = 100000,    [COST_BUCKET_STEP] = 10000,
             [COST_KEY_EXPIRED] = 500000,    [COST_REHASH_BUCKET] = 5000,
             [COST_REHASH_KEY] = 80000,      [COST_SCAN_BUCKET] = 50000,
             [COST_PROPAGATE] = 400000,      [COST_REPLICA_WRITE] = 8000000,
             [COST_REPLICA_KIB] = 250000,    [COST_APPLY] = 700000,
         }},
    {.name = "zero", .ps = {0}},
    {.name = "unit",
     .ps =
         {
#define X(id, name, help) [COST_##id] = UNIT_PS,
             COST_LIST(X)
#undef X
         }},
};

const struct price_table *price_table_at(size_t index) {
    return index < sizeof profiles / sizeof *profiles ? &profiles[index] : NULL;
}

const struct price_table *price_table_find(const char *name) {
    for (size_t i = 0; price_table_at(i); i++)
        if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
    return NULL;
}
