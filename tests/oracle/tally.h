/* tally: how much has been compared, over all tests of a program, each of which Check runs in a
 * process of its own; and the sum over all programs, in files below the build directory. */
#ifndef LAPSE_TESTS_TALLY_H
#define LAPSE_TESTS_TALLY_H

#include <check.h>
#include <stdint.h>

/* X(enumerator, what one is) */
#define TALLY_LIST(X)                                                                              \
    X(STEPS, "steps")                                                                              \
    X(FIGURES, "figures")                                                                          \
    X(REPLIES, "replies")                                                                          \
    X(KEYS, "scanned keys")                                                                        \
    X(BYTES, "stream bytes")                                                                       \
    X(SNAPSHOT_KEYS, "snapshot keys")

enum tally {
#define X(id, name) TALLY_##id,
    TALLY_LIST(X)
#undef X
        TALLY_COUNT
};

void tally_add(enum tally, int64_t count);

/* Runs the suite and writes its tally to `directory`/`name`; returns main's exit code,
 * ORACLE_SKIPPED with a word why when there is no server. */
int tally_run(Suite *, const char *name);

#endif
