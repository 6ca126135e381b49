/* nearest: the known word that a misspelt one was most likely meant to be, by edit distance
 * (insert, delete, replace, swap of neighbours), ASCII case apart. */
#ifndef LAPSE_SIM_NEAREST_H
#define LAPSE_SIM_NEAREST_H

#include <stddef.h>

/* Of `words`, which ends with NULL, the closest one to `word`; NULL if none shares at least half of
 * its letters. The first of equally close ones. A list of what was expected stands beside it, so a
 * far guess (hertz: hz) costs little and often helps. */
const char *nearest_word(const char *word, const char *const *words);

/* The same for a word that need not end with a NUL. */
const char *nearest_of(const char *word, size_t length, const char *const *words);

#endif
