#include <stdio.h>
#include <string.h>

#include "cluster.h"

/* WAIT (facts 7.9.2) and CLIENT PAUSE (facts 3.7). */

static void start(struct cluster *c, uint32_t count) {
    cluster_init(c, count, "redis-7.0");
    cluster_start(c);
    for (uint32_t i = 1; i < count; i++) cluster_join(c, 0, (int)i);
    cluster_run(c, 500);
}

START_TEST(wait_of_a_client_that_never_wrote_returns_at_once) {
    struct cluster c;
    start(&c, 3);
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 2 0"), ":2");
    ck_assert_uint_eq(c.servers[0].blocked, 0);
    cluster_stop(&c);
}
END_TEST

/* The GETACK leaves in the same beforeSleep; its 37 bytes move the offset, not the target. The
 * reply comes when the replicas' answers have been read. */
START_TEST(wait_is_answered_when_enough_replicas_have_the_write) {
    struct cluster c;
    start(&c, 3);
    cluster_do(&c, 0, "SET k1 ~10");
    int64_t offset = cluster_stats(&c, 0).master_repl_offset;
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 2 0"), "");
    ck_assert_uint_eq(c.servers[0].blocked, 1);
    ck_assert_int_eq(cluster_stats(&c, 0).master_repl_offset, offset + 37); /* facts 6.5 */
    cluster_run(&c, 2);
    ck_assert_str_eq(c.servers[0].reply, ":2");
    ck_assert(c.servers[0].reply_was_late);
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 2 0"), ":2"); /* known by now */
    cluster_stop(&c);
}
END_TEST

/* Strictly after its deadline, in a beforeSleep: with crons at 1 + 100 n ms a deadline of 650 + 150
 * ms is over at 801 ms (801 > 800), not before; one of 801 ms waits for the cron at 901 ms. */
START_TEST(wait_gives_up_after_its_time_with_the_count_it_has) {
    struct cluster c;
    start(&c, 3);
    cluster_run(&c, 150);
    cluster_cut(&c, 0, 2, true);
    cluster_do(&c, 0, "SET k1 ~10");
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 2 150"), "");
    cluster_run(&c, 150);
    ck_assert_str_eq(c.servers[0].reply, "");
    cluster_run(&c, 1);
    ck_assert_str_eq(c.servers[0].reply, ":1");
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_run(&c, 700 - 51);
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 2 51"), ""); /* at 1,450 ms: over after 1,501 */
    cluster_run(&c, 52);
    ck_assert_str_eq(c.servers[0].reply,
                     ""); /* 1,501 is not after 1,501; nobody wakes till 1,601 */
    cluster_run(&c, 98);
    ck_assert_str_eq(c.servers[0].reply, "");
    cluster_run(&c, 1);
    ck_assert_str_eq(c.servers[0].reply, ":1");
    cluster_stop(&c);
}
END_TEST

START_TEST(wait_is_checked_like_the_servers) {
    struct cluster c;
    start(&c, 2);
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT x 0"), "-ERR value is not an integer or out of range");
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 1 x"),
                     "-ERR timeout is not an integer or out of range");
    ck_assert_str_eq(cluster_do(&c, 0, "WAIT 1 -1"), "-ERR timeout is negative");
    ck_assert_int_eq(strncmp(cluster_do(&c, 1, "WAIT 0 0"),
                             "-ERR WAIT cannot be used with replica instances.", 48),
                     0);
    cluster_stop(&c);
}
END_TEST

/* What a client sends behind its WAIT is read when the WAIT is answered, in the same order. */
START_TEST(request_behind_a_wait_waits_too) {
    struct cluster c;
    start(&c, 2);
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do(&c, 0, "WAIT 1 0");
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), "");
    ck_assert_uint_eq(c.servers[0].blocked, 2);
    cluster_run(&c, 2);
    ck_assert_str_eq(c.servers[0].reply, "value");
    ck_assert(c.servers[0].reply_was_late);
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), "value");
    ck_assert(!c.servers[0].reply_was_late);
    cluster_stop(&c);
}
END_TEST

START_TEST(wait_is_broken_off_when_the_master_becomes_a_replica) {
    struct cluster c;
    start(&c, 2);
    cluster_cut(&c, 0, 1, true);
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do(&c, 0, "WAIT 1 0");
    uint32_t other = engine_connect(c.servers[0].engine);
    cluster_do_as(&c, 0, other, "REPLICAOF s1 1");
    ck_assert_str_eq(c.servers[0].reply,
                     "-UNBLOCKED force unblock from blocking operation, instance state changed "
                     "(master -> replica?)");
    cluster_stop(&c);
}
END_TEST

/* --- pause --- */

static uint32_t another(struct cluster *c) { return engine_connect(c->servers[0].engine); }

START_TEST(paused_write_is_executed_when_the_pause_is_over) {
    struct cluster c;
    start(&c, 2);
    uint32_t admin = another(&c);
    cluster_do_as(&c, 0, admin, "CLIENT PAUSE 1000 WRITE"); /* at 500 ms: until after 1,500 */
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), "nil");
    ck_assert_str_eq(cluster_do(&c, 0, "SET k1 ~10"), "");
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), ""); /* behind it */
    int64_t offset = cluster_stats(&c, 0).master_repl_offset;
    cluster_run(&c, 1000);
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 0);
    ck_assert_int_eq(cluster_stats(&c, 0).master_repl_offset, offset);
    cluster_run(&c, 1); /* the cron of 1,501 ms ends the pause, its beforeSleep executes */
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 1);
    ck_assert_str_eq(c.servers[0].reply, "value");
    cluster_stop(&c);
}
END_TEST

START_TEST(unpause_lets_everything_go) {
    struct cluster c;
    start(&c, 2);
    uint32_t admin = another(&c);
    cluster_do_as(&c, 0, admin, "CLIENT PAUSE 100000 WRITE");
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do_as(&c, 0, admin, "CLIENT UNPAUSE");
    ck_assert_str_eq(c.servers[0].reply, "OK");
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 1);
    cluster_stop(&c);
}
END_TEST

/* ALL stops reads too, and is stricter than a WRITE that comes later. */
START_TEST(pause_of_all_stops_reads_and_outranks_a_later_pause_of_writes) {
    struct cluster c;
    start(&c, 2);
    uint32_t admin = another(&c);
    cluster_do_as(&c, 0, admin, "CLIENT PAUSE 1000");
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), "");
    cluster_do_as(&c, 0, admin, "CLIENT PAUSE 10 WRITE"); /* waits itself */
    cluster_run(&c, 900);
    ck_assert_str_eq(c.servers[0].reply, "");
    cluster_run(&c, 101);
    ck_assert_str_eq(c.servers[0].reply, "nil");
    cluster_stop(&c);
}
END_TEST

/* Facts 3.7: dead keys are missing and stay; when the pause is over they go. */
static void expire_in_a_pause(struct cluster *c, const char *generation) {
    cluster_init(c, 2, generation);
    cluster_start(c);
    cluster_join(c, 0, 1);
    cluster_run(c, 500);
    cluster_do(c, 0, "SET k1 ~10 PX 50");
    cluster_do(c, 0, "SET k2 ~10 PX 50");
    cluster_do_as(c, 0, another(c), "CLIENT PAUSE 1000 WRITE");
    cluster_run(c, 500);
    ck_assert_str_eq(cluster_do(c, 0, "GET k1"), "nil");
}

START_TEST(pause_keeps_dead_keys) {
    struct cluster c;
    expire_in_a_pause(&c, "redis-7.0");
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 2);
    ck_assert_uint_eq(cluster_stats(&c, 0).expired_keys, 0);
    cluster_run(&c, 601);
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 0);
    cluster_stop(&c);
}
END_TEST

/* Up to 6.0 a pause stops the cycle alone (facts 14): the key that is looked at goes. */
START_TEST(older_pause_keeps_the_dead_keys_that_nobody_looks_at) {
    struct cluster c;
    expire_in_a_pause(&c, "redis-5.0");
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 1);
    cluster_run(&c, 601);
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 0);
    cluster_stop(&c);
}
END_TEST

/* Facts 3.7.1: no GETACK while paused. */
START_TEST(wait_in_a_pause_asks_nobody) {
    struct cluster c;
    start(&c, 2);
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do_as(&c, 0, another(&c), "CLIENT PAUSE 10000 WRITE");
    int64_t offset = cluster_stats(&c, 0).master_repl_offset;
    cluster_do(&c, 0, "WAIT 1 0");
    ck_assert_int_eq(cluster_stats(&c, 0).master_repl_offset, offset);
    cluster_run(&c, 502); /* the replica's own ACK of second 1 */
    ck_assert_str_eq(c.servers[0].reply, ":1");
    cluster_stop(&c);
}
END_TEST

/* A paused replica does not apply its master's writes either: they wait, and come in order. The
 * SELECT before them (23 bytes) is no write. */
START_TEST(paused_replica_stands_still) {
    struct cluster c;
    start(&c, 2);
    cluster_do(&c, 1, "CLIENT PAUSE 1000 WRITE");
    int64_t offset = cluster_stats(&c, 1).master_repl_offset;
    cluster_do(&c, 0, "SET k1 ~10 PX 5");
    cluster_do(&c, 0, "SET k2 ~10");
    cluster_run(&c, 400);
    cluster_do(&c, 0, "GET k1");
    cluster_run(&c, 500);
    ck_assert_int_eq(cluster_stats(&c, 1).master_repl_offset, offset + 23);
    cluster_run(&c, 102);
    ck_assert_int_eq(cluster_stats(&c, 1).master_repl_offset,
                     cluster_stats(&c, 0).master_repl_offset);
    ck_assert_uint_eq(engine_digest(c.servers[1].engine), engine_digest(c.servers[0].engine));
    cluster_stop(&c);
}
END_TEST

START_TEST(pause_is_checked_like_the_servers) {
    static const char *const lines[][2] = {
        {"CLIENT PAUSE x", "-ERR timeout is not an integer or out of range"},
        {"CLIENT PAUSE -1", "-ERR timeout is negative"},
        {"CLIENT PAUSE 1 SOME", "-ERR syntax error"},
        {"CLIENT PAUSE", "-ERR wrong number of arguments for 'client|pause' command"},
        {"CLIENT UNPAUSE 1", "-ERR wrong number of arguments for 'client|unpause' command"},
        {"CLIENT foo", "-ERR unknown subcommand 'foo'. Try CLIENT HELP."},
        {"CLIENT UNPAUSE", "OK"},
    };
    struct cluster c;
    start(&c, 2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_str_eq(cluster_do(&c, 0, lines[i][0]), lines[i][1]);
    cluster_stop(&c);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_wait");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, wait_of_a_client_that_never_wrote_returns_at_once);
    tcase_add_test(tcase, wait_is_answered_when_enough_replicas_have_the_write);
    tcase_add_test(tcase, wait_gives_up_after_its_time_with_the_count_it_has);
    tcase_add_test(tcase, wait_is_checked_like_the_servers);
    tcase_add_test(tcase, request_behind_a_wait_waits_too);
    tcase_add_test(tcase, wait_is_broken_off_when_the_master_becomes_a_replica);
    tcase_add_test(tcase, paused_write_is_executed_when_the_pause_is_over);
    tcase_add_test(tcase, unpause_lets_everything_go);
    tcase_add_test(tcase, pause_of_all_stops_reads_and_outranks_a_later_pause_of_writes);
    tcase_add_test(tcase, pause_keeps_dead_keys);
    tcase_add_test(tcase, older_pause_keeps_the_dead_keys_that_nobody_looks_at);
    tcase_add_test(tcase, wait_in_a_pause_asks_nobody);
    tcase_add_test(tcase, paused_replica_stands_still);
    tcase_add_test(tcase, pause_is_checked_like_the_servers);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
