#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "paths.h"
#include "text_file.h"

#define OPTIONS_MAX 32

/* Long options that argp adds to every parser. */
static const char *const built_in[] = {"help", "usage", NULL};

/* The long options of the parser; returns how many. */
static size_t options_names(const struct argp *argp, const char *names[OPTIONS_MAX]) {
    size_t count = 0;
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name && count < OPTIONS_MAX - 3) names[count++] = o->name;
    for (size_t i = 0; built_in[i]; i++) names[count++] = built_in[i];
    names[count] = NULL;
    return count;
}

/* getopt takes a prefix of one option for it. */
static bool option_is_known(const char *word, size_t length, const char *const *names) {
    for (size_t i = 0; names[i]; i++)
        if (strncmp(word, names[i], length) == 0) return true;
    return false;
}

static bool options_check(const struct argp *argp, int argc, char **argv) {
    const char *names[OPTIONS_MAX];
    options_names(argp, names);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        char word[64];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
        if (option_is_known(word, strlen(word), names)) continue;
        const char *near = nearest_close_word(word, names);
        if (near)
            say("unknown option '--%s'; did you mean '--%s'?", word, near);
        else
            say("unknown option '--%s'; `%s --help` lists them", word, argv[0]);
        return false;
    }
    return true;
}

void scenario_take(const char **scenario, const char *value, struct argp_state *state) {
    if (*scenario) argp_error(state, "expected one scenario, found '%s' too", value);
    *scenario = value;
}

bool options_parse(const struct argp *argp, int argc, char **argv, void *input) {
    return options_check(argp, argc, argv) && argp_parse(argp, argc, argv, 0, NULL, input) == 0;
}

static bool say_no_scenario(const char *argument) {
    char **names = paths_list_scenarios();
    if (paths_is_folder(argument))
        say("%s is a folder; expected a scenario, a file such as my-cache.yaml", argument);
    else if (strchr(argument, '/') || strstr(argument, ".yaml"))
        say("%s: %s", argument, strerror(ENOENT));
    else if (names[0])
        say_unknown("scenario", argument, (const char *const *)names);
    else
        say("unknown scenario '%s', and no scenarios/ here nor in a data folder", argument);
    paths_list_free(names);
    return false;
}

bool scenario_file_read(struct scenario_file *file, const char *argument) {
    *file = (struct scenario_file){.path = paths_find_scenario(argument)};
    if (!file->path) return say_no_scenario(argument);
    file->text = text_file_read(file->path, &file->length);
    if (!file->text) {
        say("%s: %s", file->path, strerror(errno));
        scenario_file_release(file);
        return false;
    }
    file->directory = paths_folder_of(file->path);
    return true;
}

void scenario_file_release(struct scenario_file *file) {
    free(file->path), free(file->text), free(file->directory);
    *file = (struct scenario_file){0};
}

char *folder_default(const char *scenario_name) {
    char *component = paths_component(scenario_name), *folder = paths_join("out", component);
    free(component);
    return folder;
}

char *folder_of_variant(const char *folder, const char *variant) {
    char *component = paths_component(variant), *below = paths_join(folder, component);
    free(component);
    return below;
}
