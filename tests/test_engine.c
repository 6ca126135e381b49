#include "engine.h"

#include <string.h>

#include "command.h"
#include "fixture.h"

static const struct price_table free_of_charge = {.name = "free"};
static const struct price_table cron_costs_7_ms = {.name = "cron",
                                                   .ps = {[COST_CRON] = 7000 * PS_PER_US}};

/* Facts 0.2.1: first at 1 ms, then 1000 / hz ms after the end of the one before: 1, 108, 215 at hz
 * 10 with 7 ms of work. */
START_TEST(cron_is_armed_again_when_it_returns) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &cron_costs_7_ms);
    fixture_start(&f);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(engine_next_cron(f.engine), (1 + i * 107) * NS_PER_MS);
        ck_assert_int_eq(fixture_cron_turn(&f), 7 * NS_PER_MS);
    }
    fixture_stop(&f);
}
END_TEST

/* Facts 5.1.2: floor(1000 / 300) = 3 ms. */
START_TEST(cron_period_floors_to_whole_milliseconds) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.hz = 300;
    fixture_start(&f);
    fixture_cron_turn(&f);
    ck_assert_int_eq(engine_next_cron(f.engine), 4 * NS_PER_MS);
    fixture_stop(&f);
}
END_TEST

/* Facts 5.1.1: 2,009 clients (the fixture's own and 2,008) on hz 10 are floor(200.9) = 200: stays;
 * 2,010 are 201: doubles. */
START_TEST(dynamic_hz_doubles_above_200_clients_a_call) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    for (int i = 0; i < 2008; i++) engine_connect(f.engine);
    fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).hz, 10);
    engine_connect(f.engine);
    fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).hz, 20);
    fixture_stop(&f);
}
END_TEST

/* A ping is 14 bytes (facts 6.5), sent by the 1st, 11th ... replicationCron, which comes every 10th
 * cron at hz 10: crons 0 and 100 of 150. */
START_TEST(master_pings_its_replicas_every_tenth_second_by_the_count_of_crons) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    ck_assert_int_ge(engine_replica_attach(f.engine), 0);
    for (int i = 0; i < 150; i++) fixture_cron_turn(&f);
    ck_assert_uint_eq(f.stream_commands, 2);
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 28);
    fixture_stop(&f);
}
END_TEST

START_TEST(offset_stands_still_while_no_replica_was_ever_attached) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 50), 50, fixture_wall_ms(&f));
    for (int i = 0; i < 20; i++) fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).expired_keys, 50);
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 0);
    fixture_stop(&f);
}
END_TEST

/* 50 DELs of "key:0" to "key:49": 18 + 1 + 5 or 6 bytes (facts 6.5), SELECT 0 before them (23),
 * ping before that (14). */
START_TEST(cycle_sends_its_deletions_in_one_batch_with_one_select) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    engine_replica_attach(f.engine);
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 50), 50, fixture_wall_ms(&f) + 50);
    fixture_cron_turn(&f); /* 1 ms: the ping */
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 14);
    fixture_cron_turn(&f); /* 101 ms: dead */
    ck_assert_uint_eq(f.stream_commands, 1 + 1 + 50);
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 14 + 23 + 10 * 24 + 40 * 25);
    fixture_stop(&f);
}
END_TEST

static void receive(struct fixture *f, const struct arg *argv, uint32_t argc, int64_t *offset) {
    const char *name = texts_bytes(f->texts, argv[0].id);
    struct stream_command command = {.request = {command_find(name, strlen(name)), argv, argc},
                                     .resp_bytes = request_resp_bytes(argv, argc)};
    *offset += command.resp_bytes;
    command.end_offset = *offset;
    engine_receive(f->engine, &command);
}

/* Facts 6.9.2: state and applied offset stand still inside MULTI and jump at EXEC, wherever the
 * stream was cut into segments. */
START_TEST(replica_holds_back_what_stands_between_multi_and_exec) {
    struct fixture f;
    int64_t offset = 0;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.is_replica = true;
    fixture_start(&f);
    key_id key = fixture_keys(&f, "key:", 1);
    fixture_preload(&f, 0, key, 1, fixture_wall_ms(&f) + 5000);
    struct arg multi = arg_word(f.texts, WORD_MULTI), exec = arg_word(f.texts, WORD_EXEC);
    struct arg del[] = {arg_word(f.texts, WORD_DEL), arg_key(f.keys, key)};
    fixture_idle_turn(&f, NS_PER_MS);
    receive(&f, &multi, 1, &offset);
    receive(&f, del, 2, &offset);
    ck_assert_uint_eq(engine_stats(f.engine).keys, 1);
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 0);
    receive(&f, &exec, 1, &offset);
    ck_assert_uint_eq(engine_stats(f.engine).keys, 0);
    ck_assert_int_eq(engine_stats(f.engine).master_repl_offset, 15 + 24 + 14); /* facts 6.5 */
    fixture_stop(&f);
}
END_TEST

START_TEST(digest_sees_value_deadline_and_database_and_not_the_order_of_writes) {
    uint64_t digests[4];
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        fixture_init(&f, "redis-7.0", &free_of_charge);
        fixture_start(&f);
        key_id first = fixture_keys(&f, "key:", 2);
        struct object value = object_from_fill(i == 2 ? 33 : 32);
        key_id order[] = {i == 1 ? first + 1 : first, i == 1 ? first : first + 1};
        for (int k = 0; k < 2; k++) engine_preload(f.engine, i == 3, order[k], &value, 5000);
        digests[i] = engine_digest(f.engine);
        fixture_stop(&f);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
    ck_assert_uint_ne(digests[0], digests[2]);
    ck_assert_uint_ne(digests[0], digests[3]);
}
END_TEST

static void sum_keys(void *context, const struct engine_key *key) {
    uint64_t *sums = context;
    sums[0]++;
    sums[1] += key->bytes;
    sums[2] += key->deadline_ms >= 0;
    sums[3] += key->db;
    ck_assert_uint_eq(object_length(&key->value), 32);
}

/* 5 keys without a TTL in database 0, 3 with one in database 2. */
START_TEST(each_key_is_told_once_with_its_deadline_and_weight) {
    struct fixture f;
    uint64_t sums[4] = {0};
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    key_id first = fixture_keys(&f, "k", 8);
    fixture_preload(&f, 0, first, 5, -1);
    fixture_preload(&f, 2, first + 5, 3, fixture_wall_ms(&f) + 1000);
    engine_each_key(f.engine, sum_keys, sums);
    ck_assert_uint_eq(sums[0], 8);
    ck_assert_uint_eq(sums[1], 5 * engine_key_bytes(f.engine, 0, first) +
                                   3 * engine_key_bytes(f.engine, 2, first + 5));
    ck_assert_int_eq(3 * (int64_t)engine_key_bytes(f.engine, 2, first + 5), f.stale_books_bytes);
    ck_assert_uint_eq(sums[2], 3);
    ck_assert_uint_eq(sums[3], 3 * 2);
    fixture_stop(&f);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("engine");
    tcase_add_test(tcase, cron_is_armed_again_when_it_returns);
    tcase_add_test(tcase, cron_period_floors_to_whole_milliseconds);
    tcase_add_test(tcase, dynamic_hz_doubles_above_200_clients_a_call);
    tcase_add_test(tcase, master_pings_its_replicas_every_tenth_second_by_the_count_of_crons);
    tcase_add_test(tcase, offset_stands_still_while_no_replica_was_ever_attached);
    tcase_add_test(tcase, cycle_sends_its_deletions_in_one_batch_with_one_select);
    tcase_add_test(tcase, replica_holds_back_what_stands_between_multi_and_exec);
    tcase_add_test(tcase, each_key_is_told_once_with_its_deadline_and_weight);
    tcase_add_test(tcase, digest_sees_value_deadline_and_database_and_not_the_order_of_writes);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
