#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SILENT_MS 2000
#define EVERY_MS  200
#define LEFT_SIZE 40

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *p) {
    int64_t now = now_ms();
    *p = (struct progress){.on = isatty(STDERR_FILENO), .began_ms = now, .phase_ms = now};
}

void progress_begin_run(struct progress *p) { p->phase_ms = now_ms(); }

static bool is_due(const struct progress *p, int64_t now) {
    return now - p->began_ms >= SILENT_MS && now - p->latest_ms >= EVERY_MS;
}

/* How long the rest will take if it goes on as it went. */
static void left_print(char buffer[LEFT_SIZE], int64_t per_mille, int64_t elapsed_ms) {
    int64_t left_s = per_mille > 0 ? elapsed_ms * (1000 - per_mille) / per_mille / 1000 : -1;
    *buffer = '\0';
    if (left_s >= 0) snprintf(buffer, LEFT_SIZE, ", about %" PRId64 " s left", left_s + 1);
}

static void line_show(struct progress *p, const char *line, int64_t now) {
    fprintf(stderr, "\r%-78s", line);
    p->latest_ms = now;
    p->shown = true;
}

void progress_loading(struct progress *p, uint64_t done, uint64_t all) {
    int64_t now = p->on ? now_ms() : 0;
    if (!p->on || !is_due(p, now)) return;
    char line[96], left[LEFT_SIZE];
    left_print(left, (int64_t)(done * 1000 / (all ? all : 1)), now - p->phase_ms);
    snprintf(line, sizeof(line), "loading %" PRIu64 " of %" PRIu64 " keys%s, then the run", done,
             all, left);
    line_show(p, line, now);
}

void progress_running(struct progress *p, ns_t done, ns_t all) {
    int64_t now = p->on ? now_ms() : 0;
    if (!p->on || !is_due(p, now)) return;
    char line[96], left[LEFT_SIZE];
    int64_t per_mille = all > 0 ? done / (all / 1000 + 1) : 1000;
    left_print(left, per_mille, now - p->phase_ms);
    snprintf(line, sizeof(line), "%" PRId64 " %% of %" PRId64 " s of virtual time%s",
             per_mille / 10, all / NS_PER_S, left);
    line_show(p, line, now);
}

void progress_end(struct progress *p) {
    if (p->shown) fprintf(stderr, "\r%78s\r", "");
    p->shown = false;
}
