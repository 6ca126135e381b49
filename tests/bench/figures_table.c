#include "figures_table.h"

#include <stdbool.h>
#include <string.h>

void figures_begin(struct figures_table *t, const char *benchmark, const char *directory) {
    char path[4096];
    snprintf(path, sizeof path, "%s/bench-%s.csv", directory, benchmark);
    *t = (struct figures_table){.benchmark = benchmark, .csv = fopen(path, "w")};
    if (t->csv) fputs("benchmark,figure,unit,lapse,server,ratio,goal,bound,reached\n", t->csv);
    printf("%-54s %-5s %11s %11s %8s  %s\n", benchmark, "", "lapse", "server", "ratio", "goal");
}

static bool is_ratio(const struct figure *f) {
    return f->goal == GOAL_RATIO_AT_MOST || f->goal == GOAL_RATIO_AT_LEAST;
}

static bool is_reached(const struct figure *f) {
    double value = is_ratio(f) ? f->ratio : f->lapse;
    bool least = f->goal == GOAL_AT_LEAST || f->goal == GOAL_RATIO_AT_LEAST;
    return least ? value >= f->bound : value <= f->bound;
}

/* A ratio that could not be formed reaches nothing and misses nothing. */
static bool is_judged(const struct figure *f) {
    return f->goal != GOAL_NONE && !(is_ratio(f) && f->ratio == 0);
}

static void cell(double value, int width) {
    if (value == 0)
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, value >= 1000 ? 0 : value >= 10 ? 1 : 3, value);
}

void figures_add(struct figures_table *t, const struct figure *f) {
    static const char *const signs[] = {"", "<=", ">=", "ratio <=", "ratio >="};
    const char *verdict = !is_judged(f) ? "" : is_reached(f) ? "reached" : "MISSED";
    printf("%-54s %-5s", f->name, f->unit);
    cell(f->lapse, 11);
    cell(f->server, 11);
    cell(f->ratio, 8);
    if (f->goal != GOAL_NONE) printf("  %s %.6g %s", signs[f->goal], f->bound, verdict);
    putchar('\n');
    fflush(stdout);
    if (!t->csv) return;
    fprintf(t->csv, "%s,\"%s\",%s,%.6g,%.6g,%.6g,%s,%.6g,%s\n", t->benchmark, f->name, f->unit,
            f->lapse, f->server, f->ratio, signs[f->goal], f->bound, verdict);
}

void figures_end(struct figures_table *t) {
    if (t->csv) fclose(t->csv);
}
