#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s (seed %" PRIu64 ")\n", file, line, expression,
            test_seed());
    abort();
}

uint64_t test_seed(void) {
    const char *given = getenv("LAPSE_TEST_SEED");
    return given ? strtoull(given, NULL, 10) : 20260101;
}

uint32_t test_rounds(uint32_t usual) {
    const char *given = getenv("LAPSE_TEST_ROUNDS");
    return given ? usual * (uint32_t)strtoul(given, NULL, 10) : usual;
}

int test_run(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    printf("seed %" PRIu64 " (repeat with LAPSE_TEST_SEED=%" PRIu64 ")\n", test_seed(),
           test_seed());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
