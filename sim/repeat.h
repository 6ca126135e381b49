/* repeat: `lapse run --from run.json`: was it this version, where are its files, and are the bytes
 * the same? */
#ifndef LAPSE_SIM_REPEAT_H
#define LAPSE_SIM_REPEAT_H

#include "manifest.h"

/* Says so when another version of lapse wrote it: then other bytes are no surprise. */
void repeat_say_version(const struct manifest *then);

/* Where files that the scenario names are sought: its folder then, or where a scenario of that name
 * lies now. Free it. */
char *repeat_directory(const struct manifest *then);

/* Compares what FOLDER/run.json says with then; prints a line an output to stdout. */
bool repeat_is_same(const struct manifest *then, const char *folder);

#endif
