/* units: numbers as people write them: 50ms, 1.5s, 1GiB, 100mbit/s, 5k/s, 1_000_000. Read by
 * integers alone, exact or refused, whatever the locale. Each kind has a base unit in which the
 * value is returned: ns, bytes, bits/s, requests per 1000 s, thousandths of a percent, one. */
#ifndef LAPSE_SIM_UNITS_H
#define LAPSE_SIM_UNITS_H

#include "complain.h"

enum unit_kind {
    UNIT_COUNT,
    UNIT_DURATION,
    UNIT_SIZE,
    UNIT_BANDWIDTH,
    UNIT_RATE,
    UNIT_PERCENT,
    UNIT_DRIFT,  /* of a clock, in ppb */
    UNIT_MEMORY, /* redis.conf's: 1k = 1000, 1kb = 1024, any case, no unit is bytes */
    UNIT_KINDS
};

/* False with what was wrong and expected (no place) in the phrase. A sign is read; whether it may
 * stand is for the caller's range. */
bool units_parse(enum unit_kind, const char *text, size_t length, int64_t *value, struct phrase *);

/* "a duration such as 50ms or 2min (ns, us, ms, s, min, h, d)" */
const char *units_expected(enum unit_kind);

/* Writes a value in the largest unit that keeps it whole: 60,000,000,000 is "1min". */
void units_print(enum unit_kind, int64_t value, char *buffer, size_t size);

/* Unix time in us of 2026-01-01T00:00:00, fraction optional; with a Z at the end or without, as
 * `zone` says. Proleptic Gregorian, years 1970 to 9999. */
bool units_parse_time(const char *text, size_t length, bool zone, us_t *wall_us);

/* What `units_parse_time` reads, from unix time: for messages and the reference scenario. */
void units_print_time(us_t wall_us, char *buffer, size_t size);

#endif
