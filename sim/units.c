#include "units.h"

#include <inttypes.h>
#include <string.h>

#include "nearest.h"

__extension__ typedef unsigned __int128 wide_t;

struct unit {
    const char *name;
    uint64_t scale, divisor; /* value = number * scale / divisor */
};

#define UNITS_MAX 16

/* Names in ascending order; the one with `plain` set is what a number without a unit likely meant.
 */
struct unit_row {
    const char *expected;
    const char *base;  /* what a value is a whole number of */
    const char *plain; /* suggested for a bare number */
    bool bare;         /* a number needs no unit */
    struct unit units[UNITS_MAX];
};

#define KI UINT64_C(1024)

static const struct unit_row rows[UNIT_KINDS] = {
    [UNIT_COUNT] = {"a whole number such as 1_000_000", "1", "", true, {{"", 1, 1}}},
    [UNIT_DURATION] = {"a duration such as 50ms, 30s or 2min (ns, us, ms, s, min, h, d)",
                       "1ns",
                       "s",
                       false,
                       {{"ns", 1, 1},
                        {"us", 1000, 1},
                        {"ms", 1000000, 1},
                        {"s", 1000000000, 1},
                        {"min", UINT64_C(60000000000), 1},
                        {"h", UINT64_C(3600000000000), 1},
                        {"d", UINT64_C(86400000000000), 1}}},
    [UNIT_SIZE] = {"a size such as 32B, 64KiB or 1GiB (B, KB, KiB, MB, MiB, GB, GiB)",
                   "1B",
                   "B",
                   false,
                   {{"B", 1, 1},
                    {"KB", 1000, 1},
                    {"KiB", KI, 1},
                    {"MB", 1000000, 1},
                    {"MiB", KI *KI, 1},
                    {"GB", 1000000000, 1},
                    {"GiB", KI *KI *KI, 1}}},
    [UNIT_BANDWIDTH] = {"a bandwidth such as 100mbit/s or 1gbit/s (bit/s, kbit/s, mbit/s, gbit/s, "
                        "B/s, KB/s, KiB/s, MB/s, MiB/s, GB/s, GiB/s)",
                        "1bit/s",
                        "mbit/s",
                        false,
                        {{"bit/s", 1, 1},
                         {"B/s", 8, 1},
                         {"kbit/s", 1000, 1},
                         {"KB/s", 8000, 1},
                         {"KiB/s", 8 * KI, 1},
                         {"mbit/s", 1000000, 1},
                         {"MB/s", 8000000, 1},
                         {"MiB/s", 8 * KI *KI, 1},
                         {"gbit/s", 1000000000, 1},
                         {"GB/s", UINT64_C(8000000000), 1},
                         {"GiB/s", 8 * KI *KI *KI, 1}}},
    [UNIT_RATE] = {"a rate such as 1000/s, 5k/s or 30/min (/s, k/s, M/s, /min, /h)",
                   "one request per 1000 h",
                   "/s",
                   false,
                   {{"/h", 1000, 1},
                    {"/min", 60000, 1},
                    {"/s", 3600000, 1},
                    {"k/s", UINT64_C(3600000000), 1},
                    {"M/s", UINT64_C(3600000000000), 1}}},
    [UNIT_PERCENT] = {"a percentage such as 25%", "0.001%", "%", false, {{"%", 1000, 1}}},
    [UNIT_DRIFT] = {"a drift such as 20ppm or -500ppb (ppb, ppm)",
                    "1ppb",
                    "ppm",
                    false,
                    {{"ppb", 1, 1}, {"ppm", 1000, 1}}},
    [UNIT_MEMORY] =
        {"a size as in redis.conf such as 1048576, 64kb or 1mb (b, k, kb, m, mb, g, gb)",
         "1b",
         "",
         true,
         {{"b", 1, 1},
          {"k", 1000, 1},
          {"kb", KI, 1},
          {"m", 1000000, 1},
          {"mb", KI *KI, 1},
          {"g", 1000000000, 1},
          {"gb", KI *KI *KI, 1}}},
};

/* What people write for a unit that edit distance would not find. */
static const struct {
    enum unit_kind kind;
    const char *written, *meant;
} aliases[] = {
    {UNIT_DURATION, "m", "min"},
    {UNIT_DURATION, "sec", "s"},
    {UNIT_DURATION, "secs", "s"},
    {UNIT_DURATION, "second", "s"},
    {UNIT_DURATION, "seconds", "s"},
    {UNIT_DURATION, "minute", "min"},
    {UNIT_DURATION, "minutes", "min"},
    {UNIT_DURATION, "hour", "h"},
    {UNIT_DURATION, "hours", "h"},
    {UNIT_DURATION, "day", "d"},
    {UNIT_DURATION, "days", "d"},
    {UNIT_DURATION, "msec", "ms"},
    {UNIT_DURATION, "millis", "ms"},
    {UNIT_DURATION, "usec", "us"},
    {UNIT_SIZE, "bytes", "B"},
    {UNIT_SIZE, "k", "KiB"},
    {UNIT_SIZE, "K", "KiB"},
    {UNIT_SIZE, "m", "MiB"},
    {UNIT_SIZE, "M", "MiB"},
    {UNIT_SIZE, "g", "GiB"},
    {UNIT_SIZE, "G", "GiB"},
    {UNIT_BANDWIDTH, "bps", "bit/s"},
    {UNIT_BANDWIDTH, "kbps", "kbit/s"},
    {UNIT_BANDWIDTH, "mbps", "mbit/s"},
    {UNIT_BANDWIDTH, "Mbps", "mbit/s"},
    {UNIT_BANDWIDTH, "gbps", "gbit/s"},
    {UNIT_BANDWIDTH, "Gbps", "gbit/s"},
    {UNIT_BANDWIDTH, "gbit", "gbit/s"},
    {UNIT_BANDWIDTH, "mbit", "mbit/s"},
    {UNIT_RATE, "rps", "/s"},
    {UNIT_RATE, "hz", "/s"},
    {UNIT_RATE, "Hz", "/s"},
    {UNIT_RATE, "k", "k/s"},
    {UNIT_RATE, "/sec", "/s"},
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A decimal number taken apart: value is mantissa / 10^decimals. */
struct decimal {
    bool negative;
    uint64_t mantissa;
    uint32_t decimals;
    size_t length;      /* bytes read, the sign included; 0: no number */
    size_t text_length; /* the same, for the suggestion */
    bool overflow;
};

static void decimal_digit(struct decimal *d, char c, bool fraction) {
    if (fraction && ++d->decimals > 18) d->overflow = true;
    d->overflow |= __builtin_mul_overflow(d->mantissa, 10, &d->mantissa);
    d->overflow |= __builtin_add_overflow(d->mantissa, (uint64_t)(c - '0'), &d->mantissa);
}

/* [+-] digits, with _ between two of them, and a fraction. */
static struct decimal decimal_read(const char *text, size_t length) {
    struct decimal d = {0};
    size_t i = 0;
    if (i < length && (text[i] == '-' || text[i] == '+')) d.negative = text[i++] == '-';
    if (i == length || !is_digit(text[i])) return d;
    bool fraction = false;
    for (; i < length; i++) {
        bool between = i > 0 && i + 1 < length && is_digit(text[i - 1]) && is_digit(text[i + 1]);
        if (is_digit(text[i]))
            decimal_digit(&d, text[i], fraction);
        else if (text[i] == '.' && !fraction && i + 1 < length && is_digit(text[i + 1]))
            fraction = true;
        else if (text[i] != '_' || !between)
            break;
    }
    d.length = i;
    return d;
}

static bool same_unit(enum unit_kind kind, const char *name, const char *text, size_t length) {
    if (strlen(name) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (kind == UNIT_MEMORY && c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (c != name[i]) return false;
    }
    return true;
}

static const struct unit *unit_find(enum unit_kind kind, const char *text, size_t length) {
    static const struct unit one = {"", 1, 1};
    if (length == 0 && rows[kind].bare) return &one;
    for (const struct unit *unit = rows[kind].units; unit->name; unit++)
        if (same_unit(kind, unit->name, text, length)) return unit;
    return NULL;
}

static const char *unit_meant(enum unit_kind kind, const char *text, size_t length) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].kind == kind && same_unit(kind, aliases[i].written, text, length))
            return aliases[i].meant;
    const char *known[UNITS_MAX + 1] = {0};
    for (size_t i = 0; rows[kind].units[i].name; i++) known[i] = rows[kind].units[i].name;
    const char *meant = nearest_of(text, length, known);
    /* Units are so short that a guess must begin with the same letter, whatever its case. */
    return meant && (meant[0] | 32) == (text[0] | 32) ? meant : NULL;
}

static bool unit_unknown(enum unit_kind kind, const char *text, size_t length, size_t digits,
                         struct phrase *phrase) {
    const char *unit = text + digits, *meant;
    size_t unit_length = length - digits;
    if (unit_length == 0) {
        phrase_add(phrase, "%s has no unit", quote(text, length).text);
        meant = rows[kind].plain;
    } else {
        phrase_add(phrase, "%s has the unknown unit %s", quote(text, length).text,
                   quote(unit, unit_length).text);
        meant = unit_meant(kind, unit, unit_length);
    }
    phrase_add(phrase, "; expected %s", rows[kind].expected);
    if (meant && digits < 40)
        phrase_add(phrase, "; did you mean '%.*s%s'?", (int)digits, text, meant);
    return false;
}

bool units_parse(enum unit_kind kind, const char *text, size_t length, int64_t *value,
                 struct phrase *phrase) {
    struct decimal d = decimal_read(text, length);
    const char *expected = rows[kind].expected;
    if (d.length == 0) {
        phrase_add(phrase, "%s is not a number; expected %s", quote(text, length).text, expected);
        return false;
    }
    size_t unit_at = d.length;
    while (unit_at < length && text[unit_at] == ' ') unit_at++;
    const struct unit *unit = unit_find(kind, text + unit_at, length - unit_at);
    *value = 0;
    if (unit_at == length && d.mantissa == 0 && !d.overflow) return true; /* 0 is 0 in any unit */
    if (!unit) return unit_unknown(kind, text, length, unit_at, phrase);
    wide_t divisor = unit->divisor, product = (wide_t)d.mantissa * unit->scale;
    for (uint32_t i = 0; i < d.decimals && !d.overflow; i++) divisor *= 10;
    if (d.overflow || product / divisor > INT64_MAX) {
        phrase_add(phrase, "%s is too large; expected %s", quote(text, length).text, expected);
        return false;
    }
    if (product % divisor != 0) {
        phrase_add(phrase, "%s is finer than %s; expected %s", quote(text, length).text,
                   rows[kind].base, expected);
        return false;
    }
    *value = (int64_t)(product / divisor) * (d.negative ? -1 : 1);
    return true;
}

const char *units_expected(enum unit_kind kind) { return rows[kind].expected; }

void units_print(enum unit_kind kind, int64_t value, char *buffer, size_t size) {
    const struct unit *best = NULL;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    for (const struct unit *unit = rows[kind].units; unit->name; unit++)
        if (unit->divisor == 1 && magnitude % unit->scale == 0) best = unit;
    if (magnitude == 0) best = &rows[kind].units[0];
    if (!best) { /* a rate finer than its smallest unit */
        snprintf(buffer, size, "%" PRId64 " / 1000 h", value);
        return;
    }
    snprintf(buffer, size, "%s%" PRIu64 "%s", value < 0 ? "-" : "", magnitude / best->scale,
             best->name);
}
