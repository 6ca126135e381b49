/* output_limits: the directive client-output-buffer-limit, whose value is a list: class, hard limit
 * in bytes, soft limit in bytes, seconds above the soft one; 0 is none (7.0 config.c). Only the
 * replicas' limits do anything here (repl_limit.c); those of the other classes are kept for who
 * asks for them. */
#ifndef LAPSE_CORE_OUTPUT_LIMITS_H
#define LAPSE_CORE_OUTPUT_LIMITS_H

#include "base.h"
#include "texts.h"

enum output_class { OUTPUT_NORMAL, OUTPUT_REPLICA, OUTPUT_PUBSUB, OUTPUT_CLASSES };

struct output_limits {
    struct output_limit {
        uint64_t hard_bytes, soft_bytes;
        int64_t soft_s;
    } of[OUTPUT_CLASSES];
};

/* Changes the classes that the value names. NULL, or what is wrong, as CONFIG SET words it; then
 * some may have been changed. */
const char *output_limits_read(struct output_limits *, const char *value);

/* All three, as CONFIG GET shows them. */
text_id output_limits_print(const struct output_limits *, struct texts *);

#endif
