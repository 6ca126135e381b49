#include <string.h>

#include "commands.h"
#include "generation.h"
#include "jitter.h"
#include "memory.h"
#include "paths.h"
#include "summary.h"
#include "trace.h"

#define NAME_WIDTH 26

static const char doc[] =
    "Examples:\n"
    "  lapse list engines\n"
    "  lapse list columns                 of trace.csv and summary.csv\n"
    "  lapse list scenario-keys > my.yaml a scenario with every key\n"
    "\nPrints what can stand in a scenario or comes out of a run.\v"
    "WHAT is engines, strategies, columns, scenario-keys, profiles, operations "
    "or scenarios.";

static void line_print(const char *name, const char *text) {
    printf("%-*s %s\n", NAME_WIDTH, name, text);
}

static void engines_list(void) {
    for (size_t i = 0; generation_at(i); i++)
        line_print(generation_at(i)->name, generation_at(i)->about);
}

static void strategies_list(void) {
    for (size_t i = 0; i < JITTER_KINDS; i++) line_print(jitter_names[i], jitter_helps[i]);
}

static void columns_list(void) {
    printf("trace.csv, a row a server and cron cycle (or interval):\n");
    line_print("t_ms", "virtual time of the row");
    line_print("server", "its name");
    line_print("role", "master or replica");
    for (size_t i = 0; i < trace_column_count; i++)
        line_print(trace_columns[i].name, trace_columns[i].help);
    printf("\nsummary.csv, a row a server:\n");
    line_print("server", "its name");
    line_print("role", "master or replica");
    for (size_t i = 0; i < summary_column_count; i++)
        line_print(summary_columns[i].name, summary_columns[i].help);
    printf("\nin expectations, over all requests and all deleted keys of the run:\n");
    line_print("request_us", "arrival to reply, network apart");
    line_print("expiry_lag_ms", "deletion time minus deadline");
}

static void scenario_keys_list(void) { scenario_print_reference(stdout); }

static void profiles_list(void) {
    printf("costs:\n");
    for (size_t i = 0; price_table_at(i); i++)
        line_print(price_table_at(i)->name, price_table_at(i)->about);
    line_print("./FILE.json", "of your own machine, as `lapse calibrate` writes it");
    printf("\nallocators:\n");
    for (size_t i = 0; allocator_at(i); i++)
        line_print(allocator_at(i)->name, allocator_at(i)->help);
}

static void operations_list(void) {
    for (int i = 0; i < COST_COUNT; i++) line_print(cost_names[i], cost_helps[i]);
}

static void scenarios_list(void) {
    char **names = paths_list_scenarios();
    for (size_t i = 0; names[i]; i++) printf("%s\n", names[i]);
    paths_list_free(names);
}

static const struct list {
    const char *name;
    void (*print)(void);
} lists[] = {{"engines", engines_list},    {"strategies", strategies_list},
             {"columns", columns_list},    {"scenario-keys", scenario_keys_list},
             {"profiles", profiles_list},  {"operations", operations_list},
             {"scenarios", scenarios_list}};

#define LISTS (sizeof(lists) / sizeof(*lists))

static error_t option_take(int key, char *value, struct argp_state *state) {
    const char **what = state->input;
    if (key == ARGP_KEY_END && !*what)
        argp_error(state, "expected engines, strategies, columns, scenario-keys, profiles, "
                          "operations or scenarios");
    if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
    if (*what) argp_error(state, "expected one word, found '%s' too", value);
    *what = value;
    return 0;
}

enum exit_code cmd_list(int argc, char **argv, interrupted_fn *interrupted) {
    (void)interrupted;
    struct argp argp = {NULL, option_take, "WHAT", doc, NULL, NULL, NULL};
    const char *what = NULL, *names[LISTS + 1] = {0};
    if (!options_parse(&argp, argc, argv, &what)) return EXIT_INPUT;
    for (size_t i = 0; i < LISTS; i++) {
        names[i] = lists[i].name;
        if (strcmp(what, lists[i].name) != 0) continue;
        lists[i].print();
        return EXIT_FINE;
    }
    return say_unknown("list", what, names);
}
