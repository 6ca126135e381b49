#include "redis_conf.h"

#include <inttypes.h>

#include "bounds.h"
#include "heap.h"
#include "words.h"

/* Ranges and help by field; names, kinds and defaults are core's (DIRECTIVE_LIST). A directive that
 * core gains and this lacks does not compile. */
#define RANGE_hz                       HZ_MIN, HZ_MAX, "runs of serverCron a second"
#define RANGE_dynamic_hz               0, 1, "more of them when many clients are connected"
#define RANGE_active_expire_effort     EFFORT_MIN, EFFORT_MAX, "how hard the expire cycle tries"
#define RANGE_lazyfree_lazy_expire     0, 1, "expired values are freed by another thread"
#define RANGE_lazyfree_lazy_user_del   0, 1, "DEL works as UNLINK"
#define RANGE_lazyfree_lazy_server_del 0, 1, "implicit deletes free in another thread"
#define RANGE_activerehashing          0, 1, "serverCron spends 1 ms in 100 on rehashing"
#define RANGE_databases                1, DATABASES_MAX, "numbered from 0"
#define RANGE_repl_backlog_size        1, INT64_C(1) << 40, "history for a replica that reconnects"
#define RANGE_repl_ping_replica_period 1, INT32_MAX, "seconds between PINGs to replicas"
#define RANGE_repl_timeout             1, INT32_MAX, "seconds without a word that end a connection"
#define RANGE_repl_backlog_ttl         0, INT32_MAX, "seconds without a replica that end the backlog"
#define RANGE_repl_diskless_sync_delay 0, INT32_MAX, "seconds that a full sync waits for others"
#define RANGE_repl_diskless_sync_max_replicas                                                      \
    0, INT32_MAX, "as many waiting replicas end that delay (0: never)"
#define RANGE_replica_serve_stale_data 0, 1, "replicas answer while their master is away"
#define RANGE_replica_read_only        0, 1, "replicas refuse writes"
#define RANGE_replica_lazy_flush       0, 1, "a full sync's old data is freed in another thread"
#define RANGE_min_replicas_to_write    0, INT32_MAX, "fewer good replicas and writes are refused"
#define RANGE_min_replicas_max_lag     0, INT32_MAX, "seconds since its last ACK that a good one has"

static const struct directive directives[] = {
#define X(field, directive, kind, initial)                                                         \
    {directive, DIRECTIVE_##kind, offsetof(struct engine_config, field), initial, RANGE_##field},
    DIRECTIVE_LIST(X)
#undef X
        {"client-output-buffer-limit", DIRECTIVE_LIMIT, 0, 0, 0, INT64_C(1) << 50,
         "a replica that lags so far is dropped: hard, soft and its seconds"},
};

#define DIRECTIVE_COUNT (sizeof directives / sizeof *directives)

const struct directive *redis_conf_at(size_t index) {
    return index < DIRECTIVE_COUNT ? &directives[index] : NULL;
}

/* A redis.conf's words in any case, known words in lower case. */
static bool same_word(const char *known, const char *word, size_t length) {
    if (strlen(known) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (c != known[i]) return false;
    }
    return true;
}

const struct directive *redis_conf_find(const char *name, size_t length) {
    for (size_t i = 0; i < DIRECTIVE_COUNT; i++)
        if (same_word(directives[i].name, name, length)) return &directives[i];
    return NULL;
}

static enum unit_kind unit_of(const struct directive *directive) {
    return directive->kind == DIRECTIVE_BYTES ? UNIT_MEMORY : UNIT_COUNT;
}

void redis_conf_expected(const struct directive *directive, struct phrase *phrase) {
    if (directive->kind == DIRECTIVE_BOOL) {
        phrase_add(phrase, "yes or no");
        return;
    }
    if (directive->kind == DIRECTIVE_LIMIT) {
        phrase_add(phrase, "a class, two sizes and seconds such as %s", REDIS_CONF_LIMIT_EXAMPLE);
        return;
    }
    char low[48], high[48];
    units_print(unit_of(directive), directive->low, low, sizeof low);
    units_print(unit_of(directive), directive->high, high, sizeof high);
    if (directive->kind == DIRECTIVE_INT)
        phrase_add(phrase, "a whole number, %s to %s", low, high);
    else
        phrase_add(phrase, "%s, %s to %s", units_expected(UNIT_MEMORY), low, high);
}

static bool set_flag(int64_t *field, const struct directive *directive, const char *value,
                     size_t length, struct phrase *phrase) {
    static const char *const words[] = {"yes", "no", "true", "false", NULL};
    for (int i = 0; words[i]; i++)
        if (same_word(words[i], value, length)) {
            *field = i % 2 == 0;
            return true;
        }
    phrase_add(phrase, "%s is %s", directive->name, quote(value, length).text);
    phrase_add_choice(phrase, value, length, words);
    return false;
}

static void ignore(struct redis_conf_ignored *ignored, const char *name, size_t length) {
    if (length > 60) length = 60;
    for (uint32_t i = 0; i < ignored->count; i++)
        if (same_word(ignored->names[i], name, length)) return;
    ignored->names =
        heap_grow(ignored->names, &ignored->capacity, ignored->count, sizeof *ignored->names);
    char *copy = heap_text(name, length);
    for (size_t i = 0; i < length; i++) {
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] + 32);
        if (copy[i] < 32 || copy[i] > 126) copy[i] = '?';
    }
    ignored->names[ignored->count++] = copy;
}

/* One size or count of a limit, in `high`. */
static bool read_limit(enum unit_kind kind, const struct words *words, uint32_t index, int64_t high,
                       int64_t *number, struct phrase *phrase) {
    const char *word = word_at(words, index);
    size_t length = word_length(words, index);
    if (!units_parse(kind, word, length, number, phrase)) return false;
    if (*number >= 0 && *number <= high) return true;
    phrase_add(phrase, "%s is out of range; expected %s", quote(word, length).text,
               units_expected(kind));
    return false;
}

/* Class, hard, soft, seconds. */
static bool set_limit(struct engine_config *config, const struct directive *directive,
                      const struct words *words, uint32_t first, struct redis_conf_ignored *ignored,
                      struct phrase *phrase) {
    static const char *const classes[] = {"replica", "normal", "pubsub", "slave", NULL};
    const char *class = word_at(words, first);
    size_t length = word_length(words, first);
    int64_t hard, soft, seconds;
    int at = 0;
    while (classes[at] && !same_word(classes[at], class, length)) at++;
    if (!classes[at]) {
        phrase_add(phrase, "unknown class %s", quote(class, length).text);
        phrase_add_choice(phrase, class, length, classes);
        return false;
    }
    if (!read_limit(UNIT_MEMORY, words, first + 1, directive->high, &hard, phrase) ||
        !read_limit(UNIT_MEMORY, words, first + 2, directive->high, &soft, phrase) ||
        !read_limit(UNIT_COUNT, words, first + 3, INT32_MAX, &seconds, phrase))
        return false;
    if (at == 1 || at == 2) {
        char name[60];
        int wrote = snprintf(name, sizeof name, "%s %s", directive->name, classes[at]);
        ignore(ignored, name, (size_t)wrote);
        return true;
    }
    config->obuf_hard_bytes = (uint64_t)hard;
    config->obuf_soft_bytes = (uint64_t)soft;
    config->obuf_soft_s = seconds;
    return true;
}

static bool set_limits(struct engine_config *config, const struct directive *directive,
                       const struct words *words, uint32_t first,
                       struct redis_conf_ignored *ignored, struct phrase *phrase) {
    uint32_t count = words->count - first;
    phrase_add(phrase, "%s: ", directive->name);
    if (count == 0 || count % 4 != 0) {
        phrase_add(phrase, "%u values; expected ", count);
        redis_conf_expected(directive, phrase);
        return false;
    }
    for (uint32_t i = first; i < words->count; i += 4)
        if (!set_limit(config, directive, words, i, ignored, phrase)) return false;
    return true;
}

static bool set_limits_line(struct engine_config *config, const struct directive *directive,
                            const char *value, size_t length, struct redis_conf_ignored *ignored,
                            struct phrase *phrase) {
    struct words words;
    bool fine = words_split(&words, value, length, phrase) &&
                set_limits(config, directive, &words, 0, ignored, phrase);
    words_release(&words);
    return fine;
}

bool redis_conf_set(struct engine_config *config, const struct directive *directive,
                    const char *value, size_t length, struct redis_conf_ignored *ignored,
                    struct phrase *phrase) {
    if (directive->kind == DIRECTIVE_LIMIT)
        return set_limits_line(config, directive, value, length, ignored, phrase);
    int64_t *field = (int64_t *)(void *)((char *)config + directive->offset), number;
    if (directive->kind == DIRECTIVE_BOOL) return set_flag(field, directive, value, length, phrase);
    phrase_add(phrase, "%s: ", directive->name);
    if (!units_parse(unit_of(directive), value, length, &number, phrase)) return false;
    if (number < directive->low || number > directive->high) {
        phrase_add(phrase, "%s is out of range; expected ", quote(value, length).text);
        redis_conf_expected(directive, phrase);
        return false;
    }
    *field = number;
    return true;
}

static bool read_directive(const struct words *words, struct engine_config *config,
                           struct redis_conf_ignored *ignored, struct phrase *phrase) {
    const struct directive *directive = redis_conf_find(word_at(words, 0), word_length(words, 0));
    if (!directive) {
        ignore(ignored, word_at(words, 0), word_length(words, 0));
        return true;
    }
    if (directive->kind == DIRECTIVE_LIMIT)
        return set_limits(config, directive, words, 1, ignored, phrase);
    if (words->count != 2) {
        phrase_add(phrase, "%s has %u values; expected one, ", directive->name, words->count - 1);
        redis_conf_expected(directive, phrase);
        return false;
    }
    return redis_conf_set(config, directive, word_at(words, 1), word_length(words, 1), ignored,
                          phrase);
}

/* One line, without its end. */
static bool read_line(const char *line, size_t length, struct engine_config *config,
                      struct redis_conf_ignored *ignored, struct phrase *phrase, size_t *column) {
    while (*column < length && (line[*column] == ' ' || line[*column] == '\t')) ++*column;
    if (*column == length || line[*column] == '#' || line[*column] == '\r') return true;
    struct words words;
    bool fine = words_split(&words, line, length, phrase);
    if (fine && words.count) fine = read_directive(&words, config, ignored, phrase);
    words_release(&words);
    return fine;
}

#define IGNORED_MAX 1000 /* more unknown words than the server has directives: no redis.conf */

bool redis_conf_parse(const char *bytes, size_t length, const char *path,
                      struct engine_config *config, struct redis_conf_ignored *ignored,
                      struct scenario_error *error) {
    const char *end = bytes + length;
    for (int line = 1; bytes < end; line++) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        if (!stop) stop = end;
        struct phrase phrase = {0};
        size_t column = 0;
        if (!read_line(bytes, (size_t)(stop - bytes), config, ignored, &phrase, &column))
            return complain(error, path, line, (int)column + 1, "%s", phrase.text);
        if (ignored->count > IGNORED_MAX)
            return complain(error, path, line, 1,
                            "more than 1,000 unknown directives; expected a redis.conf");
        bytes = stop < end ? stop + 1 : end;
    }
    return true;
}

void redis_conf_release(struct redis_conf_ignored *ignored) {
    for (uint32_t i = 0; i < ignored->count; i++) free(ignored->names[i]);
    free(ignored->names);
    *ignored = (struct redis_conf_ignored){0};
}
