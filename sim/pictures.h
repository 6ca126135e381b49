/* pictures: the pictures of a folder that a run or a comparison has written. */
#ifndef LAPSE_SIM_PICTURES_H
#define LAPSE_SIM_PICTURES_H

#include "talk.h"

enum picture { PICTURE_SVG = 1, PICTURE_PNG = 2 };

/* What a picture shows: FOLDER/run.svg and run.png from trace.csv, or compare.svg and compare.png
 * from compare.csv. */
enum subject { SUBJECT_RUN = 1, SUBJECT_COMPARISON = 2 };

/* Draws what the folder has of both subjects; `wanted` are bits of enum picture. Says which it
 * wrote, and what went wrong. */
enum exit_code pictures_draw(const char *folder, unsigned wanted);

/* After a run or a comparison: that subject alone, as the other one may be an older work in the
 * same folder. A machine without gnuplot is told so and nothing is wrong. */
enum exit_code pictures_draw_if_possible(const char *folder, enum subject);

#endif
