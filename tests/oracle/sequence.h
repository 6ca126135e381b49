/* sequence: random commands and steps of the clock as lines of text, so that one that fails can be
 * made shorter, printed and kept. A line is a command as typed into redis-cli, "@step MS" (time
 * goes on) or "@turn" (what was queued is sent); commands up to the next of these share a turn. */
#ifndef LAPSE_TESTS_SEQUENCE_H
#define LAPSE_TESTS_SEQUENCE_H

#include "lockstep.h"
#include "rng.h"

struct sequence {
    char **lines;
    uint32_t count, capacity;
    us_t tick_us;
    bool with_replica; /* the stream is compared too */
};

/* What the words of random commands are drawn from. */
struct vocabulary {
    const char *const *templates; /* ends with NULL; %k key, %v value, ... see sequence.c */
    bool may_spoil;               /* words are replaced, dropped and added */
};

void sequence_generate(struct sequence *, uint64_t seed, uint32_t commands,
                       const struct vocabulary *);
/* From a file with a line of each; "# tick US" and "# replica" set what they name. */
void sequence_read(struct sequence *, const char *path);
void sequence_add(struct sequence *, const char *line);
void sequence_release(struct sequence *);

/* Runs it on a fresh pair; differences end the process as lockstep_fail does. */
void sequence_replay(const struct sequence *, const char *about);

/* The same in a process of its own, which keeps its words to itself. True if all was equal. */
bool sequence_holds(const struct sequence *);

/* Fails the test, after making it as short as can be and printing it, if it does not hold. */
void sequence_check(struct sequence *, uint64_t seed);

/* Drops lines as long as it still fails. */
void sequence_shrink(struct sequence *);

void sequence_print(const struct sequence *);

#endif
