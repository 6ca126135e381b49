#include "nearest.h"

#include <stdbool.h>
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

/* What people call a word that is called otherwise here. */
static const char *const aliases[][2] = {
    {"avg", "mean"},    {"average", "mean"}, {"median", "p50"},
    {"maximum", "max"}, {"minimum", "min"},  {"latency_us", "request_us"},
};

static const char *alias_of(const char *word, size_t length, const char *const *words) {
    for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
        if (strlen(aliases[i][0]) != length || memcmp(aliases[i][0], word, length) != 0) continue;
        for (const char *const *known = words; *known; known++)
            if (strcmp(*known, aliases[i][1]) == 0) return *known;
    }
    return NULL;
}

/* Are the letters of the word found in `whole`, in order? */
static bool is_short_for(const char *word, size_t length, const char *whole) {
    size_t at = 0;
    for (; at < length && *whole; whole++) at += lower(word[at]) == lower(*whole);
    return at == length;
}

static size_t common_start(const char *word, size_t length, const char *other) {
    size_t same = 0;
    while (same < length && other[same] && lower(word[same]) == lower(other[same])) same++;
    return same;
}

/* The smaller the nearer; distance first. */
static size_t farness(const char *word, size_t length, const char *other, size_t distance) {
    size_t apart = WORD_MAX - common_start(word, length, other);
    return (distance * 2 + !is_short_for(word, length, other)) * (WORD_MAX + 1) + apart;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* One letter in `part` may differ. */
static const char *nearest_within(const char *word, size_t length, const char *const *words,
                                  size_t part) {
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *nearest = alias_of(word, length, words);
    if (nearest) return nearest;
    size_t best = 0;
    for (; *words; words++) {
        size_t other = strlen(*words), longer = larger(length, other);
        if (other > WORD_MAX) continue;
        size_t distance = edit_distance(word, length, *words, other);
        if (distance > (longer + part - 1) / part || distance == longer)
            continue; /* hardly a letter shared */
        size_t far = farness(word, length, *words, distance);
        if (!nearest || far < best) best = far, nearest = *words;
    }
    return nearest;
}

const char *nearest_of(const char *word, size_t length, const char *const *words) {
    return nearest_within(word, length, words, 2);
}

const char *nearest_word(const char *word, const char *const *words) {
    return nearest_within(word, strlen(word), words, 2);
}

const char *nearest_close_word(const char *word, const char *const *words) {
    return nearest_within(word, strlen(word), words, 3);
}
