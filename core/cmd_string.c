#include "command.h"

/* The options of SET and GETEX share one grammar (7.0 t_string.c
 * parseExtendedStringArgumentsOrReply). */
struct options {
    bool is_set; /* else GETEX */
    bool nx, xx, get, keep_ttl, persist;
    enum word unit;        /* EX, PX, EXAT, PXAT; WORD_NONE: no deadline */
    uint32_t expire_index; /* of its number in argv */
};

/* Naming the same unit twice is allowed, the later number counts. */
static bool take_unit(const struct call *call, uint32_t index, struct options *o) {
    static const enum word units[] = {WORD_EX, WORD_PX, WORD_EXAT, WORD_PXAT};
    if (o->keep_ttl || o->persist || index + 1 >= call->argc) return false;
    int known = call_has_feature(call, FEATURE_GETEX) ? 4 : 2;
    for (int i = 0; i < known; i++) {
        if (!call_is(call, index, units[i])) continue;
        if (o->unit != WORD_NONE && o->unit != units[i]) return false;
        o->unit = units[i];
        o->expire_index = index + 1;
        return true;
    }
    return false;
}

static bool take_ttl_word(const struct call *call, uint32_t index, struct options *o) {
    if (o->unit != WORD_NONE) return false;
    if (!o->is_set) return o->persist = call_is(call, index, WORD_PERSIST);
    if (!call_has_feature(call, FEATURE_KEEPTTL) || !call_is(call, index, WORD_KEEPTTL))
        return false;
    return o->keep_ttl = true;
}

static bool take_condition(const struct call *call, uint32_t index, struct options *o) {
    if (!o->is_set) return false;
    if (!o->xx && call_is(call, index, WORD_NX)) return o->nx = true;
    if (!o->nx && call_is(call, index, WORD_XX)) return o->xx = true;
    if (call_has_feature(call, FEATURE_GETEX) && call_is(call, index, WORD_GET))
        return o->get = true;
    return false;
}

static bool parse_options(struct call *call, uint32_t first, struct options *o) {
    for (uint32_t i = first; i < call->argc; i++) {
        if (take_unit(call, i, o)) {
            i++;
        } else if (!take_condition(call, i, o) && !take_ttl_word(call, i, o)) {
            reply_syntax_error(call);
            return false;
        }
    }
    return true;
}

/* The absolute deadline. Relative ones start from a fresh clock, not from the command's cached time
 * (7.0 getExpireMillisecondsOrReply). */
static bool read_deadline(struct call *call, const struct options *o, ms_t *deadline_ms) {
    int64_t value;
    if (!call_number(call, o->expire_index, &value)) return false;
    bool seconds = o->unit == WORD_EX || o->unit == WORD_EXAT;
    bool relative = o->unit == WORD_EX || o->unit == WORD_PX;
    bool valid = value > 0 && !(seconds && value > INT64_MAX / 1000);
    if (valid && seconds) value *= 1000;
    if (valid && relative)
        valid = !__builtin_add_overflow(value, cpu_wall_ms(&call->engine->cpu), &value);
    if (!valid) reply_invalid_expire(call);
    *deadline_ms = value;
    return valid;
}

static void reply_entry(struct call *call, const struct entry *entry) {
    struct object value = entry_value(entry);
    cpu_charge(&call->engine->cpu, COST_VALUE_BYTE, object_length(&value));
    reply_value(call, &value);
}

/* GET, and the GET of SET and GETDEL. */
static void reply_lookup(struct call *call) {
    const struct entry *entry = db_lookup(call->db, call->argv[1].id, LOOKUP_READ);
    if (entry)
        reply_entry(call, entry);
    else
        reply_nil(call);
}

void cmd_get(struct call *call) { reply_lookup(call); }

/* SET k v PXAT T: the other options go, for the replica's key is in the same state. */
static void rewrite_deadline(struct call *call, const struct arg *value, ms_t deadline_ms) {
    const struct texts *texts = call->engine->env.texts;
    if (!call->engine->env.generation->stream.absolute_ttls) return;
    struct arg argv[] = {arg_word(texts, WORD_SET), call->argv[1], *value,
                         arg_word(texts, WORD_PXAT), arg_number(deadline_ms)};
    call_rewrite(call, WORD_SET, 5, argv);
}

/* A replica has nobody to answer to: GET is left out, all else stays as typed. */
static void rewrite_without_get(struct call *call) {
    if (!call->engine->propagate.listening) return;
    call_rewrite(call, WORD_SET, call->argc, call->argv);
    uint32_t kept = 3;
    for (uint32_t i = 3; i < call->argc; i++)
        if (!call_is(call, i, WORD_GET)) call->rewritten[kept++] = call->argv[i];
    call->rewritten_argc = kept;
}

static void store(struct call *call, const struct arg *arg, bool exists, bool keep_ttl) {
    struct object value = object_from_arg(call->engine->env.texts, *arg);
    cpu_charge(&call->engine->cpu, COST_VALUE_BYTE, arg->length);
    db_set(call->db, call->argv[1].id, &value, exists, keep_ttl);
    call->engine->dirty++;
}

/* 7.0 setGenericCommand. A deadline in the past is stored all the same; the key then dies like any
 * other. */
static void set_value(struct call *call, const struct options *o, const struct arg *value) {
    key_id key = call->argv[1].id;
    ms_t deadline_ms;
    if (o->unit != WORD_NONE && !read_deadline(call, o, &deadline_ms)) return;
    if (o->get) reply_lookup(call);
    bool exists = db_lookup(call->db, key, LOOKUP_WRITE) != NULL;
    if ((o->nx && exists) || (o->xx && !exists)) {
        if (!o->get) reply_nil(call);
        return;
    }
    store(call, value, exists, o->keep_ttl);
    if (o->unit != WORD_NONE) {
        db_set_deadline(call->db, key, deadline_ms);
        rewrite_deadline(call, value, deadline_ms);
    } else if (o->get) {
        rewrite_without_get(call);
    }
    if (!o->get) reply_ok(call);
}

void cmd_set(struct call *call) {
    struct options o = {.is_set = true};
    if (parse_options(call, 3, &o)) set_value(call, &o, &call->argv[2]);
}

void cmd_setex(struct call *call) {
    set_value(call, &(struct options){.unit = WORD_EX, .expire_index = 2}, &call->argv[3]);
}

void cmd_psetex(struct call *call) {
    set_value(call, &(struct options){.unit = WORD_PX, .expire_index = 2}, &call->argv[3]);
}

/* On a replica a past deadline is stored, the DEL is the master's to send. */
static bool is_past(const struct call *call, ms_t deadline_ms) {
    return deadline_ms <= cpu_wall_ms(&call->engine->cpu) && !call->engine->host.is_replica;
}

static void getex_past(struct call *call) {
    bool deleted = db_delete(call->db, call->argv[1].id);
    ASSERT(deleted);
    call->engine->dirty++;
    call_rewrite_key(call, db_expiry_word(&call->engine->host));
}

static void getex_deadline(struct call *call, ms_t deadline_ms) {
    struct arg argv[] = {arg_word(call->engine->env.texts, WORD_PEXPIREAT), call->argv[1],
                         arg_number(deadline_ms)};
    db_set_deadline(call->db, call->argv[1].id, deadline_ms);
    call->engine->dirty++;
    call_rewrite(call, WORD_PEXPIREAT, 3, argv);
}

static void getex_persist(struct call *call) {
    if (!db_remove_deadline(call->db, call->argv[1].id)) return;
    call->engine->dirty++;
    call_rewrite_key(call, WORD_PERSIST);
}

/* The number is read only once the key was found (7.0 getexCommand); only absolute deadlines are
 * compared with the clock. */
void cmd_getex(struct call *call) {
    struct options o = {.is_set = false};
    if (!parse_options(call, 2, &o)) return;
    const struct entry *entry = db_lookup(call->db, call->argv[1].id, LOOKUP_READ);
    if (!entry) {
        reply_nil(call);
        return;
    }
    ms_t deadline_ms = 0;
    if (o.unit != WORD_NONE && !read_deadline(call, &o, &deadline_ms)) return;
    reply_entry(call, entry);
    bool absolute = o.unit == WORD_EXAT || o.unit == WORD_PXAT;
    if (absolute && is_past(call, deadline_ms))
        getex_past(call);
    else if (o.unit != WORD_NONE)
        getex_deadline(call, deadline_ms);
    else if (o.persist)
        getex_persist(call);
}

/* The deletion is tried even when the lookup found nothing: its dict steps count. */
void cmd_getdel(struct call *call) {
    reply_lookup(call);
    if (!db_delete(call->db, call->argv[1].id)) return;
    call->engine->dirty++;
    call_rewrite_key(call, call->engine->config.lazyfree_lazy_user_del ? WORD_UNLINK : WORD_DEL);
}

/* An unshared integer whose successor is no shared one is changed where it is (7.0
 * incrDecrCommand). */
static void store_number(struct call *call, const struct entry *entry, int64_t number) {
    struct object value = object_from_number(number);
    key_id key = call->argv[1].id;
    if (!entry)
        db_add(call->db, key, &value);
    else if (entry->encoding == ENCODING_INT && value.encoding == ENCODING_INT)
        db_replace_in_place(call->db, key, &value);
    else
        db_overwrite(call->db, key, &value);
}

void cmd_incr(struct call *call) {
    int64_t number = 0;
    const struct entry *entry = db_lookup(call->db, call->argv[1].id, LOOKUP_WRITE);
    if (entry) {
        struct object value = entry_value(entry);
        if (!object_to_number(call->engine->env.texts, &value, &number)) {
            reply_error(call, "ERR value is not an integer or out of range");
            return;
        }
    }
    if (number == INT64_MAX) {
        reply_error(call, "ERR increment or decrement would overflow");
        return;
    }
    store_number(call, entry, number + 1);
    call->engine->dirty++;
    reply_integer(call, number + 1);
}
