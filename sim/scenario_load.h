/* scenario_load: what the files that build a scenario share (scenario.c, scenario_*.c, schema*.c).
 * Nobody else includes it. */
#ifndef LAPSE_SIM_SCENARIO_LOAD_H
#define LAPSE_SIM_SCENARIO_LOAD_H

#include "complain.h"
#include "scenario.h"
#include "yaml_tree.h"

/* One loading in progress. */
struct draft {
    struct scenario *scenario;
    const char *path;
    const char *directory; /* where relative files are sought */
    struct scenario_error *error;
};

/* What the root of a file says before it is spread over the scenario and its servers. */
struct scenario_root {
    char *name, *about;
    uint64_t seed;
    us_t start_wall_us;
    ns_t duration_ns, trace_interval_ns;
    const struct generation *generation;
    const struct allocator *allocator;
    const struct price_table *prices;
};

/* Places come from a node; all return false. */
bool draft_refuse(struct draft *, const struct tree_node *place, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool draft_refuse_phrase(struct draft *, const struct tree_node *place, const struct phrase *);
/* "unknown WHAT 'word'; expected one of ...; did you mean ...?" */
bool draft_refuse_word(struct draft *, const struct tree_node *place, const char *what,
                       const char *const *known);

void draft_note(struct draft *, const struct phrase *);

/* The whole of a file, NUL-terminated, or NULL when it cannot be read or is larger than limit. */
char *draft_read_file(const char *path, size_t limit, size_t *length);

/* A file named in the scenario: relative ones lie beside it. The caller frees it. */
char *draft_file(const struct draft *, const char *name);

/* The prices of a file that `costs` names; the scenario keeps them. */
bool draft_load_prices(struct draft *, const struct tree_node *, const struct price_table **);

/* Names of servers, or of populations, ended by NULL, in a block that the caller frees. */
const char **draft_server_names(const struct draft *);

/* Is this a map of names? Each must be [a-z0-9_-]+. */
bool draft_check_names(struct draft *, const struct tree_node *map, const char *what);

/* The parts of a file, in the order in which they are read; each knows those before it. */
bool load_root(struct draft *, const struct tree_node *root);
bool load_servers(struct draft *, const struct tree_node *root, const struct scenario_root *);
bool load_link(struct draft *, const struct tree_node *, const char *where, struct server_config *);
bool load_populations(struct draft *, const struct tree_node *root);
bool load_clients(struct draft *, const struct tree_node *root);
bool load_events(struct draft *, const struct tree_node *root);
bool load_failover(struct draft *, const struct tree_node *root);
bool load_expectations(struct draft *, const struct tree_node *root);

/* Lays out the outages of a server's link by its plan and the scenario's seed. False when more than
 * so many are drawn: they are laid out all the same. */
#define RANDOM_OUTAGES_MAX 10000
bool scenario_draw_outages(const struct scenario *, struct server_config *);

/* Is this line a command that a server knows, as far as can be told without one? */
bool template_check_line(const char *line, size_t length, struct phrase *);

/* Lays a variant over the tree; also lists the names of all variants. */
bool load_variants(struct draft *, struct tree *, const char *variant);

#endif
