/* A line of words as a request. What the command table calls a key becomes one; the engine is left
 * to complain of too many or too few words, as a real server is. */
#include <string.h>

#include "command.h"
#include "bounds.h"
#include "resp.h"
#include "words.h"

/* Whether argument `index` of `argc` names a key. A negative last_key counts from the end. */
static bool is_key(const struct command *command, int index, int argc) {
    if (!command || command->first_key <= 0) return false;
    int last = command->last_key < 0 ? argc + command->last_key : command->last_key;
    int step = command->key_step > 0 ? command->key_step : 1;
    return command->first_key <= index && index <= last && (index - command->first_key) % step == 0;
}

static bool make_key(const struct words *words, uint32_t index, struct names *names,
                     struct arg *arg, struct phrase *phrase) {
    size_t length = word_length(words, index);
    if (length > KEY_LENGTH_MAX) {
        phrase_add(phrase, "the key at position %u has %zu bytes; at most %d are possible",
                   (unsigned)index, length, KEY_LENGTH_MAX);
        return false;
    }
    *arg = arg_key(names_keys(names), names_intern(names, word_at(words, index), length));
    return true;
}

static bool make_args(const struct words *words, struct names *names, struct texts *texts,
                      struct arg *argv, const struct command **command, struct phrase *phrase) {
    int argc = (int)words->count;
    *command = command_find(word_at(words, 0), word_length(words, 0));
    for (int i = 0; i < argc; i++) {
        uint32_t index = (uint32_t)i;
        size_t length = word_length(words, index);
        if (!is_key(*command, i, argc))
            argv[i] = arg_word(texts, texts_intern(texts, word_at(words, index), length));
        else if (!make_key(words, index, names, &argv[i], phrase))
            return false;
    }
    return true;
}

static bool check_count(const struct words *words, struct phrase *phrase) {
    if (words->count == 0) phrase_add(phrase, "no command in an empty line");
    if (words->count > ARGC_MAX) phrase_add(phrase, "more than %d words in one command", ARGC_MAX);
    return 0 < words->count && words->count <= ARGC_MAX;
}

int resp_parse_line(const char *line, struct names *names, struct texts *texts, struct arg *argv,
                    const struct command **command, char *message, size_t size) {
    struct phrase phrase = {.length = 0};
    struct words words;
    bool fine = words_split(&words, line, strlen(line), &phrase) && check_count(&words, &phrase) &&
                make_args(&words, names, texts, argv, command, &phrase);
    int argc = fine ? (int)words.count : -1;
    words_release(&words);
    if (!fine) snprintf(message, size, "%s", phrase.text);
    return argc;
}
