#include "expect_value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"

#define DIGITS_MAX 18 /* so that the digits fit 63 bits */

__extension__ typedef __int128 wide_t; /* digits times a unit: 63 + 64 bits at most */

struct unit {
    const char *name;
    int64_t size; /* in the smallest unit of its dimension: ns, byte, one */
};

static const struct unit time_units[] = {
    {"ns", 1},       {"us", NS_PER_US},      {"ms", NS_PER_MS},
    {"s", NS_PER_S}, {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
    {NULL, 0}};
static const struct unit byte_units[] = {
    {"B", 1},           {"kB", 1000},        {"KiB", 1024}, {"MB", 1000000}, {"MiB", 1024 << 10},
    {"GB", 1000000000}, {"GiB", 1024 << 20}, {NULL, 0}};
static const struct unit percent_units[] = {{"%", 1}, {NULL, 0}};
static const struct unit count_units[] = {
    {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

/* By enum expect_kind. */
static const struct kind {
    const char *name; /* as printed after a figure */
    int64_t size;     /* of the column's own unit */
    const struct unit *units;
} kinds[] = {{"", 1, count_units},          {"ms", NS_PER_MS, time_units},
             {"us", NS_PER_US, time_units}, {"s", NS_PER_S, time_units},
             {"bytes", 1, byte_units},      {"%", 1, percent_units}};

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

enum expect_kind expect_kind_of(const char *column) {
    if (strstr(column, "percent")) return EXPECT_PERCENT;
    if (strstr(column, "bytes")) return EXPECT_BYTES;
    if (ends_with(column, "_ms")) return EXPECT_MS;
    if (ends_with(column, "_us")) return EXPECT_US;
    if (ends_with(column, "_seconds")) return EXPECT_SECONDS;
    return EXPECT_COUNT;
}

struct number {
    int64_t digits;
    int64_t denominator; /* 10 to the number of decimals */
};

/* Reads "1_000.5"; returns what follows it, or NULL if there is no number or it is too long. */
static const char *number_parse(const char *text, struct number *number) {
    int digits = 0;
    bool negative = *text == '-', point = false;
    *number = (struct number){.denominator = 1};
    for (text += negative; isdigit((unsigned char)*text) || *text == '_' || *text == '.'; text++) {
        if (*text == '_') continue;
        if (*text == '.') {
            if (point) return NULL;
            point = true;
            continue;
        }
        if (++digits > DIGITS_MAX) return NULL;
        number->digits = number->digits * 10 + (*text - '0');
        if (point) number->denominator *= 10;
    }
    if (negative) number->digits = -number->digits;
    return digits ? text : NULL;
}

static bool unit_parse(const char *text, const struct kind *kind, int64_t *size, char *message,
                       size_t message_size) {
    const char *names[16] = {0};
    char list[64] = "";
    *size = kind->size;
    if (!*text || strcmp(text, kind->name) == 0) return true;
    for (size_t i = 0; kind->units[i].name; i++) {
        *size = kind->units[i].size;
        if (strcmp(text, kind->units[i].name) == 0) return true;
        names[i] = kind->units[i].name;
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_word(text, names);
    snprintf(message, message_size, "unknown unit '%s'; expected one of %s%s%s%s", text, list,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

static bool needs_unit(enum expect_kind kind) {
    return kind == EXPECT_MS || kind == EXPECT_US || kind == EXPECT_BYTES;
}

/* "expected a unit, such as 30ms, not '30'" */
static bool refuse_bare(const char *text, enum expect_kind kind, char *message, size_t size) {
    const char *first = kind == EXPECT_BYTES ? "B" : kinds[kind].name;
    snprintf(message, size, "expected a unit, such as %s%s or 10%s, not '%s'", text, first,
             kind == EXPECT_BYTES ? "MiB" : "s", text);
    return false;
}

bool expect_value_parse(const char *text, enum expect_kind kind, int64_t *thousandths,
                        char *message, size_t size) {
    struct number number;
    int64_t unit;
    const char *rest = number_parse(text, &number);
    if (!rest) {
        snprintf(message, size, "expected a number of at most %d digits, not '%s'", DIGITS_MAX,
                 text);
        return false;
    }
    while (*rest == ' ') rest++;
    if (!*rest && number.digits && needs_unit(kind)) return refuse_bare(text, kind, message, size);
    if (!unit_parse(rest, &kinds[kind], &unit, message, size)) return false;
    wide_t numerator = (wide_t)number.digits * unit * 1000;
    wide_t denominator = (wide_t)number.denominator * kinds[kind].size;
    wide_t value = numerator / denominator;
    bool fits = value <= INT64_MAX && value >= -INT64_MAX;
    if (fits && numerator % denominator == 0) {
        *thousandths = (int64_t)value;
        return true;
    }
    snprintf(message, size, fits ? "'%s' is finer than a thousandth of %s" : "'%s' is too large%s",
             text, fits ? *kinds[kind].name ? kinds[kind].name : "one" : "");
    return false;
}

/* Without a multiplication, which could overflow. */
int expect_value_compare(int64_t figure, int64_t scale, int64_t thousandths) {
    int64_t per = 1000 / scale;
    int64_t whole = floor_div(thousandths, per), rest = thousandths - whole * per;
    if (figure != whole) return figure < whole ? -1 : 1;
    return rest > 0 ? -1 : 0;
}

void expect_value_print(int64_t figure, int64_t scale, enum expect_kind kind, char *buffer,
                        size_t size) {
    const char *name = kinds[kind].name, *gap = *name ? " " : "";
    uint64_t magnitude = figure < 0 ? 0 - (uint64_t)figure : (uint64_t)figure;
    const char *sign = figure < 0 ? "-" : "";
    if (scale == 1)
        snprintf(buffer, size, "%s%" PRIu64 "%s%s", sign, magnitude, gap, name);
    else
        snprintf(buffer, size, "%s%" PRIu64 ".%03" PRIu64 "%s%s", sign, magnitude / 1000,
                 magnitude % 1000, gap, name);
}
