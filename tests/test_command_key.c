/* DEL, UNLINK, EXISTS, TOUCH, and what any command does to a key that is logically expired (engine
 * facts 3.5); replies are those of redis-server 7.0.15. */
#include <string.h>

#include "requests.h"

static struct rig rig;

static void setup(void) {
    rig_init(&rig, "redis-7.0");
    rig_start(&rig);
}

static void setup_replica(void) {
    rig_init(&rig, "redis-7.0");
    rig.config.is_replica = true;
    rig_start(&rig);
}

static void setup_replica_5_0(void) {
    rig_init(&rig, "redis-5.0");
    rig.config.is_replica = true;
    rig_start(&rig);
}

static void teardown(void) { rig_stop(&rig); }

#define ARITY(name) "-ERR wrong number of arguments for '" name "' command"

START_TEST(deleting_and_counting) {
    static const struct exchange lines[] = {
        {"DEL", ARITY("del")},     {"UNLINK", ARITY("unlink")}, {"EXISTS", ARITY("exists")},
        {"TOUCH", ARITY("touch")}, {"DEL a b", ":0"},           {"SET a 1", "+OK"},
        {"SET b 1 EX 10", "+OK"},  {"EXISTS a b nope a", ":3"}, {"TOUCH b b nope", ":2"},
        {"DEL a a nope", ":1"},    {"UNLINK b b", ":1"},        {"EXISTS a b", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(exists_and_touch_count_hits_and_misses) {
    static const struct exchange lines[] = {
        {"SET a 1", NULL}, {"EXISTS a a b", NULL}, {"TOUCH a b", NULL}, {"DEL a b", NULL}};
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_hits, 3);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_misses, 2);
}
END_TEST

/* Sets k to a deadline 1 ms away and waits until it is `late_ms` past. */
static void expire_k(ms_t late_ms) {
    ck_assert_str_eq(rig_do(&rig, "SET k 41 PX 1"), "+OK");
    rig_advance(&rig, 1 + late_ms);
}

START_TEST(a_key_lives_through_its_deadline) {
    static const struct exchange lines[] = {
        {"GET k", "$41"}, {"PTTL k", ":0"}, {"TTL k", ":0"}, {"EXISTS k", ":1"}};
    expire_k(0);
    RIG_CONVERSE(&rig, lines);
    ck_assert_str_eq(rig_do(&rig, "INCR k"), ":42");
    rig_advance(&rig, 1);
    ck_assert_str_eq(rig_do(&rig, "GET k"), "(nil)");
    ck_assert_uint_eq(rig.expired_lazily, 1);
    ck_assert_int_eq(rig.last_late_ms, 1);
}
END_TEST

/* On an expired k: the reply, and the keys left then; all of them delete it. */
static const struct on_expired {
    const char *line, *reply, *keys_after;
} on_expired[] = {
    {"GET k", "(nil)", ":0"},
    {"EXISTS k", ":0", ":0"},
    {"EXISTS k k", ":0", ":0"},
    {"TOUCH k", ":0", ":0"},
    {"TTL k", ":-2", ":0"},
    {"PTTL k", ":-2", ":0"},
    {"EXPIRETIME k", ":-2", ":0"},
    {"PEXPIRETIME k", ":-2", ":0"},
    {"GETDEL k", "(nil)", ":0"},
    {"GETEX k", "(nil)", ":0"},
    {"GETEX k EX 10", "(nil)", ":0"},
    {"GETEX k PERSIST", "(nil)", ":0"},
    {"EXPIRE k 10", ":0", ":0"},
    {"EXPIRE k -1", ":0", ":0"},
    {"EXPIRE k 10 XX", ":0", ":0"},
    {"PERSIST k", ":0", ":0"},
    {"DEL k", ":0", ":0"},
    {"UNLINK k", ":0", ":0"},
    {"DEL k k", ":0", ":0"},
    {"SET k v XX", "(nil)", ":0"},
    {"SET k v NX", "+OK", ":1"},
    {"SET k v GET", "(nil)", ":1"},
    {"SET k v KEEPTTL", "+OK", ":1"},
    {"SETEX k 10 v", "+OK", ":1"},
    {"INCR k", ":1", ":1"},
    {"SCAN 0", "[$0, []]", ":0"},
    {"RANDOMKEY", "(nil)", ":0"},
    {"DBSIZE", ":1", ":1"},
};

START_TEST(commands_on_an_expired_key) {
    const struct on_expired *row = &on_expired[_i];
    expire_k(7);
    struct exchange lines[] = {{row->line, row->reply}, {"DBSIZE", row->keys_after}};
    RIG_CONVERSE(&rig, lines);
    bool deletes = strcmp(row->line, "DBSIZE") != 0;
    ck_assert_uint_eq(rig.expired_lazily, deletes);
    ck_assert_uint_eq(engine_stats(rig.engine).expired_keys, deletes);
    if (deletes) ck_assert_int_eq(rig.last_late_ms, 7);
}
END_TEST

START_TEST(nothing_of_an_expired_key_is_kept) {
    expire_k(1);
    static const struct exchange lines[] = {{"SET k v KEEPTTL", "+OK"}, {"TTL k", ":-1"}};
    RIG_CONVERSE(&rig, lines);
    expire_k(1);
    ck_assert_str_eq(rig_do(&rig, "INCR k"), ":1");
    ck_assert_str_eq(rig_do(&rig, "TTL k"), ":-1");
}
END_TEST

/* A replica hides expired keys from its clients and leaves them to its master's DEL. */
START_TEST(a_replica_only_hides) {
    rig_receive(&rig, "SELECT 0");
    rig_receive(&rig, "SET k 41 PXAT 1700000000001");
    rig_advance(&rig, 2);
    static const struct exchange lines[] = {
        {"GET k", "(nil)"},     {"EXISTS k", ":0"},  {"TTL k", ":-2"},
        {"SCAN 0", "[$0, []]"}, {"RANDOMKEY", "$k"}, /* every key is volatile: it gives up after 100
                                                        tries */
        {"DBSIZE", ":1"},
    };
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).expired_keys, 0);
    rig_receive(&rig, "INCR k"); /* the master's link sees it alive */
    static const struct exchange after[] = {{"DBSIZE", ":1"}, {"GET k", "(nil)"}};
    RIG_CONVERSE(&rig, after);
    rig_receive(&rig, "PERSIST k");
    ck_assert_str_eq(rig_do(&rig, "GET k"), "$42");
    rig_receive(&rig, "DEL k");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
}
END_TEST

START_TEST(a_replica_refuses_writes) {
    static const struct exchange lines[] = {
        {"SET a", ARITY("set")},
        {"SET a b", "-READONLY You can't write against a read only replica."},
        {"GETEX a", "-READONLY You can't write against a read only replica."},
        {"EXPIRE a abc", "-READONLY You can't write against a read only replica."},
        {"FLUSHALL foo", "-READONLY You can't write against a read only replica."},
        {"DEL a", "-READONLY You can't write against a read only replica."},
        {"PERSIST a", "-READONLY You can't write against a read only replica."},
        {"CONFIG SET hz 10", "+OK"},
        {"DEBUG SET-ACTIVE-EXPIRE 1", "+OK"},
        {"SELECT 3", "+OK"},
        {"TOUCH a", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(an_old_replica_hides_too) {
    rig_receive(&rig, "SET k v PX 1");
    rig_advance(&rig, 2);
    static const struct exchange lines[] = {{"GET k", "(nil)"}, {"DBSIZE", ":1"}};
    RIG_CONVERSE(&rig, lines);
}
END_TEST

static Suite *key_suite(void) {
    Suite *suite = suite_create("command_key");
    TCase *master = tcase_create("master");
    tcase_add_checked_fixture(master, setup, teardown);
    tcase_add_test(master, deleting_and_counting);
    tcase_add_test(master, exists_and_touch_count_hits_and_misses);
    tcase_add_test(master, a_key_lives_through_its_deadline);
    tcase_add_loop_test(master, commands_on_an_expired_key, 0,
                        sizeof on_expired / sizeof *on_expired);
    tcase_add_test(master, nothing_of_an_expired_key_is_kept);
    suite_add_tcase(suite, master);
    TCase *replica = tcase_create("replica");
    tcase_add_checked_fixture(replica, setup_replica, teardown);
    tcase_add_test(replica, a_replica_only_hides);
    tcase_add_test(replica, a_replica_refuses_writes);
    suite_add_tcase(suite, replica);
    TCase *old = tcase_create("redis-5.0 replica");
    tcase_add_checked_fixture(old, setup_replica_5_0, teardown);
    tcase_add_test(old, an_old_replica_hides_too);
    suite_add_tcase(suite, old);
    return suite;
}

int main(void) { return test_run(key_suite()); }
