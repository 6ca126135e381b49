#include <stdlib.h>

#include "command.h"

#define FIRST_CAPACITY 16

static void grow(struct engine *engine) {
    engine->reply_capacity = engine->reply_capacity ? engine->reply_capacity * 2 : FIRST_CAPACITY;
    engine->reply = realloc(engine->reply, engine->reply_capacity * sizeof *engine->reply);
    ASSERT(engine->reply);
}

void reply_item(struct call *call, struct reply_item item) {
    struct engine *engine = call->engine;
    if (engine->reply_count == engine->reply_capacity) grow(engine);
    engine->reply[engine->reply_count++] = item;
}

void reply_status(struct call *call, const char *text) {
    reply_item(call, (struct reply_item){.kind = REPLY_STATUS, .text = text});
}

void reply_ok(struct call *call) { reply_status(call, "OK"); }

void reply_integer(struct call *call, int64_t integer) {
    reply_item(call, (struct reply_item){.kind = REPLY_INTEGER, .integer = integer});
}

void reply_nil(struct call *call) { reply_item(call, (struct reply_item){.kind = REPLY_NIL}); }

void reply_value(struct call *call, const struct object *value) {
    reply_item(call, (struct reply_item){.kind = REPLY_VALUE, .value = *value});
}

void reply_key(struct call *call, key_id key) {
    reply_item(call, (struct reply_item){.kind = REPLY_KEY, .key = key});
}

void reply_text(struct call *call, const char *text) {
    reply_item(call, (struct reply_item){.kind = REPLY_TEXT, .text = text});
}

void reply_number_text(struct call *call, uint64_t number) {
    reply_item(call, (struct reply_item){.kind = REPLY_NUMBER_TEXT, .integer = (int64_t)number});
}

void reply_array(struct call *call, int64_t length) {
    reply_item(call, (struct reply_item){.kind = REPLY_ARRAY, .integer = length});
}

uint32_t reply_position(const struct call *call) { return call->engine->reply_count; }

void reply_set_length(struct call *call, uint32_t position, int64_t length) {
    ASSERT(position < call->engine->reply_count);
    call->engine->reply[position].integer = length;
}

void reply_error(struct call *call, const char *text) {
    reply_item(call, (struct reply_item){.kind = REPLY_ERROR, .text = text});
}

void reply_syntax_error(struct call *call) { reply_error(call, "ERR syntax error"); }

void reply_error_about(struct call *call, const char *before, const char *name, const char *after) {
    reply_item(call, (struct reply_item){
                         .kind = REPLY_ERROR, .text = before, .name = name, .after = after});
}

void reply_arity_error(struct call *call) {
    reply_error_about(call, "ERR wrong number of arguments for '", call->command->name,
                      "' command");
}

/* Up to 6.2 the name stood there bare. */
void reply_invalid_expire(struct call *call) {
    const char *name = call->command->name;
    if (call_has_feature(call, FEATURE_QUOTED_ERRORS))
        reply_error_about(call, "ERR invalid expire time in '", name, "' command");
    else
        reply_error_about(call, "ERR invalid expire time in ", name, NULL);
}

static text_id intern_number(struct texts *texts, int64_t number) {
    char digits[24];
    uint32_t length = decimal_length(number);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    for (uint32_t i = length; i > 0; rest /= 10) digits[--i] = (char)('0' + rest % 10);
    if (number < 0) digits[0] = '-';
    return texts_intern(texts, digits, length);
}

void reply_error_typed(struct call *call, const char *before, uint32_t index, const char *after) {
    const struct arg *arg = &call->argv[index];
    text_id word = TEXT_NONE;
    if (arg->kind == ARG_TEXT) word = arg->id;
    if (arg->kind == ARG_NUMBER) word = intern_number(call->engine->env.texts, arg->number);
    reply_item(call, (struct reply_item){
                         .kind = REPLY_ERROR, .text = before, .word = word, .after = after});
}
