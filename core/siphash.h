/* siphash: SipHash-1-2, the keyed hash of the server's dicts since 4.0 (Aumasson and Bernstein,
 * 2012, with one compression and two finalisation rounds). Output is the full 64 bits; a dict masks
 * the low ones. */
#ifndef LAPSE_CORE_SIPHASH_H
#define LAPSE_CORE_SIPHASH_H

#include "base.h"

#define SIPHASH_SEED_BYTES 16

uint64_t siphash12(const uint8_t seed[SIPHASH_SEED_BYTES], const void *data, size_t length);

#endif
