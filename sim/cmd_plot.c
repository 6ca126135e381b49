#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "paths.h"
#include "pictures.h"
#include "term_plot.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MAX     1000

enum option_key { OPTION_TERM = 't', OPTION_SVG = 256, OPTION_PNG };

static const struct argp_option options[] = {
    {"term", OPTION_TERM, NULL, 0, "Draw in the terminal (width from COLUMNS)", 0},
    {"svg", OPTION_SVG, NULL, 0, "Write the SVG alone", 0},
    {"png", OPTION_PNG, NULL, 0, "Write the PNG alone", 0},
    {0}};

static const char doc[] = "Examples:\n"
                          "  lapse plot out/storm            run.svg and run.png there\n"
                          "  lapse plot --png out/storm-jitter\n"
                          "  lapse plot --term out/storm/trace.csv\n"
                          "\nDraws what `lapse run` or `lapse compare` wrote.\v"
                          "SVG and PNG are drawn by gnuplot with the scripts in plots/.";

struct arguments {
    const char *where;
    bool term;
    unsigned wanted; /* bits of enum picture */
};

static error_t option_take(int key, char *value, struct argp_state *state) {
    struct arguments *a = state->input;
    switch (key) {
    case OPTION_TERM:
        a->term = true;
        break;
    case OPTION_SVG:
        a->wanted |= PICTURE_SVG;
        break;
    case OPTION_PNG:
        a->wanted |= PICTURE_PNG;
        break;
    case ARGP_KEY_ARG:
        if (a->where) argp_error(state, "expected one folder or trace, found '%s' too", value);
        a->where = value;
        break;
    case ARGP_KEY_END:
        if (!a->where) argp_error(state, "expected a folder or a trace.csv");
        if (a->term && a->wanted) argp_error(state, "--term writes no file: leave --svg and --png");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* COLUMNS, else the terminal's own width, else 80. */
static size_t terminal_width(void) {
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    if (width <= 0 || width > WIDTH_MAX) return WIDTH_DEFAULT;
    return (size_t)width;
}

/* By the first of the variables that decides a locale's letters. */
static bool terminal_is_unicode(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return false;
}

static enum exit_code draw_in_terminal(const char *path) {
    char message[1024];
    struct table trace;
    struct term_plot plot = {terminal_width(), terminal_is_unicode()};
    bool read = table_read(&trace, path, message, sizeof(message));
    bool drawn = read && term_plot_print(stdout, &plot, &trace, message, sizeof(message));
    if (!drawn) say("%s%s%s", read ? path : "", read ? ": " : "", message);
    table_release(&trace);
    return drawn ? EXIT_FINE : EXIT_INPUT;
}

static bool has_file(const char *folder, const char *name) {
    char *path = paths_join(folder, name);
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Is that something to draw? Says what is not. */
static bool where_check(const struct arguments *a) {
    if (access(a->where, R_OK) != 0) {
        say("%s: %s", a->where, strerror(errno));
        return false;
    }
    bool is_folder = paths_is_folder(a->where);
    if (!is_folder && !ends_with(a->where, ".csv")) {
        say("%s: expected a folder of results, or its trace.csv", a->where);
        return false;
    }
    bool compared =
        is_folder && !has_file(a->where, "trace.csv") && has_file(a->where, "compare.csv");
    if (!a->term || !compared) return true;
    say("%s holds a comparison; `lapse plot --term %s%sVARIANT` draws one of its variants",
        a->where, a->where, ends_with(a->where, "/") ? "" : "/");
    return false;
}

enum exit_code cmd_plot(int argc, char **argv, interrupted_fn *interrupted) {
    (void)interrupted;
    struct argp argp = {options, option_take, "DIR|TRACE.CSV", doc, NULL, NULL, NULL};
    struct arguments a = {0};
    if (!options_parse(&argp, argc, argv, &a)) return EXIT_INPUT;
    if (!where_check(&a)) return EXIT_INPUT;
    bool is_folder = paths_is_folder(a.where);
    char *folder = is_folder ? strdup(a.where) : paths_folder_of(a.where);
    char *trace = is_folder ? paths_join(a.where, "trace.csv") : strdup(a.where);
    ASSERT(folder && trace);
    enum exit_code code =
        a.term ? draw_in_terminal(trace)
               : pictures_draw(folder, a.wanted ? a.wanted : PICTURE_SVG | PICTURE_PNG);
    free(folder), free(trace);
    return code;
}
