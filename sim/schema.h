/* schema: the one table of everything a scenario may say: key, type, range, default, where it goes
 * and a line of help. Validation, defaults, messages and the reference scenario all come from it.
 * A row whose kind is MAP, LIST or ANY is read by the code of its section; every other is read by
 * schema_fill into the struct of its section. */
#ifndef LAPSE_SIM_SCHEMA_H
#define LAPSE_SIM_SCHEMA_H

#include "scenario_load.h"
#include "units.h"
#include "yaml_tree.h"

enum schema_section {
    SECTION_ROOT,       /* struct scenario_root */
    SECTION_FAILOVER,   /* struct failover_config */
    SECTION_SERVER,     /* struct server_config */
    SECTION_CLOCK,      /* struct server_config */
    SECTION_LINK,       /* struct link_config */
    SECTION_UP,         /* struct link_config */
    SECTION_OUTAGE,     /* struct planned_outage */
    SECTION_RANDOM,     /* struct outage_plan */
    SECTION_POPULATION, /* struct population_config */
    SECTION_JITTER,     /* struct jitter */
    SECTION_LOAD,       /* struct population_config */
    SECTION_CLIENT,     /* struct client_config */
    SECTION_EVENT,      /* struct event_config */
    SECTIONS
};

enum schema_kind {
    SCHEMA_TEXT,
    SCHEMA_NAME, /* a text of [a-z0-9_-] */
    SCHEMA_INTEGER,
    SCHEMA_FLAG, /* yes or no */
    SCHEMA_NS,
    SCHEMA_US,
    SCHEMA_MS,
    SCHEMA_BYTES,
    SCHEMA_BANDWIDTH,
    SCHEMA_RATE,
    SCHEMA_DRIFT, /* ppb */
    SCHEMA_TIME,
    SCHEMA_BYTES_DRAW, /* distributions */
    SCHEMA_MS_DRAW,
    SCHEMA_NS_DRAW,
    SCHEMA_CHOICE, /* one of `choices` */
    SCHEMA_ENGINE,
    SCHEMA_ALLOCATOR,
    SCHEMA_PRICES,
    SCHEMA_SERVER, /* the name of a server: its index */
    SCHEMA_MAP,
    SCHEMA_LIST,
    SCHEMA_ANY
};

struct schema_choice {
    const char *word; /* NULL ends the list */
    int64_t value;
};

enum schema_flags {
    SCHEMA_REQUIRED = 1 << 0,
    SCHEMA_INHERITED = 1 << 1, /* keeps what the struct has when the file is silent */
    SCHEMA_ASIDE = 1 << 2,     /* the reference shows it as a comment: it excludes another key */
    SCHEMA_REPLICA = 1 << 3    /* of a replica alone */
};

struct schema_row {
    enum schema_section section;
    enum schema_kind kind;
    const char *key;
    size_t offset, size; /* of the field */
    int64_t low, high;   /* in the base unit of the kind (units.h); US and MS are read in ns */
    const char *initial; /* the default as one would write it, or NULL */
    const char *example; /* for the reference when there is no default to show */
    const char *literal; /* a word that stands for 0, or for no distribution */
    const struct schema_choice *choices;
    unsigned flags;
    const char *help;
};

/* The rows of all sections, in the order of the reference. */
extern const struct schema_row schema_rows[];
extern const size_t schema_row_count;

/* Row after `row` (NULL: the first) in this section, or NULL. */
const struct schema_row *schema_next(enum schema_section, const struct schema_row *row);

/* Checks the keys of a map and reads every row of the section that has a field. `where` names the
 * map in messages ("servers.master"). False with a message. */
bool schema_fill(struct draft *, enum schema_section, const struct tree_node *map,
                 const char *where, void *base);

/* One number of a row's kind, in its range. */
bool schema_read_integer(struct draft *, const struct schema_row *, const struct tree_node *,
                         int64_t *value);

/* A distribution, or a plain value for one that is always the same (schema_draw.c). */
bool schema_read_draw(struct draft *, const struct schema_row *, const struct tree_node *,
                      struct distribution *);

/* Values of a row's kind from a CSV, one a line, a weight behind each or none behind any; `unit` is
 * that of bare numbers, "" for none (schema_samples.c). */
bool schema_read_samples(struct draft *, const struct schema_row *, const struct tree_node *file,
                         const char *unit, struct distribution *);

/* A weight: 1 to 10^9. */
extern const struct schema_row schema_weight;

/* A number of at most three decimals, 0 to `most`, both in thousandths. False without a message. */
bool schema_read_thousandths(const struct tree_node *, int64_t most, int64_t *thousandths);

enum unit_kind schema_unit(const struct schema_row *);
int64_t schema_base(const struct schema_row *); /* a field's unit in those of units.h */

/* Only the first half: is it a map (or blank), and does it have no unknown key? */
bool schema_check_keys(struct draft *, enum schema_section, const struct tree_node *map,
                       const char *where);

/* What a value of this row must be, for messages and the reference. */
void schema_expected(const struct schema_row *, struct phrase *);

/* ", 1ms to 30s"; nothing for a row without a range. */
void schema_range(const struct schema_row *, struct phrase *);

/* Choices of ENGINE, ALLOCATOR and PRICES, and words of SCHEMA_CHOICE, ended by NULL. */
#define SCHEMA_WORDS_MAX 64
void schema_words(const struct schema_row *, const char *words[SCHEMA_WORDS_MAX]);

#endif
