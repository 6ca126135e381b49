#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "heap.h"
#include "bounds.h"
#include "scenario_load.h"
#include "words.h"

#define ARGS_MAX (sizeof((struct mix_config *)0)->args / sizeof(struct arg_template))

static const struct placeholder {
    const char *word;
    enum template_kind kind;
} placeholders[] = {
    {"{key}", TEMPLATE_KEY},
    {"{value}", TEMPLATE_VALUE},
    {"{ttl}", TEMPLATE_TTL_MS},
    {"{ttl_s}", TEMPLATE_TTL_S},
};

static const char *const placeholder_words[] = {"{key}", "{value}", "{ttl}", "{ttl_s}", NULL};

#define COMMANDS_MAX 128

static void command_unknown(const char *word, size_t length, struct phrase *phrase) {
    const char *known[COMMANDS_MAX] = {0};
    for (size_t i = 0, n = 0; command_at(i) && n < COMMANDS_MAX - 1; i++)
        if (!(command_at(i)->flags & COMMAND_STREAM_ONLY)) known[n++] = command_at(i)->name;
    phrase_add(phrase, "unknown command %s", quote(word, length).text);
    phrase_add_choice(phrase, word, length, known);
}

static bool check_arity(const struct command *command, uint32_t argc, struct phrase *phrase) {
    uint32_t least = (uint32_t)(command->arity < 0 ? -command->arity : command->arity);
    if (command->arity < 0 ? argc >= least : argc == least) return true;
    phrase_add(phrase, "%s has %" PRIu32 " arguments; expected %s%" PRIu32, command->name, argc - 1,
               command->arity < 0 ? "at least " : "", least - 1);
    return false;
}

static bool is_key_position(const struct command *command, uint32_t index, uint32_t argc) {
    if (command->first_key <= 0 || index < (uint32_t)command->first_key) return false;
    uint32_t last = command->last_key < 0 ? argc - 1 : (uint32_t)command->last_key;
    uint32_t step = command->key_step > 0 ? (uint32_t)command->key_step : 1;
    return index <= last && (index - (uint32_t)command->first_key) % step == 0;
}

/* A placeholder is a word of its own: what it becomes has a length and no letters. */
static bool read_argument(struct texts *texts, const char *word, size_t length,
                          struct arg_template *arg, struct phrase *phrase) {
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++)
        if (strlen(placeholders[i].word) == length &&
            memcmp(placeholders[i].word, word, length) == 0) {
            arg->kind = placeholders[i].kind;
            return true;
        }
    if (memchr(word, '{', length) && memchr(word, '}', length)) {
        phrase_add(phrase, "unknown placeholder %s", quote(word, length).text);
        phrase_add_choice(phrase, word, length, placeholder_words);
        return false;
    }
    *arg = (struct arg_template){TEMPLATE_WORD, texts_intern(texts, word, length)};
    return true;
}

static bool check_position(struct mix_config *mix, uint32_t index, struct phrase *phrase) {
    bool wants_key = is_key_position(mix->command, index, mix->argc);
    enum template_kind kind = mix->args[index].kind;
    if (kind == TEMPLATE_WORD && wants_key) mix->args[index].kind = TEMPLATE_NAME;
    if (kind == TEMPLATE_WORD || wants_key == (kind == TEMPLATE_KEY)) return true;
    phrase_add(phrase, "argument %" PRIu32 " of %s is %s; expected %s", index, mix->command->name,
               placeholder_words[kind - TEMPLATE_KEY],
               wants_key ? "{key} or a key's name" : "{key} where the command takes a key");
    return false;
}

/* The command of these words, its arity checked; NULL with a message. */
static const struct command *find_command(const struct words *words, struct phrase *phrase) {
    if (words->count == 0) {
        phrase_add(phrase, "an empty command; expected one such as GET {key}");
        return NULL;
    }
    const struct command *command = command_find(word_at(words, 0), word_length(words, 0));
    if (!command || command->flags & COMMAND_STREAM_ONLY) {
        command_unknown(word_at(words, 0), word_length(words, 0), phrase);
        return NULL;
    }
    return check_arity(command, words->count, phrase) ? command : NULL;
}

static bool read_words(struct texts *texts, const struct words *words, struct mix_config *mix,
                       struct phrase *phrase) {
    mix->command = find_command(words, phrase);
    if (!mix->command) return false;
    if (words->count > ARGS_MAX) {
        phrase_add(phrase, "%" PRIu32 " words; expected at most %zu", words->count, ARGS_MAX);
        return false;
    }
    mix->argc = words->count;
    for (uint32_t i = 0; i < words->count; i++)
        if (!read_argument(texts, word_at(words, i), word_length(words, i), &mix->args[i], phrase))
            return false;
    for (uint32_t i = 1; i < mix->argc; i++)
        if (!check_position(mix, i, phrase)) return false;
    return true;
}

bool template_parse(struct texts *texts, const char *line, struct mix_config *mix, char *message,
                    size_t size) {
    struct phrase phrase = {0};
    struct words words;
    *mix = (struct mix_config){0};
    bool fine = words_split(&words, line, strlen(line), &phrase);
    fine = fine && read_words(texts, &words, mix, &phrase);
    words_release(&words);
    if (!fine) snprintf(message, size, "%s", phrase.text);
    return fine;
}

bool template_check_line(const char *line, size_t length, struct phrase *phrase) {
    struct words words;
    bool fine = words_split(&words, line, length, phrase) && find_command(&words, phrase);
    if (fine && words.count > ARGC_MAX) {
        phrase_add(phrase, "%" PRIu32 " words; expected at most %d", words.count, ARGC_MAX);
        fine = false;
    }
    words_release(&words);
    return fine;
}
