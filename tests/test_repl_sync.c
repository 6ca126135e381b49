#include <stdio.h>
#include <string.h>

#include "cluster.h"

static void start(struct cluster *c, uint32_t count) {
    cluster_init(c, count, "redis-7.0");
    for (uint32_t i = 0; i < count; i++) c->servers[i].config.repl_diskless_sync_delay = 0;
    cluster_start(c);
}

static void set_keys(struct cluster *c, int server, int first, int count) {
    char line[64];
    for (int i = first; i < first + count; i++) {
        snprintf(line, sizeof line, "SET k%d ~100 PX %d", i, 3600000 + i);
        ck_assert_str_eq(cluster_do(c, server, line), "OK");
    }
}

/* Facts 7.4 and 7.6: each step waits for the reply to the one before it. A fresh server that is
 * told to follow asks to go on from its own history (7.10), which nobody shares. */
START_TEST(handshake_and_full_sync_go_step_by_step) {
    struct cluster c;
    start(&c, 2);
    set_keys(&c, 0, 0, 10);
    cluster_follow(&c, 1, 0);
    ck_assert_str_eq(cluster_talk(&c), "1 dials 0\n1>0 PING\n0>1 PONG\n1>0 REPLCONF\n0>1 OK\n"
                                       "1>0 PSYNC\n0>1 FULLRESYNC\n0 forks\n0>1 RDB\n"
                                       "1>0 NEWLINE\n1>0 ACK\n");
    struct engine_stats m = cluster_stats(&c, 0), r = cluster_stats(&c, 1);
    ck_assert_uint_eq(m.sync_full, 1);
    ck_assert_uint_eq(m.sync_partial_err, 1);
    ck_assert_uint_eq(r.replid, m.replid);
    ck_assert_uint_eq(r.keys, 10);
    cluster_assert_equal(&c, 0, 1);
    cluster_run(&c, 3000);
    set_keys(&c, 0, 5, 10);
    cluster_run(&c, 2);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* --- the PSYNC decision (facts 7.5) --- */

static const char *ask(struct cluster *c, repl_id id, int64_t offset) {
    cluster_talk(c);
    int slot = cluster_accept(c, 0);
    cluster_message(c, 0, slot,
                    (struct repl_message){.kind = REPL_PSYNC, .id = id, .offset = offset});
    return cluster_talk(c);
}

#define PARTIAL "0>4 CONTINUE\n"

/* A backlog of 16 KiB (the least) with blocks of 20,440: 5,000-byte values until the history's
 * start has moved. */
START_TEST(partial_resync_from_the_first_offset_kept_to_one_past_the_last) {
    struct cluster c;
    cluster_init(&c, 2, "redis-7.0");
    c.servers[0].config.repl_backlog_size = 16384;
    cluster_start(&c);
    cluster_follow(&c, 1, 0);
    for (int i = 0; i < 20; i++) {
        cluster_do(&c, 0, "SET k1 ~5000");
        cluster_run(&c, 2);
    }
    struct engine_stats m = cluster_stats(&c, 0);
    int64_t first = m.backlog_first_offset, last = m.master_repl_offset;
    ck_assert_int_gt(first, 1);
    ck_assert_int_eq(last - first + 1, (int64_t)m.backlog_histlen_bytes);
    ck_assert_str_eq(ask(&c, m.replid, first), PARTIAL);
    ck_assert_str_eq(ask(&c, m.replid, last), PARTIAL);
    ck_assert_str_eq(ask(&c, m.replid, last + 1), PARTIAL);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_ok, 3);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_err, m.sync_partial_err);
    ck_assert_str_eq(ask(&c, m.replid, first - 1), "");
    ck_assert_str_eq(ask(&c, m.replid, last + 2), "");
    ck_assert_str_eq(ask(&c, m.replid + 1, last + 1), "");
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_err, m.sync_partial_err + 3);
    ck_assert_str_eq(ask(&c, 0, -1), "");
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_err, m.sync_partial_err + 3);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_full, m.sync_full + 4);
    cluster_stop(&c);
}
END_TEST

/* The old id of a promoted replica is good up to the offset after its last byte, and not beyond,
 * however much has come since. */
START_TEST(second_id_is_good_up_to_its_offset) {
    struct cluster c;
    start(&c, 2);
    cluster_follow(&c, 1, 0);
    set_keys(&c, 0, 0, 10);
    cluster_run(&c, 2);
    repl_id old = cluster_stats(&c, 1).replid;
    int64_t offset = cluster_stats(&c, 1).master_repl_offset;
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    struct engine_stats r = cluster_stats(&c, 1);
    ck_assert(r.replid != old);
    ck_assert_uint_eq(r.replid2, old);
    ck_assert_int_eq(r.second_repl_offset, offset + 1);
    set_keys(&c, 1, 0, 10);
    ck_assert_int_gt(cluster_stats(&c, 1).master_repl_offset, offset + 100);
    for (int64_t i = 0; i < 3; i++) {
        cluster_message(&c, 1, cluster_accept(&c, 1),
                        (struct repl_message){.kind = REPL_PSYNC, .id = old, .offset = offset + i});
        ck_assert_uint_eq(cluster_stats(&c, 1).sync_partial_ok, (uint64_t)(i < 2 ? i + 1 : 2));
    }
    ck_assert_uint_eq(cluster_stats(&c, 1).sync_partial_err, 1);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.5 and 7.4.1: who is cut off from its own master has nothing to give. */
START_TEST(cut_off_replica_refuses_and_the_next_second_tries_again) {
    struct cluster c;
    start(&c, 3);
    cluster_follow(&c, 1, 0);
    cluster_run(&c, 500);
    c.servers[0].is_up = false;
    cluster_do(&c, 1, "REPLICAOF s2 1"); /* another master, which is cut off too */
    c.servers[2].is_up = false;
    cluster_run(&c, 10);
    cluster_talk(&c);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_DOWN);
    cluster_message(&c, 1, cluster_accept(&c, 1),
                    (struct repl_message){.kind = REPL_PSYNC, .id = 0, .offset = -1});
    ck_assert_str_eq(cluster_talk(&c), "1>4 REFUSED\n");
    ck_assert_uint_eq(cluster_stats(&c, 1).connected_replicas, 0);
    cluster_stop(&c);
}
END_TEST

/* --- full syncs --- */

/* Writes go on while the file is produced and after: k0 to k9 change, and databases and deadlines
 * with them. The replica has what the snapshot had, then the stream from its offset on. */
START_TEST(full_sync_brings_equal_data_while_writes_go_on) {
    struct cluster c;
    char line[64];
    start(&c, 2);
    set_keys(&c, 0, 0, 1000);
    c.pipe_bytes_per_turn = 1000;
    cluster_do(&c, 1, "SET k77 ~9");
    cluster_do(&c, 1, "REPLICAOF s0 1");
    bool was_sync = false;
    for (int i = 0; i < 2000; i++) {
        snprintf(line, sizeof line, i % 3 ? "SET k%d ~%d PX 100000" : "DEL k%d", i % 40, i);
        cluster_do(&c, 0, i % 100 == 50 ? "SELECT 3" : i % 100 == 99 ? "SELECT 0" : line);
        cluster_run(&c, 1);
        was_sync |= cluster_stats(&c, 1).master_link == LINK_SYNC;
    }
    ck_assert(was_sync);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_UP);
    cluster_run(&c, 2);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.6.1: with a delay of 5 the child starts in the first replicationCron that finds the
 * replica silent for 5 whole seconds; all who wait then share it. */
START_TEST(child_starts_after_the_delay_and_serves_all_who_wait) {
    struct cluster c;
    cluster_init(&c, 3, "redis-7.0");
    cluster_start(&c);
    cluster_run(&c, 2500);
    cluster_do(&c, 1, "REPLICAOF s0 1"); /* PSYNC in second 2 */
    cluster_run(&c, 2000);
    cluster_do(&c, 2, "REPLICAOF s0 1"); /* in second 4 */
    cluster_run(&c, 2450);               /* 6.95 s: the replicationCron of second 6 found 4 s */
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_full, 2);
    ck_assert_ptr_null(strstr(cluster_talk(&c), "forks"));
    cluster_run(&c, 200); /* that of second 7, at 7.001 s: 5 s */
    const char *talk = cluster_talk(&c);
    ck_assert_ptr_nonnull(strstr(talk, "0>1 FULLRESYNC\n0>2 FULLRESYNC\n0 forks\n"));
    cluster_run(&c, 200);
    ck_assert_int_eq(cluster_stats(&c, 2).master_link, LINK_UP);
    cluster_assert_equal(&c, 0, 1);
    cluster_assert_equal(&c, 0, 2);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.6: who waits gets a newline each second. */
START_TEST(waiting_replica_hears_a_newline_each_second) {
    struct cluster c;
    cluster_init(&c, 2, "redis-7.0");
    cluster_start(&c);
    cluster_run(&c, 2500);
    cluster_do(&c, 1, "REPLICAOF s0 1");
    cluster_run(&c, 10);
    cluster_talk(&c);
    cluster_run(&c, 4000);
    ck_assert_str_eq(cluster_talk(&c), "0>1 NEWLINE\n0>1 NEWLINE\n0>1 NEWLINE\n0>1 NEWLINE\n");
    cluster_stop(&c);
}
END_TEST

START_TEST(child_that_writes_for_nobody_is_killed_and_the_next_one_starts) {
    struct cluster c;
    start(&c, 2);
    set_keys(&c, 0, 0, 1000);
    c.pipe_bytes_per_turn = 100;
    cluster_do(&c, 1, "REPLICAOF s0 1");
    cluster_run(&c, 20);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_SYNC);
    cluster_talk(&c);
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_run(&c, 2);
    ck_assert_str_eq(cluster_talk(&c), "1 hangs up on 0\n0's child is killed\n");
    c.pipe_bytes_per_turn = UINT64_MAX;
    cluster_follow(&c, 1, 0);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* The bytes of a file that was cut short leave no trace: the old data stay, and the next try is at
 * once (facts 7.4). */
START_TEST(link_lost_in_mid_file_leaves_the_old_data) {
    struct cluster c;
    start(&c, 2);
    set_keys(&c, 0, 0, 1000);
    cluster_do(&c, 1, "SET k2000 ~9");
    c.pipe_bytes_per_turn = 100;
    cluster_do(&c, 1, "REPLICAOF s0 1");
    cluster_run(&c, 20);
    uint64_t before = cluster_digest(&c, 1);
    struct cluster_server *r = &c.servers[1];
    engine_closed(r->engine, PEER_MASTER);
    ck_assert_uint_eq(cluster_digest(&c, 1), before);
    ck_assert_int_eq(cluster_stats(&c, 1).master_link, LINK_DOWN);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 1);
    cluster_stop(&c);
}
END_TEST

/* Of 4,000 values of 1,000 bytes; server 1 has loaded the first part of two. */
static void begin_a_long_load(struct cluster *c) {
    char line[64];
    for (int i = 0; i < 4000; i++) {
        snprintf(line, sizeof line, "SET k%d ~1000", i);
        cluster_do(c, 0, line);
    }
    cluster_do(c, 1, "REPLICAOF s0 1");
    while (!cluster_stats(c, 1).loading) cluster_run(c, 1);
}

/* Loading takes 2 MiB a turn (facts 0.2.3): 4,000 values of 1,000 bytes make a file of 4.0 to 4.2
 * MB, so two turns. What stands between them is answered -LOADING, unless it needs no data; the
 * checks stand in 7.0's order, -READONLY before it. */
START_TEST(loading_server_says_so) {
    struct cluster c;
    start(&c, 2);
    begin_a_long_load(&c);
    uint64_t half = cluster_stats(&c, 1).keys;
    ck_assert(half > 1950 && half < 2100); /* 2,097,152 / (1,000 + 6 to 12 + lengths) */
    ck_assert_str_eq(cluster_do(&c, 1, "GET k0"),
                     "-LOADING Redis is loading the dataset in memory");
    ck_assert_str_eq(cluster_do(&c, 1, "PING"), "-LOADING Redis is loading the dataset in memory");
    ck_assert_str_eq(cluster_do(&c, 1, "WAIT 0 0"),
                     "-LOADING Redis is loading the dataset in memory");
    ck_assert_str_eq(cluster_do(&c, 1, "SET k0 ~1"),
                     "-READONLY You can't write against a read only replica.");
    ck_assert_str_eq(cluster_do(&c, 1, "SELECT 1"), "OK");
    ck_assert_str_eq(cluster_do(&c, 1, "CONFIG SET hz 10"), "OK");
    cluster_message(&c, 1, cluster_accept(&c, 1), (struct repl_message){.kind = REPL_PING});
    ck_assert_ptr_nonnull(strstr(cluster_talk(&c), "1>4 REFUSED\n"));
    cluster_run(&c, 1);
    ck_assert(!cluster_stats(&c, 1).loading);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* The connection that breaks while the file is loaded is seen to be broken afterwards: the link
 * that came up is lost at once, and goes on from the file's offset. */
START_TEST(link_lost_while_loading_is_noticed_after_it) {
    struct cluster c;
    start(&c, 2);
    begin_a_long_load(&c);
    int slot = 0;
    while (c.servers[0].slots[slot].connection == 0) slot++;
    c.servers[0].sink.hang_up(&c.servers[0], slot);
    engine_closed(c.servers[0].engine, slot);
    cluster_talk(&c);
    cluster_run(&c, 3);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_ok, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_full, 1);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* Facts 7.11: dead keys are in the file and are kept by the replica until their DEL. */
START_TEST(dead_keys_are_loaded_and_wait_for_their_del) {
    struct cluster c;
    start(&c, 2);
    cluster_do(&c, 0, "DEBUG SET-ACTIVE-EXPIRE 0");
    cluster_do(&c, 0, "SET k0 ~10 PX 5");
    cluster_run(&c, 100);
    cluster_follow(&c, 1, 0);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 1);
    ck_assert_str_eq(cluster_do(&c, 1, "GET k0"), "nil");
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 1);
    ck_assert_str_eq(cluster_do(&c, 0, "GET k0"), "nil");
    cluster_run(&c, 2);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 0);
    cluster_stop(&c);
}
END_TEST

/* Facts 6.9: what the middle one applied goes on verbatim, so offsets and ids are the same all the
 * way, and PINGs too. */
START_TEST(chain_has_one_offset_and_one_id) {
    struct cluster c;
    start(&c, 3);
    cluster_follow(&c, 1, 0);
    cluster_follow(&c, 2, 1);
    for (int i = 0; i < 30; i++) {
        set_keys(&c, 0, i, 3);
        cluster_do(&c, 0, i % 2 ? "SELECT 0" : "SELECT 5");
        cluster_run(&c, 1000);
    }
    cluster_run(&c, 2);
    cluster_assert_equal(&c, 0, 1);
    cluster_assert_equal(&c, 0, 2);
    ck_assert_uint_eq(cluster_stats(&c, 0).replid, cluster_stats(&c, 2).replid);
    ck_assert_uint_eq(cluster_stats(&c, 1).connected_replicas, 1);
    cluster_stop(&c);
}
END_TEST

/* A full sync of the middle one changes its history: its own replica is sent away and comes back
 * for a full sync of its own. In which database the stream stands is in the file. */
START_TEST(full_sync_of_the_middle_one_reaches_the_last) {
    struct cluster c;
    start(&c, 4);
    cluster_follow(&c, 1, 0);
    cluster_follow(&c, 2, 1);
    cluster_do(&c, 0, "SELECT 7");
    set_keys(&c, 0, 0, 5);
    cluster_run(&c, 2);
    cluster_follow(&c, 3, 2); /* stream database 7 by the file of a replica */
    set_keys(&c, 0, 5, 5);
    cluster_run(&c, 2);
    cluster_assert_equal(&c, 0, 3);
    cluster_do(&c, 1, "REPLICAOF NO ONE");
    cluster_run(&c, 2000);
    set_keys(&c, 1, 20, 3);
    cluster_follow(&c, 1, 0); /* has more than the master: everything anew */
    cluster_run(&c, 3000);
    for (int i = 1; i < 4; i++) cluster_assert_equal(&c, 0, i);
    cluster_stop(&c);
}
END_TEST

/* Facts 6.9.2 and 7.7.5: what came after a MULTI whose EXEC never came is not applied; it comes
 * again, whole, with the partial resync. */
START_TEST(multi_cut_by_a_lost_link_is_not_applied) {
    struct cluster c;
    start(&c, 2);
    cluster_follow(&c, 1, 0);
    cluster_do(&c, 0, "SET k1 ~10 PX 20");
    cluster_do(&c, 0, "SET k2 ~10 PX 20");
    cluster_do(&c, 0, "DEBUG SET-ACTIVE-EXPIRE 0");
    cluster_run(&c, 100);
    int64_t before = cluster_stats(&c, 1).master_repl_offset;
    cluster_do(&c, 0, "EXISTS k1 k2"); /* MULTI, DEL k1, DEL k2, EXEC (facts 6.1.2) */
    struct cluster_server *r = &c.servers[1];
    ck_assert_uint_eq(r->inbox_count, 4);
    r->inbox_count = 3; /* the EXEC does not come, the connection's end does */
    c.servers[0].sink.hang_up(&c.servers[0], 0);
    engine_closed(c.servers[0].engine, 0);
    struct cluster_item end = r->inbox[--r->inbox_count];
    ck_assert_int_eq(end.kind, ITEM_CLOSED);
    c.cut[1][0] = true; /* the way back is cut: it cannot ask again */
    r->inbox[r->inbox_count++] = end;
    cluster_run(&c, 1);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 2);
    ck_assert_int_eq(cluster_stats(&c, 1).master_repl_offset, before);
    c.cut[1][0] = false;
    cluster_run(&c, 2);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_ok, 1);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 0);
    cluster_assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

/* Before 7.0: a private ring and copies; the conversation is the same. */
START_TEST(older_generation_syncs_too) {
    struct cluster c;
    cluster_init(&c, 2, "redis-5.0");
    cluster_start(&c);
    set_keys(&c, 0, 0, 100);
    cluster_follow(&c, 1, 0);
    set_keys(&c, 0, 50, 100);
    cluster_run(&c, 2);
    cluster_cut(&c, 0, 1, true);
    cluster_run(&c, 62000);
    set_keys(&c, 0, 50, 10);
    cluster_cut(&c, 0, 1, false);
    cluster_run(&c, 2000);
    ck_assert_uint_eq(cluster_stats(&c, 0).sync_partial_ok, 1);
    ck_assert_int_eq(cluster_stats(&c, 0).master_repl_offset,
                     cluster_stats(&c, 1).master_repl_offset);
    ck_assert_uint_eq(cluster_stats(&c, 1).keys, 150);
    cluster_stop(&c);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_sync");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, handshake_and_full_sync_go_step_by_step);
    tcase_add_test(tcase, partial_resync_from_the_first_offset_kept_to_one_past_the_last);
    tcase_add_test(tcase, second_id_is_good_up_to_its_offset);
    tcase_add_test(tcase, cut_off_replica_refuses_and_the_next_second_tries_again);
    tcase_add_test(tcase, full_sync_brings_equal_data_while_writes_go_on);
    tcase_add_test(tcase, child_starts_after_the_delay_and_serves_all_who_wait);
    tcase_add_test(tcase, waiting_replica_hears_a_newline_each_second);
    tcase_add_test(tcase, child_that_writes_for_nobody_is_killed_and_the_next_one_starts);
    tcase_add_test(tcase, link_lost_in_mid_file_leaves_the_old_data);
    tcase_add_test(tcase, loading_server_says_so);
    tcase_add_test(tcase, link_lost_while_loading_is_noticed_after_it);
    tcase_add_test(tcase, dead_keys_are_loaded_and_wait_for_their_del);
    tcase_add_test(tcase, chain_has_one_offset_and_one_id);
    tcase_add_test(tcase, full_sync_of_the_middle_one_reaches_the_last);
    tcase_add_test(tcase, multi_cut_by_a_lost_link_is_not_applied);
    tcase_add_test(tcase, older_generation_syncs_too);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
