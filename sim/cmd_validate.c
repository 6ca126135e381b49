#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "gnuplot.h"
#include "outfile.h"
#include "paths.h"
#include "validate.h"

#define RUNS_DEFAULT 3
#define RATE_DEFAULT 10
#define RATE_MAX     1000

enum option_key {
    OPTION_OUT = 'o',
    OPTION_VARIANT = 'v',
    OPTION_SERVER = 's',
    OPTION_RUNS = 'n',
    OPTION_START = 256,
    OPTION_SAMPLES,
    OPTION_CONTENDED,
    OPTION_NO_PLOT
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "DIR", 0, "Write there (default out/NAME-validate)", 0},
    {"variant", OPTION_VARIANT, "V", 0, "Lay this variant's overrides over the scenario", 0},
    {"server", OPTION_SERVER, "HOST:PORT", 0, "Play to this server, which has no data", 0},
    {"start", OPTION_START, "PATH", 0,
     "Start this redis-server for each run (default redis-server)", 0},
    {"runs", OPTION_RUNS, "N", 0, "Live runs, whose spread is the band (default 3)", 0},
    {"samples", OPTION_SAMPLES, "N", 0, "INFO N times a second, in both worlds (default 10)", 0},
    {"contended", OPTION_CONTENDED, NULL, 0,
     "A shared machine: prices grow by the time that the live server waited for a CPU", 0},
    {"no-plot", OPTION_NO_PLOT, NULL, 0, "Draw no picture", 0},
    {0}};

static const char doc[] =
    "Examples:\n"
    "  lapse validate storm                       three runs on a redis-server started for it\n"
    "  lapse validate my.yaml --server cache:6379 --runs 5\n"
    "\nPlays a scenario to a real server in real time, simulates it, and says where the simulation "
    "lies in the band of the live runs. Writes live-N.csv, trace.csv, validate.csv and a "
    "picture.\v"
    "Keys must be preloaded, links whole and clocks still. A server that was not started here must "
    "have no data, no replicas and no maxmemory; its directives are put back and our keys deleted, "
    "also when interrupted. Latencies of live requests include the network, those of lapse do "
    "not. Exit codes: 0 fine, 2 usage, or a server or scenario that cannot be played, 4 an output "
    "could not be written, 130 interrupted.";

struct arguments {
    const char *scenario, *out, *variant, *server, *start;
    uint32_t runs, samples;
    bool contended, no_plot;
};

static uint32_t number_take(const char *text, long high, const char *option,
                            struct argp_state *state) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (!*text || *end || errno || number < 1 || number > high)
        argp_error(state, "expected %s 1 to %ld, not '%s'", option, high, text);
    return (uint32_t)number;
}

static error_t option_take(int key, char *value, struct argp_state *state) {
    struct arguments *a = state->input;
    switch (key) {
    case OPTION_OUT:
        a->out = value;
        break;
    case OPTION_VARIANT:
        a->variant = value;
        break;
    case OPTION_SERVER:
        a->server = value;
        break;
    case OPTION_START:
        a->start = value;
        break;
    case OPTION_RUNS:
        a->runs = number_take(value, VALIDATE_RUNS_MAX, "--runs", state);
        break;
    case OPTION_SAMPLES:
        a->samples = number_take(value, RATE_MAX, "--samples", state);
        if (1000 % a->samples != 0)
            argp_error(state, "expected --samples to part a second in whole ms, not '%s'", value);
        break;
    case OPTION_CONTENDED:
        a->contended = true;
        break;
    case OPTION_NO_PLOT:
        a->no_plot = true;
        break;
    case ARGP_KEY_ARG:
        scenario_take(&a->scenario, value, state);
        break;
    case ARGP_KEY_END:
        if (!a->scenario) argp_error(state, "expected a scenario");
        if (a->server && a->start) argp_error(state, "expected --server or --start, not both");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- files ---------------------------------------------------------------------------------- */

static enum exit_code say_failed(const char *path) {
    say("%s: %s", path, strerror(errno));
    return EXIT_OUTPUT;
}

/* Same columns as in a trace, those that INFO can fill. */
static void live_write(FILE *out, const struct played *p) {
    fputs("t_ms,keys,expires,stale_percent_estimate,expired_total,time_cap_hits,"
          "used_memory_bytes\n",
          out);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct sample *s = &p->samples[i];
        fprintf(out,
                "%" PRId64 ".%03" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ".%03" PRId64
                ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
                s->at_ns / NS_PER_MS, s->at_ns % NS_PER_MS / 1000, s->keys, s->expires,
                s->estimate_milli / 1000, s->estimate_milli % 1000, s->expired, s->caps,
                s->used_memory);
    }
}

struct outcome {
    struct played live[VALIDATE_RUNS_MAX], sim;
    struct metrics live_metrics[VALIDATE_RUNS_MAX],
        sim_metrics; /* of the simulations, each one's median */
    uint32_t runs;
};

static enum exit_code file_write(const char *folder, const char *name, const struct played *played,
                                 const struct outcome *table) {
    char *path = paths_join(folder, name);
    struct outfile file;
    enum exit_code code = outfile_open(&file, path) ? EXIT_FINE : say_failed(path);
    if (code == EXIT_FINE && played) live_write(file.stream, played);
    if (code == EXIT_FINE && table)
        validate_write(file.stream, table->live_metrics, table->runs, &table->sim_metrics);
    if (code == EXIT_FINE && !outfile_commit(&file)) code = say_failed(path);
    free(path);
    return code;
}

static enum exit_code files_write(const char *folder, const struct outcome *o) {
    enum exit_code code = file_write(folder, "validate.csv", NULL, o);
    for (uint32_t i = 0; code == EXIT_FINE && i < o->runs; i++) {
        char name[32];
        snprintf(name, sizeof(name), "live-%" PRIu32 ".csv", i + 1);
        code = file_write(folder, name, &o->live[i], NULL);
    }
    return code;
}

static enum exit_code draw(const char *folder, const char *name) {
    char *plots = paths_find_plots(), *output = paths_join(folder, "validate.svg");
    enum exit_code code = EXIT_FINE;
    if (!gnuplot_is_there() || !plots) {
        say("no picture: no gnuplot on PATH (package gnuplot-nox)");
    } else {
        struct gnuplot_order order = {.plots = plots,
                                      .script = "validate.gp",
                                      .folder = folder,
                                      .name = name,
                                      .terminal = "svg",
                                      .output = output};
        code = gnuplot_draw(&order) ? EXIT_FINE : EXIT_OUTPUT;
        if (code == EXIT_FINE) say("wrote %s", output);
    }
    free(plots), free(output);
    return code;
}

/* ---- a validation --------------------------------------------------------------------------- */

static enum exit_code failed(const struct validation *v) {
    if (v->interrupted()) {
        say("interrupted; the server is as it was found");
        return EXIT_INTERRUPTED;
    }
    say("%s", v->message);
    return EXIT_INPUT;
}

/* Whose size classes: Debian's build uses the system's jemalloc, the bundled one is older. */
static void allocator_choose(struct validation *v) {
    const char *name = strncmp(v->live.allocator, "jemalloc-5.3", 12) == 0 ? "debian" : "bundled";
    if (strncmp(v->live.allocator, "jemalloc", 8) != 0) {
        say("note: the server's allocator is %s, which lapse does not know", v->live.allocator);
        return;
    }
    for (uint32_t i = 0; i < v->scenario->server_count; i++)
        v->scenario->servers[i].allocator = allocator_find(name);
}

static bool run_live(struct validation *v, struct outcome *o, uint32_t runs) {
    for (o->runs = 0; o->runs < runs; o->runs++) {
        struct played *played = &o->live[o->runs];
        if (!validate_live(v, played)) return false;
        metrics_of(v, played, &o->live_metrics[o->runs]);
        char took[FIGURE_SIZE];
        const int64_t *milli = o->live_metrics[o->runs].milli;
        printf("live run %" PRIu32 ": 99 %% reclaimed after %s, %" PRIu64 " of %" PRIu64
               " requests left late",
               o->runs + 1, figure_print(took, FIGURE_MS, milli[METRIC_RECLAIMED_99]), played->late,
               played->request_us.count);
        if (played->cpu_ns > 0)
            printf("; the server worked %" PRId64 " ms and waited %" PRId64 " ms for a CPU",
                   played->cpu_ns / NS_PER_MS, played->wait_ns / NS_PER_MS);
        putchar('\n');
        fflush(stdout);
    }
    allocator_choose(v);
    return true;
}

static enum exit_code simulate(struct validation *v, struct outcome *o, const char *folder) {
    char *path = paths_join(folder, "trace.csv");
    struct outfile file;
    enum exit_code code = EXIT_FINE;
    if (!outfile_open(&file, path)) {
        code = say_failed(path);
    } else if (!validate_simulate(v, &o->sim, file.stream)) {
        outfile_abandon(&file, false);
        code = failed(v);
    } else if (!outfile_commit(&file)) {
        code = say_failed(path);
    }
    free(path);
    return code;
}

/* A live server draws another hash seed at each start, and so its last percent of keys takes now a
 * moment, now seconds, as the shrinking tables happen to be in step with the cron or not. Like is
 * compared with like: as many simulations as live runs, each of its own seed. The first one's trace
 * is written. */
static enum exit_code simulate_all(struct validation *v, struct outcome *o, const char *folder) {
    struct metrics each[VALIDATE_RUNS_MAX];
    enum exit_code code = simulate(v, o, folder);
    metrics_of(v, &o->sim, &each[0]);
    for (uint32_t i = 1; code == EXIT_FINE && i < o->runs; i++) {
        struct played more = {0};
        scenario_set_seed(v->scenario, v->scenario->seed + 1);
        if (!validate_simulate(v, &more, NULL)) code = failed(v);
        metrics_of(v, &more, &each[i]);
        played_release(&more);
    }
    if (code == EXIT_FINE) o->sim_metrics = metrics_median(each, o->runs);
    return code;
}

static void result_print(const struct outcome *o) {
    struct distance d = validate_distance(o->live, o->runs, &o->sim);
    putchar('\n');
    validate_print(stdout, o->live_metrics, o->runs, &o->sim_metrics);
    printf("stale estimate at whole seconds: at most %.1f points outside the band (%.1f from the "
           "median), at %.0f s\n",
           (double)d.outside_milli / 1000, (double)d.median_milli / 1000, (double)d.at_ns / 1e9);
    fflush(stdout);
}

/* Of all runs, in thousandths of the server's work. */
static uint64_t wait_say(const struct outcome *o) {
    ns_t cpu_ns = 0, wait_ns = 0;
    for (uint32_t i = 0; i < o->runs; i++)
        cpu_ns += o->live[i].cpu_ns, wait_ns += o->live[i].wait_ns;
    uint64_t per_mille = cpu_ns > 0 ? (uint64_t)(wait_ns * 1000 / cpu_ns) : 0;
    printf("contended: all prices grow by %" PRIu64 ".%" PRIu64 " %%\n", per_mille / 10,
           per_mille % 10);
    return per_mille;
}

static enum exit_code validate(struct validation *v, const struct arguments *a,
                               const char *folder) {
    struct outcome *o = calloc(1, sizeof(*o));
    ASSERT(o);
    enum exit_code code = EXIT_FINE;
    printf("%s, costs %s\n", v->scenario->name, v->scenario->servers[0].prices->name);
    fflush(stdout);
    if (!validate_prepare(v) || !run_live(v, o, a->runs)) code = failed(v);
    if (code == EXIT_FINE && a->contended) validate_contend(v, wait_say(o));
    if (code == EXIT_FINE && !outfile_make_directory(folder)) code = say_failed(folder);
    if (code == EXIT_FINE) code = simulate_all(v, o, folder);
    if (code == EXIT_FINE) code = files_write(folder, o);
    if (code == EXIT_FINE) {
        result_print(o);
        say("wrote %s", folder);
        if (!a->no_plot) code = draw(folder, v->scenario->name);
    }
    for (uint32_t i = 0; i < VALIDATE_RUNS_MAX; i++) played_release(&o->live[i]);
    played_release(&o->sim);
    free(o);
    return code;
}

static char *folder_choose(const struct arguments *a, const struct scenario *s) {
    char name[512];
    if (a->out) return strdup(a->out);
    snprintf(name, sizeof(name), "%s%s%s-validate", s->name, a->variant ? "-" : "",
             a->variant ? a->variant : "");
    return folder_default(name);
}

enum exit_code cmd_validate(int argc, char **argv, interrupted_fn *interrupted) {
    struct argp argp = {options, option_take, "SCENARIO", doc, NULL, NULL, NULL};
    struct arguments a = {.runs = RUNS_DEFAULT, .samples = RATE_DEFAULT};
    struct scenario_file file;
    struct scenario_error error;
    if (!options_parse(&argp, argc, argv, &a)) return EXIT_INPUT;
    if (!a.server && !a.start) a.start = "redis-server";
    if (!scenario_file_read(&file, a.scenario)) return EXIT_INPUT;
    struct validation *v = calloc(1, sizeof(*v));
    ASSERT(v);
    v->order = (struct live_order){.server = a.server, .start = a.start, .db = -1};
    v->samples_per_s = a.samples, v->interrupted = interrupted;
    v->scenario =
        scenario_parse(file.text, file.length, file.path, file.directory, a.variant, &error);
    enum exit_code code = EXIT_INPUT;
    if (v->scenario) {
        char *folder = folder_choose(&a, v->scenario);
        code = validate(v, &a, folder);
        free(folder);
        scenario_destroy(v->scenario);
    } else {
        say("%s", error.message);
    }
    free(v->contended);
    free(v);
    scenario_file_release(&file);
    return code;
}
