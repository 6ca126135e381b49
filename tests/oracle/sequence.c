#include "sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resp.h"
#include "support.h"
#include "tally.h"
#include "vclock.h"

#define LINE_BYTES       1024
#define SHRINK_TRIES_MAX 1500
#define ACK_EVERY        40 /* at most 40 s, less than repl-timeout */
#define COMPARE_EVERY    50 /* steps of the clock between two looks at all figures */

/* --- lines --- */

void sequence_add(struct sequence *s, const char *line) {
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 256;
        s->lines = realloc(s->lines, s->capacity * sizeof *s->lines);
        ASSERT(s->lines);
    }
    size_t size = strlen(line) + 1;
    char *copy = malloc(size);
    ASSERT(copy);
    s->lines[s->count++] = memcpy(copy, line, size);
}

void sequence_release(struct sequence *s) {
    for (uint32_t i = 0; i < s->count; i++) free(s->lines[i]);
    free(s->lines);
}

void sequence_print(const struct sequence *s) {
    printf("# tick %lld\n%s", (long long)s->tick_us, s->with_replica ? "# replica\n" : "");
    for (uint32_t i = 0; i < s->count; i++) printf("%s\n", s->lines[i]);
}

void sequence_read(struct sequence *s, const char *path) {
    char line[LINE_BYTES];
    long long tick_us;
    FILE *file = fopen(path, "r");
    *s = (struct sequence){0};
    ck_assert_msg(file != NULL, "cannot read %s", path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "# tick %lld", &tick_us) == 1) s->tick_us = tick_us;
        if (strcmp(line, "# replica") == 0) s->with_replica = true;
        if (line[0] && line[0] != '#') sequence_add(s, line);
    }
    fclose(file);
}

/* --- random lines --- */

struct generator {
    struct rng rng;
    const struct vocabulary *vocabulary;
    ms_t now_ms;
    char line[LINE_BYTES];
    size_t length;
};

static void put(struct generator *g, const char *text) {
    size_t length = strlen(text);
    ASSERT(g->length + length < sizeof g->line);
    memcpy(g->line + g->length, text, length + 1);
    g->length += length;
}

static const char *pick(struct generator *g, const char *const *words, uint32_t count) {
    return words[rng_below(&g->rng, count)];
}
#define PICK(g, ...)                                                                               \
    pick(g, (const char *const[]){__VA_ARGS__},                                                    \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_number(struct generator *g, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    put(g, text);
}

/* Around zero: mostly short, sometimes past, far, or where a second is rounded. */
static int64_t short_time(struct generator *g, int64_t unit) {
    switch (rng_below(&g->rng, 9)) {
    case 0:
        return 0;
    case 1:
        return -(int64_t)rng_below(&g->rng, 5 * (uint64_t)unit);
    case 2:
        return (int64_t)rng_below(&g->rng, 100000);
    case 3:
        return 500 * (int64_t)rng_below(&g->rng, 5) + (int64_t)rng_below(&g->rng, 3) - 1;
    default:
        return 1 + (int64_t)rng_below(&g->rng, 3 * (uint64_t)unit);
    }
}

static void put_key(struct generator *g) {
    if (rng_chance(&g->rng, 1, 50))
        put(g, PICK(g, "\"\"", "'a key'", "\"\\x00\\xff\\r\\n\"",
                    "a-key-that-is-longer-than-thirty-one-bytes-is"));
    else
        put(g, PICK(g, "a", "b", "c", "k1", "k2", "k3", "k4", "key:00000001"));
}

static void put_value(struct generator *g) {
    put(g, PICK(g, "v", "1", "0", "10", "9999", "10000", "-1", "-7", "12345678901234567890", "007",
                "9223372036854775807", "9223372036854775806", "-9223372036854775808", "1.5", "\"\"",
                "'two words'", "xxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "\"\\x00\""));
}

static void put_cursor(struct generator *g) {
    if (rng_chance(&g->rng, 2, 3))
        put(g, "0");
    else
        put_number(g, (int64_t)rng_below(&g->rng, 70));
}

/* %k key, %v value, %s seconds and %m ms from now, %S and %M the same since 1970, %d database, %c
 * cursor, %n small number, %h hz, %b boolean. */
static void put_placeholder(struct generator *g, char kind) {
    switch (kind) {
    case 'k':
        put_key(g);
        break;
    case 'v':
        put_value(g);
        break;
    case 's':
        put_number(g, short_time(g, 1));
        break;
    case 'm':
        put_number(g, short_time(g, 100));
        break;
    case 'S':
        put_number(g, g->now_ms / 1000 + short_time(g, 2));
        break;
    case 'M':
        put_number(g, g->now_ms + short_time(g, 100));
        break;
    case 'd':
        put_number(g, (int64_t)rng_below(&g->rng, 3));
        break;
    case 'c':
        put_cursor(g);
        break;
    case 'n':
        put_number(g, (int64_t)rng_below(&g->rng, 12));
        break;
    case 'h':
        put(g, PICK(g, "10", "1", "100", "500", "33", "0", "700"));
        break;
    default:
        put(g, PICK(g, "yes", "no", "1", "0"));
    }
}

/* No GET, which would make CONFIG GET of CONFIG SET: it lists in the order of a hash table. */
static void put_garbage(struct generator *g) {
    put(g, PICK(g, "\"\"", "abc", "-1", "0", "1.5", "' 7'", "+5", "007", "9223372036854775807",
                "-9223372036854775808", "9223372036854775808", "9223372036854775", "-0", "'1 '",
                "NX", "xx", "GT", "lt", "EX", "px", "PXAT", "KEEPTTL", "PERSIST", "COUNT", "TYPE",
                "string", "ASYNC", "1e3", "0x10", "18446744073709551615", "18446744073709551616"));
}

/* Patterns are not modelled: MATCH stands by its template alone, with a star. */
static bool is_fixed(const char *word, size_t length) {
    return (length == 5 && strncmp(word, "MATCH", 5) == 0) || word[0] == '*';
}

/* One word of the template: filled in, in another case, or spoilt. */
static void put_word(struct generator *g, const char *word, size_t length, bool first) {
    bool spoil = g->vocabulary->may_spoil && !first && !is_fixed(word, length);
    if (!first) put(g, " ");
    if (spoil && rng_chance(&g->rng, 1, 60)) {
        put_garbage(g);
    } else if (word[0] == '%') {
        put_placeholder(g, word[1]);
    } else {
        bool lower = rng_chance(&g->rng, 1, 6);
        for (size_t i = 0; i < length; i++) {
            char c[2] = {word[i], '\0'};
            if (lower && c[0] >= 'A' && c[0] <= 'Z') c[0] = (char)(c[0] - 'A' + 'a');
            put(g, c);
        }
    }
}

static void put_command(struct generator *g) {
    const char *const *templates = g->vocabulary->templates;
    uint64_t count = 0;
    while (templates[count]) count++;
    const char *at = templates[rng_below(&g->rng, count)];
    bool first = true;
    g->length = 0;
    while (*at) {
        size_t length = strcspn(at, " ");
        bool may_drop = g->vocabulary->may_spoil && !first && !is_fixed(at, length);
        bool drops = may_drop && rng_chance(&g->rng, 1, 80);
        if (!drops) put_word(g, at, length, first);
        first = false;
        at += length + (at[length] == ' ');
    }
    if (g->vocabulary->may_spoil && rng_chance(&g->rng, 1, 40)) {
        put(g, " ");
        put_garbage(g);
    }
}

static void put_step(struct generator *g) {
    static const ms_t steps_ms[] = {1, 1, 1, 2, 3, 5, 10, 10, 50, 100, 100, 1000};
    ms_t ms = steps_ms[rng_below(&g->rng, sizeof steps_ms / sizeof *steps_ms)];
    g->now_ms += ms;
    g->length = 0;
    put(g, "@step ");
    put_number(g, ms);
}

void sequence_generate(struct sequence *s, uint64_t seed, uint32_t commands,
                       const struct vocabulary *vocabulary) {
    static const us_t ticks_us[] = {0, 1, 10, 50, 200, 1000};
    struct generator g = {
        .rng = rng_seed(seed), .vocabulary = vocabulary, .now_ms = VCLOCK_EPOCH_US / US_PER_MS};
    *s = (struct sequence){.tick_us = ticks_us[rng_below(&g.rng, 6)]};
    while (commands-- > 0) {
        put_command(&g);
        sequence_add(s, g.line);
        if (rng_chance(&g.rng, 1, 2)) sequence_add(s, "@turn");
        if (!rng_chance(&g.rng, 1, 6)) continue;
        put_step(&g);
        sequence_add(s, g.line);
    }
}

/* --- replay --- */

/* Words that read as a number, or as payload, are given to the engine as such every other time, so
 * that both of its ways are tried. The bytes stay the same. */
static void vary(struct lockstep *ls, struct arg *arg, uint32_t salt) {
    int64_t number;
    if (arg->kind != ARG_TEXT || salt % 2) return;
    const char *bytes = texts_bytes(ls->texts, arg->id);
    if (text_to_number(bytes, arg->length, &number))
        *arg = arg_number(number);
    else if (arg->length >= 10 && strspn(bytes, "x") == arg->length)
        *arg = arg_fill(arg->length);
}

static void replay_command(struct lockstep *ls, struct lockstep_line *line, const char *text,
                           uint32_t salt) {
    struct arg argv[ARGC_MAX];
    const struct command *command;
    char message[256];
    int argc = resp_parse_line(text, ls->names, ls->texts, argv, &command, message, sizeof message);
    ck_assert_msg(argc > 0, "%s: %s", text, message);
    for (int i = 1; i < argc; i++) vary(ls, &argv[i], salt + (uint32_t)i);
    lockstep_queue(ls, line, argv, (uint32_t)argc);
}

static void look(struct lockstep *ls, uint32_t step) {
    if (step % COMPARE_EVERY == 0) lockstep_compare(ls);
    if (ls->replica && step % ACK_EVERY == 0) lockstep_ack(ls);
}

/* One line that is no command. */
static void replay_mark(struct lockstep *ls, struct lockstep_line *line, const char *text,
                        uint32_t *steps) {
    long long ms;
    lockstep_flush(ls, line);
    if (sscanf(text, "@step %lld", &ms) == 1) {
        lockstep_grant(ls, ms * US_PER_MS);
        tally_add(TALLY_STEPS, 1);
        look(ls, ++*steps);
    }
    if (ls->replica) lockstep_compare_stream(ls);
}

void sequence_replay(const struct sequence *s, const char *about) {
    struct lockstep_config config = {.tick_us = s->tick_us, .restless = true, .databases_seen = 3};
    struct lockstep *ls = lockstep_start(about, &config);
    uint32_t steps = 0;
    if (s->with_replica) lockstep_attach_replica(ls);
    struct lockstep_line line = lockstep_connect(ls);
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->lines[i][0] == '@')
            replay_mark(ls, &line, s->lines[i], &steps);
        else
            replay_command(ls, &line, s->lines[i], i);
    }
    replay_mark(ls, &line, "@turn", &steps);
    lockstep_disconnect(ls, &line);
    lockstep_compare(ls);
    lockstep_stop(ls);
}

/* What the last attempt had to say; of many attempts only the telling one is shown. */
static FILE *attempt_log;

static void replay_apart(const struct sequence *s) {
    if (dup2(fileno(attempt_log), STDERR_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(EXIT_FAILURE);
    lockstep_fails_by_exit = true;
    sequence_replay(s, "a sequence");
    _exit(EXIT_SUCCESS);
}

bool sequence_holds(const struct sequence *s) {
    int status;
    if (!attempt_log) attempt_log = tmpfile();
    if (!attempt_log || ftruncate(fileno(attempt_log), 0) != 0) abort();
    rewind(attempt_log);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) replay_apart(s);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) abort();
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static void show_attempt(void) {
    char text[4096];
    size_t length;
    rewind(attempt_log);
    while ((length = fread(text, 1, sizeof text, attempt_log)) > 0) fwrite(text, 1, length, stdout);
}

/* --- shrinking --- */

/* Without lines [from, from + count), unless it then holds. */
static bool try_without(struct sequence *s, uint32_t from, uint32_t count) {
    struct sequence shorter = {.tick_us = s->tick_us, .with_replica = s->with_replica};
    for (uint32_t i = 0; i < s->count; i++)
        if (i < from || i >= from + count) sequence_add(&shorter, s->lines[i]);
    bool holds = sequence_holds(&shorter);
    if (holds) {
        sequence_release(&shorter);
        return false;
    }
    sequence_release(s);
    *s = shorter;
    return true;
}

void sequence_shrink(struct sequence *s) {
    uint32_t tries = 0;
    for (uint32_t part = (s->count + 1) / 2; part > 0; part /= 2)
        for (uint32_t from = 0; from < s->count && tries < SHRINK_TRIES_MAX; tries++)
            if (!try_without(s, from, part)) from += part;
}

void sequence_check(struct sequence *s, uint64_t seed) {
    if (sequence_holds(s)) return;
    show_attempt();
    sequence_shrink(s);
    printf("sequence of seed %llu differs; shorter, to be kept:\n", (unsigned long long)seed);
    sequence_print(s);
    if (!sequence_holds(s)) show_attempt();
    fflush(stdout);
    ck_abort_msg("sequence of seed %llu differs", (unsigned long long)seed);
}
