#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define TURN_BYTES 15500 /* the server reads 16 KiB of one client in one turn */

/* --- a command as bytes, written here and not by the code under test --- */

static void append_line(struct oracle_bytes *out, char type, uint64_t number) {
    char text[32];
    int length = snprintf(text, sizeof text, "%c%llu\r\n", type, (unsigned long long)number);
    oracle_bytes_append(out, text, (size_t)length);
}

static void append_fill(struct oracle_bytes *out, uint32_t length) {
    char fill[1024];
    memset(fill, 'x', sizeof fill);
    for (uint32_t part; length > 0; length -= part) {
        part = length < sizeof fill ? length : (uint32_t)sizeof fill;
        oracle_bytes_append(out, fill, part);
    }
}

static void append_argument(struct lockstep *ls, struct oracle_bytes *out, const struct arg *arg) {
    char text[KEY_LENGTH_MAX];
    append_line(out, '$', arg->length);
    switch ((enum arg_kind)arg->kind) {
    case ARG_TEXT:
        oracle_bytes_append(out, texts_bytes(ls->texts, arg->id), arg->length);
        break;
    case ARG_KEY:
        oracle_bytes_append(out, text, names_print(ls->names, arg->id, text, sizeof text));
        break;
    case ARG_NUMBER:
        snprintf(text, sizeof text, "%lld", (long long)arg->number);
        oracle_bytes_append(out, text, arg->length);
        break;
    case ARG_FILL:
        append_fill(out, arg->length);
        break;
    }
    oracle_bytes_append(out, "\r\n", 2);
}

/* --- the queue --- */

struct arg lockstep_word(struct lockstep *ls, const char *text) {
    return arg_word(ls->texts, texts_intern(ls->texts, text, strlen(text)));
}

static void reserve(struct lockstep_line *line, uint32_t argc) {
    if (line->arg_count + argc > line->arg_capacity) {
        line->arg_capacity = (line->arg_count + argc) * 2;
        line->args = realloc(line->args, line->arg_capacity * sizeof *line->args);
    }
    if (line->count == line->capacity) {
        line->capacity = line->capacity ? line->capacity * 2 : 64;
        line->argc = realloc(line->argc, line->capacity * sizeof *line->argc);
    }
    ASSERT(line->args && line->argc);
}

void lockstep_queue(struct lockstep *ls, struct lockstep_line *line, const struct arg *argv,
                    uint32_t argc) {
    if (line->sent.length + request_resp_bytes(argv, argc) > TURN_BYTES) lockstep_flush(ls, line);
    reserve(line, argc);
    append_line(&line->sent, '*', argc);
    for (uint32_t i = 0; i < argc; i++) append_argument(ls, &line->sent, &argv[i]);
    memcpy(line->args + line->arg_count, argv, argc * sizeof *argv);
    line->arg_count += argc;
    line->argc[line->count++] = argc;
}

void lockstep_catch_up(struct lockstep *ls, int64_t turns) {
    while (++turns < oracle_turns(ls->oracle)) {
        lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
        lockstep_turn_end(ls);
    }
}

static void execute(struct lockstep *ls, struct lockstep_line *line) {
    const struct arg *argv = line->args;
    lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
    for (uint32_t i = 0; i < line->count; i++) {
        const char *name = texts_bytes(ls->texts, argv[0].id);
        struct request request = {command_find(name, texts_length(ls->texts, argv[0].id)), argv,
                                  line->argc[i]};
        engine_request(ls->engine, line->client, &request);
        argv += line->argc[i];
    }
    lockstep_turn_end(ls);
}

/* From the line in which they begin to differ. */
static void show_replies(const struct lockstep *ls) {
    const struct oracle_bytes *a = &ls->server_replies, *b = &ls->engine_replies;
    size_t at = 0, line = 0;
    while (at < a->length && at < b->length && a->bytes[at] == b->bytes[at])
        if (a->bytes[at++] == '\n') line = at;
    fprintf(stderr, "server's reply, from byte %zu on: %.200s\nengine's: %.200s\n", line,
            a->length ? a->bytes + line : "", b->length ? b->bytes + line : "");
}

static void compare_replies(struct lockstep *ls, uint32_t count) {
    tally_add(TALLY_REPLIES, count);
    if (ls->server_replies.length == ls->engine_replies.length &&
        memcmp(ls->server_replies.bytes, ls->engine_replies.bytes, ls->server_replies.length) == 0)
        return;
    show_replies(ls);
    lockstep_fail(ls, "replies differ");
}

static void empty(struct lockstep_line *line) {
    line->count = line->arg_count = 0;
    line->sent.length = 0;
}

static void release(struct lockstep_line *line) {
    oracle_bytes_release(&line->sent);
    free(line->args);
    free(line->argc);
}

/* A value that the server reads in several turns gives the engine as many, the last with the
 * command. */
void lockstep_flush(struct lockstep *ls, struct lockstep_line *line) {
    int64_t turns = oracle_turns(ls->oracle);
    if (line->count == 0) return;
    ls->server_replies.length = ls->engine_replies.length = 0;
    oracle_call(ls->oracle, line->link, line->sent.bytes, line->sent.length, line->count,
                &ls->server_replies);
    if (line->count > 1) ck_assert_int_eq(oracle_turns(ls->oracle), turns + 1);
    lockstep_catch_up(ls, turns);
    execute(ls, line);
    compare_replies(ls, line->count);
    empty(line);
}

void lockstep_command(struct lockstep *ls, struct lockstep_line *line, const struct arg *argv,
                      uint32_t argc) {
    lockstep_queue(ls, line, argv, argc);
    lockstep_flush(ls, line);
}

/* --- connections --- */

static void idle_turn(struct lockstep *ls) {
    lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
    lockstep_turn_end(ls);
}

struct lockstep_line lockstep_connect(struct lockstep *ls) {
    struct lockstep_line line = {.link = oracle_connect(ls->oracle),
                                 .client = engine_connect(ls->engine)};
    idle_turn(ls);
    return line;
}

void lockstep_disconnect(struct lockstep *ls, struct lockstep_line *line) {
    oracle_disconnect(ls->oracle, line->link);
    engine_disconnect(ls->engine, line->client);
    idle_turn(ls);
    release(line);
}

/* --- loading --- */

/* SET with or without a deadline; returns argc. */
static uint32_t fill_set(struct lockstep *ls, struct arg set[5], key_id key, uint32_t value_bytes,
                         ms_t deadline_ms) {
    set[0] = lockstep_word(ls, "SET");
    set[1] = arg_key(names_keys(ls->names), key);
    set[2] = arg_fill(value_bytes);
    set[3] = lockstep_word(ls, "PXAT");
    set[4] = arg_number(deadline_ms);
    return deadline_ms < 0 ? 3 : 5;
}

void lockstep_load(struct lockstep *ls, uint8_t db, key_id first, uint32_t count,
                   uint32_t value_bytes, lockstep_deadline deadline, const void *context) {
    struct lockstep_line line = lockstep_connect(ls);
    struct arg select[] = {lockstep_word(ls, "SELECT"), arg_number(db)};
    ms_t now_ms = lockstep_now_ms(ls);
    lockstep_command(ls, &line, select, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct arg set[5];
        uint32_t argc = fill_set(ls, set, first + i, value_bytes, deadline(i, now_ms, context));
        lockstep_queue(ls, &line, set, argc);
    }
    lockstep_flush(ls, &line);
    lockstep_disconnect(ls, &line);
}

static void preload_engine(struct lockstep *ls, const struct lockstep_line *line) {
    const struct arg *argv = line->args;
    for (uint32_t i = 0; i < line->count; i++) {
        struct object value = object_from_arg(ls->texts, argv[2]);
        engine_preload(ls->engine, 0, argv[1].id, &value, line->argc[i] == 5 ? argv[4].number : -1);
        argv += line->argc[i];
    }
}

void lockstep_preload(struct lockstep *ls, key_id first, uint32_t count, uint32_t value_bytes,
                      lockstep_deadline deadline, const void *context) {
    struct lockstep_line line = {.link = oracle_connect(ls->oracle)};
    int64_t *base = ls->server_base.server;
    int64_t turns = oracle_turns(ls->oracle) - 1, reads = oracle_reads(ls->oracle) - 1;
    ms_t now_ms = lockstep_now_ms(ls);
    for (uint32_t i = 0; i < count; i++) {
        struct arg set[5];
        uint32_t argc = fill_set(ls, set, first + i, value_bytes, deadline(i, now_ms, context));
        lockstep_queue(ls, &line, set, argc);
        preload_engine(ls, &line);
        oracle_call(ls->oracle, line.link, line.sent.bytes, line.sent.length, 1, NULL);
        empty(&line);
    }
    base[FIGURE_commands] += count;
    oracle_disconnect(ls->oracle, line.link);
    base[FIGURE_turns] += oracle_turns(ls->oracle) - turns;
    base[FIGURE_clock_reads] += oracle_reads(ls->oracle) - reads;
    release(&line);
}
