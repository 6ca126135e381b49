#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    struct fixture *f = context;
    (void)client;
    f->reply_count = reply->count;
    for (uint32_t i = 0; i < reply->count && i < 4; i++) f->reply[i] = reply->items[i];
}

static void on_stream(void *context, const struct stream_command *command) {
    struct fixture *f = context;
    f->stream_commands++;
    f->stream_bytes += command->resp_bytes;
}

static void on_added(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct fixture *f = context;
    (void)deadline_ms;
    f->stale_books_keys++;
    f->stale_books_bytes += (int64_t)bytes;
}

static void on_removed(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct fixture *f = context;
    (void)deadline_ms;
    f->stale_books_keys--;
    f->stale_books_bytes -= (int64_t)bytes;
}

static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    struct fixture *f = context;
    *(cause == EXPIRY_LAZY ? &f->expired_lazily : &f->expired_actively) += 1;
    f->late_sum_ms += late_ms;
    if (late_ms > f->late_max_ms) f->late_max_ms = late_ms;
    if (late_ms < f->late_min_ms) f->late_min_ms = late_ms;
}

static void on_cycle(void *context, const struct cycle_report *report) {
    struct fixture *f = context;
    f->last_cycle = *report;
    f->cycles++;
    f->fast_cycles += report->fast;
    f->capped_cycles += report->capped;
}

static void on_acknowledge(void *context, int64_t offset) { (void)context, (void)offset; }

void fixture_init(struct fixture *f, const char *generation, const struct price_table *prices) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};
    *f = (struct fixture){.wall_start_us = FIXTURE_WALL_US, .late_min_ms = INT64_MAX};
    f->keys = keys_create(seed);
    f->texts = texts_create();
    f->sink = (struct sink){.context = f,
                            .reply = on_reply,
                            .stream = on_stream,
                            .deadline_added = on_added,
                            .deadline_removed = on_removed,
                            .key_expired = on_expired,
                            .cycle_ended = on_cycle,
                            .acknowledge = on_acknowledge};
    f->env = (struct engine_env){.generation = generation_find(generation),
                                 .allocator = allocator_find("debian"),
                                 .prices = prices,
                                 .keys = f->keys,
                                 .texts = f->texts,
                                 .sink = &f->sink,
                                 .rng = rng_seed(test_seed())};
    f->config = engine_config_default();
}

void fixture_start(struct fixture *f) {
    f->engine = engine_create(&f->env, &f->config);
    f->client = engine_connect(f->engine);
}

void fixture_stop(struct fixture *f) {
    engine_check(f->engine);
    engine_destroy(f->engine);
    ck_assert_int_eq(f->stale_books_keys, 0);
    ck_assert_int_eq(f->stale_books_bytes, 0);
    keys_destroy(f->keys);
    texts_destroy(f->texts);
}

key_id fixture_keys(struct fixture *f, const char *prefix, uint32_t count) {
    key_id first = KEY_NONE;
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        int length = snprintf(name, sizeof name, "%s%u", prefix, i);
        key_id id = keys_add(f->keys, name, (size_t)length);
        if (i == 0) first = id;
    }
    return first;
}

void fixture_preload(struct fixture *f, uint8_t db, key_id first, uint32_t count,
                     ms_t deadline_ms) {
    struct object value = object_from_fill(32);
    for (uint32_t i = 0; i < count; i++)
        engine_preload(f->engine, db, first + i, &value, deadline_ms);
}

ms_t fixture_wall_ms(const struct fixture *f) {
    return wall_ms_of(f->wall_start_us + f->now_ns / NS_PER_US);
}

static void wake(struct fixture *f) {
    engine_wake(f->engine, (struct instant){f->now_ns, f->wall_start_us + f->now_ns / NS_PER_US});
}

ns_t fixture_cron_turn(struct fixture *f) {
    f->now_ns = engine_next_cron(f->engine);
    wake(f);
    engine_cron(f->engine);
    return engine_sleep(f->engine);
}

ns_t fixture_idle_turn(struct fixture *f, ns_t now_ns) {
    f->now_ns = now_ns;
    wake(f);
    return engine_sleep(f->engine);
}

void fixture_command(struct fixture *f, const struct arg *argv, uint32_t argc) {
    const char *name = texts_bytes(f->texts, argv[0].id);
    struct request request = {command_find(name, strlen(name)), argv, argc};
    wake(f);
    engine_request(f->engine, f->client, &request);
    f->now_ns += engine_sleep(f->engine);
}
