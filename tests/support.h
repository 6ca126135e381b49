/* support: what every test program shares: the assert handler, a printed seed, and running a Check
 * suite. */
#ifndef LAPSE_TESTS_SUPPORT_H
#define LAPSE_TESTS_SUPPORT_H

#include <check.h>

#include "base.h"
#include "rng.h"

/* The seed of this run's property tests: LAPSE_TEST_SEED if set, else a fixed one. Printed once,
 * before anything runs, with the line that repeats it. */
uint64_t test_seed(void);

/* How many rounds a property test does: `usual`, times LAPSE_TEST_ROUNDS if set. */
uint32_t test_rounds(uint32_t usual);

/* Runs the suite; returns main's exit code. */
int test_run(Suite *);

#endif
