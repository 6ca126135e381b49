#define _GNU_SOURCE
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "oracle.h"
#include "support.h"

static _Atomic int64_t *counts; /* shared with the processes of the tests */

static const char *const names[TALLY_COUNT] = {
#define X(id, name) name,
    TALLY_LIST(X)
#undef X
};

void tally_add(enum tally which, int64_t count) {
    if (counts) counts[which] += count;
}

static const char *tally_path(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.tally", TALLY_DIRECTORY, name);
    return path;
}

static void write_counts(const char *path, int failed) {
    FILE *file = fopen(path, "w");
    if (!file) return;
    for (int i = 0; i < TALLY_COUNT; i++) fprintf(file, "%lld ", (long long)counts[i]);
    fprintf(file, "%d\n", failed);
    fclose(file);
}

static void print_counts(const char *name, int failed) {
    printf("%s:", name);
    for (int i = 0; i < TALLY_COUNT; i++) printf(" %lld %s,", (long long)counts[i], names[i]);
    printf(" %s\n", failed ? "A DIFFERENCE" : "0 differ");
}

int tally_run(Suite *suite, const char *name) {
    remove(tally_path(name));
    if (!oracle_server_path()) {
        printf("no redis-server on PATH: nothing is compared, skipped\n");
        return ORACLE_SKIPPED;
    }
    counts = mmap(NULL, sizeof *counts * TALLY_COUNT, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED) abort();
    int code = test_run(suite);
    print_counts(name, code);
    write_counts(tally_path(name), code);
    return code;
}
