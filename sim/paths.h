/* paths: where scenarios and plot scripts are found. A data folder holds scenarios/ and plots/;
 * they are sought, first found first taken, in $LAPSE_DATA, ../share/lapse beside the executable's
 * folder, the source tree it was built in, and the folder that was fixed at build time. What is
 * returned is the caller's to free. */
#ifndef LAPSE_SIM_PATHS_H
#define LAPSE_SIM_PATHS_H

#include <stdbool.h>

/* The file a SCENARIO argument means: a path, or a bare name sought as ./scenarios/NAME.yaml and in
 * the data folders. NULL when there is none. */
char *paths_find_scenario(const char *argument);

/* The names that paths_find_scenario would find, sorted, ending with NULL. */
char **paths_list_scenarios(void);
void paths_list_free(char **names);

/* The folder that holds run.gp, or NULL. */
char *paths_find_plots(void);

char *paths_join(const char *folder, const char *name);
char *paths_folder_of(const char *path); /* "a/b.csv": "a"; "b.csv": "." */
bool paths_is_folder(const char *path);

/* The name as a single path component: what is not a letter, digit or one of ._+- becomes _. */
char *paths_component(const char *name);

/* Is there a program of this name on PATH? */
bool paths_has_program(const char *name);

#endif
