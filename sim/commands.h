/* commands: the subcommands of lapse, one a file, and what their command lines share. */
#ifndef LAPSE_SIM_COMMANDS_H
#define LAPSE_SIM_COMMANDS_H

#include <argp.h>

#include "recording.h"
#include "talk.h"

/* Has the user asked to stop (Ctrl-C)? */
typedef bool interrupted_fn(void);

/* argv[0] is the name for messages, "lapse run". */
enum exit_code cmd_run(int argc, char **argv, interrupted_fn *);
enum exit_code cmd_compare(int argc, char **argv, interrupted_fn *);
enum exit_code cmd_plot(int argc, char **argv, interrupted_fn *);
enum exit_code cmd_list(int argc, char **argv, interrupted_fn *);
enum exit_code cmd_calibrate(int argc, char **argv, interrupted_fn *);
enum exit_code cmd_validate(int argc, char **argv, interrupted_fn *);

/* argp_parse, with misspelt long options named first. False: said, and the exit code is
 * EXIT_INPUT. */
bool options_parse(const struct argp *, int argc, char **argv, void *input);

/* Takes the one scenario of a command line; a second one is refused. */
void scenario_take(const char **scenario, const char *value, struct argp_state *);

/* A scenario file in memory. */
struct scenario_file {
    char *path, *text, *directory;
    size_t length;
};

/* The file that SCENARIO means, read. False: said. */
bool scenario_file_read(struct scenario_file *, const char *argument);
void scenario_file_release(struct scenario_file *);

/* "out/NAME", and the folder of one variant below it. Free it. */
char *folder_default(const char *scenario_name);
char *folder_of_variant(const char *folder, const char *variant);

#endif
