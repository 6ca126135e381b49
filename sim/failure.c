#include "failure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "talk.h"
#include "version.h"
#include "world.h"

/* The one piece of state that no caller hands over: ASSERT fires anywhere in core, which knows no
 * world, and must still say how to come back to this very event. */
static struct {
    const struct world *world;
    uint64_t seed;
} watched;

void failure_watch(const struct world *world, uint64_t seed) {
    watched.world = world;
    watched.seed = seed;
}

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "lapse %s: %s:%d: broken invariant: %s\n", LAPSE_VERSION, file, line,
            expression);
    if (watched.world)
        fprintf(stderr, "lapse: seed %" PRIu64 ", event %" PRIu64 "\n", watched.seed,
                world_event_count(watched.world));
    fputs("lapse: this is a bug of lapse; the scenario and this message repeat it\n", stderr);
    _exit(EXIT_BROKEN);
}
