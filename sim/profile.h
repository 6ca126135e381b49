/* profile: a price table as a JSON file, which `lapse calibrate` writes and a scenario names
 * (`costs: ./my-box.json`). A file has a whole price in picoseconds for every operation, no others,
 * once or, for few keys and for many, twice (cost.h), and where they come from, which is for
 * people. The profile owns its table, which is pointed to by servers: it does not move. */
#ifndef LAPSE_SIM_PROFILE_H
#define LAPSE_SIM_PROFILE_H

#include "cost.h"

#define PROFILE_SPREAD_UNKNOWN UINT32_MAX /* the price was inferred, not measured */

struct profile {
    struct price_table prices; /* its name is `name` */
    char *name;                /* as the scenario writes it: "./my-box.json" */
    char hash[17];             /* xxh64 of the file */
};

/* Where the prices of a file come from. NULL: not known. */
struct profile_origin {
    const char *date, *server, *allocator, *cpu, *note;
    uint32_t spread_per_mille[COST_COUNT]; /* quartile to quartile, of the median */
    int64_t error_per_mille; /* the largest miss of the prices on what they were not made from */
    const uint32_t *many_spread_per_mille; /* of the prices for many keys, if there are any */
};

/* False with "PATH:LINE:COLUMN: what" in the message: no JSON, an operation that is unknown,
 * missing or named twice, a price that is no whole number or out of range. Release in either case.
 */
bool profile_parse(struct profile *, const char *name, const char *json, size_t length,
                   const char *path, char *message, size_t size);
void profile_release(struct profile *);

/* The text of a file with these prices, a newline at its end; free it. */
char *profile_print(const char *name, const struct price_table *, const struct profile_origin *);

/* Is this how a scenario names a file, rather than a built-in profile? */
bool profile_is_file_name(const char *word);

#endif
