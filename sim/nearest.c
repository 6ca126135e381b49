#include "nearest.h"

#include <string.h>

#define WORD_MAX 63 /* longer words are nobody's typing error */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ASCII alone: a locale must not change a message. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Damerau-Levenshtein distance, in the form that edits no part twice. Rows i-2, i-1 and i are kept;
 * row[i % 3][j] is the distance of the first i letters of a to the first j of b. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t row[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) row[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            now[j] = smaller(replace, smaller(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

const char *nearest_of(const char *word, size_t length, const char *const *words) {
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *nearest = NULL;
    size_t best = 0;
    for (; *words; words++) {
        size_t other = strlen(*words), longer = length > other ? length : other;
        if (other > WORD_MAX) continue;
        size_t distance = edit_distance(word, length, *words, other);
        if (distance > (longer + 1) / 2 || distance == longer)
            continue; /* hardly a letter shared */
        if (!nearest || distance < best) best = distance, nearest = *words;
    }
    return nearest;
}

const char *nearest_word(const char *word, const char *const *words) {
    return nearest_of(word, strlen(word), words);
}
