/* clock: the wall clock of one server, apart from the monotonic clock of the run. At the start it
 * is off by an offset; from then on it gains (or loses) a fixed number of ns in each second, its
 * drift; and a step, as an administrator or ntpd makes one, moves it at once. The monotonic clock
 * has none of these: timers, poll timeouts and what a turn takes go by it alone (facts 0.1), while
 * deadlines go by the wall. Integers alone, exact to the ns before the floor to us; nothing
 * overflows within a hundred years of a run. A value: whoever has it owns it. */
#ifndef LAPSE_SIM_CLOCK_H
#define LAPSE_SIM_CLOCK_H

#include "base.h"

/* Bounds that keep every sum inside 64 bits. A hundred years are 3.2 * 10^18 ns; a tenth more by
 * drift is 3.5 * 10^18, of 9.2 * 10^18. Offsets are in us and may be far larger. */
#define CLOCK_DRIFT_MAX_PPB INT64_C(100000000) /* a tenth: 100,000 ppm; a bad crystal has 200 */
#define CLOCK_OFFSET_MAX_US INT64_C(1000000000000000000) /* 31,700 years */

struct clock {
    us_t offset_us;    /* wall minus the run's, drift apart; steps are added to it */
    int64_t drift_ppb; /* ns gained in each second: 20 ppm is 20,000 */
};

/* How long the clock says that it is since the start, after elapsed_ns >= 0 of the run:
 * floor(elapsed_ns * (1 + drift / 10^9) / 1000). Never falls while elapsed_ns rises. */
us_t clock_elapsed_us(const struct clock *, ns_t elapsed_ns);

/* Its wall time when the run began at start_us. */
us_t clock_wall_us(const struct clock *, us_t start_us, ns_t elapsed_ns);

/* Moves it; the sum of all steps stays within the bound (a step beyond ends at it). */
void clock_step(struct clock *, us_t step_us);

#endif
