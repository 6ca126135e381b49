/* Wall-clock times in UTC, by the proleptic Gregorian calendar and integers alone: the C library's
 * functions would ask for a zone and a locale. */
#include <string.h>

#include "units.h"

/* Days since 1970-01-01. Years begin in March here, so that the leap day is the last one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = floor_div(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int64_t month_days(int64_t year, int64_t month) {
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* `count` digits at text, or -1. */
static int64_t digits_at(const char *text, size_t count) {
    int64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

static bool fraction_us(const char *text, size_t length, int64_t *us) {
    *us = 0;
    if (length == 0) return true;
    if (text[0] != '.' || length < 2 || length > 7) return false;
    int64_t number = digits_at(text + 1, length - 1);
    if (number < 0) return false;
    for (size_t i = length - 1; i < 6; i++) number *= 10;
    *us = number;
    return true;
}

bool units_parse_time(const char *text, size_t length, bool zone, us_t *wall_us) {
    if (zone) {
        if (length == 0 || text[length - 1] != 'Z') return false;
        length--;
    }
    if (length < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
        text[16] != ':')
        return false;
    int64_t year = digits_at(text, 4), month = digits_at(text + 5, 2), day = digits_at(text + 8, 2);
    int64_t hour = digits_at(text + 11, 2), minute = digits_at(text + 14, 2),
            second = digits_at(text + 17, 2), us;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    if (!fraction_us(text + 19, length - 19, &us)) return false;
    *wall_us = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * INT64_C(60000000) +
               second * INT64_C(1000000) + us;
    return true;
}

void units_print_time(us_t wall_us, char *buffer, size_t size) {
    int64_t days = floor_div(wall_us, INT64_C(86400000000));
    int64_t us = wall_us - days * INT64_C(86400000000), seconds = us / 1000000;
    int64_t year = 1970, month = 1;
    while (days >= 365 + is_leap(year)) days -= 365 + is_leap(year), year++;
    while (days >= month_days(year, month)) days -= month_days(year, month), month++;
    int wrote = snprintf(buffer, size, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, (int)month,
                         (int)days + 1, (int)(seconds / 3600), (int)(seconds / 60 % 60),
                         (int)(seconds % 60));
    if (us % 1000000 && wrote > 0 && (size_t)wrote < size)
        wrote += snprintf(buffer + wrote, size - (size_t)wrote, ".%06d", (int)(us % 1000000));
    if (wrote > 0 && (size_t)wrote < size) snprintf(buffer + wrote, size - (size_t)wrote, "Z");
}
