/* redis_conf: directives of redis.conf that the engine has (DIRECTIVE_LIST), by name and value as
 * they are written there, and a reader of whole files that lists what it ignored. Values out of
 * range are refused, never clamped. */
#ifndef LAPSE_SIM_REDIS_CONF_H
#define LAPSE_SIM_REDIS_CONF_H

#include "complain.h"
#include "units.h"

enum directive_kind { DIRECTIVE_BOOL, DIRECTIVE_INT, DIRECTIVE_BYTES, DIRECTIVE_LIMIT };

/* LIMIT: client-output-buffer-limit, whose values are groups of class, hard limit, soft limit and
 * seconds. Those of class replica (or slave) go into obuf_*, 0 meaning none; normal and pubsub are
 * checked and ignored. As the server has it, the default stays for a class not named. */
#define REDIS_CONF_LIMIT_EXAMPLE "replica 256mb 64mb 60"

struct directive {
    const char *name;
    enum directive_kind kind;
    size_t offset; /* of an int64_t in struct engine_config; not of a LIMIT */
    int64_t initial;
    int64_t low, high;
    const char *help;
};

const struct directive *redis_conf_at(size_t index); /* or NULL past the last */

/* By name, any case; NULL when the engine has no such directive. */
const struct directive *redis_conf_find(const char *name, size_t length);

/* Names of directives that a file held and the engine has not, each once, in file order. */
struct redis_conf_ignored {
    char **names;
    uint32_t count, capacity;
};

/* False with what was wrong and expected in the phrase. Classes of a LIMIT that are not modelled
 * are added to `ignored`. */
bool redis_conf_set(struct engine_config *, const struct directive *, const char *value,
                    size_t length, struct redis_conf_ignored *, struct phrase *);

/* What a value must be: "yes or no", "a whole number such as 10, 1 to 500". */
void redis_conf_expected(const struct directive *, struct phrase *);

/* Later lines win, as in the server. False with FILE:LINE:COLUMN in the message. The caller
 * releases `ignored` in any case. */
bool redis_conf_parse(const char *bytes, size_t length, const char *path, struct engine_config *,
                      struct redis_conf_ignored *, struct scenario_error *);
void redis_conf_release(struct redis_conf_ignored *);

#endif
