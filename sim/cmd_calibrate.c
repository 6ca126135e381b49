#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate.h"
#include "commands.h"
#include "outfile.h"
#include "paths.h"

#define KEYS_FEW       131072
#define KEYS_MANY      1048576
#define KEYS_MAX       4194304
#define ROUNDS_DEFAULT 5
#define NOISE          0.15 /* a spread above it is worth a warning */

enum option_key {
    OPTION_OUT = 'o',
    OPTION_SERVER = 's',
    OPTION_START = 256,
    OPTION_DB,
    OPTION_KEYS,
    OPTION_ROUNDS
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "FILE", 0, "Write the prices there", 0},
    {"server", OPTION_SERVER, "HOST:PORT", 0, "Measure this server", 0},
    {"start", OPTION_START, "PATH", 0,
     "Start this redis-server and measure it (default redis-server)", 0},
    {"db", OPTION_DB, "N", 0, "Of a server with data: this database, which is empty", 0},
    {"keys", OPTION_KEYS, "N", 0,
     "Measure with that many keys alone, a power of two from 65536 to 4194304 (default: with "
     "131072 "
     "and with 1048576, as what a key costs grows with the memory of all)",
     0},
    {"rounds", OPTION_ROUNDS, "N", 0, "How often each thing is measured, 1 to 31 (default 5)", 0},
    {0}};

static const char doc[] =
    "Examples:\n"
    "  lapse calibrate -o my-box.json                   starts redis-server, takes two minutes\n"
    "  lapse calibrate --start ./redis-server -o b.json\n"
    "  lapse calibrate --server cache:6379 -o cache.json\n"
    "\nMeasures what the operations of a real server cost on this machine and writes a price "
    "profile. A scenario that says `costs: ./my-box.json` runs with it.\v"
    "A server that was not started here must have no data (or an empty database, named with --db), "
    "no replicas and no maxmemory. Its directives are put back and our keys deleted, also when "
    "interrupted. Exit codes: 0 fine, 2 usage, or a server that cannot be measured, 4 the file "
    "could not be written, 130 interrupted.";

struct arguments {
    const char *out, *server, *start;
    int db;
    uint32_t keys, rounds;
};

static bool number_take(const char *text, long low, long high, long *number) {
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    return *text && !*end && !errno && *number >= low && *number <= high;
}

static error_t option_take(int key, char *value, struct argp_state *state) {
    struct arguments *a = state->input;
    long number = 0;
    switch (key) {
    case OPTION_OUT:
        a->out = value;
        break;
    case OPTION_SERVER:
        a->server = value;
        break;
    case OPTION_START:
        a->start = value;
        break;
    case OPTION_DB:
        if (!number_take(value, 0, 15, &number)) argp_error(state, "expected --db 0 to 15");
        a->db = (int)number;
        break;
    case OPTION_KEYS:
        if (!number_take(value, MODEL_KEYS, KEYS_MAX, &number) || number & (number - 1))
            argp_error(state, "expected --keys a power of two from %d to %d, not '%s'", MODEL_KEYS,
                       KEYS_MAX, value);
        a->keys = (uint32_t)number;
        break;
    case OPTION_ROUNDS:
        if (!number_take(value, 1, ROUNDS_MAX, &number))
            argp_error(state, "expected --rounds 1 to %d, not '%s'", ROUNDS_MAX, value);
        a->rounds = (uint32_t)number;
        break;
    case ARGP_KEY_END:
        if (!a->out) argp_error(state, "expected -o FILE");
        if (a->server && a->start) argp_error(state, "expected --server or --start, not both");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* The first line of the file that begins so, without it and what parts them. */
static void line_read(const char *path, const char *start, char *value, size_t size) {
    char line[512];
    FILE *stream = fopen(path, "r");
    snprintf(value, size, "unknown");
    while (stream && fgets(line, sizeof(line), stream)) {
        if (strncmp(line, start, strlen(start)) != 0) continue;
        const char *at = line + strlen(start);
        at += strspn(at, " \t:");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        break;
    }
    if (stream) fclose(stream);
}

struct origin_texts {
    char date[32], server[96], cpu[160], load[64], note[200];
};

static bool is_here(const struct live *live) {
    return live->pid || strcmp(live->host, "localhost") == 0 || strncmp(live->host, "127.", 4) == 0;
}

static void spreads_take(const struct fit *fit, uint32_t per_mille[COST_COUNT]) {
    for (int op = 0; op < COST_COUNT; op++)
        per_mille[op] = fit->spread[op] < 0 ? PROFILE_SPREAD_UNKNOWN
                                            : (uint32_t)llround(fmin(fit->spread[op], 10) * 1000);
}

static struct profile_origin origin_of(const struct calibration *c, const struct fit *fit,
                                       struct origin_texts *t) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(t->date, sizeof(t->date), "%Y-%m-%dT%H:%M:%SZ", &parts);
    snprintf(t->server, sizeof(t->server), "redis-server %s", c->live.version);
    line_read("/proc/cpuinfo", "model name", t->cpu, sizeof(t->cpu));
    if (!is_here(&c->live)) snprintf(t->cpu, sizeof(t->cpu), "of %.100s", c->live.host);
    line_read("/proc/loadavg", "", t->load, sizeof(t->load));
    snprintf(t->note, sizeof(t->note), "%" PRIu32 " rounds; load average %s", c->rounds, t->load);
    struct profile_origin origin = {.date = t->date,
                                    .server = t->server,
                                    .allocator = c->live.allocator,
                                    .cpu = t->cpu,
                                    .note = t->note,
                                    .error_per_mille = llround(fabs(fit->worst) * 1000)};
    spreads_take(fit, origin.spread_per_mille);
    return origin;
}

/* ---- what comes out ------------------------------------------------------------------------- */

static void prices_print(const struct fit *fit) {
    const struct price_table *built_in = price_table_find("default");
    printf("\n%-16s %12s %10s %12s\n", "price", "ns", "spread", "default, ns");
    for (int op = 0; op < COST_COUNT; op++) {
        char spread[24] = "inferred";
        if (fit->spread[op] >= 0)
            snprintf(spread, sizeof(spread), "%.1f %%", fit->spread[op] * 100);
        printf("%-16s %12.3f %10s %12.3f\n", cost_names[op], (double)fit->prices.ps[op] / 1e3,
               spread, (double)built_in->ps[op] / 1e3);
    }
}

static void misses_print(const struct calibration *c, const struct fit *fit, bool checks) {
    printf("\n%-44s %12s %12s\n", checks ? "not used for a price" : "used for the prices",
           "measured, us", "by prices");
    for (int i = 0; i < FIGURES; i++)
        if (c->figures[i].count > 0 && fit->is_check[i] == checks)
            printf("%-44s %12.3f %12.3f %+7.1f %%\n", figure_names[i],
                   c->figures[i].median_ps / 1e6,
                   calibrate_predict(&c->figures[i], &fit->prices) / 1e6, fit->miss[i] * 100);
}

static void noise_say(const struct calibration *c) {
    int noisy = 0, worst = 0;
    for (int i = 0; i < FIGURES; i++) {
        if (c->figures[i].count == 0) continue;
        noisy += c->figures[i].spread > NOISE;
        if (c->figures[i].spread > c->figures[worst].spread) worst = i;
    }
    if (noisy == 0) return;
    say("warning: a noisy machine: the quartiles of %d figures lie more than %.0f %% apart "
        "(%s: %.0f %%)",
        noisy, NOISE * 100, figure_names[worst], c->figures[worst].spread * 100);
}

static enum exit_code file_write(const char *path, const char *text) {
    struct outfile file;
    bool done = outfile_open(&file, path);
    if (done) {
        fputs(text, file.stream);
        done = outfile_commit(&file);
    }
    if (!done) say("%s: %s", path, strerror(errno));
    if (done) say("wrote %s", path);
    return done ? EXIT_FINE : EXIT_OUTPUT;
}

/* "costs/my-box.json" is called my-box. */
static char *name_of(const char *path) {
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    size_t length = strlen(from);
    if (length > 5 && strcmp(from + length - 5, ".json") == 0) length -= 5;
    char *name = strndup(from, length);
    ASSERT(name);
    return name;
}

/* What one size has shown. */
static void fit_say(const struct calibration *c, struct fit *fit) {
    calibrate_fit(c->figures, fit);
    prices_print(fit);
    misses_print(c, fit, false);
    misses_print(c, fit, true);
    fflush(stdout);
    noise_say(c);
}

static enum exit_code finish(const struct calibration *c, const struct fit *few, uint32_t few_keys,
                             const struct fit *last, const char *path) {
    struct origin_texts texts;
    struct fit fit = few_keys ? *few : *last;
    uint32_t many_spread[COST_COUNT];
    if (few_keys) calibrate_join(&fit.prices, few_keys, &last->prices, c->keys);
    if (fabs(last->worst) > fabs(fit.worst)) fit.worst = last->worst;
    struct profile_origin origin = origin_of(c, &fit, &texts);
    spreads_take(last, many_spread);
    origin.many_spread_per_mille = many_spread;
    char *name = name_of(path), *text = profile_print(name, &fit.prices, &origin);
    enum exit_code code = file_write(path, text);
    free(name), free(text);
    return code;
}

/* ---- the server ----------------------------------------------------------------------------- */

/* A connection that broke or was interrupted in the middle of a pipeline is of no more use; another
 * one cleans up. */
static void clean_up(struct calibration *c, const struct arguments *a) {
    struct live_setting settings[LIVE_SETTINGS_MAX];
    uint32_t count = c->live.setting_count;
    if (c->live.pid) return;
    memcpy(settings, c->live.settings, sizeof(settings));
    redisFree(c->live.context);
    struct timeval limit = {5, 0};
    c->live.context = redisConnectWithTimeout(c->live.host, c->live.port, limit);
    memcpy(c->live.settings, settings, sizeof(settings));
    c->live.setting_count = count;
    bool fine = c->live.context && !c->live.context->err;
    if (fine && c->live.db) fine = live_do(&c->live, "SELECT %d", (int)c->live.db);
    if (fine && c->written) fine = work_clear(&c->live, c->written);
    if (!fine) say("%s still has keys 'lapse:*' of ours", a->server);
}

/* As if the other size had not been measured. A server that was started here has had a replica and
 * goes on feeding its backlog: another one takes its place. */
static bool start_anew(struct calibration *c) {
    struct live_order order = {.start = c->start, .db = -1};
    memset(c->figures, 0, sizeof(c->figures));
    live_close(&c->replica);
    c->replica = (struct live){0};
    if (!c->live.pid) return work_clear(&c->live, c->written);
    live_close(&c->live);
    c->live = (struct live){0};
    c->written = 0;
    return live_open(&c->live, &order);
}

static enum exit_code measure(struct calibration *c, const struct arguments *a,
                              interrupted_fn *interrupted) {
    printf("redis-server %s (%s), %s\n", c->live.version, c->live.allocator,
           c->live.pid ? "started here" : "running already");
    struct fit few, last;
    uint32_t few_keys = 0;
    bool fine = true;
    if (a->keys == 0) {
        c->keys = few_keys = KEYS_FEW;
        fine = calibrate_measure(c);
        if (fine) fit_say(c, &few);
        fine = fine && start_anew(c);
        c->keys = KEYS_MANY;
    }
    fine = fine && calibrate_measure(c);
    if (fine) fit_say(c, &last);
    char message[sizeof(c->live.message)];
    memcpy(message, c->live.message, sizeof(message));
    live_close(&c->replica);
    if (c->written || !fine) clean_up(c, a);
    if (fine) return finish(c, &few, few_keys, &last, a->out);
    if (interrupted()) {
        say("interrupted; nothing was written");
        return EXIT_INTERRUPTED;
    }
    say("%s", message);
    return EXIT_INPUT;
}

enum exit_code cmd_calibrate(int argc, char **argv, interrupted_fn *interrupted) {
    struct argp argp = {options, option_take, NULL, doc, NULL, NULL, NULL};
    struct arguments a = {.db = -1, .rounds = ROUNDS_DEFAULT};
    if (!options_parse(&argp, argc, argv, &a)) return EXIT_INPUT;
    if (!a.server && !a.start) a.start = "redis-server";
    struct calibration *c = calloc(1, sizeof(*c));
    ASSERT(c);
    c->keys = a.keys, c->rounds = a.rounds, c->interrupted = interrupted, c->start = a.start;
    struct live_order order = {.server = a.server, .start = a.start, .db = a.db};
    enum exit_code code = EXIT_INPUT;
    if (live_open(&c->live, &order))
        code = measure(c, &a, interrupted);
    else
        say("%s", c->live.message);
    live_close(&c->live);
    free(c);
    return code;
}
