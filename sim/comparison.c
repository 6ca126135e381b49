#include "comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "outfile.h"
#include "paths.h"
#include "report.h"
#include "text_file.h"
#include "workers.h"

#define AT_ONCE 2 /* a run of a million keys takes some hundred MB */

/* The order of one variant. */
static struct recording_order order_of(const struct comparison *c, size_t i, char **folder) {
    struct recording_order order = c->order;
    bool none = !c->base_is_own && strcmp(c->variants[i], "base") == 0;
    order.variant = none ? NULL : c->variants[i];
    order.quiet = true;
    order.folder = *folder = folder_of_variant(c->folder, c->variants[i]);
    return order;
}

static bool variants_check(const struct comparison *c) {
    bool sound = true;
    for (size_t i = 0; sound && i < c->count; i++) {
        char *folder;
        struct recording_order order = order_of(c, i, &folder);
        struct recording r;
        sound = recording_load(&r, &order);
        recording_release(&r);
        free(folder);
    }
    return sound;
}

/* One variant, in a child. */
static enum exit_code variant_run(void *context, size_t i, FILE *out) {
    const struct comparison *c = context;
    char *folder;
    struct recording_order order = order_of(c, i, &folder);
    struct recording r;
    enum exit_code code = EXIT_INPUT;
    if (recording_load(&r, &order)) {
        code = recording_run(&r);
        if (code == EXIT_FINE || code == EXIT_EXPECTATION) report_print_expectations(out, &r);
        for (size_t n = 0; r.notes && r.notes[n]; n++)
            say("note: %s: %s", c->variants[i], r.notes[n]);
    }
    recording_release(&r);
    free(folder);
    return code;
}

/* Appends a variant's summary.csv, each line with the variant before it; the header only once. */
static bool summary_append(FILE *out, const struct comparison *c, size_t i) {
    size_t length;
    char *folder = folder_of_variant(c->folder, c->variants[i]);
    char *path = paths_join(folder, "summary.csv"), *rest = NULL;
    char *text = text_file_read(path, &length);
    if (!text) say("%s: %s", path, strerror(errno));
    bool header = true;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!header)
            fprintf(out, "%s,%s\n", c->variants[i], line);
        else if (i == 0)
            fprintf(out, "variant,%s\n", line);
        header = false;
    }
    bool done = text != NULL;
    free(folder), free(path), free(text);
    return done;
}

static bool csv_write(const struct comparison *c, const char *path) {
    struct outfile file;
    if (!outfile_open(&file, path)) {
        say("%s: %s", path, strerror(errno));
        return false;
    }
    bool done = true;
    for (size_t i = 0; done && i < c->count; i++) done = summary_append(file.stream, c, i);
    if (!done) {
        outfile_abandon(&file, false);
        return false;
    }
    done = outfile_commit(&file);
    if (!done) say("%s: %s", path, strerror(errno));
    return done;
}

/* A table for each server, one column a variant, in the order of the first variant's servers. */
static void tables_print(const struct table *t) {
    size_t server = table_column(t, "server"), role = table_column(t, "role");
    size_t *rows = calloc(t->rows + 1, sizeof(*rows));
    ASSERT(rows);
    for (size_t first = 0; first < t->rows; first++) {
        const char *name = table_cell(t, first, server);
        size_t count = 0;
        bool seen = false;
        for (size_t row = 0; row < t->rows; row++) {
            if (strcmp(table_cell(t, row, server), name) != 0) continue;
            seen = seen || row < first;
            rows[count++] = row;
        }
        if (seen) continue;
        printf("%s%s (%s)\n", first ? "\n" : "", name, table_cell(t, first, role));
        report_print_table(stdout, t, rows, count, "variant");
    }
    free(rows);
}

static void output_print(const char *variant, FILE *output) {
    char line[1024];
    bool any = false;
    while (output && fgets(line, sizeof(line), output)) {
        if (!any) printf("\n%s\n", variant);
        fputs(line, stdout);
        any = true;
    }
}

static enum exit_code results_print(const struct comparison *c, struct worker_result *results) {
    char message[1024], *path = paths_join(c->folder, "compare.csv");
    struct table table;
    bool written = csv_write(c, path);
    bool read = written && table_read(&table, path, message, sizeof(message));
    if (read) {
        tables_print(&table);
        table_release(&table);
    } else if (written) {
        say("%s", message);
    }
    free(path);
    for (size_t i = 0; read && i < c->count; i++) output_print(c->variants[i], results[i].output);
    fflush(stdout);
    return read ? EXIT_FINE : EXIT_OUTPUT;
}

static enum exit_code worst_of(const struct worker_result *results, size_t count) {
    enum exit_code worst = EXIT_FINE;
    for (size_t i = 0; i < count; i++)
        if (results[i].code > worst) worst = results[i].code;
    return worst;
}

enum exit_code comparison_run(const struct comparison *c) {
    if (!variants_check(c)) return EXIT_INPUT;
    struct worker_result *results = calloc(c->count, sizeof(*results));
    ASSERT(results);
    struct comparison context = *c;
    bool started =
        workers_run(c->count, AT_ONCE, variant_run, &context, c->order.interrupted, results);
    enum exit_code code = started ? worst_of(results, c->count) : EXIT_OUTPUT;
    if (code == EXIT_FINE || code == EXIT_EXPECTATION) {
        enum exit_code printed = results_print(c, results);
        if (printed != EXIT_FINE) code = printed;
    }
    workers_release(results, c->count);
    free(results);
    return code;
}
