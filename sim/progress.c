#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SILENT_MS 2000
#define EVERY_MS  200

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *p) {
    *p = (struct progress){.on = isatty(STDERR_FILENO), .began_ms = now_ms()};
}

void progress_print(char *buffer, size_t size, ns_t done, ns_t all, int64_t elapsed_ms) {
    int64_t per_mille = all > 0 ? done / (all / 1000 + 1) : 1000;
    int64_t left_s = per_mille > 0 ? elapsed_ms * (1000 - per_mille) / per_mille / 1000 : -1;
    int used = snprintf(buffer, size, "%" PRId64 " %% of %" PRId64 " s of virtual time",
                        per_mille / 10, all / NS_PER_S);
    if (left_s >= 0 && used > 0 && (size_t)used < size)
        snprintf(buffer + used, size - (size_t)used, ", about %" PRId64 " s left", left_s + 1);
}

void progress_update(struct progress *p, ns_t done, ns_t all) {
    int64_t now = p->on ? now_ms() : 0;
    if (!p->on || now - p->began_ms < SILENT_MS || now - p->latest_ms < EVERY_MS) return;
    char line[96];
    progress_print(line, sizeof(line), done, all, now - p->began_ms);
    fprintf(stderr, "\r%-78s", line);
    p->latest_ms = now;
    p->shown = true;
}

void progress_end(struct progress *p) {
    if (p->shown) fprintf(stderr, "\r%78s\r", "");
    p->shown = false;
}
