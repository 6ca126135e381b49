/* fuzz_scenario: any bytes as a scenario file. The loader may refuse, with a one-line message that
 * begins with the place; it may not crash, leak or hang. A file that
 * loads and has variants is loaded with the first one too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void load(const char *bytes, size_t length, const char *variant) {
    struct scenario_error error;
    struct scenario *s = scenario_parse(bytes, length, "f.yaml", ".", variant, &error);
    if (!s) {
        ASSERT(strchr(error.message, ':')); /* of this file, or of a redis.conf that it names */
        ASSERT(!strchr(error.message, '\n'));
        return;
    }
    if (!variant && s->variant_count) load(bytes, length, s->variants[0]);
    scenario_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    load((const char *)bytes, length, NULL);
    return 0;
}
