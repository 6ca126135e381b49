#include <stdio.h>
#include <string.h>

#include "cluster.h"

/* client-output-buffer-limit of replicas (facts 7.8). Blocks take 20,440 bytes of payload here and
 * 64 of header and node, so n whole blocks count n x 20,504. */

#define BLOCK 20504
#define MIB   (1024 * 1024)

static void limit(struct cluster *c, uint64_t hard, uint64_t soft, int64_t seconds,
                  uint64_t backlog_bytes) {
    cluster_init(c, 2, "redis-7.0");
    c->servers[0].config.obuf_hard_bytes = hard;
    c->servers[0].config.obuf_soft_bytes = soft;
    c->servers[0].config.obuf_soft_s = seconds;
    c->servers[0].config.repl_backlog_size = (int64_t)backlog_bytes;
    cluster_start(c);
    cluster_join(c, 0, 1);
    cluster_run(c, 500);
    c->servers[0].slots[0].is_stuck = true;
}

/* Writes until there are so many blocks, the last one nearly empty. */
static void fill(struct cluster *c, uint64_t blocks) {
    while (cluster_stats(c, 0).repl_buffer_bytes < blocks * BLOCK) cluster_do(c, 0, "SET k1 ~2000");
    ck_assert_uint_eq(cluster_stats(c, 0).repl_buffer_bytes, blocks * BLOCK);
}

START_TEST(hard_limit_is_met_by_whole_blocks) {
    struct cluster c;
    limit(&c, 10 * BLOCK, 0, 0, 16384);
    fill(&c, 9);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    fill(&c, 9);
    while (cluster_stats(&c, 0).connected_replicas == 1) cluster_do(&c, 0, "SET k1 ~2000");
    struct engine_stats stats = cluster_stats(&c, 0);
    ck_assert_uint_eq(stats.replicas_dropped_by_limit, 1);
    /* closed at the end of the turn that added the tenth block: some 2,045 bytes into it */
    ck_assert_int_ge(stats.master_repl_offset, 9 * 20440);
    ck_assert_int_lt(stats.master_repl_offset, 9 * 20440 + 2100);
    cluster_stop(&c);
}
END_TEST

START_TEST(one_byte_more_of_limit_needs_one_block_more) {
    struct cluster c;
    limit(&c, 10 * BLOCK + 1, 0, 0, 16384);
    fill(&c, 10);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    while (cluster_stats(&c, 0).connected_replicas == 1) cluster_do(&c, 0, "SET k1 ~2000");
    ck_assert_int_ge(cluster_stats(&c, 0).master_repl_offset, 10 * 20440);
    ck_assert_int_lt(cluster_stats(&c, 0).master_repl_offset, 10 * 20440 + 2100);
    cluster_stop(&c);
}
END_TEST

/* A hard limit of one byte counts as the backlog's 1 MiB: 52 x 20,504 is the first sum above
 * 1,048,576 (51 x 20,504 = 1,045,704). */
START_TEST(hard_limit_is_never_below_the_backlogs_size) {
    struct cluster c;
    limit(&c, 1, 0, 0, MIB);
    fill(&c, 51);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    while (cluster_stats(&c, 0).connected_replicas == 1) cluster_do(&c, 0, "SET k1 ~2000");
    ck_assert_int_ge(cluster_stats(&c, 0).master_repl_offset, 51 * 20440);
    ck_assert_int_lt(cluster_stats(&c, 0).master_repl_offset, 51 * 20440 + 2100);
    cluster_stop(&c);
}
END_TEST

START_TEST(no_limit_closes_nothing) {
    struct cluster c;
    limit(&c, 0, 0, 0, 16384);
    fill(&c, 300);
    cluster_run(&c, 2000);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    cluster_stop(&c);
}
END_TEST

/* First seen above in second 0 (when the block is added); with few clients clientsCron looks at
 * every replica in every cron. Of 3 seconds the 4th is the first one beyond: the cron at 4,001 ms.
 */
START_TEST(soft_limit_closes_after_its_seconds) {
    struct cluster c;
    limit(&c, 0, 5 * BLOCK, 3, 16384);
    fill(&c, 5);
    cluster_run(&c, 3500);
    ck_assert_uint_eq(cluster_stats(&c, 0).connected_replicas, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).replicas_dropped_by_limit, 0);
    cluster_run(&c, 1);
    ck_assert_uint_eq(cluster_stats(&c, 0).replicas_dropped_by_limit, 1);
    cluster_stop(&c);
}
END_TEST

START_TEST(soft_limit_starts_anew_after_a_look_below_it) {
    struct cluster c;
    limit(&c, 0, 5 * BLOCK, 3, 16384);
    fill(&c, 5);
    cluster_run(&c, 2000);
    c.servers[0].slots[0].is_stuck = false;
    cluster_run(&c, 200); /* all is sent, and a cron sees it */
    c.servers[0].slots[0].is_stuck = true;
    while (cluster_stats(&c, 0).repl_buffer_bytes < 2 * BLOCK) cluster_do(&c, 0, "SET k1 ~2000");
    cluster_run(&c, 2800);
    ck_assert_uint_eq(cluster_stats(&c, 0).replicas_dropped_by_limit, 0);
    cluster_stop(&c);
}
END_TEST

/* Redis issue 11666: backlog 1 MiB, limit 2 MiB, one write of 3 MiB, then nothing but PINGs each 10
 * seconds, for 20. It drops the replica, whose offset leaves the backlog with the block before the
 * write; so the replica syncs fully. */
static struct engine_stats write_large(const char *generation) {
    struct cluster c;
    cluster_init(&c, 2, generation);
    c.servers[0].config.obuf_hard_bytes = 2 * MIB;
    c.servers[0].config.repl_diskless_sync_delay = 0;
    cluster_start(&c);
    cluster_follow(&c, 1, 0);
    cluster_do(&c, 0, "SET k1 ~3145728");
    cluster_run(&c, 20000);
    struct engine_stats stats = cluster_stats(&c, 0);
    ck_assert_uint_eq(engine_digest(c.servers[0].engine), engine_digest(c.servers[1].engine));
    cluster_stop(&c);
    return stats;
}

/* Blocks of 7.0.15 hold a sixteenth of the backlog: 65,536 + 40, class 81,920. */
START_TEST(one_large_write_costs_one_full_sync) {
    struct engine_stats stats = write_large("redis-7.0");
    ck_assert_uint_eq(stats.replicas_dropped_by_limit, 1);
    ck_assert_uint_eq(stats.sync_full, 2); /* the first one, and this */
    ck_assert_uint_eq(stats.sync_partial_ok, 0);
}
END_TEST

/* One block of 3 MiB: from the next PING on the replica refers to it and is over the limit by that
 * alone. Each clientsCron drops it, each time it comes back partially, to the same block. PINGs at
 * 10,001 and 20,001 ms; from the first on ten times a second. */
START_TEST(block_as_large_as_a_write_costs_a_partial_resync_at_every_look) {
    struct engine_stats stats = write_large("redis-7.0.5");
    ck_assert_uint_eq(stats.sync_full, 2);
    ck_assert_uint_gt(stats.replicas_dropped_by_limit, 90);
    ck_assert_uint_ge(stats.sync_partial_ok, stats.replicas_dropped_by_limit - 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_limit");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, hard_limit_is_met_by_whole_blocks);
    tcase_add_test(tcase, one_byte_more_of_limit_needs_one_block_more);
    tcase_add_test(tcase, hard_limit_is_never_below_the_backlogs_size);
    tcase_add_test(tcase, no_limit_closes_nothing);
    tcase_add_test(tcase, soft_limit_closes_after_its_seconds);
    tcase_add_test(tcase, soft_limit_starts_anew_after_a_look_below_it);
    tcase_add_test(tcase, one_large_write_costs_one_full_sync);
    tcase_add_test(tcase, block_as_large_as_a_write_costs_a_partial_resync_at_every_look);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
