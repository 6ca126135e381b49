#include "expire_replica.h"

#include <stdio.h>
#include <string.h>

#include "engine_state.h"
#include "requests.h"

/* A replica as its clients see it; writable unless a test says otherwise. */
static void start(struct rig *rig, const char *generation) {
    rig_init(rig, generation);
    rig->config.is_replica = true;
    rig->config.replica_read_only = false;
    rig_start(rig);
}

static uint64_t remembered(const struct rig *rig) {
    return expire_replica_count(&rig->engine->remembered);
}

static void cron(struct rig *rig) {
    engine_wake(rig->engine, rig->now);
    engine_cron(rig->engine);
    engine_sleep(rig->engine);
}

static uint64_t expired(const struct rig *rig) { return engine_stats(rig->engine).expired_keys; }

/* Since 4.0; all rows are. Strictly after the deadline, by the cron, and nobody is told. */
START_TEST(what_a_client_gave_a_deadline_goes_after_it_at_a_cron) {
    for (size_t i = 0; generation_at(i); i++) {
        struct rig rig;
        start(&rig, generation_at(i)->name);
        rig_do(&rig, "SET a 1 PX 100");
        rig_do(&rig, "SET b 1");
        rig_do(&rig, "PEXPIRE b 200");
        ck_assert_uint_eq(remembered(&rig), 2);
        rig_advance(&rig, 100);
        cron(&rig);
        ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":2");
        rig_advance(&rig, 1);
        cron(&rig);
        ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
        ck_assert_uint_eq(remembered(&rig), 1);
        rig_advance(&rig, 150);
        cron(&rig);
        ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
        ck_assert_int_eq(rig.last_late_ms, 51);
        ck_assert_uint_eq(remembered(&rig), 0);
        ck_assert_uint_eq(expired(&rig), 2);
        ck_assert_uint_eq(rig.expired_lazily, 0);
        ck_assert_str_eq(rig_stream(&rig), "");
        rig_stop(&rig);
    }
}
END_TEST

START_TEST(what_came_from_the_master_waits_for_the_master_s_del) {
    struct rig rig;
    start(&rig, "redis-7.0");
    char line[64];
    snprintf(line, sizeof line, "SET a 1 PXAT %lld", (long long)rig_now_ms(&rig) + 100);
    rig_receive(&rig, "SELECT 0");
    rig_receive(&rig, line);
    struct object value = object_from_fill(10);
    engine_preload(rig.engine, 0, rig_key(&rig, "b"), &value, rig_now_ms(&rig) + 100);
    ck_assert_uint_eq(remembered(&rig), 0);
    rig_advance(&rig, 1000);
    for (int i = 0; i < 10; i++) cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":2");
    ck_assert_str_eq(rig_do(&rig, "GET a"), "(nil)");
    rig_receive(&rig, "DEL a");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    ck_assert_uint_eq(expired(&rig), 0);
    rig_stop(&rig);
}
END_TEST

/* The master gives a key that a client's deadline is remembered of another one: the name stands in
 * the table, so the replica deletes it by that (facts 3.6.5: it looks at the expires dict only). */
START_TEST(a_remembered_name_goes_by_whatever_deadline_it_has_by_then) {
    struct rig rig;
    start(&rig, "redis-7.0");
    char line[64];
    rig_do(&rig, "SET a 1 PX 100000");
    snprintf(line, sizeof line, "PEXPIREAT a %lld", (long long)rig_now_ms(&rig) + 50);
    rig_receive(&rig, "SELECT 0");
    rig_receive(&rig, line);
    rig_advance(&rig, 51);
    cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
    rig_stop(&rig);
}
END_TEST

START_TEST(a_read_only_replica_refuses_and_remembers_nothing) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "CONFIG SET replica-read-only yes");
    ck_assert_str_eq(rig_do(&rig, "SET a 1 PX 100"),
                     "-READONLY You can't write against a read only replica.");
    ck_assert_uint_eq(remembered(&rig), 0);
    rig_do(&rig, "CONFIG SET replica-read-only no");
    ck_assert_str_eq(rig_do(&rig, "SET a 1 PX 100"), "+OK");
    rig_do(&rig, "CONFIG SET replica-read-only yes");
    ck_assert_uint_eq(remembered(&rig), 1);
    rig_advance(&rig, 101);
    cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
    rig_stop(&rig);
}
END_TEST

START_TEST(a_master_remembers_nothing) {
    struct rig rig;
    rig_init(&rig, "redis-7.0");
    rig.config.replica_read_only = false;
    rig_start(&rig);
    rig_do(&rig, "SET a 1 PX 100");
    ck_assert_uint_eq(remembered(&rig), 0);
    rig_stop(&rig);
}
END_TEST

/* A write deletes what it finds dead and begins anew; a read leaves it (facts 3.6.4). */
START_TEST(since_7_0_a_client_s_write_deletes_a_dead_key_and_a_read_does_not) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "SET a 41 PX 100");
    rig_advance(&rig, 101);
    ck_assert_str_eq(rig_do(&rig, "GET a"), "(nil)");
    ck_assert_str_eq(rig_do(&rig, "EXISTS a"), ":0");
    ck_assert_str_eq(rig_do(&rig, "TTL a"), ":-2");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    ck_assert_uint_eq(expired(&rig), 0);
    ck_assert_str_eq(rig_do(&rig, "INCR a"), ":1");
    ck_assert_uint_eq(expired(&rig), 1);
    ck_assert_uint_eq(rig.expired_lazily, 1);
    ck_assert_str_eq(rig_do(&rig, "TTL a"), ":-1");
    ck_assert_str_eq(rig_stream(&rig), "");
    rig_stop(&rig);
}
END_TEST

/* Its own dead keys, and the master's too: whoever gave the deadline. */
START_TEST(since_7_0_a_write_deletes_the_master_s_dead_keys_too) {
    struct rig rig;
    start(&rig, "redis-7.0");
    char line[64];
    snprintf(line, sizeof line, "SET a 41 PXAT %lld", (long long)rig_now_ms(&rig) + 100);
    rig_receive(&rig, "SELECT 0");
    rig_receive(&rig, line);
    rig_advance(&rig, 101);
    rig_receive(&rig, "INCR a");
    ck_assert_uint_eq(expired(&rig), 0);
    ck_assert_str_eq(rig_do(&rig, "INCR a"), ":1");
    ck_assert_uint_eq(expired(&rig), 1);
    rig_stop(&rig);
}
END_TEST

/* The write sees the old value, and nothing is deleted (facts 3.6.8). */
START_TEST(before_7_0_a_client_s_write_goes_on_from_the_dead_value) {
    struct rig rig;
    start(&rig, "redis-5.0");
    rig_do(&rig, "SET a 41 PX 100");
    rig_advance(&rig, 101);
    ck_assert_str_eq(rig_do(&rig, "GET a"), "(nil)");
    ck_assert_str_eq(rig_do(&rig, "INCR a"), ":42");
    ck_assert_uint_eq(expired(&rig), 0);
    ck_assert_str_eq(rig_do(&rig, "GET a"), "(nil)");
    rig_stop(&rig);
}
END_TEST

/* Facts 3.6.6. */
START_TEST(a_past_deadline_is_stored_and_the_next_cron_removes_the_key) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "SET a 1");
    ck_assert_str_eq(rig_do(&rig, "EXPIRE a -1"), ":1");
    ck_assert_str_eq(rig_do(&rig, "GET a"), "(nil)");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
    rig_stop(&rig);
}
END_TEST

START_TEST(a_key_that_lost_its_deadline_or_is_gone_is_forgotten) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "SET a 1 EX 100");
    rig_do(&rig, "SET b 1 EX 100");
    rig_do(&rig, "SET c 1 EX 100");
    rig_do(&rig, "PERSIST a");
    rig_do(&rig, "SET b 2");
    rig_do(&rig, "DEL c");
    ck_assert_uint_eq(remembered(&rig), 3);
    cron(&rig);
    ck_assert_uint_eq(remembered(&rig), 0);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":2");
    ck_assert_uint_eq(expired(&rig), 0);
    rig_stop(&rig);
}
END_TEST

/* One name in three databases; it is dead in one of them, living in another, gone from the third.
 */
START_TEST(a_name_stands_once_with_all_its_databases) {
    struct rig rig;
    start(&rig, "redis-7.0");
    static const char *const lines[] = {"SET a 1 PX 100", "SELECT 3",       "SET a 1 EX 100",
                                        "SELECT 15",      "SET a 1 EX 100", "DEL a"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) rig_do(&rig, lines[i]);
    ck_assert_uint_eq(remembered(&rig), 1);
    const struct entries *entries = &rig.engine->remembered.entries;
    ck_assert_int_eq(entries_at(entries, rig_key(&rig, "a"))->payload, 1 | 1 << 3 | 1 << 15);
    rig_advance(&rig, 101);
    cron(&rig);
    ck_assert_int_eq(entries_at(entries, rig_key(&rig, "a"))->payload, 1 << 3);
    ck_assert_uint_eq(expired(&rig), 1);
    ck_assert_uint_eq(engine_stats(rig.engine).keys, 1);
    rig_stop(&rig);
}
END_TEST

START_TEST(flushall_forgets_and_flushdb_does_not) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "SET a 1 EX 100");
    rig_do(&rig, "FLUSHDB");
    ck_assert_uint_eq(remembered(&rig), 1);
    rig_do(&rig, "FLUSHALL now");
    ck_assert_uint_eq(remembered(&rig), 1);
    rig_do(&rig, "FLUSHALL");
    ck_assert_uint_eq(remembered(&rig), 0);
    rig_do(&rig, "SET a 1 EX 100");
    rig_receive(&rig, "FLUSHALL");
    ck_assert_uint_eq(remembered(&rig), 0);
    rig_stop(&rig);
}
END_TEST

/* A copy of the name, an entry of 24 bytes (32 with 16-byte classes) and a table of 4 buckets. */
START_TEST(what_is_remembered_weighs_what_the_server_s_table_does) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "SET a:name:of:20:letters 1");
    int64_t before = engine_stats(rig.engine).used_memory_bytes;
    rig_do(&rig, "EXPIRE a:name:of:20:letters 100");
    int64_t both = engine_stats(rig.engine).used_memory_bytes - before;
    /* the expires dict's own entry and table, then the same again and 1 + 20 + 1 letters in 32 */
    ck_assert_int_eq(both, 2 * (32 + 4 * 8) + 32);
    rig_do(&rig, "FLUSHALL");
    rig_stop(&rig);
}
END_TEST

/* --- the cycle's ends, by the prices of its work --- */

static void remember_many(struct rig *rig, uint32_t count, const char *px) {
    char line[64];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "SET k%u 1 PX %s", i, px);
        rig_do(rig, line);
    }
}

static uint64_t spent_us(const struct rig *rig) { return rig->engine->cpu.spent_ps / PS_PER_US; }

static void cycle(struct rig *rig) {
    engine_wake(rig->engine, rig->now);
    expire_replica_cycle(&rig->engine->remembered, rig->engine->dbs, 16);
}

/* Each living key costs 1 us to look at; with the fourth the cycle ends. */
START_TEST(four_living_keys_end_the_cycle) {
    struct rig rig;
    struct price_table prices = {.name = "checks"};
    start(&rig, "redis-7.0");
    remember_many(&rig, 500, "100000");
    rig.engine->cpu.prices = &prices;
    prices.ps[COST_KEY_CHECKED] = PS_PER_US;
    cycle(&rig);
    ck_assert_uint_eq(spent_us(&rig), 4);
    ck_assert_uint_eq(remembered(&rig), 500);
    rig_stop(&rig);
}
END_TEST

/* 1,000 dead keys at 20 us each, from a moment on a whole millisecond. After 64 names 1.28 ms have
 * passed, which the clock shows as 1: not more than 1. After 128, 2.56 ms: 2, which is. */
START_TEST(more_than_a_millisecond_ends_the_cycle_at_a_64th_name) {
    struct rig rig;
    struct price_table prices = {.name = "deaths"};
    start(&rig, "redis-7.0");
    remember_many(&rig, 1000, "100");
    rig_advance(&rig, 101);
    rig.engine->cpu.prices = &prices;
    prices.ps[COST_KEY_EXPIRED] = 20 * PS_PER_US;
    cycle(&rig);
    ck_assert_uint_eq(expired(&rig), 128);
    ck_assert_uint_eq(remembered(&rig), 1000 - 128);
    prices.ps[COST_KEY_EXPIRED] = 40 * PS_PER_US;
    cycle(&rig);
    ck_assert_uint_eq(expired(&rig), 128 + 64);
    prices.ps[COST_KEY_EXPIRED] = 0;
    cycle(&rig);
    ck_assert_uint_eq(expired(&rig), 1000);
    rig_stop(&rig);
}
END_TEST

/* One reading of the clock at the start, one after every 64th name; none with an empty table. */
START_TEST(the_clock_is_read_once_and_after_every_64th_name) {
    struct rig rig;
    start(&rig, "redis-7.0");
    uint64_t before = rig.engine->cpu.clock_reads;
    cycle(&rig);
    ck_assert_uint_eq(rig.engine->cpu.clock_reads - before, 0);
    remember_many(&rig, 200, "100");
    rig_advance(&rig, 101);
    before = rig.engine->cpu.clock_reads;
    cycle(&rig);
    ck_assert_uint_eq(rig.engine->cpu.clock_reads - before, 1 + 3);
    ck_assert_uint_eq(expired(&rig), 200);
    rig_stop(&rig);
}
END_TEST

START_TEST(set_active_expire_0_stops_it_too) {
    struct rig rig;
    start(&rig, "redis-7.0");
    rig_do(&rig, "DEBUG SET-ACTIVE-EXPIRE 0");
    rig_do(&rig, "SET a 1 PX 1");
    rig_advance(&rig, 100);
    cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    rig_do(&rig, "DEBUG SET-ACTIVE-EXPIRE 1");
    cron(&rig);
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
    rig_stop(&rig);
}
END_TEST

/* --- drawn commands --- */

/* A command on one of 300 names; with a deadline, at most 2 s away, if it takes one. */
static void draw_command(struct rig *rig, struct rng *rng) {
    static const struct {
        const char *before, *after;
        bool has_ttl;
    } forms[] = {{"SET", " 1", false},   {"SET", " 1 PX ", true}, {"PEXPIRE", " ", true},
                 {"PERSIST", "", false}, {"DEL", "", false},      {"INCR", "", false}};
    char line[64], ttl[16] = "";
    size_t form = rng_below(rng, sizeof forms / sizeof *forms);
    if (forms[form].has_ttl) snprintf(ttl, sizeof ttl, "%u", 1 + (unsigned)rng_below(rng, 2000));
    snprintf(line, sizeof line, "%s k%u%s%s", forms[form].before, (unsigned)rng_below(rng, 300),
             forms[form].after, ttl);
    rig_do(rig, line);
}

/* Every key with a deadline is remembered, whatever was done, and once all deadlines have passed
 * and the crons have had their time no key with one is left, while the others are. */
START_TEST(no_deadline_of_a_client_is_ever_overlooked) {
    struct rig rig;
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    start(&rig, _i % 2 ? "redis-7.0" : "redis-5.0");
    for (int i = 0; i < 3000; i++) {
        draw_command(&rig, &rng);
        if (i % 50 == 0) cron(&rig);
        rig_advance(&rig, (ms_t)rng_below(&rng, 20));
    }
    struct engine_stats stats = engine_stats(rig.engine);
    ck_assert_uint_le(stats.expires, remembered(&rig));
    rig_advance(&rig, 5000);
    cron(&rig);
    ck_assert_uint_eq(remembered(&rig), 0);
    ck_assert_uint_eq(engine_stats(rig.engine).expires, 0);
    ck_assert_uint_eq(engine_stats(rig.engine).keys, stats.keys - stats.expires);
    rig_stop(&rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("expire replica");
    TCase *tcase = tcase_create("expire replica");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_a_client_gave_a_deadline_goes_after_it_at_a_cron);
    tcase_add_test(tcase, what_came_from_the_master_waits_for_the_master_s_del);
    tcase_add_test(tcase, a_remembered_name_goes_by_whatever_deadline_it_has_by_then);
    tcase_add_test(tcase, a_read_only_replica_refuses_and_remembers_nothing);
    tcase_add_test(tcase, a_master_remembers_nothing);
    tcase_add_test(tcase, since_7_0_a_client_s_write_deletes_a_dead_key_and_a_read_does_not);
    tcase_add_test(tcase, since_7_0_a_write_deletes_the_master_s_dead_keys_too);
    tcase_add_test(tcase, before_7_0_a_client_s_write_goes_on_from_the_dead_value);
    tcase_add_test(tcase, a_past_deadline_is_stored_and_the_next_cron_removes_the_key);
    tcase_add_test(tcase, a_key_that_lost_its_deadline_or_is_gone_is_forgotten);
    tcase_add_test(tcase, a_name_stands_once_with_all_its_databases);
    tcase_add_test(tcase, flushall_forgets_and_flushdb_does_not);
    tcase_add_test(tcase, what_is_remembered_weighs_what_the_server_s_table_does);
    tcase_add_test(tcase, four_living_keys_end_the_cycle);
    tcase_add_test(tcase, more_than_a_millisecond_ends_the_cycle_at_a_64th_name);
    tcase_add_test(tcase, the_clock_is_read_once_and_after_every_64th_name);
    tcase_add_test(tcase, set_active_expire_0_stops_it_too);
    tcase_add_loop_test(tcase, no_deadline_of_a_client_is_ever_overlooked, 0, (int)test_rounds(20));
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
