/* figures_table: what a benchmark found, as a table for people and as CSV for programs. */
#ifndef LAPSE_TESTS_FIGURES_TABLE_H
#define LAPSE_TESTS_FIGURES_TABLE_H

#include <stdio.h>

enum goal { GOAL_NONE, GOAL_AT_MOST, GOAL_AT_LEAST, GOAL_RATIO_AT_MOST, GOAL_RATIO_AT_LEAST };

struct figure {
    const char *name, *unit;
    double lapse;
    double server; /* the real server's; 0: it has none, or was not here */
    double ratio;  /* 0: none; how it is formed stands in the name */
    enum goal goal;
    double bound;
};

struct figures_table {
    const char *benchmark;
    FILE *csv; /* NULL: none */
};

/* The CSV is `directory`/bench-NAME.csv. */
void figures_begin(struct figures_table *, const char *benchmark, const char *directory);
void figures_add(struct figures_table *, const struct figure *);
void figures_end(struct figures_table *);

#endif
