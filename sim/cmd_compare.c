#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "comparison.h"
#include "pictures.h"

#define VARIANTS_MAX 64

enum option_key { OPTION_OUT = 'o', OPTION_VARIANTS = 'v', OPTION_NO_PLOT = 256 };

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "DIR", 0, "Write there (default out/NAME)", 0},
    {"variants", OPTION_VARIANTS, "A,B,...", 0,
     "These variants, in this order; `base` is the scenario without one (default all, after `base` "
     "unless a variant without overrides stands for it)",
     0},
    {"no-plot", OPTION_NO_PLOT, NULL, 0, "Draw no picture", 0},
    {0}};

static const char doc[] =
    "Examples:\n"
    "  lapse compare storm-jitter\n"
    "  lapse compare storm-jitter --variants none,10s\n"
    "  lapse compare hz-effort --out /tmp/hz\n"
    "\nRuns the variants of one scenario, two at a time, each into its own folder DIR/VARIANT, and "
    "writes compare.csv and a picture with all of them in the same panels.\v"
    "Exit codes as those of `lapse run`; 1 if an expectation of any variant failed.";

struct arguments {
    const char *scenario, *out;
    char *variants;
    bool no_plot;
};

static error_t option_take(int key, char *value, struct argp_state *state) {
    struct arguments *a = state->input;
    switch (key) {
    case OPTION_OUT:
        a->out = value;
        break;
    case OPTION_VARIANTS:
        a->variants = value;
        break;
    case OPTION_NO_PLOT:
        a->no_plot = true;
        break;
    case ARGP_KEY_ARG:
        scenario_take(&a->scenario, value, state);
        break;
    case ARGP_KEY_END:
        if (!a->scenario) argp_error(state, "expected a scenario");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The variants asked for, cut out of `list`; returns how many. */
static size_t variants_cut(char *list, const char *variants[VARIANTS_MAX]) {
    size_t count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name && count < VARIANTS_MAX;
         name = strtok_r(NULL, ",", &rest))
        variants[count++] = name;
    return count;
}

/* All that the scenario has, beside what they vary: a column twice the same would be noise. */
static size_t variants_all(const struct scenario *scenario, const char *variants[VARIANTS_MAX]) {
    size_t count = 0;
    if (scenario->variant_count && !scenario->base_is_a_variant) variants[count++] = "base";
    for (uint32_t i = 0; i < scenario->variant_count && count < VARIANTS_MAX; i++)
        variants[count++] = scenario->variants[i];
    return count;
}

static bool has_variant(const struct scenario *scenario, const char *name) {
    for (uint32_t i = 0; i < scenario->variant_count; i++)
        if (strcmp(scenario->variants[i], name) == 0) return true;
    return false;
}

/* Two variants in one folder would overwrite each other. */
static bool variants_differ(const char *const *variants, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            char *a = folder_of_variant("", variants[i]), *b = folder_of_variant("", variants[j]);
            bool same = strcmp(a, b) == 0;
            free(a), free(b);
            if (!same) continue;
            say("variants '%s' and '%s' would share a folder", variants[j], variants[i]);
            return false;
        }
    return true;
}

static enum exit_code compare_loaded(struct comparison *c, const struct arguments *a) {
    enum exit_code code = comparison_run(c);
    if (code != EXIT_FINE && code != EXIT_EXPECTATION) return code;
    say("wrote %s", c->folder);
    if (a->no_plot) return code;
    enum exit_code drawn = pictures_draw_if_possible(c->folder, SUBJECT_COMPARISON);
    return code == EXIT_FINE ? drawn : code;
}

static enum exit_code compare(const struct scenario_file *file, struct arguments *a,
                              interrupted_fn *interrupted) {
    struct recording_order order = {.path = file->path,
                                    .text = file->text,
                                    .length = file->length,
                                    .directory = file->directory,
                                    .interrupted = interrupted};
    struct recording base;
    const char *variants[VARIANTS_MAX];
    enum exit_code code = EXIT_INPUT;
    if (recording_load(&base, &order)) {
        size_t count = a->variants ? variants_cut(a->variants, variants)
                                   : variants_all(base.scenario, variants);
        char *folder = a->out ? strdup(a->out) : folder_default(base.scenario->name);
        struct comparison comparison = {order, variants, count, folder,
                                        has_variant(base.scenario, "base")};
        ASSERT(folder);
        if (count == 0)
            say("%s has no variants to compare", file->path);
        else if (variants_differ(variants, count))
            code = compare_loaded(&comparison, a);
        free(folder);
    }
    recording_release(&base);
    return code;
}

enum exit_code cmd_compare(int argc, char **argv, interrupted_fn *interrupted) {
    struct argp argp = {options, option_take, "SCENARIO", doc, NULL, NULL, NULL};
    struct arguments a = {0};
    struct scenario_file file;
    if (!options_parse(&argp, argc, argv, &a)) return EXIT_INPUT;
    if (!scenario_file_read(&file, a.scenario)) return EXIT_INPUT;
    enum exit_code code = compare(&file, &a, interrupted);
    scenario_file_release(&file);
    return code;
}
