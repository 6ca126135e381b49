#include "pictures.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gnuplot.h"
#include "manifest.h"
#include "paths.h"

static bool has_file(const char *folder, const char *name) {
    char *path = paths_join(folder, name);
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

/* What the picture is called: "NAME" or "NAME, variant V" from run.json; without one, the last part
 * of the folder. */
static char *run_name(const char *folder) {
    char message[512], *path = paths_join(folder, "run.json"), *name = NULL;
    struct manifest m;
    if (manifest_read(&m, path, message, sizeof(message))) {
        size_t size = strlen(m.scenario_name) + (m.variant ? strlen(m.variant) : 0) + 16;
        name = malloc(size);
        ASSERT(name);
        snprintf(name, size, "%s%s%s", m.scenario_name, m.variant ? ", variant " : "",
                 m.variant ? m.variant : "");
        manifest_release(&m);
    }
    free(path);
    return name;
}

static char *folder_name(const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    size_t start = length;
    while (start > 0 && folder[start - 1] != '/') start--;
    char *name = strndup(folder + start, length - start);
    ASSERT(name);
    return name;
}

static enum exit_code draw_one(struct gnuplot_order order, const char *stem, const char *terminal) {
    char file[32];
    snprintf(file, sizeof(file), "%s.%s", stem, terminal);
    char *output = paths_join(order.folder, file);
    order.terminal = terminal;
    order.output = output;
    bool done = gnuplot_draw(&order);
    if (done) say("wrote %s", output);
    free(output);
    return done ? EXIT_FINE : EXIT_OUTPUT;
}

/* `stem`: "run" or "compare". */
static enum exit_code draw(const char *plots, const char *folder, const char *stem,
                           unsigned wanted) {
    char script[32], *name = strcmp(stem, "run") == 0 ? run_name(folder) : NULL;
    if (!name) name = folder_name(folder);
    snprintf(script, sizeof(script), "%s.gp", stem);
    struct gnuplot_order order = {.plots = plots, .script = script, .folder = folder, .name = name};
    enum exit_code code = EXIT_FINE;
    if (wanted & PICTURE_SVG) code = draw_one(order, stem, "svg");
    if (code == EXIT_FINE && wanted & PICTURE_PNG) code = draw_one(order, stem, "png");
    free(name);
    return code;
}

/* `subjects`: bits of enum subject that may be drawn. */
static enum exit_code draw_all(const char *plots, const char *folder, unsigned subjects,
                               unsigned wanted) {
    bool run = subjects & SUBJECT_RUN && has_file(folder, "trace.csv");
    bool compare = subjects & SUBJECT_COMPARISON && has_file(folder, "compare.csv");
    if (!run && !compare) {
        say("%s: expected a folder with trace.csv or compare.csv, as `lapse run` and `lapse "
            "compare` write it",
            folder);
        return EXIT_INPUT;
    }
    if (run && !has_file(folder, "summary.csv")) {
        say("%s: expected summary.csv beside trace.csv", folder);
        return EXIT_INPUT;
    }
    enum exit_code code = run ? draw(plots, folder, "run", wanted) : EXIT_FINE;
    if (code == EXIT_FINE && compare) code = draw(plots, folder, "compare", wanted);
    return code;
}

static enum exit_code draw_subjects(const char *folder, unsigned subjects, unsigned wanted) {
    char *plots = paths_find_plots();
    if (!plots) {
        say("no plots/run.gp in any data folder; set LAPSE_DATA to the one that has it");
        return EXIT_INPUT;
    }
    enum exit_code code = draw_all(plots, folder, subjects, wanted);
    free(plots);
    return code;
}

enum exit_code pictures_draw(const char *folder, unsigned wanted) {
    if (gnuplot_is_there()) return draw_subjects(folder, SUBJECT_RUN | SUBJECT_COMPARISON, wanted);
    say("no gnuplot on PATH (package gnuplot-nox); `lapse plot --term` draws without it");
    return EXIT_OUTPUT;
}

enum exit_code pictures_draw_if_possible(const char *folder, enum subject subject) {
    if (gnuplot_is_there()) return draw_subjects(folder, subject, PICTURE_SVG | PICTURE_PNG);
    say("no pictures: no gnuplot on PATH (package gnuplot-nox); `lapse plot --term %s` draws here",
        folder);
    return EXIT_FINE;
}
