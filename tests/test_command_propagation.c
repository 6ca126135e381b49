/* What a command puts into the replication stream: engine facts 6.2 (rewrites), 6.5 (lengths) and
 * 3.5 (expired keys). Every row was seen in the stream of redis-server 7.0.15. Now is 1700000000000
 * ms. */
#include <string.h>

#include "requests.h"

static struct rig rig;

static void start(const char *generation) {
    rig_init(&rig, generation);
    rig_start(&rig);
    rig_attach_replica(&rig);
    rig_do(&rig, "FLUSHALL"); /* the stream selects database 0 */
    rig_stream(&rig);
}

static void setup(void) { start("redis-7.0"); }

static void setup_numbers(void) {
    setup();
    rig.numbers = true;
}

static void setup_5_0(void) { start("redis-5.0"); }

static void teardown(void) { rig_stop(&rig); }

START_TEST(set_is_verbatim_without_a_deadline) {
    static const struct feeding lines[] = {
        {"SET k v", "+OK", "SET k v"},
        {"set k v xx", "+OK", "set k v xx"},
        {"SET k v KEEPTTL", "+OK", "SET k v KEEPTTL"},
        {"SET k v NX", "(nil)", ""},
        {"SET nope v XX", "(nil)", ""},
        {"SET k v EX 0", "-ERR invalid expire time in 'set' command", ""},
        {"SET k ~3", "+OK", "SET k xxx"},
        {"set k v get", "$xxx", "set k v"},
        {"SET k get get KEEPTTL GET xx", "$v", "SET k get KEEPTTL xx"},
        {"SET k v NX GET", "$get", ""},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(set_with_a_deadline_becomes_pxat) {
    static const struct feeding lines[] = {
        {"set k v ex 100", "+OK", "SET k v PXAT 1700000100000"},
        {"set k v nx px 100", "(nil)", ""},
        {"set k v xx get px 100000", "$v", "SET k v PXAT 1700000100000"},
        {"set k v exat 9999999999", "+OK", "SET k v PXAT 9999999999000"},
        {"set k v pxat 9999999999999", "+OK", "SET k v PXAT 9999999999999"},
        {"set k v pxat 1", "+OK", "SET k v PXAT 1"},
        {"set k v get", "(nil)", "MULTI; DEL k; set k v; EXEC"},
        {"setex k 100 v", "+OK", "SET k v PXAT 1700000100000"},
        {"PSETEX k 100000 ~4", "+OK", "SET k xxxx PXAT 1700000100000"},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(getex_and_getdel) {
    static const struct feeding lines[] = {
        {"SET k v", "+OK", "SET k v"},
        {"getex k", "$v", ""},
        {"getex k ex 100", "$v", "PEXPIREAT k 1700000100000"},
        {"getex k px 100", "$v", "PEXPIREAT k 1700000000100"},
        {"getex k exat 9999999999", "$v", "PEXPIREAT k 9999999999000"},
        {"getex k pxat 9999999999999", "$v", "PEXPIREAT k 9999999999999"},
        {"getex k Persist", "$v", "PERSIST k"},
        {"getex k PERSIST", "$v", ""},
        {"getex k pxat 1", "$v", "DEL k"},
        {"SET k v", "+OK", "SET k v"},
        {"getdel k", "$v", "DEL k"},
        {"getdel k", "(nil)", ""},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(expire_becomes_pexpireat) {
    static const struct feeding lines[] = {
        {"SET k v", "+OK", "SET k v"},
        {"expire k 100", ":1", "PEXPIREAT k 1700000100000"},
        {"Expire k 200 gt XX", ":1", "PEXPIREAT k 1700000200000 gt XX"},
        {"pexpire k 100000 lt", ":1", "PEXPIREAT k 1700000100000 lt"},
        {"expire k 200 GT GT GT GT GT GT GT GT", ":1",
         "PEXPIREAT k 1700000200000 GT GT GT GT GT GT GT GT"},
        {"expireat k 9999999999", ":1", "PEXPIREAT k 9999999999000"},
        {"pexpireat k 9999999999999 gt", ":1", "pexpireat k 9999999999999 gt"},
        {"PExpireAt k 9999999999998 Xx", ":1", "PExpireAt k 9999999999998 Xx"},
        {"expire k 1 gt", ":0", ""},
        {"expire k 10 nx", ":0", ""},
        {"persist k", ":1", "persist k"},
        {"persist k", ":0", ""},
        {"expire nope 10", ":0", ""},
        {"expire k 0", ":1", "DEL k"},
        {"SET k v", "+OK", "SET k v"},
        {"expire k -5 lt", ":1", "DEL k"},
        {"SET k v", "+OK", "SET k v"},
        {"pexpireat k 1", ":1", "DEL k"},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(the_rest_is_verbatim_or_nothing) {
    static const struct feeding lines[] = {
        {"incr n", ":1", "incr n"},
        {"Incr n", ":2", "Incr n"},
        {"del n nope", ":1", "del n nope"},
        {"DEL nope", ":0", ""},
        {"SET a 1", "+OK", "SET a 1"},
        {"UNLINK a nope b", ":1", "UNLINK a nope b"},
        {"SET a x", "+OK", "SET a x"},
        {"INCR a", "-ERR value is not an integer or out of range", ""},
        {"GET a", "$x", ""},
        {"TTL a", ":-1", ""},
        {"SCAN 0", "[$0, [$a]]", ""},
        {"CONFIG SET hz 20", "+OK", ""},
        {"PING", "+PONG", ""},
        {"flushdb async", "+OK", "flushdb async"},
        {"FLUSHALL SYNC", "+OK", "FLUSHALL SYNC"},
        {"FLUSHALL", "+OK", "FLUSHALL"}, /* though there was nothing */
        {"FLUSHALL foo", "-ERR syntax error", ""},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(select_precedes_what_needs_it) {
    static const struct feeding lines[] = {
        {"SELECT 3", "+OK", ""},
        {"SET a 1", "+OK", "SELECT 3; SET a 1"},
        {"SELECT 0", "+OK", ""},
        {"SET a 1 nx px 1", "+OK", "SELECT 0; SET a 1 PXAT 1700000000001"},
        {"SELECT 12", "+OK", ""},
        {"SET x 1 px 1", "+OK", "SELECT 12; SET x 1 PXAT 1700000000001"},
        {"SELECT 0", "+OK", ""},
        {"SET y 1", "+OK", "SELECT 0; SET y 1"},
        {"SELECT 12", "+OK", ""},
    };
    RIG_FEED(&rig, lines);
    rig_advance(&rig, 2);
    static const struct feeding late[] = {
        {"SET x 2", "+OK", "SELECT 12; MULTI; DEL x; SET x 2; EXEC"}};
    RIG_FEED(&rig, late);
}
END_TEST

START_TEST(lengths_on_the_wire) {
    /* n = 16 bytes of key, 100 of value, deadlines of 13 digits */
    static const struct {
        const char *line;
        size_t bytes;
    } rows[] = {
        {"SET key0000000000000 ~100", 144},
        {"SET key0000000000000 ~100 EX 100", 174},
        {"SET key0000000000000 ~100 KEEPTTL", 157},
        {"EXPIRE key0000000000000 100", 62},
        {"PERSIST key0000000000000", 40},
        {"DEL key0000000000000", 36},
        {"INCR key0000000000000", 37},
        {"UNLINK key0000000000000", 39},
        {"FLUSHALL", 18},
        {"SELECT 7", 0},
        {"INCR key0000000000000", 37 + 23},
        {"SELECT 12", 0},
        {"INCR key0000000000000", 37 + 24},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t before = engine_stats(rig.engine).master_repl_offset;
        rig_do(&rig, rows[i].line);
        rig_stream(&rig);
        ck_assert_uint_eq(rig.resp_bytes, rows[i].bytes);
        ck_assert_int_eq(engine_stats(rig.engine).master_repl_offset - before,
                         (int64_t)rows[i].bytes);
    }
}
END_TEST

/* With x and y logically expired. */
static const struct feeding on_expired[] = {
    {"GET x", "(nil)", "DEL x"},
    {"EXISTS x y", ":0", "MULTI; DEL x; DEL y; EXEC"},
    {"EXISTS x x", ":0", "DEL x"},
    {"TTL x", ":-2", "DEL x"},
    {"TOUCH x", ":0", "DEL x"},
    {"DEL x", ":0", "DEL x"},
    {"UNLINK x", ":0", "DEL x"},
    {"DEL x y", ":0", "MULTI; DEL x; DEL y; EXEC"},
    {"UNLINK x live", ":1", "MULTI; DEL x; UNLINK x live; EXEC"},
    {"SET x 2", "+OK", "MULTI; DEL x; SET x 2; EXEC"},
    {"SET x 2 KEEPTTL", "+OK", "MULTI; DEL x; SET x 2 KEEPTTL; EXEC"},
    {"SET x 2 EX 100", "+OK", "MULTI; DEL x; SET x 2 PXAT 1700000100002; EXEC"},
    {"SET x 2 NX", "+OK", "MULTI; DEL x; SET x 2 NX; EXEC"},
    {"SET x 2 GET", "(nil)", "MULTI; DEL x; SET x 2; EXEC"},
    {"SET x 2 XX", "(nil)", "DEL x"},
    {"SETEX x 10 a", "+OK", "MULTI; DEL x; SET x a PXAT 1700000010002; EXEC"},
    {"INCR x", ":1", "MULTI; DEL x; INCR x; EXEC"},
    {"EXPIRE x 10", ":0", "DEL x"},
    {"PERSIST x", ":0", "DEL x"},
    {"GETDEL x", "(nil)", "DEL x"},
    {"GETEX x EX 10", "(nil)", "DEL x"},
    {"DBSIZE", ":3", ""},
    {"FLUSHALL", "+OK", "FLUSHALL"},
};

static void expire_x_and_y(void) {
    static const struct exchange lines[] = {
        {"SET x 1 PX 1", "+OK"}, {"SET y 1 PX 1", "+OK"}, {"SET live 1", "+OK"}};
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 2);
    rig_stream(&rig);
}

START_TEST(expired_keys_leave_before_the_command) {
    expire_x_and_y();
    rig_feed(&rig, &on_expired[_i], 1);
}
END_TEST

START_TEST(scan_and_randomkey_are_never_wrapped) {
    expire_x_and_y();
    ck_assert_str_eq(rig_do(&rig, "SCAN 0"), "[$0, [$live]]");
    const char *stream = rig_stream(&rig);
    ck_assert(strcmp(stream, "DEL x; DEL y") == 0 || strcmp(stream, "DEL y; DEL x") == 0);
    expire_x_and_y();
    for (int i = 0; i < 100; i++) ck_assert_str_eq(rig_do(&rig, "RANDOMKEY"), "$live");
    stream = rig_stream(&rig);
    ck_assert(strcmp(stream, "DEL x; DEL y") == 0 || strcmp(stream, "DEL y; DEL x") == 0);
}
END_TEST

/* Two expired keys' DELs are told apart from the client's own, from its SET and from MULTI. */
START_TEST(only_an_expired_keys_del_is_marked_as_expiry) {
    expire_x_and_y();
    rig_do(&rig, "SET z 1");
    rig_do(&rig, "DEL z");
    ck_assert_uint_eq(rig.stream_expiries, 0);
    ck_assert_str_eq(rig_do(&rig, "SET x 2"), "+OK");
    ck_assert_uint_eq(rig.stream_expiries, 1);
    ck_assert_str_eq(rig_do(&rig, "GET y"), "(nil)");
    ck_assert_uint_eq(rig.stream_expiries, 2);
}
END_TEST

START_TEST(lazyfree_lazy_expire_sends_unlink) {
    ck_assert_str_eq(rig_do(&rig, "CONFIG SET lazyfree-lazy-expire yes"), "+OK");
    expire_x_and_y();
    static const struct feeding lines[] = {
        {"GET x", "(nil)", "UNLINK x"},
        {"DEL y", ":0", "UNLINK y"},
        {"EXPIRE live -1", ":1", "UNLINK live"},
        {"SET x 1", "+OK", "SET x 1"},
        {"GETEX x PXAT 1", "$1", "UNLINK x"},
        {"SET x 1", "+OK", "SET x 1"},
        {"GETDEL x", "$1", "DEL x"},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(lazyfree_lazy_user_del_shows_in_getdel_alone) {
    static const struct feeding lines[] = {
        {"CONFIG SET lazyfree-lazy-user-del yes", "+OK", ""},
        {"SET x 1", "+OK", "SET x 1"},
        {"DEL x", ":1", "DEL x"},
        {"SET x 1", "+OK", "SET x 1"},
        {"GETDEL x", "$1", "UNLINK x"},
        {"SET x 1", "+OK", "SET x 1"},
        {"GETEX x PXAT 1", "$1", "DEL x"},
    };
    RIG_FEED(&rig, lines);
}
END_TEST

START_TEST(nothing_is_fed_while_nobody_listens) {
    rig_stop(&rig);
    rig_init(&rig, "redis-7.0");
    rig_start(&rig);
    static const struct feeding lines[] = {{"SET k v EX 10", "+OK", ""},
                                           {"EXPIRE k 20", ":1", ""},
                                           {"SET k v GET", "$v", ""},
                                           {"GETDEL k", "$v", ""},
                                           {"FLUSHALL", "+OK", ""}};
    RIG_FEED(&rig, lines);
    ck_assert_int_eq(engine_stats(rig.engine).master_repl_offset, 0);
    rig_attach_replica(&rig);
    static const struct feeding heard[] = {{"SET k v", "+OK", "SELECT 0; SET k v"}};
    RIG_FEED(&rig, heard);
}
END_TEST

/* Relative TTLs leave as they were typed, an expired key's DEL at once and alone. */
START_TEST(old_generation_is_verbatim) {
    static const struct feeding lines[] = {
        {"set k v ex 100", "+OK", "set k v ex 100"},
        {"setex k 100 v", "+OK", "setex k 100 v"},
        {"PSETEX k 100 v", "+OK", "PSETEX k 100 v"},
        {"expire k 100", ":1", "expire k 100"},
        {"PEXPIREAT k 1700000100000", ":1", "PEXPIREAT k 1700000100000"},
        {"EXPIRE k 0", ":1", "DEL k"},
    };
    RIG_FEED(&rig, lines);
    expire_x_and_y();
    static const struct feeding expired[] = {{"SET x 2", "+OK", "DEL x; SET x 2"},
                                             {"EXISTS y", ":0", "DEL y"},
                                             {"DEL live", ":1", "DEL live"}};
    RIG_FEED(&rig, expired);
}
END_TEST

static Suite *propagation_suite(void) {
    Suite *suite = suite_create("command_propagation");
    void (*const setups[])(void) = {setup, setup_numbers};
    for (int i = 0; i < 2; i++) { /* numbers as text, and as numbers */
        TCase *tcase = tcase_create(i ? "numbers" : "texts");
        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_test(tcase, set_is_verbatim_without_a_deadline);
        tcase_add_test(tcase, set_with_a_deadline_becomes_pxat);
        tcase_add_test(tcase, getex_and_getdel);
        tcase_add_test(tcase, expire_becomes_pexpireat);
        tcase_add_test(tcase, the_rest_is_verbatim_or_nothing);
        tcase_add_test(tcase, select_precedes_what_needs_it);
        tcase_add_test(tcase, lengths_on_the_wire);
        tcase_add_loop_test(tcase, expired_keys_leave_before_the_command, 0,
                            sizeof on_expired / sizeof *on_expired);
        tcase_add_test(tcase, scan_and_randomkey_are_never_wrapped);
        tcase_add_test(tcase, only_an_expired_keys_del_is_marked_as_expiry);
        tcase_add_test(tcase, lazyfree_lazy_expire_sends_unlink);
        tcase_add_test(tcase, lazyfree_lazy_user_del_shows_in_getdel_alone);
        tcase_add_test(tcase, nothing_is_fed_while_nobody_listens);
        suite_add_tcase(suite, tcase);
    }
    TCase *old = tcase_create("redis-5.0");
    tcase_add_checked_fixture(old, setup_5_0, teardown);
    tcase_add_test(old, old_generation_is_verbatim);
    suite_add_tcase(suite, old);
    return suite;
}

int main(void) { return test_run(propagation_suite()); }
