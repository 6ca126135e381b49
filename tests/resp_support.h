/* resp_support: what the tests of resp share. The engine's figures and the command table are
 * doubles, so that a test can choose them; each test program includes this once. */
#ifndef LAPSE_TESTS_RESP_SUPPORT_H
#define LAPSE_TESTS_RESP_SUPPORT_H

#include "resp.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "bounds.h"
#include "support.h"

/* ---- doubles ---- */

static struct engine_stats stats;
static struct engine_config engine_settings;
static struct engine_db_stats db_stats[DATABASES_MAX];

struct engine_stats engine_stats(const struct engine *engine) {
    (void)engine;
    return stats;
}

const struct engine_config *engine_config(const struct engine *engine) {
    (void)engine;
    return &engine_settings;
}

struct engine_db_stats engine_db_stats(const struct engine *engine, uint8_t db) {
    (void)engine;
    return db_stats[db];
}

static const struct command commands[] = {
    {.name = "get", .first_key = 1, .last_key = 1, .key_step = 1},
    {.name = "del", .first_key = 1, .last_key = -1, .key_step = 1},
    {.name = "mset", .first_key = 1, .last_key = -1, .key_step = 2},
    {.name = "pop", .first_key = 2, .last_key = -2, .key_step = 1},
    {.name = "config"},
};

const struct command *command_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strlen(commands[i].name) == length && !strncmp(commands[i].name, name, length))
            return &commands[i];
    return NULL;
}

/* ---- what all tests have ---- */

static struct names *names;
static struct texts *texts;
static struct resp_buffer buffer;

static inline void setup(void) {
    static const uint8_t seed[SIPHASH_SEED_BYTES];
    names = names_create(seed);
    texts = texts_create();
    memset(&stats, 0, sizeof stats);
    memset(db_stats, 0, sizeof db_stats);
    memset(&engine_settings, 0, sizeof engine_settings);
    engine_settings.databases = 16;
    for (int i = 0; i < DATABASES_MAX; i++)
        db_stats[i].main_rehash_index = db_stats[i].expires_rehash_index = -1;
}

static inline void teardown(void) {
    resp_buffer_release(&buffer);
    names_destroy(names);
    texts_destroy(texts);
}

static inline void expect_bytes(const char *expected, size_t length) {
    ck_assert_uint_eq(buffer.length, length);
    ck_assert_mem_eq(buffer.bytes, expected, length);
    buffer.length = 0;
}

static inline void expect_text(const char *expected) {
    resp_append(&buffer, "", 1); /* a NUL, so that a failure prints it */
    ck_assert_str_eq(buffer.bytes, expected);
    buffer.length = 0;
}

static inline struct arg word(const char *bytes, size_t length) {
    return arg_word(texts, texts_intern(texts, bytes, length));
}
static inline struct arg text(const char *bytes) { return word(bytes, strlen(bytes)); }
static inline struct arg key(const char *name) {
    return arg_key(names_keys(names), names_intern(names, name, strlen(name)));
}

static inline void print_item(struct reply_item item) {
    struct reply reply = {.items = &item, .count = 1};
    resp_print_reply(&buffer, &reply, NULL, names, texts);
}

#endif
