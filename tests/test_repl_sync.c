#include <stdio.h>
#include <string.h>

#include "cluster.h"

static void start(struct cluster *c, uint32_t count) {
    cluster_init(c, count, "redis-7.0");
    for (uint32_t i = 0; i < count; i++) c->servers[i].config.repl_diskless_sync_delay = 0;
    cluster_start(c);
}

static uint64_t digest(const struct cluster *c, int server) {
    return engine_digest(c->servers[server].engine);
}

static void assert_equal(const struct cluster *c, int a, int b) {
    ck_assert_uint_eq(digest(c, a), digest(c, b));
    ck_assert_int_eq(cluster_stats(c, a).master_repl_offset,
                     cluster_stats(c, b).master_repl_offset);
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
    assert_equal(&c, 0, 1);
    cluster_run(&c, 3000);
    set_keys(&c, 0, 5, 10);
    cluster_run(&c, 2);
    assert_equal(&c, 0, 1);
    cluster_stop(&c);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_sync");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, handshake_and_full_sync_go_step_by_step);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
