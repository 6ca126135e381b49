/* generation: one const row per server generation. Where two generations differ by a number the row
 * holds the number, where they differ in what is done it holds a function named for its deed.
 * Adding one is a row, perhaps a function, and tests. */
#ifndef LAPSE_CORE_GENERATION_H
#define LAPSE_CORE_GENERATION_H

#include "backlog.h"
#include "base.h"
#include "db.h"
#include "dict.h"
#include "expire.h"
#include "propagate.h"
#include "snapshot.h"

/* What a generation's command table knows, as bits: a command or an option names the one it needs.
 */
enum feature {
    FEATURE_ALWAYS = 0,
    FEATURE_GETEX = 1 << 0,        /* GETEX, GETDEL, SET EXAT/PXAT/GET (6.2) */
    FEATURE_KEEPTTL = 1 << 1,      /* SET KEEPTTL (6.0) */
    FEATURE_EXPIRE_FLAGS = 1 << 2, /* EXPIRE NX/XX/GT/LT, EXPIRETIME, PEXPIRETIME (7.0) */
    FEATURE_EFFORT = 1 << 3,       /* CONFIG active-expire-effort (6.0) */
    FEATURE_DYNAMIC_HZ = 1 << 4,   /* CONFIG dynamic-hz, and what it does (5.0) */
    FEATURE_QUOTED_ERRORS = 1 << 5 /* invalid expire time in 'set' command (7.0), else: in set */
};

struct generation {
    const char *name;    /* "redis-7.0" */
    const char *version; /* the release whose behaviour it is: "7.0.15" */
    const char *about;
    struct dict_policy dict;
    struct lazy_policy lazy;
    struct stream_policy stream;
    struct backlog_policy backlog;
    struct persist_policy persist;
    struct expire_policy expire;
    unsigned features; /* bits of enum feature */
};

const struct generation *generation_find(const char *name); /* or NULL */
const struct generation *generation_at(size_t index);       /* or NULL past the last */

#endif
