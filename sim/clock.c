#include "clock.h"

/* The gain is elapsed * drift / 10^9, floored. Of elapsed = s seconds and r ns, the seconds give
 * s * drift without a rest, so floor(s * drift + r * drift / 10^9) needs no more than 64 bits:
 * s * drift <= 9.3 * 10^9 * 10^8, r * drift < 10^9 * 10^8. */
static ns_t clock_gain_ns(const struct clock *clock, ns_t elapsed_ns) {
    int64_t seconds = elapsed_ns / NS_PER_S, rest_ns = elapsed_ns % NS_PER_S;
    return seconds * clock->drift_ppb + floor_div(rest_ns * clock->drift_ppb, NS_PER_S);
}

us_t clock_elapsed_us(const struct clock *clock, ns_t elapsed_ns) {
    ASSERT(elapsed_ns >= 0);
    if (clock->drift_ppb == 0) return elapsed_ns / NS_PER_US;
    return (elapsed_ns + clock_gain_ns(clock, elapsed_ns)) / NS_PER_US;
}

us_t clock_wall_us(const struct clock *clock, us_t start_us, ns_t elapsed_ns) {
    return start_us + clock->offset_us + clock_elapsed_us(clock, elapsed_ns);
}

void clock_step(struct clock *clock, us_t step_us) {
    int64_t sum;
    if (__builtin_add_overflow(clock->offset_us, step_us, &sum))
        sum = step_us < 0 ? INT64_MIN : INT64_MAX;
    if (sum > CLOCK_OFFSET_MAX_US) sum = CLOCK_OFFSET_MAX_US;
    if (sum < -CLOCK_OFFSET_MAX_US) sum = -CLOCK_OFFSET_MAX_US;
    clock->offset_us = sum;
}
