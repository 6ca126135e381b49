#include "command.h"

/* The unit and base of a deadline in the four commands that set one. */
struct expire_form {
    bool seconds;
    bool relative;
};

enum condition { IF_NX = 1 << 0, IF_XX = 1 << 1, IF_GT = 1 << 2, IF_LT = 1 << 3 };

static unsigned condition_at(const struct call *call, uint32_t index) {
    if (call_is(call, index, WORD_NX)) return IF_NX;
    if (call_is(call, index, WORD_XX)) return IF_XX;
    if (call_is(call, index, WORD_GT)) return IF_GT;
    if (call_is(call, index, WORD_LT)) return IF_LT;
    return 0;
}

/* Unknown words are reported before combinations that cannot be (7.0 expire.c
 * parseExtendedExpireArgumentsOrReply). */
static bool parse_conditions(struct call *call, unsigned *conditions) {
    *conditions = 0;
    for (uint32_t i = 3; i < call->argc; i++) {
        unsigned condition = condition_at(call, i);
        if (!condition) {
            reply_error_typed(call, "ERR Unsupported option ", i, NULL);
            return false;
        }
        *conditions |= condition;
    }
    if (*conditions & IF_NX && *conditions != IF_NX) {
        reply_error(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (*conditions & IF_GT && *conditions & IF_LT) {
        reply_error(call, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

/* The absolute deadline, counted from base_ms. Negative and past ones are fine here. */
static bool read_deadline(struct call *call, struct expire_form form, ms_t base_ms,
                          ms_t *deadline_ms) {
    int64_t value;
    if (!call_number(call, 2, &value)) return false;
    bool valid = !form.seconds || (value <= INT64_MAX / 1000 && value >= INT64_MIN / 1000);
    if (valid && form.seconds) value *= 1000;
    valid = valid && !__builtin_add_overflow(value, base_ms, deadline_ms);
    if (!valid) reply_invalid_expire(call);
    return valid;
}

/* No TTL counts as an infinite one. */
static bool conditions_hold(struct call *call, unsigned conditions, ms_t deadline_ms) {
    if (!conditions) return true;
    ms_t current_ms = db_deadline_ms(call->db, call->argv[1].id);
    bool has_ttl = current_ms != -1;
    if (conditions & IF_NX && has_ttl) return false;
    if (conditions & IF_XX && !has_ttl) return false;
    if (conditions & IF_GT && (!has_ttl || deadline_ms <= current_ms)) return false;
    if (conditions & IF_LT && has_ttl && deadline_ms >= current_ms) return false;
    return true;
}

static void expire_now(struct call *call) {
    bool deleted = db_delete(call->db, call->argv[1].id);
    ASSERT(deleted);
    call_rewrite_key(call, db_expiry_word(&call->engine->host));
}

/* Leaves as PEXPIREAT with the conditions as typed; a PEXPIREAT as it came, its case included. */
static void expire_later(struct call *call, struct expire_form form, ms_t deadline_ms) {
    db_set_deadline(call->db, call->argv[1].id, deadline_ms);
    if (!form.seconds && !form.relative) return;
    if (!call->engine->env.generation->stream.absolute_ttls) return;
    if (!call->engine->propagate.listening) return;
    call_rewrite(call, WORD_PEXPIREAT, call->argc, call->argv);
    call->rewritten[0] = arg_word(call->engine->env.texts, WORD_PEXPIREAT);
    call->rewritten[2] = arg_number(deadline_ms);
}

/* 7.0 expireGenericCommand. The clock is read twice, for the base and again for the test whether
 * the deadline has passed; a replica stores a past deadline, its master sends the DEL. */
static void expire_generic(struct call *call, struct expire_form form) {
    struct engine *engine = call->engine;
    unsigned conditions;
    ms_t deadline_ms, base_ms = form.relative ? cpu_wall_ms(&engine->cpu) : 0;
    if (call->argc > 3 && !call_has_feature(call, FEATURE_EXPIRE_FLAGS)) {
        reply_arity_error(call);
        return;
    }
    if (!parse_conditions(call, &conditions)) return;
    if (!read_deadline(call, form, base_ms, &deadline_ms)) return;
    if (!db_lookup(call->db, call->argv[1].id, LOOKUP_WRITE) ||
        !conditions_hold(call, conditions, deadline_ms)) {
        reply_integer(call, 0);
        return;
    }
    if (deadline_ms <= cpu_wall_ms(&engine->cpu) && !engine->host.is_replica)
        expire_now(call);
    else
        expire_later(call, form, deadline_ms);
    engine->dirty++;
    reply_integer(call, 1);
}

void cmd_expire(struct call *call) {
    expire_generic(call, (struct expire_form){.seconds = true, .relative = true});
}

void cmd_pexpire(struct call *call) {
    expire_generic(call, (struct expire_form){.relative = true});
}

void cmd_expireat(struct call *call) {
    expire_generic(call, (struct expire_form){.seconds = true});
}

void cmd_pexpireat(struct call *call) { expire_generic(call, (struct expire_form){0}); }

void cmd_persist(struct call *call) {
    key_id key = call->argv[1].id;
    bool removed = db_lookup(call->db, key, LOOKUP_WRITE) && db_remove_deadline(call->db, key);
    call->engine->dirty += removed;
    reply_integer(call, removed);
}

/* Rounded to the nearest second. Unsigned, for the last half second before the end of time. */
static int64_t seconds_of(ms_t ms) { return (int64_t)(((uint64_t)ms + 500) / 1000); }

/* -2: no such key, -1: no TTL; a deadline that has just passed reads 0 (7.0 ttlGenericCommand). */
static void ttl_generic(struct call *call, struct expire_form form) {
    key_id key = call->argv[1].id;
    if (!db_lookup(call->db, key, LOOKUP_READ)) {
        reply_integer(call, -2);
        return;
    }
    ms_t ms = db_deadline_ms(call->db, key);
    if (ms == -1) {
        reply_integer(call, -1);
        return;
    }
    if (form.relative && __builtin_sub_overflow(ms, cpu_wall_ms(&call->engine->cpu), &ms))
        ms = INT64_MAX; /* a clock before 1970 */
    if (ms < 0) ms = 0;
    reply_integer(call, form.seconds ? seconds_of(ms) : ms);
}

void cmd_ttl(struct call *call) {
    ttl_generic(call, (struct expire_form){.seconds = true, .relative = true});
}

void cmd_pttl(struct call *call) { ttl_generic(call, (struct expire_form){.relative = true}); }
void cmd_expiretime(struct call *call) { ttl_generic(call, (struct expire_form){.seconds = true}); }
void cmd_pexpiretime(struct call *call) { ttl_generic(call, (struct expire_form){0}); }
