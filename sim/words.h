/* words: a line taken apart as redis-cli and redis.conf do: spaces part words, "..." knows \n \r \t
 * \b \a \\ \" and \xHH, '...' knows \' alone, and a closing quote ends its word. */
#ifndef LAPSE_SIM_WORDS_H
#define LAPSE_SIM_WORDS_H

#include "complain.h"

struct word_place {
    size_t start, length; /* in text */
};

struct words {
    char *text; /* words one after another, each with a NUL after it */
    struct word_place *places;
    uint32_t count, capacity;
};

/* False with what was wrong in the phrase. Release in any case. */
bool words_split(struct words *, const char *line, size_t length, struct phrase *);
void words_release(struct words *);

static inline const char *word_at(const struct words *words, uint32_t i) {
    return words->text + words->places[i].start;
}
static inline size_t word_length(const struct words *words, uint32_t i) {
    return words->places[i].length;
}

#endif
