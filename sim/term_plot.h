/* term_plot: a trace drawn with characters: for each server stale share, memory and request p99
 * over time. Braille dots (2 x 4 a character) where the terminal speaks UTF-8, else plain ASCII. No
 * colour is needed. */
#ifndef LAPSE_SIM_TERM_PLOT_H
#define LAPSE_SIM_TERM_PLOT_H

#include <stdio.h>

#include "table.h"

struct term_plot {
    size_t width; /* characters a line, at least 40 */
    bool unicode;
};

/* `trace` is a trace.csv. False with a message when a column is missing or there is no row. */
bool term_plot_print(FILE *, const struct term_plot *, const struct table *trace, char *message,
                     size_t size);

#endif
