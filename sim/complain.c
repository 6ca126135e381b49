#include "complain.h"

#include <stdarg.h>
#include <string.h>

#include "nearest.h"

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

void phrase_add_choice(struct phrase *phrase, const char *word, size_t length,
                       const char *const *known) {
    const char *nearest = nearest_of(word, length, known);
    if (!known[0]) return;
    phrase_add(phrase, known[1] ? "; expected one of " : "; expected ");
    for (size_t i = 0; known[i]; i++) phrase_add(phrase, "%s%s", i ? ", " : "", known[i]);
    if (nearest) phrase_add(phrase, "; did you mean '%s'?", nearest);
}
