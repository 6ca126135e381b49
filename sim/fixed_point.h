/* fixed_point: ln and exp in integers, so that a draw is the same on every machine and compiler.
 * Numbers are Q56: 56 bits after the point in 64, so less than 256. Errors are below 2^-48, far
 * less than any run of a simulation could show. */
#ifndef LAPSE_SIM_FIXED_POINT_H
#define LAPSE_SIM_FIXED_POINT_H

#include "base.h"

#define FIXED_BITS 56
#define FIXED_ONE  (UINT64_C(1) << FIXED_BITS)

/* ln(2^64) in Q56: what fixed_ln would return for 2^64. */
#define FIXED_LN_2_64 UINT64_C(3196577161300663915)

uint64_t fixed_multiply(uint64_t a, uint64_t b);

/* numerator / denominator for a ratio of at most one; denominator > 0. */
uint64_t fixed_ratio(uint64_t numerator, uint64_t denominator);

/* A whole number times a Q56 factor, rounded down to a whole number; UINT64_MAX when it is more. */
uint64_t fixed_scale(uint64_t whole, uint64_t factor);

/* Natural logarithm of a whole number x > 0. */
uint64_t fixed_ln(uint64_t x);

/* exp(-y) for any Q56 y. */
uint64_t fixed_exp_negative(uint64_t y);

/* A whole number times exp(y), rounded down to a whole number; UINT64_MAX when it is more. */
uint64_t fixed_scale_exp(uint64_t whole, uint64_t y);

#endif
