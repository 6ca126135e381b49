#include "output_limits.h"

#include <string.h>

#include "command.h"

#define FIGURES   3 /* that follow a class */
#define WORD_MAX  32
#define VALUE_MAX 256

static const char *const names[OUTPUT_CLASSES] = {"normal", "slave", "pubsub"};

/* The next word, or false at the end. One that is too long is cut, and so matches nothing. */
static bool next_word(const char **rest, char word[WORD_MAX]) {
    size_t length = 0;
    while (**rest == ' ') (*rest)++;
    for (; **rest && **rest != ' '; (*rest)++)
        if (length < WORD_MAX - 1) word[length++] = **rest;
    word[length] = '\0';
    return length > 0;
}

static uint32_t count_words(const char *value) {
    char word[WORD_MAX];
    uint32_t count = 0;
    while (next_word(&value, word)) count++;
    return count;
}

static enum output_class class_named(const char *word) {
    for (int c = 0; c < OUTPUT_CLASSES; c++)
        if (word_is(word, strlen(word), names[c])) return (enum output_class)c;
    return word_is(word, strlen(word), "replica") ? OUTPUT_REPLICA : OUTPUT_CLASSES;
}

static bool read_figures(const char **rest, struct output_limit *limit) {
    char word[WORD_MAX];
    int64_t bytes;
    if (!next_word(rest, word) || !config_read_bytes(word, &bytes)) return false;
    limit->hard_bytes = (uint64_t)bytes;
    if (!next_word(rest, word) || !config_read_bytes(word, &bytes)) return false;
    limit->soft_bytes = (uint64_t)bytes;
    return next_word(rest, word) && text_to_number(word, strlen(word), &limit->soft_s) &&
           limit->soft_s >= 0;
}

const char *output_limits_read(struct output_limits *limits, const char *value) {
    char word[WORD_MAX];
    uint32_t words = count_words(value);
    if (words == 0 || words % (1 + FIGURES) != 0)
        return "') - Wrong number of arguments in buffer limit configuration.";
    while (next_word(&value, word)) {
        enum output_class class = class_named(word);
        if (class == OUTPUT_CLASSES)
            return "') - Invalid client class specified in buffer limit configuration.";
        if (!read_figures(&value, &limits->of[class]))
            return "') - Error in hard, soft or soft_seconds setting in buffer limit "
                   "configuration.";
    }
    return NULL;
}

/* --- as text --- */

static size_t add_text(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length);
    return length;
}

static size_t add_number(char *to, uint64_t number) {
    char digits[24];
    size_t length = 0;
    to[0] = ' ';
    do digits[length++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (size_t i = 0; i < length; i++) to[1 + i] = digits[length - 1 - i];
    return 1 + length;
}

text_id output_limits_print(const struct output_limits *limits, struct texts *texts) {
    char value[VALUE_MAX];
    size_t length = 0;
    for (int c = 0; c < OUTPUT_CLASSES; c++) {
        const struct output_limit *limit = &limits->of[c];
        if (c > 0) value[length++] = ' ';
        length += add_text(value + length, names[c]);
        length += add_number(value + length, limit->hard_bytes);
        length += add_number(value + length, limit->soft_bytes);
        length += add_number(value + length, (uint64_t)limit->soft_s);
    }
    return texts_intern(texts, value, length);
}
