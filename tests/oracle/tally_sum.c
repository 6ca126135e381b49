/* The last line of the suite: what all its programs have compared, from the tallies that they left.
 * The tallies are taken away, so that a line never counts an older run. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"
#include "tally.h"

static const char *const names[TALLY_COUNT] = {
#define X(id, name) name,
    TALLY_LIST(X)
#undef X
};

/* Adds one program's counts; its failures come last. */
static long long add(const char *path, long long sums[TALLY_COUNT]) {
    long long count = 0, failed = 1;
    FILE *file = fopen(path, "r");
    for (int i = 0; file && i < TALLY_COUNT; i++)
        if (fscanf(file, "%lld", &count) == 1) sums[i] += count;
    if (file && fscanf(file, "%lld", &count) == 1) failed = count;
    if (file) fclose(file);
    remove(path);
    return failed;
}

int main(void) {
    long long sums[TALLY_COUNT] = {0}, failed = 0;
    glob_t found;
    if (glob(TALLY_DIRECTORY "/*.tally", 0, NULL, &found) != 0) {
        printf("oracle: nothing was compared\n");
        return ORACLE_SKIPPED;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) failed += add(found.gl_pathv[i], sums);
    globfree(&found);
    printf("oracle:");
    for (int i = 0; i < TALLY_COUNT; i++) printf(" %lld %s,", sums[i], names[i]);
    printf(failed ? " and some differ\n" : " and 0 differ\n");
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
