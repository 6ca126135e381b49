/* talk: what the program says to a person: exit codes, lines on stderr, figures in readable units,
 * and hints for misspelt words. stdout is for data. */
#ifndef LAPSE_SIM_TALK_H
#define LAPSE_SIM_TALK_H

#include <stdio.h>

#include "base.h"

enum exit_code {
    EXIT_FINE = 0,
    EXIT_EXPECTATION = 1, /* an expectation failed, or a repeated run came out different */
    EXIT_INPUT = 2,       /* usage or input */
    EXIT_BROKEN = 3,      /* an invariant of our own */
    EXIT_OUTPUT = 4,      /* an output could not be written */
    EXIT_INTERRUPTED = 130
};

/* "lapse: TEXT" and a newline, to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "lapse: unknown WHAT 'WORD'; did you mean 'NEAR'?" or, with nothing near, "; expected one of
 * ...". `words` ends with NULL. Returns EXIT_INPUT. */
enum exit_code say_unknown(const char *what, const char *word, const char *const *words);

/* Colours only on a terminal, and not with NO_COLOR set. */
bool talk_has_colour(FILE *);

/* Figures as people read them, into `buffer`, which is returned. */
#define FIGURE_SIZE 64
enum figure_kind { FIGURE_COUNT, FIGURE_MS, FIGURE_US, FIGURE_BYTES, FIGURE_PERCENT };
const char *figure_print(char buffer[FIGURE_SIZE], enum figure_kind, int64_t milli);

#endif
