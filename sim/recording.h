/* recording: one run of a scenario with all that it leaves behind: a folder with trace.csv,
 * summary.csv, replies.txt (if a timed event had a reply) and run.json, and the stream if asked
 * for. Nothing is written before scenario and expectations are known to be sound; files appear when
 * the run is complete, run.json last. An interrupted run leaves trace.csv.partial. */
#ifndef LAPSE_SIM_RECORDING_H
#define LAPSE_SIM_RECORDING_H

#include "expect.h"
#include "scenario.h"
#include "talk.h"

/* What to run and where to put it. Lives as long as the recording. */
struct recording_order {
    const char *path; /* of the scenario, as it goes into run.json and into messages */
    const char *text; /* its bytes */
    size_t length;
    const char *directory; /* where files that it names are sought */
    const char *variant;   /* or NULL */
    const char *folder;
    const char *stream_path; /* or NULL */
    bool has_seed;
    uint64_t seed;             /* instead of the scenario's */
    bool quiet;                /* no progress */
    bool (*interrupted)(void); /* asked now and then */
};

struct recording {
    const struct recording_order *order;
    struct scenario *scenario;
    struct expectation **expectations; /* as many as the scenario has */
    struct expectation_result *results;
    char **notes; /* what the user should be told; ends with NULL */
    uint64_t events;
};

/* Loads and checks; says what is wrong and returns false. Release in either case. */
bool recording_load(struct recording *, const struct recording_order *);

/* Is every variant of the file sound too, expectations and all? Says what is not. A mistake in one
 * is else found only by who runs it. */
bool recording_check_variants(const struct recording *);

/* Runs and writes. Failures are said. EXIT_FINE, EXIT_EXPECTATION, EXIT_INPUT (a population's
 * file), EXIT_OUTPUT or EXIT_INTERRUPTED. */
enum exit_code recording_run(struct recording *);
void recording_release(struct recording *);

#endif
