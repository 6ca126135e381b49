/* Links: what a master does for replicas, and to them: the wait before a full sync, newlines,
 * PINGs, timeouts, min-replicas-to-write, WAIT, output limits. Figures and bytes are compared every
 * 100 ms of virtual time. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "standin.h"
#include "support.h"
#include "tally.h"

#define MIB       (INT64_C(1) << 20)
#define LATEST_ID 2 /* the server draws an id with its first replica; it was born with another */

static void pass_by_tenths(struct standins *s, int tenths) {
    for (int i = 0; i < tenths; i++) standins_pass(s, 100);
}

/* --- full syncs --- */

/* Both are served by one fork, five to six seconds after the later one asked (facts 7.6.1). */
START_TEST(replicas_that_come_within_the_delay_share_a_fork) {
    struct standins *s = standins_start("a shared fork", NULL);
    standins_do(s, "CONFIG SET repl-diskless-sync-delay 5");
    standins_write(s, 1, 5000);
    standin_greet(s, 0);
    standin_ask(s, 0, STANDIN_NOTHING, -1);
    pass_by_tenths(s, 23);
    standin_greet(s, 1);
    standin_ask(s, 1, STANDIN_NOTHING, -1);
    pass_by_tenths(s, 70);
    ck_assert_int_eq(s->all[0].phase, STANDIN_STREAM);
    ck_assert_int_eq(s->all[1].phase, STANDIN_STREAM);
    standins_write(s, 2, 100); /* held back until they acknowledge */
    standins_compare(s);
    standin_acknowledge(s, 0, s->all[0].have);
    standins_compare(s);
    standin_acknowledge(s, 1, s->all[1].have);
    pass_by_tenths(s, 12);
    standins_stop(s);
}
END_TEST

START_TEST(enough_replicas_end_the_delay) {
    struct standins *s = standins_start("repl-diskless-sync-max-replicas 2", NULL);
    standins_do(s, "CONFIG SET repl-diskless-sync-delay 30");
    standins_do(s, "CONFIG SET repl-diskless-sync-max-replicas 2");
    for (int i = 0; i < 2; i++) {
        standin_greet(s, i);
        standin_ask(s, i, STANDIN_NOTHING, -1);
        pass_by_tenths(s, 15);
    }
    ck_assert_int_eq(s->all[1].phase, STANDIN_STREAM);
    standins_stop(s);
}
END_TEST

/* Writes and expiries meanwhile are in its buffer, and come after the first ACK; with every full
 * sync the stream selects its database anew. */
START_TEST(what_is_written_during_a_full_sync_follows_it) {
    struct standins *s = standins_start("writes meanwhile", NULL);
    standin_sync(s, 0);
    standins_do(s, "SELECT 3");
    standins_do(s, "SET a 1 PX 150");
    standin_greet(s, 1);
    standin_ask(s, 1, STANDIN_NOTHING, -1);
    standins_do(s, "SET b 1");
    standins_compare(s);
    pass_by_tenths(s, 5);
    standins_do(s, "SET c 1 PX 10");
    pass_by_tenths(s, 1);
    standins_do(s, "GET c");
    standin_acknowledge(s, 1, s->all[1].have);
    standins_compare(s);
    pass_by_tenths(s, 11);
    standins_stop(s);
}
END_TEST

/* --- time --- */

/* SELECT, SETs, DELs of what expired, bare from the cycle, in MULTI before a SET; PINGs. */
START_TEST(the_stream_and_its_pings_are_the_servers) {
    struct standins *s = standins_start("the stream", NULL);
    char command[64];
    standin_sync(s, 0);
    for (int i = 0; i < 240; i++) {
        snprintf(command, sizeof command, "SET k%d v PX %d", i % 50, 100 + i * 37 % 700);
        standins_do(s, command);
        snprintf(command, sizeof command, i % 3 ? "SET k%d w" : "DEL k%d k1 k2", i * 7 % 50);
        standins_do(s, command);
        if (i % 40 == 0) standins_do(s, i % 80 ? "SELECT 0" : "SELECT 5");
        standins_pass(s, 100);
    }
    standins_stop(s);
}
END_TEST

static int tenths_until_closed(struct standins *s, int i, int most) {
    int tenths = 0;
    for (; !s->all[i].server_closed && tenths < most; tenths++) standins_pass(s, 100);
    ck_assert(s->all[i].server_closed);
    return tenths;
}

/* More than repl-timeout seconds of the wall clock, asked once a second: between 4 and 5 s. */
START_TEST(a_silent_replica_is_dropped_in_the_same_tenth_of_a_second) {
    struct standins *s = standins_start("repl-timeout", NULL);
    standins_do(s, "CONFIG SET repl-timeout 4");
    standin_sync(s, 0);
    standin_sync(s, 1);
    pass_by_tenths(s, 60 + _i);
    s->all[0].acks = false;
    int tenths = tenths_until_closed(s, 0, 80);
    ck_assert_msg(tenths > 30 && tenths <= 61, "after %d tenths", tenths);
    ck_assert(!s->all[1].server_closed);
    standins_stop(s);
}
END_TEST

/* The id goes with the backlog, so one that comes back later is told another. */
START_TEST(a_backlog_that_nobody_uses_is_freed_in_the_same_tenth_of_a_second) {
    struct standins *s = standins_start("repl-backlog-ttl", NULL);
    standins_do(s, "CONFIG SET repl-backlog-ttl 3");
    standin_sync(s, 0);
    pass_by_tenths(s, 3 + 2 * _i);
    standin_leave(s, 0);
    for (int i = 0; s->server_seen[STANDIN_backlog_active] && i < 70; i++) standins_pass(s, 100);
    ck_assert_int_eq(s->server_seen[STANDIN_backlog_active], 0);
    standins_write(s, 1, 100);
    standins_pass(s, 500);
    standin_sync(s, 0);
    standins_stop(s);
}
END_TEST

/* Good: online, and heard of within min-replicas-max-lag seconds; counted once a second. */
START_TEST(writes_are_refused_from_the_same_tenth_of_a_second_on) {
    struct standins *s = standins_start("min-replicas-to-write", NULL);
    int refused_from = -1, taken_from = -1;
    standins_do(s, "CONFIG SET min-replicas-to-write 1");
    standins_do(s, "CONFIG SET min-replicas-max-lag 2");
    standins_do(s, "SET k before-any-replica");
    standin_sync(s, 0);
    for (int i = 0; i < 90; i++) {
        s->all[0].acks = i < 20 || i >= 60;
        standins_do(s, "SET k v");
        standins_do(s, "GET k");
        standins_pass(s, 100);
        bool good = s->server_seen[STANDIN_good_replicas] == 1;
        if (!good && refused_from < 0) refused_from = i;
        if (good && refused_from > 0 && taken_from < 0) taken_from = i;
    }
    ck_assert_msg(refused_from > 20 && taken_from >= 60, "%d, %d", refused_from, taken_from);
    standins_stop(s);
}
END_TEST

/* --- WAIT --- */

/* Sends WAIT on the writing client; the reply comes when it will. */
static void begin_wait(struct standins *s, int replicas, int ms) {
    char text[64];
    int length = snprintf(text, sizeof text, "WAIT %d %d\r\n", replicas, ms);
    struct arg argv[] = {lockstep_word(s->ls, "WAIT"), arg_number(replicas), arg_number(ms)};
    struct request request = {command_find("wait", 4), argv, 3};
    s->ls->late_client = s->client.client;
    oracle_tell(s->ls->oracle, s->client.link, text, (size_t)length);
    lockstep_turn_begin(s->ls, oracle_now_us(s->ls->oracle));
    engine_request(s->ls->engine, s->client.client, &request);
    lockstep_turn_end(s->ls);
    standins_compare(s);
}

/* What has been said so far is `reply`, on both sides. */
static void expect_waited(struct standins *s, const char *reply) {
    struct oracle_bytes said = {0};
    oracle_settle(s->ls->oracle);
    oracle_drain(s->ls->oracle, s->client.link, &said);
    ck_assert_str_eq(said.length ? said.bytes : "", reply);
    ck_assert_str_eq(s->ls->late_replies.length ? s->ls->late_replies.bytes : "", reply);
    tally_add(TALLY_REPLIES, 1);
    oracle_bytes_release(&said);
    s->ls->late_replies.length = 0;
    if (*reply) s->ls->late_client = -1;
}

START_TEST(wait_is_answered_when_and_as_the_server_does) {
    struct standins *s = standins_start("WAIT", NULL);
    standin_sync(s, 0);
    standin_sync(s, 1);
    begin_wait(s, 2, 0); /* its last command was before any replica: at once */
    expect_waited(s, ":2\r\n");
    standins_do(s, "SET k 1");
    begin_wait(s, 1, 0); /* GETACK goes to both */
    expect_waited(s, "");
    standin_acknowledge(s, 0, s->all[0].have);
    expect_waited(s, ":1\r\n");
    standins_do(s, "SET k 2");
    s->all[1].acks = false;
    begin_wait(s, 2, 1500);
    expect_waited(s, "");
    standins_pass(s, 1000);
    expect_waited(s, "");
    standins_pass(s, 700);
    expect_waited(s, ":1\r\n");
    standin_acknowledge(s, 1, s->all[1].have);
    begin_wait(s, 2, 0); /* both have it already */
    expect_waited(s, ":2\r\n");
    standins_stop(s);
}
END_TEST

/* --- output limits --- */

/* Writes until the server drops it; which write that was. The engine drops it at the same one, or
 * the comparison after each fails. */
static int writes_until_dropped(struct standins *s, int i, uint32_t bytes, int most) {
    int writes = 0;
    while (!s->all[i].server_closed && writes < most) {
        standins_write(s, (uint32_t)writes++, bytes);
        standins_compare(s);
    }
    return writes;
}

/* One that has its file and does not acknowledge gets nothing, and all is kept for it. 30 writes of
 * 101,037 bytes pass 3,000,000 (facts 7.8: by whole blocks). */
START_TEST(the_hard_limit_is_passed_with_the_same_write) {
    struct standin_limits limits = {3000000, 0, 0};
    struct standins *s = standins_start("hard limit, a replica that is held", &limits);
    standin_greet(s, 0);
    standin_ask(s, 0, STANDIN_NOTHING, -1);
    standins_pass(s, 200);
    int writes = writes_until_dropped(s, 0, 100000 + (uint32_t)_i * 777, 40);
    ck_assert_msg(writes >= 28 && writes <= 31, "%d writes", writes);
    standins_pass(s, 1000);
    standins_stop(s);
}
END_TEST

/* One that does not read: the socket takes some, as the kernel likes; the rest is kept. */
START_TEST(the_hard_limit_is_passed_with_the_same_write_when_a_socket_is_full) {
    struct standin_limits limits = {8 * MIB, 0, 0};
    struct standins *s = standins_start("hard limit, a full socket", &limits);
    standin_sync(s, 0);
    standin_stall(s, 0);
    int writes = writes_until_dropped(s, 0, 200000, 100);
    ck_assert_msg(writes < 100, "never dropped");
    standins_stop(s);
}
END_TEST

/* Never below: 20 MiB of it under the default limits, and it lives. */
START_TEST(nobody_is_dropped_below_the_limits) {
    struct standin_limits limits = {256 * MIB, 64 * MIB, 60};
    struct standins *s = standins_start("the default limits", &limits);
    standin_greet(s, 0);
    standin_ask(s, 0, STANDIN_NOTHING, -1);
    standins_pass(s, 200);
    for (uint32_t i = 0; i < 20; i++) standins_write(s, i, 1 << 20);
    standins_pass(s, 20000);
    ck_assert(!s->all[0].server_closed);
    standins_stop(s);
}
END_TEST

/* The soft one: 1 MiB for more than 3 s, seen when a block is added and when clientsCron comes by.
 * `_i` moves the start against the second. */
START_TEST(the_soft_limit_runs_out_in_the_same_tenth_of_a_second) {
    struct standin_limits limits = {64 * MIB, MIB, 3};
    struct standins *s = standins_start("soft limit", &limits);
    standin_greet(s, 0);
    standin_ask(s, 0, STANDIN_NOTHING, -1);
    pass_by_tenths(s, 2 + 3 * _i);
    standins_write(s, 1, 1200000);
    int tenths = tenths_until_closed(s, 0, 60);
    ck_assert_msg(tenths > 30 && tenths <= 50, "after %d tenths", tenths);
    standins_stop(s);
}
END_TEST

/* A limit below the backlog's size counts as that size (facts 7.8). */
START_TEST(the_hard_limit_is_at_least_the_backlogs_size) {
    struct standin_limits limits = {100000, 0, 0};
    struct standins *s = standins_start("hard limit below the backlog", &limits);
    standin_greet(s, 0);
    standin_ask(s, 0, STANDIN_NOTHING, -1);
    standins_pass(s, 200);
    int writes = writes_until_dropped(s, 0, 50000, 40);
    ck_assert_msg(writes >= 19 && writes <= 22, "%d writes", writes); /* 1,048,576 / 50,037 = 21 */
    standins_stop(s);
}
END_TEST

/* --- redis issue 11666 --- */

/* Backlog 1 MiB, limit 2 MiB, a write of 3 MiB. 7.0.15's blocks are a sixteenth of the backlog: the
 * replica is dropped on the way, the backlog keeps its last MiB, so the replica has to take
 * everything anew, once; from then on it stays. */
START_TEST(a_write_beyond_the_limit_costs_one_full_sync) {
    struct standin_limits limits = {2 * MIB, 0, 0};
    struct standins *s = standins_start("one write beyond the limit", &limits);
    standin_sync(s, 0);
    int64_t have = s->all[0].have;
    standins_write(s, 1, 3 << 20);
    standins_compare(s);
    ck_assert(s->all[0].server_closed);
    for (int round = 0; round < 5; round++) {
        standin_leave(s, 0);
        standin_greet(s, 0);
        bool partial = standin_ask(s, 0, LATEST_ID, have + 1);
        ck_assert(!partial);
        standins_pass(s, 200);
        standin_acknowledge(s, 0, s->all[0].have);
        s->all[0].acks = true;
        pass_by_tenths(s, 30);
        standins_write(s, 2, 1000);
        standins_compare(s);
        if (!s->all[0].server_closed) break;
    }
    ck_assert(!s->all[0].server_closed);
    ck_assert_int_eq(s->server_seen[STANDIN_sync_full], 2);
    ck_assert_int_eq(s->server_seen[STANDIN_sync_partial_ok], 0);
    standins_stop(s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle links");
    TCase *tcase = tcase_create("links");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, replicas_that_come_within_the_delay_share_a_fork);
    tcase_add_test(tcase, enough_replicas_end_the_delay);
    tcase_add_test(tcase, what_is_written_during_a_full_sync_follows_it);
    tcase_add_test(tcase, the_stream_and_its_pings_are_the_servers);
    tcase_add_loop_test(tcase, a_silent_replica_is_dropped_in_the_same_tenth_of_a_second, 0, 10);
    tcase_add_loop_test(tcase, a_backlog_that_nobody_uses_is_freed_in_the_same_tenth_of_a_second, 0,
                        5);
    tcase_add_test(tcase, writes_are_refused_from_the_same_tenth_of_a_second_on);
    tcase_add_test(tcase, wait_is_answered_when_and_as_the_server_does);
    tcase_add_loop_test(tcase, the_hard_limit_is_passed_with_the_same_write, 0, 5);
    tcase_add_test(tcase, the_hard_limit_is_passed_with_the_same_write_when_a_socket_is_full);
    tcase_add_test(tcase, nobody_is_dropped_below_the_limits);
    tcase_add_loop_test(tcase, the_soft_limit_runs_out_in_the_same_tenth_of_a_second, 0, 4);
    tcase_add_test(tcase, the_hard_limit_is_at_least_the_backlogs_size);
    tcase_add_test(tcase, a_write_beyond_the_limit_costs_one_full_sync);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "links");
}
