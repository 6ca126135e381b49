/* bounds: every maximum of the engine in one place, with its reason. (Not called limits.h, so that
 * the C library's header of that name stays in reach.) */
#ifndef LAPSE_CORE_BOUNDS_H
#define LAPSE_CORE_BOUNDS_H

/* The server's default; `databases` in redis.conf beyond that is refused. */
#define DATABASES_MAX 16

/* 7.0 config.c clamps hz to this range. */
#define HZ_MIN 1
#define HZ_MAX 500

/* active-expire-effort. */
#define EFFORT_MIN 1
#define EFFORT_MAX 10

/* dynamic-hz doubles hz while clients / hz exceeds this (7.0 serverCron). */
#define CLIENTS_PER_HZ_MAX 200

/* Links are 32-bit ids; 0 ends a chain. */
#define KEY_ID_MAX UINT32_C(0xfffffffe)

/* The registry keeps lengths in 16 bits; longer keys are unheard of in practice. */
#define KEY_LENGTH_MAX 65535

/* The server's proto-max-bulk-len. */
#define VALUE_LENGTH_MAX (UINT32_C(512) << 20)

/* The longest command a scenario may send. */
#define ARGC_MAX 1024

/* Bucket indexes come from a 32-bit hash. */
#define DICT_EXPONENT_MAX 32

/* 7.0 dict.h: the first table has four buckets. */
#define DICT_SIZE_INITIAL 4

#endif
