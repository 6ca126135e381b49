#include <stdio.h>
#include <string.h>

#include "cluster.h"

/* Promotion, demotion and manual failover (facts 7.10). */

static void start(struct cluster *c, uint32_t count, const char *generation) {
    cluster_init(c, count, generation);
    for (uint32_t i = 0; i < count; i++) c->servers[i].config.repl_diskless_sync_delay = 0;
    cluster_start(c);
    for (uint32_t i = 1; i < count; i++) cluster_join(c, 0, (int)i);
    cluster_do(c, 0, "SET k0 ~10");
    cluster_run(c, 500);
}

START_TEST(promoted_replica_has_a_new_id_and_remembers_the_old_one) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    struct engine_stats before = cluster_stats(&c, 1);
    ck_assert_str_eq(cluster_do(&c, 1, "REPLICAOF NO ONE"), "OK");
    struct engine_stats after = cluster_stats(&c, 1);
    ck_assert(!after.is_replica);
    ck_assert_int_eq(after.master_link, LINK_NONE);
    ck_assert_uint_eq(after.replid2, before.replid);
    ck_assert_int_eq(after.second_repl_offset, before.master_repl_offset + 1);
    ck_assert(after.replid != before.replid && after.replid != 0);
    ck_assert_str_eq(cluster_do(&c, 1, "SET k1 ~10"), "OK");
    ck_assert_str_eq(cluster_do(&c, 1, "REPLICAOF NO ONE"), "OK"); /* once more: nothing */
    ck_assert_uint_eq(cluster_stats(&c, 1).replid, after.replid);
    cluster_stop(&c);
}
END_TEST

/* The old master, which has nothing that the new one has not, goes on partially under the new id;
 * and so does its sibling. Its own second id is the old one then (7.10.3). */
START_TEST(old_master_and_sibling_go_on_partially) {
    struct cluster c;
    start(&c, 3, "redis-7.0");
    repl_id old = cluster_stats(&c, 0).replid;
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_do(&c, 1, "SET k1 ~10");
    cluster_follow(&c, 0, 1);
    cluster_follow(&c, 2, 1);
    cluster_run(&c, 10);
    struct engine_stats m = cluster_stats(&c, 1), r = cluster_stats(&c, 0);
    ck_assert_uint_eq(m.sync_partial_ok, 2);
    ck_assert_uint_eq(m.sync_full, 0);
    ck_assert_uint_eq(r.replid, m.replid);
    ck_assert_uint_eq(r.replid2, old);
    cluster_assert_equal(&c, 0, 1);
    cluster_assert_equal(&c, 2, 1);
    cluster_stop(&c);
}
END_TEST

/* The stream after a promotion begins with a SELECT: 23 + 23 + 1 + 2 + 2 + 10 bytes for SET k1 ~10
 * (facts 6.4.2, 6.5). */
START_TEST(promotion_makes_the_next_command_select_its_database) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    int64_t offset = cluster_stats(&c, 1).master_repl_offset;
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_do(&c, 1, "SET k1 ~10");
    ck_assert_int_eq(cluster_stats(&c, 1).master_repl_offset, offset + 23 + 23 + 1 + 2 + 2 + 10);
    cluster_stop(&c);
}
END_TEST

/* What the old master wrote after the branch is not the new one's: it asks for an offset beyond the
 * second one, and loses it all in a full sync. */
START_TEST(old_master_with_writes_of_its_own_syncs_fully) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    cluster_cut(&c, 0, 1, true);
    cluster_do(&c, 0, "SET k9 ~10"); /* lost */
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_do(&c, 1, "SET k1 ~10");
    cluster_do(&c, 1, "SET k2 ~1000");
    cluster_cut(&c, 0, 1, false);
    cluster_run(&c, 10);
    cluster_follow(&c, 0, 1);
    cluster_run(&c, 10);
    ck_assert_uint_eq(cluster_stats(&c, 1).sync_full, 1);
    ck_assert_uint_eq(cluster_stats(&c, 1).sync_partial_err, 1);
    ck_assert_str_eq(cluster_do(&c, 0, "GET k9"), "nil");
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.10: replicas are kept at a demotion and sent away when the new id is learned. */
START_TEST(demoted_master_keeps_its_replicas_until_it_learns_the_new_id) {
    struct cluster c;
    start(&c, 3, "redis-7.0");
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_run(&c, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    cluster_do(&c, 0, "REPLICAOF s1 1");
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    cluster_talk(&c);
    cluster_run(&c, 100);
    ck_assert_ptr_nonnull(strstr(cluster_talk(&c), "1>0 CONTINUE\n0 hangs up on 2\n"));
    cluster_do(&c, 1, "SET k5 ~10");
    cluster_run(&c, 1500);
    ck_assert_int_eq(cluster_stats(&c, 2).master_link, LINK_UP); /* a chain now: 1, 0, 2 */
    cluster_assert_equal(&c, 1, 0);
    cluster_assert_equal(&c, 1, 2);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.10.1: what the old master never deleted goes with the next cron. */
START_TEST(promoted_replica_expires_by_itself) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    cluster_do(&c, 0, "DEBUG SET-ACTIVE-EXPIRE 0");
    cluster_do(&c, 0, "SET k1 ~10 PX 5");
    cluster_run(&c, 300);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 2);
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_run(&c, 100);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 1);
    ck_assert_uint_eq(cluster_stats(&c, 1).expired_keys, 1);
    cluster_stop(&c);
}
END_TEST

START_TEST(replicaof_is_checked_like_the_servers) {
    static const char *const lines[][2] = {
        {"REPLICAOF s9 1", "-ERR no server of this run is called 's9'"},
        {"REPLICAOF s0 x", "-ERR Invalid master port"},
        {"REPLICAOF s0 65536", "-ERR Invalid master port"},
        {"SLAVEOF s0 6379", "OK Already connected to specified master"},
        {"REPLICAOF no one", "OK"},
    };
    struct cluster c;
    start(&c, 2, "redis-7.0");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_str_eq(cluster_do(&c, 1, lines[i][0]), lines[i][1]);
    cluster_stop(&c);
}
END_TEST

/* --- failover --- */

START_TEST(failover_waits_for_the_replica_and_swaps_the_roles) {
    struct cluster c;
    start(&c, 3, "redis-7.0");
    uint32_t admin = engine_connect(c.servers[0].engine);
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do_as(&c, 0, admin, "FAILOVER TO s1 1");
    ck_assert_str_eq(cluster_do(&c, 0, "SET k2 ~10"), ""); /* paused */
    cluster_talk(&c);
    cluster_run(&c, 2000);
    struct engine_stats old = cluster_stats(&c, 0), new = cluster_stats(&c, 1);
    ck_assert(old.is_replica && !new.is_replica);
    ck_assert_int_eq(old.master_link, LINK_UP);
    ck_assert_uint_eq(new.sync_full, 0);
    ck_assert_uint_eq(new.sync_partial_ok, 1);
    ck_assert_uint_eq(new.replid2, old.replid2);
    ck_assert_str_eq(c.servers[0].reply, "-READONLY You can't write against a read only replica.");
    cluster_do(&c, 1, "SET k3 ~10");
    cluster_run(&c, 10);
    for (int i = 0; i < 3; i++) cluster_assert_equal(&c, 1, i);
    cluster_stop(&c);
}
END_TEST

/* The replica is never level, since nothing comes back from it: abandoned at the end of the time,
 * by the cached time of a cron, and writes go on. */
START_TEST(failover_times_out) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    c.cut[1][0] = true;
    cluster_do(&c, 0, "SET k1 ~10");
    ck_assert_str_eq(cluster_do(&c, 0, "FAILOVER TIMEOUT 1000"), "OK"); /* at 500 ms */
    ck_assert_str_eq(cluster_do(&c, 0, "SET k2 ~10"), "");
    cluster_run(&c, 1000);
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 2);
    cluster_run(&c, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 3);
    ck_assert(!cluster_stats(&c, 0).is_replica);
    cluster_stop(&c);
}
END_TEST

START_TEST(failover_is_aborted_on_request) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    uint32_t admin = engine_connect(c.servers[0].engine);
    c.cut[1][0] = true;
    cluster_do(&c, 0, "SET k1 ~10");
    cluster_do_as(&c, 0, admin, "FAILOVER");
    ck_assert_str_eq(cluster_do(&c, 0, "SET k2 ~10"), "");
    cluster_do_as(&c, 0, admin, "FAILOVER ABORT");
    ck_assert_str_eq(c.servers[0].reply, "OK");
    ck_assert_uint_eq(cluster_stats(&c, 0).keys, 3);
    cluster_stop(&c);
}
END_TEST

/* The target cannot be reached any more: the old master goes on trying, as its replica, until it is
 * told to stop; then it is a master again, under a new id. */
START_TEST(failover_under_way_is_undone_by_abort) {
    struct cluster c;
    start(&c, 2, "redis-7.0");
    repl_id id = cluster_stats(&c, 0).replid;
    cluster_run(&c, 600); /* level by the ACK of second 1 */
    cluster_cut(&c, 0, 1, true);
    cluster_do(&c, 0, "FAILOVER");
    ck_assert(cluster_stats(&c, 0).is_replica);
    cluster_run(&c, 5000);
    ck_assert_int_eq(cluster_stats(&c, 0).master_link, LINK_DOWN);
    ck_assert_str_eq(cluster_do(&c, 0, "FAILOVER ABORT"), "OK");
    struct engine_stats stats = cluster_stats(&c, 0);
    ck_assert(!stats.is_replica);
    ck_assert(stats.replid != id);
    ck_assert_uint_eq(stats.replid2, id);
    cluster_stop(&c);
}
END_TEST

START_TEST(failover_is_checked_like_the_servers) {
    static const char *const lines[][2] = {
        {"FAILOVER ABORT", "-ERR No failover in progress."},
        {"FAILOVER TIMEOUT 0", "-ERR FAILOVER timeout must be greater than 0"},
        {"FAILOVER TIMEOUT x", "-ERR value is not an integer or out of range"},
        {"FAILOVER TO s1", "-ERR syntax error"},
        {"FAILOVER NOW", "-ERR syntax error"},
        {"FAILOVER TO s0 1", "-ERR FAILOVER target HOST and PORT is not a replica."},
        {"FAILOVER TO s1 1 FORCE",
         "-ERR FAILOVER with force option requires both a timeout and target HOST and IP."},
    };
    struct cluster c;
    start(&c, 2, "redis-7.0");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_str_eq(cluster_do(&c, 0, lines[i][0]), lines[i][1]);
    ck_assert_str_eq(cluster_do(&c, 1, "FAILOVER"),
                     "-ERR FAILOVER is not valid when server is a replica.");
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    ck_assert_str_eq(cluster_do(&c, 1, "FAILOVER"), "-ERR FAILOVER requires connected replicas.");
    cluster_stop(&c);
}
END_TEST

/* Redis issue 4027: while keys expire and their DELs move the offset, the replica is level only if
 * none comes while its ACK is on the way. A pause that stops expiry makes it level for sure; in a
 * generation whose pause does not, a dead key that is looked at every 10 ms prevents it, the way
 * being 60 ms long, for as long as there are such keys: 12 seconds. */
static bool fails_over(bool pause_stops_expiry) {
    struct cluster c;
    char line[64];
    struct generation generation = *generation_find("redis-7.0");
    generation.lazy.pause_keeps = generation.lazy.pause_stops_cycle = pause_stops_expiry;
    cluster_init(&c, 2, "redis-7.0");
    c.servers[0].env.generation = &generation;
    cluster_start(&c);
    cluster_join(&c, 0, 1);
    cluster_do(&c, 0, "DEBUG SET-ACTIVE-EXPIRE 0");
    for (int i = 0; i < 1200; i++) {
        snprintf(line, sizeof line, "SET k%d ~10 PX 1000", i);
        cluster_do(&c, 0, line);
    }
    cluster_run(&c, 1550);
    c.delay_ms = 60;
    for (int i = 0; i < 1120; i++) {
        if (i == 100) cluster_do(&c, 0, "FAILOVER TIMEOUT 10000");
        snprintf(line, sizeof line, "GET k%d", i);
        cluster_do(&c, 0, line);
        cluster_run(&c, 10);
    }
    bool swapped = !cluster_stats(&c, 1).is_replica;
    cluster_stop(&c);
    return swapped;
}

START_TEST(failover_among_expiries_needs_a_pause_that_stops_them) {
    ck_assert(fails_over(true));
    ck_assert(!fails_over(false));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_role");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, promoted_replica_has_a_new_id_and_remembers_the_old_one);
    tcase_add_test(tcase, old_master_and_sibling_go_on_partially);
    tcase_add_test(tcase, promotion_makes_the_next_command_select_its_database);
    tcase_add_test(tcase, old_master_with_writes_of_its_own_syncs_fully);
    tcase_add_test(tcase, demoted_master_keeps_its_replicas_until_it_learns_the_new_id);
    tcase_add_test(tcase, promoted_replica_expires_by_itself);
    tcase_add_test(tcase, replicaof_is_checked_like_the_servers);
    tcase_add_test(tcase, failover_waits_for_the_replica_and_swaps_the_roles);
    tcase_add_test(tcase, failover_times_out);
    tcase_add_test(tcase, failover_is_aborted_on_request);
    tcase_add_test(tcase, failover_under_way_is_undone_by_abort);
    tcase_add_test(tcase, failover_is_checked_like_the_servers);
    tcase_add_test(tcase, failover_among_expiries_needs_a_pause_that_stops_them);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
