#include <string.h>

#include "command.h"
#include "repl.h"

/* CONFIG GET and SET over the directives that the engine has (7.0 config.c). SET takes any number
 * of pairs and does all or nothing: first every name is checked, then every value, then what hangs
 * on the values is brought up to date. Error texts are 7.0's in every generation. */

#define BACKLOG_BYTES_MIN   16384 /* a smaller repl-backlog-size is raised to it */
#define SET_FAILED          "ERR CONFIG SET failed (possibly related to argument '"
#define NOT_IN_RANGE(range) "') - argument must be between " range " inclusive"

enum kind { KIND_BOOL, KIND_INT, KIND_BYTES };

enum {
#define X(field, directive, kind, initial) AT_##field,
    DIRECTIVE_LIST(X)
#undef X
        DIRECTIVES,
    AT_limits = DIRECTIVES, /* client-output-buffer-limit: a list, so no field */
    NAMES
};

#define LIMITS "client-output-buffer-limit"

static const struct directive {
    const char *name;
    size_t offset; /* of its field in struct engine_config */
    enum kind kind;
} directives[DIRECTIVES] = {
#define X(field, directive, kind, initial)                                                         \
    [AT_##field] = {directive, offsetof(struct engine_config, field), KIND_##kind},
    DIRECTIVE_LIST(X)
#undef X
};

/* Of the directives that hold a figure; hz is clamped besides. */
static const struct bounds {
    int64_t min, max;
    const char *error;
} bounds[DIRECTIVES] = {
    [AT_hz] = {0, INT32_MAX, NOT_IN_RANGE("0 and 2147483647")},
    [AT_active_expire_effort] = {EFFORT_MIN, EFFORT_MAX, NOT_IN_RANGE("1 and 10")},
    [AT_databases] = {1, INT32_MAX, NOT_IN_RANGE("1 and 2147483647")},
    [AT_repl_backlog_size] = {1, INT64_MAX, NOT_IN_RANGE("1 and 9223372036854775807")},
    [AT_repl_ping_replica_period] = {1, INT32_MAX, NOT_IN_RANGE("1 and 2147483647")},
    [AT_repl_timeout] = {1, INT32_MAX, NOT_IN_RANGE("1 and 2147483647")},
    [AT_repl_backlog_ttl] = {0, INT64_MAX, NOT_IN_RANGE("0 and 9223372036854775807")},
    [AT_repl_diskless_sync_delay] = {0, INT32_MAX, NOT_IN_RANGE("0 and 2147483647")},
    [AT_repl_diskless_sync_max_replicas] = {0, INT32_MAX, NOT_IN_RANGE("0 and 2147483647")},
    [AT_min_replicas_to_write] = {0, INT32_MAX, NOT_IN_RANGE("0 and 2147483647")},
    [AT_min_replicas_max_lag] = {0, INT32_MAX, NOT_IN_RANGE("0 and 2147483647")},
};

static int64_t *field_of(struct engine *engine, int directive) {
    return (int64_t *)(void *)((char *)&engine->config + directives[directive].offset);
}

static bool is_there(const struct call *call, int directive) {
    if (directive == AT_active_expire_effort) return call_has_feature(call, FEATURE_EFFORT);
    return directive != AT_dynamic_hz || call_has_feature(call, FEATURE_DYNAMIC_HZ);
}

static const char *name_of(int directive) {
    return directive == AT_limits ? LIMITS : directives[directive].name;
}

/* The directive that argument `index` names, or NAMES. */
static int directive_named(const struct call *call, uint32_t index) {
    for (int d = 0; d < NAMES; d++)
        if (is_there(call, d) && call_spells(call, index, name_of(d))) return d;
    return NAMES;
}

/* --- GET --- */

static bool same_letter(char pattern, char lower) {
    if (pattern >= 'A' && pattern <= 'Z') pattern = (char)(pattern - 'A' + 'a');
    return pattern == lower || (pattern == '?' && lower != '\0');
}

/* A pattern of letters, * and ?, any case; sets of characters are not modelled. */
static bool matches(const char *pattern, const char *name) {
    const char *star = NULL, *retry = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (same_letter(*pattern, *name)) {
            pattern++, name++;
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static void reply_limits(struct call *call) {
    struct texts *texts = call->engine->env.texts;
    reply_text(call, texts_bytes(texts, output_limits_print(&call->engine->limits, texts)));
}

static void reply_figure(struct call *call, int directive) {
    if (directive == AT_limits) {
        reply_limits(call);
        return;
    }
    int64_t value = *field_of(call->engine, directive);
    if (directives[directive].kind == KIND_BOOL)
        reply_text(call, value ? "yes" : "no");
    else
        reply_number_text(call, (uint64_t)value);
}

/* A name comes back as it was typed, one that a pattern found as it is written (7.0). */
static bool reply_if_asked(struct call *call, int directive) {
    uint32_t length;
    for (uint32_t i = 2; i < call->argc; i++) {
        const char *pattern = call_text(call, i, &length);
        if (!pattern || !matches(pattern, name_of(directive))) continue;
        if (call_spells(call, i, name_of(directive))) {
            struct object typed = object_from_arg(call->engine->env.texts, call->argv[i]);
            reply_value(call, &typed);
        } else {
            reply_text(call, name_of(directive));
        }
        reply_figure(call, directive);
        return true;
    }
    return false;
}

/* The server's own order is that of a hash table; ours is the list's. */
static void config_get(struct call *call) {
    uint32_t start = reply_position(call);
    int64_t found = 0;
    reply_array(call, 0);
    for (int d = 0; d < NAMES; d++)
        if (is_there(call, d)) found += reply_if_asked(call, d);
    reply_set_length(call, start, 2 * found);
}

/* --- SET --- */

struct changes {
    bool has[DIRECTIVES];
    int64_t value[DIRECTIVES];
    bool has_limits;
    struct output_limits limits;
};

/* Replies and returns false at the first name that cannot be set. */
static bool check_names(struct call *call) {
    bool seen[NAMES] = {false};
    for (uint32_t i = 2; i < call->argc; i += 2) {
        int d = directive_named(call, i);
        if (d == NAMES)
            reply_error_typed(call, "ERR Unknown option or number of arguments for CONFIG SET - '",
                              i, "'");
        else if (d == AT_databases)
            reply_error_typed(call, SET_FAILED, i, "') - can't set immutable config");
        else if (seen[d])
            reply_error_typed(call, SET_FAILED, i, "') - duplicate parameter");
        else {
            seen[d] = true;
            continue;
        }
        return false;
    }
    return true;
}

static const char *read_bool(const struct call *call, uint32_t index, int64_t *value) {
    *value = call_spells(call, index, "yes");
    if (*value || call_spells(call, index, "no")) return NULL;
    return "') - argument must be 'yes' or 'no'";
}

static const char *read_int(const struct call *call, uint32_t index, int64_t *value) {
    uint32_t length;
    const struct arg *arg = &call->argv[index];
    const char *bytes = call_text(call, index, &length);
    if (arg->kind == ARG_NUMBER) *value = arg->number;
    if (arg->kind == ARG_NUMBER || (bytes && text_to_number(bytes, length, value))) return NULL;
    return "') - argument couldn't be parsed into an integer";
}

/* The factor of a unit that follows the digits, 0 for one that is none. */
static uint64_t unit_bytes(const char *unit) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1},           {"b", 1},       {"k", 1000},
                 {"kb", 1024},      {"m", 1000000}, {"mb", 1024 * 1024},
                 {"g", 1000000000}, {"gb", 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word_is(unit, strlen(unit), units[i].name)) return units[i].bytes;
    return 0;
}

/* Quirk of 7.0 util.c memtoull: no digits are 0, too many stick at the largest 64-bit number, and
 * the unit's factor wraps around. The result is then taken as signed. */
bool config_read_bytes(const char *text, int64_t *bytes) {
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    uint64_t unit = unit_bytes(text);
    *bytes = (int64_t)(number * unit);
    return unit > 0;
}

static const char *read_bytes(const struct call *call, uint32_t index, int64_t *value) {
    uint32_t length;
    const char *bytes = call_text(call, index, &length);
    if (call->argv[index].kind == ARG_NUMBER && call->argv[index].number >= 0) {
        *value = call->argv[index].number;
        return NULL;
    }
    if (bytes && config_read_bytes(bytes, value)) return NULL;
    return "') - argument must be a memory value";
}

static const char *read_limits(const struct call *call, uint32_t index, struct changes *changes) {
    uint32_t length;
    const char *value = call_text(call, index, &length);
    changes->has_limits = true;
    changes->limits = call->engine->limits;
    return output_limits_read(&changes->limits, value ? value : "");
}

static const char *read_value(const struct call *call, int d, uint32_t index, int64_t *value) {
    if (directives[d].kind == KIND_BOOL) return read_bool(call, index, value);
    const char *error = directives[d].kind == KIND_INT ? read_int(call, index, value)
                                                       : read_bytes(call, index, value);
    if (error) return error;
    return *value < bounds[d].min || *value > bounds[d].max ? bounds[d].error : NULL;
}

static bool read_values(struct call *call, struct changes *changes) {
    for (uint32_t i = 2; i < call->argc; i += 2) {
        int d = directive_named(call, i);
        const char *error = d == AT_limits ? read_limits(call, i + 1, changes)
                                           : read_value(call, d, i + 1, &changes->value[d]);
        if (error) {
            reply_error_about(call, SET_FAILED, name_of(d), error);
            return false;
        }
        if (d < DIRECTIVES) changes->has[d] = true;
    }
    return true;
}

/* The effective hz follows at once, though the timer that is armed stays (7.0 updateHZ). */
static void apply_hz(struct engine *engine) {
    int64_t *hz = &engine->config.hz;
    if (*hz < HZ_MIN) *hz = HZ_MIN;
    if (*hz > HZ_MAX) *hz = HZ_MAX;
    engine->expire.hz = (uint32_t)*hz;
}

static void apply_backlog_size(struct engine *engine) {
    int64_t *bytes = &engine->config.repl_backlog_size;
    if (*bytes < BACKLOG_BYTES_MIN) *bytes = BACKLOG_BYTES_MIN;
    backlog_resize(&engine->backlog, (uint64_t)*bytes);
}

static void apply_limits(struct engine *engine, const struct output_limits *limits) {
    const struct output_limit *limit = &limits->of[OUTPUT_REPLICA];
    engine->limits = *limits;
    engine->config.obuf_hard_bytes = limit->hard_bytes;
    engine->config.obuf_soft_bytes = limit->soft_bytes;
    engine->config.obuf_soft_s = limit->soft_s;
}

static void apply(struct engine *engine, const struct changes *changes) {
    for (int d = 0; d < DIRECTIVES; d++)
        if (changes->has[d]) *field_of(engine, d) = changes->value[d];
    if (changes->has[AT_hz]) apply_hz(engine);
    if (changes->has[AT_repl_backlog_size]) apply_backlog_size(engine);
    if (changes->has_limits) apply_limits(engine, &changes->limits);
    if (changes->has[AT_min_replicas_to_write] || changes->has[AT_min_replicas_max_lag])
        repl_count_good(engine); /* updateGoodSlaves */
    engine->expire.effort = (uint32_t)engine->config.active_expire_effort;
    engine->host.lazyfree_lazy_expire = engine->config.lazyfree_lazy_expire;
    engine->host.replica_is_writable = !engine->config.replica_read_only;
}

static void config_set(struct call *call) {
    struct changes changes = {0};
    if (call->argc % 2 != 0) {
        reply_syntax_error(call);
        return;
    }
    if (!check_names(call) || !read_values(call, &changes)) return;
    apply(call->engine, &changes);
    reply_ok(call);
}

/* A wrong subcommand is refused as an unknown command is: before anything is executed. */
bool config_accepts(struct call *call) {
    bool get = call_spells(call, 1, "get"), set = call_spells(call, 1, "set");
    if ((get && call->argc >= 3) || (set && call->argc >= 4)) return true;
    if (get || set)
        reply_error_about(call, "ERR wrong number of arguments for 'config|", get ? "get" : "set",
                          "' command");
    else
        reply_error_typed(call, "ERR unknown subcommand '", 1, "'. Try CONFIG HELP.");
    return false;
}

void cmd_config(struct call *call) {
    if (call_spells(call, 1, "get"))
        config_get(call);
    else
        config_set(call);
}
