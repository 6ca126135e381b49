/* gnuplot: runs one of the plot scripts. The picture appears whole or not at all, and does not
 * depend on the user's gnuplot settings or locale. */
#ifndef LAPSE_SIM_GNUPLOT_H
#define LAPSE_SIM_GNUPLOT_H

#include "base.h"

struct gnuplot_order {
    const char *plots;    /* the folder of scripts */
    const char *script;   /* "run.gp" */
    const char *folder;   /* of the data */
    const char *name;     /* for the title */
    const char *terminal; /* "svg" or "png" */
    const char *output;
};

bool gnuplot_is_there(void);
bool gnuplot_draw(const struct gnuplot_order *); /* says what went wrong */

#endif
