/* Pair: a real replica of a real master, cut off and joined again, promoted, reading what has died;
 * beside two engines. */
#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "support.h"
#include "tally.h"

/* --- outages --- */

struct pair_outage {
    const char *about;
    const char *backlog;
    uint32_t writes, value_bytes;
    ms_t away_ms;
    bool partial;
};

/* As in test_oracle_outages: kept are the blocks that the backlog's size reaches into. */
static const struct pair_outage outages[] = {
    {"nothing", "1048576", 0, 0, 300, true},
    {"ten seconds of nothing", "1048576", 0, 0, 10000, true},
    {"16 KiB, 10 kB", "16384", 10, 1000, 1500, true},
    {"16 KiB, 62 kB", "16384", 60, 1000, 1500, false},
    {"64 KiB, 41 kB", "65536", 40, 1000, 4200, true},
    {"64 KiB, 124 kB", "65536", 120, 1000, 4200, false},
    {"1 MiB, 900 kB in one", "1048576", 1, 900000, 700, true},
    {"1 MiB, 3 MiB in one", "1048576", 1, 3 << 20, 700, false},
};

static void wait_until_up(struct pair *p) {
    for (int i = 0; i < 30 && !p->server[PAIR_REPLICA][PAIR_link_is_up]; i++) pair_pass(p, 100);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_link_is_up], 1);
}

static struct pair *join(const char *about) {
    struct pair *p = pair_start(about);
    pair_do(p, PAIR_MASTER, "SET before x");
    pair_join(p);
    pair_compare(p);
    wait_until_up(p);
    pair_pass(p, 1000);
    return p;
}

START_TEST(a_cut_ends_in_the_same_resync_of_the_real_pair) {
    const struct pair_outage *o = &outages[_i];
    struct pair *p = join(o->about);
    char command[96];
    snprintf(command, sizeof command, "CONFIG SET repl-backlog-size %s", o->backlog);
    pair_do(p, PAIR_MASTER, command);
    pair_write(p, 0, 100);
    pair_cut(p);
    pair_compare(p);
    for (uint32_t i = 0; i < o->writes; i++) pair_write(p, i, o->value_bytes);
    pair_pass(p, o->away_ms);
    int64_t full = p->server[PAIR_MASTER][PAIR_sync_full];
    int64_t partial = p->server[PAIR_MASTER][PAIR_sync_partial_ok];
    pair_mend(p);
    pair_pass(p, 1100);
    wait_until_up(p);
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_sync_partial_ok] - partial, o->partial);
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_sync_full] - full, !o->partial);
    pair_write(p, 9999, 100);
    pair_pass(p, 2000);
    ck_assert_uint_eq(engine_digest(p->side[0]->engine), engine_digest(p->side[1]->engine));
    pair_stop(p);
}
END_TEST

/* --- dead keys --- */

/* Keys that the master has not looked at since they died are in the file and on the replica:
 * counted there, read as nil, deleted by nobody but the master. */
START_TEST(a_full_sync_carries_the_dead) {
    struct pair *p = pair_start("dead keys in a full sync");
    char command[64];
    pair_do(p, PAIR_MASTER, "DEBUG SET-ACTIVE-EXPIRE 0");
    for (int i = 0; i < 40; i++) {
        snprintf(command, sizeof command, "SET k%d v PX %d", i, i % 2 ? 50 : 600000);
        pair_do(p, PAIR_MASTER, command);
    }
    pair_pass(p, 200);
    pair_join(p);
    pair_pass(p, 500);
    wait_until_up(p);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_keys], 40);
    for (int i = 0; i < 8; i++) {
        snprintf(command, sizeof command, "GET k%d", i);
        pair_do(p, PAIR_REPLICA, command);
        snprintf(command, sizeof command, "PTTL k%d", i);
        pair_do(p, PAIR_REPLICA, command);
    }
    pair_do(p, PAIR_REPLICA, "SET k1 v");
    pair_pass(p, 2000);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_keys], 40);
    pair_do(p, PAIR_MASTER, "GET k1");
    pair_compare(p);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_keys], 39);
    pair_do(p, PAIR_MASTER, "DEBUG SET-ACTIVE-EXPIRE 1");
    pair_pass(p, 1000);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_keys], 20);
    pair_stop(p);
}
END_TEST

/* --- promotion --- */

/* Keys die while the link is down; the promoted replica deletes them by itself, from its next cron
 * on, with the ids' history as the server writes it. */
START_TEST(a_promoted_replica_deletes_what_its_master_never_did) {
    struct pair *p = join("promotion");
    char command[64];
    for (int i = 0; i < 235; i++) {
        snprintf(command, sizeof command, "SET k%d v PX 1500", i);
        pair_do(p, PAIR_MASTER, command);
    }
    pair_pass(p, 1000);
    pair_cut(p);
    pair_pass(p, 1000);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_expired_keys], 0);
    ck_assert_int_ge(p->server[PAIR_REPLICA][PAIR_keys], 235);
    pair_promote(p, PAIR_REPLICA);
    pair_compare(p);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_second_offset],
                     p->server[PAIR_REPLICA][PAIR_offset] + 1);
    for (int i = 0; i < 4; i++) pair_pass(p, 100);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_expired_keys], 235);
    pair_do(p, PAIR_REPLICA, "SET mine now");
    pair_pass(p, 300);
    pair_stop(p);
}
END_TEST

/* --- time --- */

/* A storm on a pair that stays joined: what the replica holds follows the master's. */
START_TEST(a_storm_passes_through_the_pair) {
    struct pair *p = join("a storm");
    char command[64];
    for (int i = 0; i < 600; i++) {
        snprintf(command, sizeof command, "SET k%d v PX %d", i, 100 + i * 37 % 1900);
        pair_do(p, PAIR_MASTER, command);
        if (i % 20 == 0) pair_pass(p, 100);
        if (i % 50 == 0) pair_do(p, PAIR_REPLICA, "DBSIZE");
        snprintf(command, sizeof command, "GET k%d", i / 2);
        pair_do(p, PAIR_REPLICA, command);
    }
    pair_pass(p, 3000);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_keys], 1);
    pair_stop(p);
}
END_TEST

/* A link on which nothing passes any more: either end finds that out for itself, in the same tenth
 * of a second as the real one; what it missed comes by a partial resync. `_i` moves the moment. */
START_TEST(either_end_of_a_dead_link_times_out_by_itself) {
    struct pair *p = join("repl-timeout on both sides");
    int64_t links_lost_at = -1, replicas_lost_at = -1;
    for (int side = 0; side < 2; side++) pair_do(p, side, "CONFIG SET repl-timeout 5");
    for (int i = 0; i < 3 * _i; i++) pair_pass(p, 100);
    pair_freeze(p);
    pair_write(p, 1, 100);
    for (int tenth = 0; tenth < 90; tenth++) {
        pair_pass(p, 100);
        if (links_lost_at < 0 && !p->server[PAIR_REPLICA][PAIR_link_is_up]) links_lost_at = tenth;
        if (replicas_lost_at < 0 && !p->server[PAIR_MASTER][PAIR_replicas])
            replicas_lost_at = tenth;
    }
    ck_assert_msg(links_lost_at > 0, "the replica did not notice");
    ck_assert_msg(replicas_lost_at >= 40, "the master noticed at %lld",
                  (long long)replicas_lost_at);
    pair_mend(p);
    pair_pass(p, 1100);
    wait_until_up(p);
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_sync_partial_ok], 1);
    pair_stop(p);
}
END_TEST

/* --- manual failover --- */

static void pass_by_tenths(struct pair *p, int tenths) {
    for (int i = 0; i < tenths; i++) pair_pass(p, 100);
}

/* Writes are paused, and with them expiry, until the replica has acknowledged all; then the two
 * change places. `_i` moves the start against the replica's ACKs of each second. */
START_TEST(a_failover_goes_as_the_real_one_while_keys_expire) {
    struct pair *p = join("FAILOVER");
    char command[64];
    pass_by_tenths(p, _i);
    for (int i = 0; i < 100; i++) {
        snprintf(command, sizeof command, "SET k%d v PX %d", i, 20 + i * 30);
        pair_do(p, PAIR_MASTER, command);
    }
    pair_pass(p, 500);
    int64_t expired = p->server[PAIR_MASTER][PAIR_expired_keys];
    ck_assert_int_gt(expired, 0);
    pair_do(p, PAIR_MASTER, "FAILOVER");
    pair_do(p, PAIR_MASTER, "GET k20");
    pair_do(p, PAIR_MASTER, "FAILOVER");
    for (int i = 0; i < 20 && !p->server[PAIR_MASTER][PAIR_is_replica]; i++) pair_pass(p, 100);
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_is_replica], 1);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_is_replica], 0);
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_expired_keys], expired);
    pair_do(p, PAIR_REPLICA, "SET from-the-new-master 1");
    pass_by_tenths(p, 40);
    pair_do(p, PAIR_MASTER, "GET from-the-new-master");
    ck_assert_int_eq(p->server[PAIR_MASTER][PAIR_keys], 2);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_sync_full], 0);
    ck_assert_int_eq(p->server[PAIR_REPLICA][PAIR_sync_partial_ok], 1);
    pair_stop(p);
}
END_TEST

/* Too little time for the ACK of the last write: all goes on as before. */
START_TEST(a_failover_that_runs_out_of_time_is_called_off) {
    struct pair *p = join("FAILOVER TIMEOUT");
    pair_do(p, PAIR_MASTER, "FAILOVER TIMEOUT 0");
    pair_do(p, PAIR_MASTER, "FAILOVER ABORT");
    pair_do(p, PAIR_REPLICA, "FAILOVER");
    pair_pass(p, 100 + 100 * _i);
    pair_write(p, 1, 10);
    pair_do(p, PAIR_MASTER, "FAILOVER TIMEOUT 200");
    pass_by_tenths(p, 15);
    pair_do(p, PAIR_MASTER, "SET k v");
    pair_pass(p, 1500);
    pair_cut(p);
    pair_do(p, PAIR_MASTER, "FAILOVER");
    pair_stop(p);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle pair");
    TCase *tcase = tcase_create("pair");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_cut_ends_in_the_same_resync_of_the_real_pair, 0,
                        (int)(sizeof outages / sizeof *outages));
    tcase_add_test(tcase, a_full_sync_carries_the_dead);
    tcase_add_test(tcase, a_promoted_replica_deletes_what_its_master_never_did);
    tcase_add_test(tcase, a_storm_passes_through_the_pair);
    tcase_add_loop_test(tcase, either_end_of_a_dead_link_times_out_by_itself, 0, 4);
    tcase_add_loop_test(tcase, a_failover_goes_as_the_real_one_while_keys_expire, 0, 6);
    tcase_add_loop_test(tcase, a_failover_that_runs_out_of_time_is_called_off, 0, 3);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "pair");
}
