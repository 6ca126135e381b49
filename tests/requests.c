#include "requests.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* --- text --- */

__attribute__((format(printf, 2, 3))) static void add(char buffer[RIG_TEXT_MAX], const char *format,
                                                      ...) {
    size_t used = strlen(buffer);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(buffer + used, RIG_TEXT_MAX - used, format, args);
    va_end(args);
    ck_assert_msg(length >= 0 && used + (size_t)length < RIG_TEXT_MAX, "text too long");
}

static void add_fill(char buffer[RIG_TEXT_MAX], uint32_t length) {
    for (uint32_t i = 0; i < length; i++) add(buffer, "x");
}

static void add_arg(const struct rig *rig, char buffer[RIG_TEXT_MAX], const struct arg *arg) {
    switch ((enum arg_kind)arg->kind) {
    case ARG_TEXT:
        add(buffer, "%s", texts_bytes(rig->texts, arg->id));
        break;
    case ARG_KEY:
        add(buffer, "%s", rig->key_names[arg->id]);
        break;
    case ARG_NUMBER:
        add(buffer, "%" PRId64, arg->number);
        break;
    case ARG_FILL:
        add_fill(buffer, arg->length);
    }
}

/* --- keys and requests --- */

key_id rig_key(struct rig *rig, const char *name) {
    for (key_id id = 1; id <= rig->keys->count; id++)
        if (strcmp(rig->key_names[id], name) == 0) return id;
    ck_assert_uint_lt(rig->keys->count, RIG_KEYS_MAX);
    key_id id = keys_add(rig->keys, name, strlen(name));
    rig->key_names[id] = strdup(name);
    return id;
}

/* Copies the next word and returns what follows it, or NULL at the end of the line. */
static const char *next_word(const char *line, char word[RIG_TEXT_MAX]) {
    while (*line == ' ') line++;
    if (*line == '\0') return NULL;
    char until = *line == '\'' ? *line++ : ' ';
    size_t length = strcspn(line, until == ' ' ? " " : "'");
    memcpy(word, line, length);
    word[length] = '\0';
    return line + length + (until == '\'');
}

static bool is_key_position(const struct command *command, uint32_t index) {
    if (!command || command->first_key == 0 || (int)index < command->first_key) return false;
    return command->last_key < 0 || (int)index <= command->last_key;
}

static struct arg word_arg(struct rig *rig, const char *word) {
    int64_t number;
    if (word[0] == '~') return arg_fill((uint32_t)strtoul(word + 1, NULL, 10));
    if (rig->numbers && text_to_number(word, strlen(word), &number)) return arg_number(number);
    return arg_word(rig->texts, texts_intern(rig->texts, word, strlen(word)));
}

struct request rig_request(struct rig *rig, const char *line, struct arg argv[RIG_WORDS_MAX]) {
    static char word[RIG_TEXT_MAX];
    struct request request = {.argv = argv};
    while ((line = next_word(line, word))) {
        ck_assert_uint_lt(request.argc, RIG_WORDS_MAX);
        if (request.argc == 0) request.command = command_find(word, strlen(word));
        argv[request.argc] = is_key_position(request.command, request.argc)
                                 ? arg_key(rig->keys, rig_key(rig, word))
                                 : word_arg(rig, word);
        request.argc++;
    }
    return request;
}

/* --- the sink --- */

static void add_unknown(const struct rig *rig, char *buffer, const struct request *request) {
    add(buffer, "-ERR unknown command '");
    add_arg(rig, buffer, &request->argv[0]);
    add(buffer, "', with args beginning with: ");
    for (uint32_t i = 1; i < request->argc; i++) {
        add(buffer, "'");
        add_arg(rig, buffer, &request->argv[i]);
        add(buffer, "' ");
    }
}

static void add_error(const struct rig *rig, char *buffer, const struct reply_item *item) {
    const char *word = item->word == TEXT_NONE ? "" : texts_bytes(rig->texts, item->word);
    add(buffer, "-%s%s%s", item->text, item->name ? item->name : word,
        item->after ? item->after : "");
}

/* Writes one item and, of an array, its elements; returns the index after it. */
static uint32_t add_item(struct rig *rig, const struct reply *reply, uint32_t index) {
    ck_assert_uint_lt(index, reply->count);
    const struct reply_item *item = &reply->items[index++];
    char *out = rig->reply;
    struct arg value;
    switch ((enum reply_kind)item->kind) {
    case REPLY_STATUS:
        add(out, "+%s", item->text);
        break;
    case REPLY_ERROR:
        add_error(rig, out, item);
        break;
    case REPLY_UNKNOWN_COMMAND:
        add_unknown(rig, out, reply->request);
        break;
    case REPLY_INTEGER:
        add(out, ":%" PRId64, item->integer);
        break;
    case REPLY_VALUE:
        add(out, "$");
        value = object_to_arg(&item->value);
        add_arg(rig, out, &value);
        break;
    case REPLY_KEY:
        add(out, "$%s", rig->key_names[item->key]);
        break;
    case REPLY_TEXT:
        add(out, "$%s", item->text);
        break;
    case REPLY_NUMBER_TEXT:
        add(out, "$%" PRIu64, (uint64_t)item->integer);
        break;
    case REPLY_NIL:
        add(out, "(nil)");
        break;
    case REPLY_ARRAY:
        add(out, "[");
        for (int64_t i = 0; i < item->integer; i++) {
            if (i) add(out, ", ");
            index = add_item(rig, reply, index);
        }
        add(out, "]");
        break;
    case REPLY_INFO:
        add(out, "(info %s)", item->word ? texts_bytes(rig->texts, item->word) : "all");
        break;
    case REPLY_HTSTATS:
        add(out, "(htstats %" PRId64 ")", item->integer);
    }
    return index;
}

static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    struct rig *rig = context;
    (void)client;
    ck_assert_str_eq(rig->reply, ""); /* one reply a command */
    ck_assert_uint_eq(add_item(rig, reply, 0), reply->count);
}

static void on_stream(void *context, const struct stream_command *command) {
    struct rig *rig = context;
    const struct request *request = &command->request;
    size_t before = strlen(rig->resp);
    static char word[RIG_TEXT_MAX];
    add(rig->stream, rig->stream[0] ? "; " : "");
    add(rig->resp, "*%" PRIu32 "\r\n", request->argc);
    for (uint32_t i = 0; i < request->argc; i++) {
        word[0] = '\0';
        add_arg(rig, word, &request->argv[i]);
        ck_assert_uint_eq(strlen(word), request->argv[i].length);
        add(rig->stream, "%s%s", i ? " " : "", word);
        add(rig->resp, "$%zu\r\n%s\r\n", strlen(word), word);
    }
    ck_assert_uint_eq(strlen(rig->resp) - before, command->resp_bytes);
    ck_assert_int_eq(rig->stream_offset + (int64_t)command->resp_bytes, command->end_offset);
    ck_assert_ptr_nonnull(request->command);
    rig->stream_offset = command->end_offset;
    rig->stream_expiries += command->expiry;
}

static void on_added(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)deadline_ms, (void)bytes;
    ((struct rig *)context)->volatile_keys++;
}

static void on_removed(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)deadline_ms, (void)bytes;
    ((struct rig *)context)->volatile_keys--;
}

static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    struct rig *rig = context;
    rig->expired_lazily += cause == EXPIRY_LAZY;
    rig->last_late_ms = late_ms;
}

static void on_cycle(void *context, const struct cycle_report *report) {
    (void)context, (void)report;
}

static void on_acknowledge(void *context, int64_t offset) {
    ((struct rig *)context)->acknowledged = offset;
}

/* --- the engine --- */

void rig_init(struct rig *rig, const char *generation) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {8, 7, 6, 5, 4, 3, 2, 1};
    memset(rig, 0, sizeof *rig);
    rig->now = (struct instant){.wall_us = RIG_WALL_MS * US_PER_MS};
    rig->acknowledged = -1;
    rig->keys = keys_create(seed);
    rig->texts = texts_create();
    rig->sink = (struct sink){.context = rig,
                              .reply = on_reply,
                              .stream = on_stream,
                              .deadline_added = on_added,
                              .deadline_removed = on_removed,
                              .key_expired = on_expired,
                              .cycle_ended = on_cycle,
                              .acknowledge = on_acknowledge};
    rig->env = (struct engine_env){.generation = generation_find(generation),
                                   .allocator = allocator_find("debian"),
                                   .prices = price_table_find("zero"),
                                   .keys = rig->keys,
                                   .texts = rig->texts,
                                   .sink = &rig->sink,
                                   .rng = rng_seed(test_seed())};
    rig->config = engine_config_default();
}

void rig_start(struct rig *rig) {
    rig->engine = engine_create(&rig->env, &rig->config);
    rig->client = engine_connect(rig->engine);
    engine_wake(rig->engine, rig->now);
}

void rig_attach_replica(struct rig *rig) {
    ck_assert_int_ge(engine_replica_attach(rig->engine), 0);
    rig->stream_offset = engine_stats(rig->engine).master_repl_offset;
}

void rig_stop(struct rig *rig) {
    engine_check(rig->engine);
    engine_destroy(rig->engine);
    ck_assert_int_eq(rig->volatile_keys, 0);
    for (key_id id = 1; id <= rig->keys->count; id++) free(rig->key_names[id]);
    keys_destroy(rig->keys);
    texts_destroy(rig->texts);
}

const char *rig_do_as(struct rig *rig, uint32_t client, const char *line) {
    struct arg argv[RIG_WORDS_MAX];
    struct request request = rig_request(rig, line, argv);
    rig->reply[0] = '\0';
    engine_wake(rig->engine, rig->now);
    engine_request(rig->engine, client, &request);
    engine_sleep(rig->engine);
    return rig->reply;
}

const char *rig_do(struct rig *rig, const char *line) { return rig_do_as(rig, rig->client, line); }

const char *rig_stream(struct rig *rig) {
    strcpy(rig->taken, rig->stream);
    rig->resp_bytes = strlen(rig->resp);
    rig->stream[0] = rig->resp[0] = '\0';
    return rig->taken;
}

void rig_receive(struct rig *rig, const char *line) {
    struct arg argv[RIG_WORDS_MAX];
    struct stream_command command = {.request = rig_request(rig, line, argv)};
    command.resp_bytes = request_resp_bytes(argv, command.request.argc);
    rig->received += command.resp_bytes;
    command.end_offset = rig->received;
    rig->reply[0] = '\0';
    engine_wake(rig->engine, rig->now);
    engine_receive(rig->engine, &command);
    engine_sleep(rig->engine);
    ck_assert_str_eq(rig->reply, "");
}

void rig_advance(struct rig *rig, ms_t ms) {
    rig->now.mono_ns += ms * NS_PER_MS;
    rig->now.wall_us += ms * US_PER_MS;
}

ms_t rig_now_ms(const struct rig *rig) { return wall_ms_of(rig->now.wall_us); }

void rig_converse(struct rig *rig, const struct exchange *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *reply = rig_do(rig, table[i].line);
        ck_assert_msg(!table[i].reply || strcmp(reply, table[i].reply) == 0,
                      "[%zu] %s: %s, expected %s", i, table[i].line, reply, table[i].reply);
    }
}

void rig_feed(struct rig *rig, const struct feeding *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct exchange exchange = {table[i].line, table[i].reply};
        rig_converse(rig, &exchange, 1);
        const char *stream = rig_stream(rig);
        ck_assert_msg(!table[i].stream || strcmp(stream, table[i].stream) == 0,
                      "[%zu] %s: stream %s, expected %s", i, table[i].line, stream,
                      table[i].stream);
    }
}
