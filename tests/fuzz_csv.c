/* fuzz_csv: any bytes as a memory report. When the header is one, every row is either placed or
 * counted as refused, and a placed row is within the limits of the engine. */
#include <stdio.h>
#include <stdlib.h>

#include "bounds.h"
#include "population.h"

_Noreturn void assert_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = "0123456789abcde";
    struct names *names = names_create(seed);
    struct scenario_error error;
    struct csv_rows *rows = csv_rows_parse((const char *)bytes, length, "f.csv", names, DATABASES_MAX, &error);
    for (uint32_t i = 0; rows && i < rows->count; i++) {
        const struct csv_row *row = &rows->rows[i];
        ASSERT(row->db < DATABASES_MAX);
        ASSERT(row->key >= 1 && row->key <= names_keys(names)->count);
        ASSERT(row->value_bytes >= 1 && row->value_bytes <= VALUE_LENGTH_MAX);
    }
    csv_rows_destroy(rows);
    names_destroy(names);
    return 0;
}
