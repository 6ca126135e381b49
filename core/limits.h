/* limits: every maximum of the engine in one place, with its reason. */
#ifndef LAPSE_CORE_LIMITS_H
#define LAPSE_CORE_LIMITS_H

#define DATABASES_MAX                                                                              \
    16               /* the server's default; `databases` in redis.conf beyond that is refused */
#define HZ_MIN     1 /* 7.0 config.c clamps hz to this range */
#define HZ_MAX     500
#define EFFORT_MIN 1 /* active-expire-effort */
#define EFFORT_MAX 10
#define CLIENTS_PER_HZ_MAX                                                                         \
    200 /* dynamic-hz doubles hz while clients / hz exceeds this (7.0 serverCron) */
#define KEY_ID_MAX UINT32_C(0xfffffffe) /* links are 32-bit ids; 0 ends a chain */
#define KEY_LENGTH_MAX                                                                             \
    65535 /* the registry keeps lengths in 16 bits; longer keys are unheard of in practice */
#define VALUE_LENGTH_MAX  (UINT32_C(512) << 20) /* the server's proto-max-bulk-len */
#define ARGC_MAX          1024                  /* longest command a scenario may send */
#define DICT_EXPONENT_MAX 32                    /* bucket indexes come from a 32-bit hash */
#define DICT_SIZE_INITIAL 4                     /* 7.0 dict.h: the first table has four buckets */

#endif
