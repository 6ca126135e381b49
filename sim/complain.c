#include "complain.h"

#include <stdarg.h>
#include <string.h>

void phrase_add(struct phrase *phrase, const char *format, ...) {
    size_t room = sizeof phrase->text - phrase->length;
    va_list list;
    va_start(list, format);
    int wrote = vsnprintf(phrase->text + phrase->length, room, format, list);
    va_end(list);
    if (wrote > 0) phrase->length += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

struct quoted quote(const char *bytes, size_t length) {
    struct quoted quoted;
    size_t at = 0;
    quoted.text[at++] = '\'';
    for (size_t i = 0; i < length && i < 60; i++) {
        unsigned char c = (unsigned char)bytes[i];
        quoted.text[at++] = c < 32 || c > 126 ? '?' : (char)c;
    }
    if (length > 60) memcpy(quoted.text + at, "...", 3), at += 3;
    quoted.text[at++] = '\'';
    quoted.text[at] = 0;
    return quoted;
}

bool complain(struct scenario_error *error, const char *path, int line, int column,
              const char *format, ...) {
    int at = snprintf(error->message, sizeof error->message, "%.200s:%d:%d: ", path, line, column);
    va_list list;
    va_start(list, format);
    if (at > 0) vsnprintf(error->message + at, sizeof error->message - (size_t)at, format, list);
    va_end(list);
    return false;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

#define WORD_MAX 64

/* Insertions, deletions, substitutions and swaps of neighbours; letters' case does not count. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned rows[3][WORD_MAX + 1];
    for (unsigned j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *word_nearest(const char *word, size_t length, const char *const *known) {
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *best = NULL;
    unsigned best_distance = 0;
    for (; *known; known++) {
        size_t known_length = strlen(*known);
        if (known_length > WORD_MAX) continue;
        unsigned distance = edit_distance(word, length, *known, known_length);
        size_t longer = length > known_length ? length : known_length;
        if (distance > (longer + 1) / 2 || distance >= longer) continue; /* nothing in common */
        if (!best || distance < best_distance) best = *known, best_distance = distance;
    }
    return best;
}

void phrase_add_choice(struct phrase *phrase, const char *word, size_t length,
                       const char *const *known) {
    const char *nearest = word_nearest(word, length, known);
    if (!known[0]) return;
    phrase_add(phrase, known[1] ? "; expected one of " : "; expected ");
    for (size_t i = 0; known[i]; i++) phrase_add(phrase, "%s%s", i ? ", " : "", known[i]);
    if (nearest) phrase_add(phrase, "; did you mean '%s'?", nearest);
}
