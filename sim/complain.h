/* complain: what is wrong with a user's file, as one line that says where, what was expected and
 * which known word is nearest. Bytes of the file are quoted so that a message stays one line. */
#ifndef LAPSE_SIM_COMPLAIN_H
#define LAPSE_SIM_COMPLAIN_H

#include <stddef.h>

#include "scenario.h"

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* A growing piece of a message; what does not fit is dropped. */
struct phrase {
    char text[768];
    size_t length;
};
void phrase_add(struct phrase *, const char *format, ...) PRINTF_LIKE(2, 3);

/* A file's word for a message: in quotes, bytes that do not print as ?, cut after 60. */
struct quoted {
    char text[72];
};
struct quoted quote(const char *bytes, size_t length);

/* "PATH:LINE:COLUMN: what". Always returns false, so that a check can return it. */
bool complain(struct scenario_error *, const char *path, int line, int column, const char *format,
              ...) PRINTF_LIKE(5, 6);

/* "; expected one of a, b, c; did you mean 'b'?" */
void phrase_add_choice(struct phrase *, const char *word, size_t length, const char *const *known);

#endif
