/* pictures: the pictures of a folder that a run or a comparison has written. */
#ifndef LAPSE_SIM_PICTURES_H
#define LAPSE_SIM_PICTURES_H

#include "talk.h"

enum picture { PICTURE_SVG = 1, PICTURE_PNG = 2 };

/* Draws FOLDER/run.svg and run.png if there is a trace.csv, compare.svg and compare.png if there is
 * a compare.csv; `wanted` are bits of enum picture. Says which it wrote, and what went wrong. */
enum exit_code pictures_draw(const char *folder, unsigned wanted);

/* The same after a run, where a machine without gnuplot is told so and nothing is wrong. */
enum exit_code pictures_draw_if_possible(const char *folder);

#endif
