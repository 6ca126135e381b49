/* expect_value: the right side of an expectation: a number with a unit of its column's kind, held
 * in thousandths of the column's own unit, and the way figures of that kind are written. */
#ifndef LAPSE_SIM_EXPECT_VALUE_H
#define LAPSE_SIM_EXPECT_VALUE_H

#include "base.h"

enum expect_kind {
    EXPECT_COUNT,
    EXPECT_MS,
    EXPECT_US,
    EXPECT_SECONDS,
    EXPECT_BYTES,
    EXPECT_PERCENT
};

/* The kind of a column, which its name tells: request_max_us, lag_bytes_max, stale_percent ... */
enum expect_kind expect_kind_of(const char *column);

/* "30ms" for a column in us: 30,000,000. Times and bytes need a unit, but for 0: `< 30` on a column
 * in us is seldom what was meant. False with a message: no number, no unit or an unknown one, or
 * finer than a thousandth of the column's unit. */
bool expect_value_parse(const char *text, enum expect_kind, int64_t *thousandths, char *message,
                        size_t size);

/* How figure / scale compares with thousandths / 1000: below 0, 0 or above. */
int expect_value_compare(int64_t figure, int64_t scale, int64_t thousandths);

/* The figure as printed: "5812 ms", "59.934 %". `scale` is 1, or 1000 when it is in thousandths. */
void expect_value_print(int64_t figure, int64_t scale, enum expect_kind, char *buffer, size_t size);

#endif
