#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "manifest.h"
#include "paths.h"
#include "pictures.h"
#include "repeat.h"
#include "report.h"

enum option_key {
    OPTION_OUT = 'o',
    OPTION_VARIANT = 'v',
    OPTION_SEED = 's',
    OPTION_STREAM = 256,
    OPTION_FROM,
    OPTION_NO_PLOT
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "DIR", 0, "Write there (default out/NAME, with a variant out/NAME/V)", 0},
    {"variant", OPTION_VARIANT, "V", 0, "Lay this variant's overrides over the scenario", 0},
    {"seed", OPTION_SEED, "N", 0, "Use this seed instead of the scenario's", 0},
    {"stream", OPTION_STREAM, "FILE", 0,
     "Write the first master's replication stream there as RESP, and FILE.times beside it unless "
     "FILE is a FIFO or a device",
     0},
    {"from", OPTION_FROM, "RUN.JSON", 0,
     "Repeat the run that wrote this file, or this folder, and compare its bytes (default "
     "out/NAME-again)",
     0},
    {"no-plot", OPTION_NO_PLOT, NULL, 0, "Draw no pictures", 0},
    {0}};

static const char doc[] =
    "Examples:\n"
    "  lapse run storm                        scenarios/storm.yaml, into out/storm/\n"
    "  lapse run my.yaml --seed 7 --out /tmp/my\n"
    "  lapse run storm-jitter --variant 10s\n"
    "  lapse run storm --stream storm.resp    the bytes that replicas get\n"
    "  lapse run --from out/storm/run.json    the same bytes again\n"
    "\nRuns one scenario and writes trace.csv, summary.csv, run.json and pictures. Prints a table "
    "and the scenario's expectations; one that fails makes the exit code 1.\v"
    "SCENARIO is a path, or a name sought in ./scenarios and in the data folders. Exit codes: 0 "
    "fine, 1 an expectation failed (or a repeated run differs), 2 usage or input, 3 an invariant "
    "of lapse broke, 4 an output could not be written, 130 interrupted.";

struct arguments {
    const char *scenario, *out, *variant, *stream, *from;
    bool has_seed, no_plot;
    uint64_t seed;
};

static void seed_take(struct arguments *a, const char *text, struct argp_state *state) {
    char *end;
    errno = 0;
    a->seed = strtoull(text, &end, 10);
    a->has_seed = true;
    if (*text < '0' || *text > '9' || *end || errno)
        argp_error(state, "expected a seed from 0 to 18446744073709551615, not '%s'", text);
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
    case OPTION_SEED:
        seed_take(a, value, state);
        break;
    case OPTION_STREAM:
        a->stream = value;
        break;
    case OPTION_FROM:
        a->from = value;
        break;
    case OPTION_NO_PLOT:
        a->no_plot = true;
        break;
    case ARGP_KEY_ARG:
        scenario_take(&a->scenario, value, state);
        break;
    case ARGP_KEY_END:
        if (!a->scenario && !a->from) argp_error(state, "expected a scenario");
        if (a->from && (a->scenario || a->variant || a->has_seed))
            argp_error(state, "--from takes scenario, variant and seed from its file");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void table_print(const char *folder) {
    char message[512], *path = paths_join(folder, "summary.csv");
    struct table table;
    if (table_read(&table, path, message, sizeof(message))) {
        size_t *rows = calloc(table.rows + 1, sizeof(*rows));
        ASSERT(rows);
        for (size_t i = 0; i < table.rows; i++) rows[i] = i;
        report_print_table(stdout, &table, rows, table.rows, "server");
        free(rows);
        table_release(&table);
    } else {
        say("%s", message);
    }
    free(path);
}

static void costs_note(const struct scenario *scenario) {
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        if (strcmp(scenario->servers[i].prices->name, "default") != 0) continue;
        say("note: costs default come from another machine; `lapse calibrate` makes them yours");
        return;
    }
}

static void result_print(const struct recording *r) {
    report_print_heading(stdout, r);
    fputc('\n', stdout);
    table_print(r->order->folder);
    if (r->scenario->expectation_count) fputc('\n', stdout);
    report_print_expectations(stdout, r);
    fflush(stdout);
    for (size_t i = 0; r->notes && r->notes[i]; i++) say("note: %s", r->notes[i]);
    costs_note(r->scenario);
    say("wrote %s", r->order->folder);
}

/* Runs what was loaded, prints and draws. */
static enum exit_code run_loaded(struct recording *r, bool no_plot) {
    enum exit_code code = recording_run(r);
    if (code != EXIT_FINE && code != EXIT_EXPECTATION) return code;
    result_print(r);
    if (no_plot) return code;
    enum exit_code drawn = pictures_draw_if_possible(r->order->folder, SUBJECT_RUN);
    return code == EXIT_FINE ? drawn : code;
}

static char *folder_choose(const struct arguments *a, const struct scenario *scenario,
                           const char *variant) {
    if (a->out) return strdup(a->out);
    char *folder = folder_default(scenario->name);
    if (a->from) {
        char name[512];
        snprintf(name, sizeof(name), "%s-again", scenario->name);
        free(folder);
        folder = folder_default(name);
    }
    if (!variant) return folder;
    char *below = folder_of_variant(folder, variant);
    free(folder);
    return below;
}

/* `a->from` was read into `then`, or it is NULL. */
static enum exit_code run_order(struct recording_order *order, const struct arguments *a,
                                const struct manifest *then) {
    struct recording r;
    enum exit_code code = EXIT_INPUT;
    if (recording_load(&r, order) && (then || recording_check_variants(&r))) {
        char *folder = folder_choose(a, r.scenario, order->variant);
        order->folder = folder;
        code = run_loaded(&r, a->no_plot);
        bool ran = code == EXIT_FINE || code == EXIT_EXPECTATION;
        if (then && ran && !repeat_is_same(then, folder)) code = EXIT_EXPECTATION;
        free(folder);
    }
    recording_release(&r);
    return code;
}

static enum exit_code run_scenario(const struct arguments *a, interrupted_fn *interrupted) {
    struct scenario_file file;
    if (!scenario_file_read(&file, a->scenario)) return EXIT_INPUT;
    struct recording_order order = {.path = file.path,
                                    .text = file.text,
                                    .length = file.length,
                                    .directory = file.directory,
                                    .variant = a->variant,
                                    .stream_path = a->stream,
                                    .has_seed = a->has_seed,
                                    .seed = a->seed,
                                    .interrupted = interrupted};
    enum exit_code code = run_order(&order, a, NULL);
    scenario_file_release(&file);
    return code;
}

/* A run.json, or the folder that holds one. */
static bool from_read(struct manifest *then, const char *from) {
    char message[1024];
    char *path = paths_is_folder(from) ? paths_join(from, "run.json") : strdup(from);
    ASSERT(path);
    bool read = manifest_read(then, path, message, sizeof(message));
    if (!read) say("%s", message);
    free(path);
    return read;
}

static enum exit_code run_from(const struct arguments *a, interrupted_fn *interrupted) {
    struct manifest then;
    if (!from_read(&then, a->from)) return EXIT_INPUT;
    repeat_say_version(&then);
    char *directory = repeat_directory(&then);
    struct recording_order order = {.path = then.scenario_path,
                                    .text = then.scenario_text,
                                    .length = then.scenario_length,
                                    .directory = directory,
                                    .variant = then.variant,
                                    .stream_path = a->stream,
                                    .has_seed = true,
                                    .seed = then.seed,
                                    .interrupted = interrupted};
    enum exit_code code = run_order(&order, a, &then);
    free(directory);
    manifest_release(&then);
    return code;
}

enum exit_code cmd_run(int argc, char **argv, interrupted_fn *interrupted) {
    struct argp argp = {options, option_take, "SCENARIO", doc, NULL, NULL, NULL};
    struct arguments a = {0};
    if (!options_parse(&argp, argc, argv, &a)) return EXIT_INPUT;
    return a.from ? run_from(&a, interrupted) : run_scenario(&a, interrupted);
}
