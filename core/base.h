/* base: units, instants and assertions that every file of lapse shares.
 * Time is integer everywhere: ns_t for the monotonic clock and for what a link or a turn takes,
 * us_t and ms_t for wall-clock readings as the server makes them (gettimeofday, then floor to ms).
 * ASSERT states what only a bug of ours can break. It stays on in every build and never guards user
 * input. */
#ifndef LAPSE_CORE_BASE_H
#define LAPSE_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ns_t; /* nanoseconds */
typedef int64_t us_t; /* microseconds */
typedef int64_t ms_t; /* milliseconds */

#define NS_PER_US     INT64_C(1000)
#define NS_PER_MS     INT64_C(1000000)
#define NS_PER_S      INT64_C(1000000000)
#define US_PER_MS     INT64_C(1000)
#define PS_PER_NS     UINT64_C(1000)
#define PS_PER_US     UINT64_C(1000000)
#define BYTES_PER_KIB UINT64_C(1024)
#define BYTES_PER_MIB (UINT64_C(1) << 20)

/* One moment as one server sees it: mono_ns never jumps, wall_us (since 1970) may be offset, drift
 * or be stepped. */
struct instant {
    ns_t mono_ns;
    us_t wall_us;
};

/* Called when an ASSERT fails. The program that links core defines it: it reports the seed and the
 * event number and ends the process (exit code 3). Core itself can neither print nor exit. */
_Noreturn void assert_failed(const char *expression, const char *file, int line);

#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))

/* Floor division for a positive divisor; C truncates towards zero, which would bend times before
 * the epoch. */
static inline int64_t floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - (a % b != 0 && a < 0);
}

/* a / b, rounded up. a + b stays below 2^64. */
static inline uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* The largest n with 2^n <= x; x > 0. */
static inline uint32_t log2_floor(uint64_t x) { return 63 - (uint32_t)__builtin_clzll(x); }

/* Sums that wrap as they do in the server's build: two deadlines near the end of int64 are enough.
 */
static inline int64_t wrapping_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t wrapping_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline ms_t wall_ms_of(us_t wall_us) { return floor_div(wall_us, US_PER_MS); }

/* Asks for the cache line of an address that is looked at a little later. The empty assembly counts
 * as an effect: without one gcc deletes the calls of a function that does nothing but prefetch. */
static inline void prefetch(const void *address) {
    __builtin_prefetch(address);
    __asm__ volatile("" : : "r"(address));
}

/* Decimal digits of n as RESP writes it, a minus sign included. */
static inline uint32_t decimal_length(int64_t n) {
    uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    uint32_t length = n < 0 ? 2 : 1;
    while (magnitude >= 10) magnitude /= 10, length++;
    return length;
}

#endif
