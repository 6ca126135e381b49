/* report: the short table of a run or a comparison, and its expectations, as text for a person. */
#ifndef LAPSE_SIM_REPORT_H
#define LAPSE_SIM_REPORT_H

#include <stdio.h>

#include "recording.h"
#include "table.h"

/* The chosen rows of a summary (or of a comparison), one a column, headed by their cell in
 * `heading`. Lines that would say nothing but zero are left out. */
void report_print_table(FILE *, const struct table *, const size_t *rows, size_t count,
                        const char *heading);

/* "PASS  max(master.stale_percent) < 60   59.934 %", one line an expectation. */
void report_print_expectations(FILE *, const struct recording *);

/* What ran: scenario, variant, seed, and each server's engine, allocator and cost profile. */
void report_print_heading(FILE *, const struct recording *);

#endif
