#include <string.h>

#include "command.h"
#include "engine_state.h"
#include "snapshot.h"
#include "support.h"

/* Orphans: keys on a replica that nobody will ever delete. A master M holds keys past their
 * deadline, and so does its replica S. A replica R is filled from a snapshot of M, is promoted, and
 * S goes on as R's replica from where the history stands. If the snapshot left the dead keys out,
 * R never had them and never sends their DEL, and S keeps them for ever. */

#define KEYS      900
#define TTL_MS    1000
#define SETTLE_MS 60000
#define START_MS  INT64_C(1700000000000)

struct server {
    struct engine *engine;
    struct sink sink;
    struct server *follower; /* gets the stream; or NULL */
    int64_t offset_base;     /* what the stream's offsets here lack to the history's */
    uint32_t client;
    struct reply_item answer; /* the first item of the last reply */
};

struct cluster {
    struct keys *keys;
    struct texts *texts;
    const struct generation *generation;
    ms_t now_ms;
    key_id first;
    struct server m, s, r;
};

static struct instant instant_of(const struct cluster *c) {
    return (struct instant){(c->now_ms - START_MS) * NS_PER_MS, c->now_ms * US_PER_MS};
}

/* --- sinks --- */

static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    struct server *server = context;
    (void)client;
    server->answer = reply->items[0];
}
/* The wire takes no time; the follower was woken with its master. */
static void on_stream(void *context, const struct stream_command *command) {
    const struct server *server = context;
    if (!server->follower) return;
    struct stream_command at = *command;
    at.end_offset += server->offset_base;
    engine_receive(server->follower->engine, &at);
}
static void on_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)context, (void)deadline_ms, (void)bytes;
}
static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    (void)context, (void)late_ms, (void)cause;
}
static void on_cycle(void *context, const struct cycle_report *report) {
    (void)context, (void)report;
}
static void on_acknowledge(void *context, int64_t offset) { (void)context, (void)offset; }

/* --- servers --- */

static void server_start(struct cluster *c, struct server *server, bool is_replica) {
    struct engine_config config = engine_config_default();
    config.is_replica = is_replica;
    *server = (struct server){0};
    server->sink = (struct sink){.context = server,
                                 .reply = on_reply,
                                 .stream = on_stream,
                                 .deadline_added = on_deadline,
                                 .deadline_removed = on_deadline,
                                 .key_expired = on_expired,
                                 .cycle_ended = on_cycle,
                                 .acknowledge = on_acknowledge};
    struct engine_env env = {.generation = c->generation,
                             .allocator = allocator_find("debian"),
                             .prices = price_table_find("zero"),
                             .keys = c->keys,
                             .texts = c->texts,
                             .sink = &server->sink,
                             .rng = rng_seed(test_seed())};
    server->engine = engine_create(&env, &config);
    server->client = engine_connect(server->engine);
    engine_wake(server->engine, instant_of(c));
}

static void server_stop(struct server *server) {
    engine_check(server->engine);
    engine_destroy(server->engine);
}

static struct reply_item ask(struct cluster *c, struct server *server, const char *name,
                             const struct arg *args, uint32_t argc) {
    struct arg argv[6] = {arg_word(c->texts, texts_intern(c->texts, name, strlen(name)))};
    for (uint32_t i = 0; i < argc; i++) argv[i + 1] = args[i];
    struct request request = {command_find(name, strlen(name)), argv, argc + 1};
    engine_wake(server->engine, instant_of(c));
    if (server->follower) engine_wake(server->follower->engine, instant_of(c));
    engine_request(server->engine, server->client, &request);
    engine_sleep(server->engine);
    return server->answer;
}

static void run_for(struct cluster *c, struct server *server, ms_t ms) {
    for (ms_t until_ms = c->now_ms + ms; c->now_ms < until_ms; c->now_ms += 100) {
        engine_wake(server->engine, instant_of(c));
        if (server->follower) engine_wake(server->follower->engine, instant_of(c));
        engine_cron(server->engine);
        engine_sleep(server->engine);
    }
}

static uint64_t keys_on(const struct server *server) { return engine_stats(server->engine).keys; }

/* --- the story --- */

static void set_active_expire(struct cluster *c, struct server *server, const char *digit) {
    struct arg argv[] = {arg_word(c->texts, texts_intern(c->texts, "SET-ACTIVE-EXPIRE", 17)),
                         arg_word(c->texts, texts_intern(c->texts, digit, 1))};
    ask(c, server, "DEBUG", argv, 2);
}

/* M with its replica S; a third of the keys has no TTL, a third a short one, a third a long one. M
 * does not expire by itself, as if it had no time to. */
static void begin(struct cluster *c, const char *generation) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {9};
    *c = (struct cluster){.keys = keys_create(seed),
                          .texts = texts_create(),
                          .generation = generation_find(generation),
                          .now_ms = START_MS};
    server_start(c, &c->m, false);
    server_start(c, &c->s, true);
    c->m.follower = &c->s;
    engine_replica_attach(c->m.engine);
    set_active_expire(c, &c->m, "0");
    c->first = c->keys->count + 1;
    for (uint32_t i = 0; i < KEYS; i++) {
        key_id key = keys_add(c->keys, (const char *)&i, sizeof i);
        struct arg argv[] = {arg_key(c->keys, key), arg_number(1), arg_word(c->texts, WORD_PX),
                             arg_number(i % 3 == 1 ? TTL_MS : 100 * SETTLE_MS)};
        ask(c, &c->m, "SET", argv, i % 3 == 0 ? 2 : 4);
    }
    c->now_ms += TTL_MS + 1;
}

/* R is filled from M as M stands now, and becomes the master; S goes on from M's offset. Returns
 * the keys that R did not get. */
static uint64_t fail_over(struct cluster *c) {
    struct snapshot *snapshot =
        snapshot_take(c->m.engine->dbs, DATABASES_MAX, &c->generation->persist, c->now_ms);
    uint64_t left_out = snapshot->left_out;
    server_start(c, &c->r, false);
    for (uint64_t i = 0; i < snapshot->count; i++)
        engine_preload(c->r.engine, 0, snapshot->items[i].key, &snapshot->items[i].value,
                       snapshot->items[i].deadline_ms);
    snapshot_release(snapshot);
    c->m.follower = NULL;
    c->r.follower = &c->s;
    c->r.offset_base = engine_stats(c->m.engine).master_repl_offset;
    engine_replica_attach(c->r.engine);
    return left_out;
}

static void end(struct cluster *c) {
    server_stop(&c->m);
    server_stop(&c->s);
    server_stop(&c->r);
    keys_destroy(c->keys);
    texts_destroy(c->texts);
}

/* Each key with a short TTL: nil, whether it is there or not. */
static void check_reads_nil(struct cluster *c, struct server *server) {
    for (uint32_t i = 1; i < KEYS; i += 3) {
        struct arg key = arg_key(c->keys, c->first + i);
        ck_assert_int_eq(ask(c, server, "GET", &key, 1).kind, REPLY_NIL);
    }
}

/* The orphans are the stale keys of the snapshot's moment, and stay that many. */
static void check_orphans(const char *generation, uint64_t orphans) {
    struct cluster c;
    begin(&c, generation);
    ck_assert_uint_eq(keys_on(&c.m), KEYS);
    ck_assert_uint_eq(keys_on(&c.s), KEYS);
    ck_assert_uint_eq(fail_over(&c), orphans);
    ck_assert_uint_eq(keys_on(&c.r), KEYS - orphans);
    for (int i = 0; i < 5; i++) {
        run_for(&c, &c.r, SETTLE_MS);
        ck_assert_uint_eq(keys_on(&c.r), KEYS - KEYS / 3);
        ck_assert_uint_eq(keys_on(&c.s) - keys_on(&c.r), orphans);
        check_reads_nil(&c, &c.s);
    }
    end(&c);
}

START_TEST(a_snapshot_that_leaves_dead_keys_out_leaves_orphans_for_ever) {
    check_orphans("redis-4.0", KEYS / 3);
}
END_TEST

START_TEST(a_snapshot_that_holds_them_leaves_none) {
    check_orphans("redis-5.0", 0);
    check_orphans("redis-7.0.5", 0);
    check_orphans("redis-7.0", 0);
}
END_TEST

/* A DEL of a key that R does not have changes nothing and is not sent. A SET is, and ends it. */
START_TEST(an_orphan_goes_only_when_its_name_is_written_anew) {
    struct cluster c;
    begin(&c, "redis-4.0");
    fail_over(&c);
    struct arg key = arg_key(c.keys, c.first + 1), set[] = {key, arg_number(2)};
    ck_assert_int_eq(ask(&c, &c.r, "DEL", &key, 1).integer, 0);
    ck_assert_int_eq(ask(&c, &c.s, "GET", &key, 1).kind, REPLY_NIL);
    ck_assert_uint_eq(keys_on(&c.s), KEYS);
    ask(&c, &c.r, "SET", set, 2);
    ck_assert_int_eq(ask(&c, &c.s, "GET", &key, 1).kind, REPLY_VALUE);
    ck_assert_uint_eq(keys_on(&c.s), KEYS);
    ask(&c, &c.r, "DEL", &key, 1);
    ck_assert_uint_eq(keys_on(&c.s), KEYS - 1);
    end(&c);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("orphans");
    TCase *tcase = tcase_create("orphans");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_snapshot_that_leaves_dead_keys_out_leaves_orphans_for_ever);
    tcase_add_test(tcase, a_snapshot_that_holds_them_leaves_none);
    tcase_add_test(tcase, an_orphan_goes_only_when_its_name_is_written_anew);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
