/* normal: standard normal numbers by a table of quantiles, so that a draw is the same on every
 * machine. Values are in millionths. The table has 24 halvings of the tail's probability, each in
 * 16 equal steps, and is read by linear interpolation: off by less than 0.0003 anywhere. Beyond one
 * chance in 2^25 on either side (5.42 sigma) the last value stands. */
#ifndef LAPSE_SIM_NORMAL_H
#define LAPSE_SIM_NORMAL_H

#include "rng.h"

#define NORMAL_ONE INT64_C(1000000)

/* z such that a standard normal number is below it with probability u / 2^64. */
int64_t normal_quantile(uint64_t u);

int64_t normal_draw(struct rng *);

#endif
