/* nearest: the known word that a misspelt one was most likely meant to be, by edit distance
 * (insert, delete, replace, swap of neighbours), ASCII case apart. */
#ifndef LAPSE_SIM_NEAREST_H
#define LAPSE_SIM_NEAREST_H

#include <stddef.h>

/* Of `words`, which ends with NULL, the closest one to `word`; NULL if none is close: at most a
 * third of its letters wrong, one in short words. The first of equally close ones. */
const char *nearest_word(const char *word, const char *const *words);

#endif
