#include <stdio.h>
#include <string.h>

#include "cluster.h"

/* What happens by the second. Crons come at 1 ms and every 100 ms after (nothing costs time, and
 * the wall starts at a whole second), replicationCron with every tenth: at 1 ms, 1,001 ms, ... */

static void start(struct cluster *c, uint32_t count, int64_t timeout_s) {
    cluster_init(c, count, "redis-7.0");
    for (uint32_t i = 0; i < count; i++) {
        c->servers[i].config.repl_diskless_sync_delay = 0;
        c->servers[i].config.repl_timeout = timeout_s;
    }
    cluster_start(c);
}

static void run_until(struct cluster *c, ms_t at_ms) {
    ck_assert_int_le(c->now_ns, at_ms * NS_PER_MS);
    cluster_run(c, at_ms - c->now_ns / NS_PER_MS);
}

/* The last ACK comes at 4,001 ms, in second 4. With a timeout of 5 the replica may be silent
 * through second 9 and is dropped by the replicationCron of second 10 (facts 7.7.4, strict). */
START_TEST(silent_replica_is_dropped_in_the_first_second_beyond_the_timeout) {
    struct cluster c;
    start(&c, 2, 5);
    cluster_join(&c, 0, 1);
    run_until(&c, 4500);
    c.cut[1][0] = true;
    run_until(&c, 9900);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    run_until(&c, 10000);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    run_until(&c, 10001);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 0);
    ck_assert_uint_eq(cluster_stats(&c, 0).replicas_timed_out, 1);
    cluster_stop(&c);
}
END_TEST

/* The last word from its master is a SET at 10,500 ms, which is read in the cached second 10 (that
 * of the cron at 10,401 ms); the link is down in second 16, and dialled again at once. */
START_TEST(silent_master_is_left_in_the_first_second_beyond_the_timeout) {
    struct cluster c;
    start(&c, 2, 5);
    cluster_join(&c, 0, 1);
    cluster_do(&c, 0, "CONFIG SET repl-timeout 1000");
    cluster_do(&c, 1, "CONFIG SET repl-timeout 1000");
    run_until(&c, 10499);
    cluster_do(&c, 0, "SET k1 ~10");
    run_until(&c, 10500);
    cluster_do(&c, 1, "CONFIG SET repl-timeout 5");
    c.cut[0][1] = true;
    cluster_talk(&c);
    run_until(&c, 15999);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_UP);
    cluster_talk(&c);
    run_until(&c, 16001);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_DOWN);
    ck_assert_str_eq(cluster_talk(&c), "1 hangs up on 0\n1 dials 0\n");
    cluster_stop(&c);
}
END_TEST

/* Facts 7.4: a dialled connection that does not come is given up after the timeout, and dialled
 * again at once; the cached second of the dial is 1. */
START_TEST(handshake_times_out_and_starts_again) {
    struct cluster c;
    start(&c, 2, 5);
    run_until(&c, 1500);
    cluster_cut(&c, 0, 1, true);
    cluster_do(&c, 1, "REPLICAOF s0 1");
    cluster_talk(&c);
    run_until(&c, 7000);
    ck_assert_str_eq(cluster_talk(&c), "");
    run_until(&c, 7001); /* second 7: 6 > 5 */
    ck_assert_str_eq(cluster_talk(&c), "1 hangs up on 0\n1 dials 0\n");
    cluster_stop(&c);
}
END_TEST

/* An outage shorter than the timeout loses nothing and resyncs nothing. */
START_TEST(short_outage_is_only_a_delay) {
    struct cluster c;
    start(&c, 2, 60);
    cluster_join(&c, 0, 1);
    run_until(&c, 2000);
    cluster_cut(&c, 0, 1, true);
    cluster_do(&c, 0, "SET k1 ~10");
    run_until(&c, 50000);
    cluster_cut(&c, 0, 1, false);
    run_until(&c, 50001);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_ok, 0);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.2: the replica leaves in second 2; with a ttl of 3 the history is forgotten by the
 * replicationCron of second 6 (4 > 3), and so is the name. */
START_TEST(backlog_is_freed_when_its_time_is_over) {
    struct cluster c;
    start(&c, 2, 60);
    cluster_do(&c, 0, "CONFIG SET repl-backlog-ttl 3");
    cluster_join(&c, 0, 1);
    run_until(&c, 2500);
    cluster_do(&c, 0, "SET k1 ~10");
    struct engine_stats before = cluster_stats(&c, 0);
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    run_until(&c, 6000);
    ck_assert(cluster_stats(&c, 0).backlog_active);
    ck_assert_uint_eq(cluster_stats(&c, 0).replid, before.replid);
    run_until(&c, 6001);
    struct engine_stats after = cluster_stats(&c, 0);
    ck_assert(!after.backlog_active);
    ck_assert(after.replid != before.replid);
    ck_assert_uint_eq(after.repl_buffer_bytes, 0);
    cluster_do(&c, 0, "SET k1 ~10"); /* nobody listens: the offset stands */
    ck_assert_int_eq(cluster_stats(&c, 0).master_repl_offset, before.master_repl_offset);
    cluster_stop(&c);
}
END_TEST

START_TEST(backlog_without_ttl_stays) {
    struct cluster c;
    start(&c, 2, 60);
    cluster_do(&c, 0, "CONFIG SET repl-backlog-ttl 0");
    cluster_join(&c, 0, 1);
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    run_until(&c, 60000);
    ck_assert(cluster_stats(&c, 0).backlog_active);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.7.4 and 7.9.1: the last ACK comes in second 2; with a lag of 3 the replica is good
 * through second 5 and the recount of second 6 finds none. */
START_TEST(write_needs_enough_good_replicas) {
    struct cluster c;
    start(&c, 2, 60);
    cluster_join(&c, 0, 1);
    cluster_do(&c, 0, "CONFIG SET min-replicas-to-write 1 min-replicas-max-lag 3");
    run_until(&c, 2500);
    ck_assert_uint_eq(cluster_stats(&c, 0).good_replicas, 1);
    cluster_cut(&c, 0, 1, true);
    run_until(&c, 6000);
    ck_assert_str_eq(cluster_do(&c, 0, "SET k1 ~1"), "OK");
    run_until(&c, 6001);
    ck_assert_str_eq(cluster_do(&c, 0, "SET k1 ~1"),
                     "-NOREPLICAS Not enough good replicas to write.");
    ck_assert_str_eq(cluster_do(&c, 0, "GET k1"), "value");
    cluster_do(&c, 0, "CONFIG SET min-replicas-to-write 0");
    ck_assert_str_eq(cluster_do(&c, 0, "SET k1 ~1"), "OK");
    cluster_stop(&c);
}
END_TEST

/* Facts 7.10.5. */
START_TEST(cut_off_replica_that_must_not_serve_stale_data_says_so) {
    struct cluster c;
    start(&c, 2, 60);
    cluster_join(&c, 0, 1);
    cluster_do(&c, 1, "CONFIG SET replica-serve-stale-data no");
    ck_assert_str_eq(cluster_do(&c, 1, "GET k1"), "nil");
    cluster_cut(&c, 0, 1, true);
    engine_closed(c.servers[1].engine, PEER_MASTER);
    ck_assert_str_eq(
        cluster_do(&c, 1, "GET k1"),
        "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
    ck_assert_str_eq(cluster_do(&c, 1, "SELECT 0"), "OK");
    ck_assert_str_eq(cluster_do(&c, 1, "SET k1 ~1"),
                     "-READONLY You can't write against a read only replica.");
    cluster_do(&c, 1, "CONFIG SET replica-serve-stale-data yes");
    ck_assert_str_eq(cluster_do(&c, 1, "GET k1"), "nil");
    cluster_stop(&c);
}
END_TEST

/* Facts 7.6.3: two replicas wait for one file; one whose socket takes nothing holds up both, and is
 * dropped for it; the other gets the rest. */
START_TEST(replica_that_blocks_the_pipe_is_dropped) {
    struct cluster c;
    start(&c, 1, 5);
    struct engine *engine = c.servers[0].engine;
    run_until(&c, 1500);
    cluster_do(&c, 0, "CONFIG SET repl-diskless-sync-delay 1");
    int a = cluster_accept(&c, 0), b = cluster_accept(&c, 0);
    struct repl_message psync = {.kind = REPL_PSYNC, .offset = -1};
    c.pipe_bytes_per_turn = 0; /* this test reads the pipe */
    cluster_message(&c, 0, a, psync);
    cluster_message(&c, 0, b, psync);
    run_until(&c, 2500);
    ck_assert_ptr_nonnull(c.servers[0].pipe);
    engine_pipe(engine, 100, false);
    engine_pipe_taken(engine, a);
    run_until(&c, 8000);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 2);
    run_until(&c, 8001); /* the pipe was read in second 2: 6 > 5 */
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    ck_assert_ptr_nonnull(c.servers[0].pipe);
    cluster_stop(&c);
}
END_TEST

/* A replica in redis.conf has no history to offer, and the first cron connects. */
START_TEST(replica_of_the_configuration_asks_for_everything_at_its_first_cron) {
    struct cluster c;
    start(&c, 2, 60);
    struct cluster_server *r = &c.servers[1];
    engine_destroy(r->engine);
    r->engine = engine_create(&r->env, &r->config);
    r->client = engine_connect(r->engine);
    engine_replicaof(r->engine, 0);
    ck_assert_str_eq(cluster_talk(&c), "");
    run_until(&c, 10);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_UP);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_err, 0);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_full, 1);
    cluster_stop(&c);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_time");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, silent_replica_is_dropped_in_the_first_second_beyond_the_timeout);
    tcase_add_test(tcase, silent_master_is_left_in_the_first_second_beyond_the_timeout);
    tcase_add_test(tcase, handshake_times_out_and_starts_again);
    tcase_add_test(tcase, short_outage_is_only_a_delay);
    tcase_add_test(tcase, backlog_is_freed_when_its_time_is_over);
    tcase_add_test(tcase, backlog_without_ttl_stays);
    tcase_add_test(tcase, write_needs_enough_good_replicas);
    tcase_add_test(tcase, cut_off_replica_that_must_not_serve_stale_data_says_so);
    tcase_add_test(tcase, replica_that_blocks_the_pipe_is_dropped);
    tcase_add_test(tcase, replica_of_the_configuration_asks_for_everything_at_its_first_cron);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
