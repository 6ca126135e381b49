/* nearest: the known word that a misspelt one was most likely meant to be, by edit distance
 * (insert, delete, replace, swap of neighbours), ASCII case apart. */
#ifndef LAPSE_SIM_NEAREST_H
#define LAPSE_SIM_NEAREST_H

#include <stddef.h>

/* Of `words`, which ends with NULL, the closest one to `word`; NULL if none shares at least half of
 * its letters. Of equally close ones that of which `word` is short for (pct: percent), then the one
 * with the longest common start, then the first. A list of what was expected stands beside it, so a
 * far guess (hertz: hz) costs little and often helps. Some words have another name elsewhere (avg:
 * mean). */
const char *nearest_word(const char *word, const char *const *words);

/* The same where no list stands beside it: at most a third of the letters may differ. */
const char *nearest_close_word(const char *word, const char *const *words);

/* The same for a word that need not end with a NUL. */
const char *nearest_of(const char *word, size_t length, const char *const *words);

#endif
