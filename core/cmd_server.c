#include "command.h"
#include "repl.h"

void cmd_ping(struct call *call) {
    if (call->argc > 2) {
        reply_arity_error(call);
    } else if (call->argc == 2) {
        struct object echo = object_from_arg(call->engine->env.texts, call->argv[1]);
        reply_value(call, &echo);
    } else {
        reply_status(call, "PONG");
    }
}

void cmd_select(struct call *call) {
    int64_t db;
    if (!call_number(call, 1, &db)) return;
    if (db < INT32_MIN || db > INT32_MAX) {
        reply_error(call,
                    "ERR value is out of range, value must between -2147483648 and 2147483647");
    } else if (db < 0 || db >= call->engine->config.databases) {
        reply_error(call, "ERR DB index is out of range");
    } else {
        call->client->db = (uint8_t)db;
        reply_ok(call);
    }
}

/* SYNC, ASYNC or nothing, which is SYNC while lazyfree-lazy-user-flush is off. */
static bool read_flush_mode(struct call *call, bool *async) {
    *async = call->argc == 2 && call_is(call, 1, WORD_ASYNC);
    if (call->argc == 1 || (call->argc == 2 && (*async || call_is(call, 1, WORD_SYNC))))
        return true;
    reply_syntax_error(call);
    return false;
}

/* ASYNC hands the tables to another thread: the main one pays nothing for the keys. Propagated even
 * when nothing was there to drop. */
static bool flush(struct call *call, struct db *first, int64_t count) {
    bool async;
    if (!read_flush_mode(call, &async)) return false;
    call->engine->cpu.muted += async;
    for (int64_t i = 0; i < count; i++) call->engine->dirty += db_flush(first + i);
    call->engine->cpu.muted -= async;
    call->propagate_always = true;
    reply_ok(call);
    return true;
}

void cmd_flushdb(struct call *call) { flush(call, call->db, 1); }

void cmd_flushall(struct call *call) {
    if (flush(call, call->engine->dbs, call->engine->config.databases))
        expire_replica_forget(&call->engine->remembered);
}

void cmd_info(struct call *call) {
    bool named = call->argc == 2 && call->argv[1].kind == ARG_TEXT;
    cpu_charge(&call->engine->cpu, COST_COMMAND_INFO, 1);
    reply_item(call, (struct reply_item){.kind = REPLY_INFO,
                                         .word = named ? call->argv[1].id : TEXT_NONE});
}

/* As the C library's atoi: what is no number reads 0, whatever follows the digits is not looked at,
 * and of a number beyond 32 bits, which sticks at the largest of 64, the low ones stay. */
static int32_t read_atoi(const char *bytes) {
    while (*bytes == ' ' || (*bytes >= '\t' && *bytes <= '\r')) bytes++;
    bool negative = *bytes == '-';
    if (*bytes == '-' || *bytes == '+') bytes++;
    uint64_t most = (uint64_t)INT64_MAX + negative, value = 0;
    for (; *bytes >= '0' && *bytes <= '9'; bytes++) {
        uint64_t digit = (uint64_t)(*bytes - '0');
        value = value > (most - digit) / 10 ? most : value * 10 + digit;
    }
    return (int32_t)(uint32_t)(negative ? 0 - value : value);
}

static bool is_nonzero(const struct call *call, uint32_t index) {
    uint32_t length;
    const char *bytes = call_text(call, index, &length);
    if (bytes) return read_atoi(bytes) != 0;
    return call->argv[index].kind == ARG_NUMBER && (uint32_t)call->argv[index].number != 0;
}

static void debug_htstats(struct call *call) {
    int64_t db;
    if (!call_number(call, 2, &db)) return;
    if (db < 0 || db >= call->engine->config.databases)
        reply_error(call, "ERR Out of range database");
    else
        reply_item(call, (struct reply_item){.kind = REPLY_HTSTATS, .integer = db});
}

/* As on a server that was started with enable-debug-command yes. */
void cmd_debug(struct call *call) {
    if (call->argc == 3 && call_spells(call, 1, "set-active-expire")) {
        call->engine->active_expire_enabled = is_nonzero(call, 2);
        reply_ok(call);
    } else if (call->argc == 3 && call_spells(call, 1, "htstats")) {
        debug_htstats(call);
    } else {
        reply_error_typed(call, "ERR unknown subcommand or wrong number of arguments for '", 1,
                          "'. Try DEBUG HELP.");
    }
}

/* The stream's transaction. command_execute keeps the cached time of the MULTI until the EXEC. */
void cmd_multi(struct call *call) {
    call->engine->in_multi = true;
    reply_ok(call);
}

void cmd_exec(struct call *call) {
    call->engine->in_multi = false;
    reply_array(call, 0);
}

/* GETACK is answered at once, with what was applied before it; nothing else in the stream is for a
 * replica (7.0 replication.c replconfCommand). */
void cmd_replconf(struct call *call) {
    if (call->argc >= 2 && call_is(call, 1, WORD_GETACK)) repl_send_ack(call->engine);
}
