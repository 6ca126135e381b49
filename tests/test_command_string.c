/* SET, SETEX, PSETEX, GET, GETEX, GETDEL, INCR: every reply here was taken from redis-server 7.0.15
 * by the same line. */
#include <string.h>

#include "requests.h"

static struct rig rig;

static void setup(void) {
    rig_init(&rig, "redis-7.0");
    rig_start(&rig);
}

static void setup_numbers(void) {
    setup();
    rig.numbers = true;
}

static void setup_5_0(void) {
    rig_init(&rig, "redis-5.0");
    rig_start(&rig);
}

static void teardown(void) { rig_stop(&rig); }

#define NOT_INTEGER "-ERR value is not an integer or out of range"
#define SYNTAX      "-ERR syntax error"
#define ARITY(name) "-ERR wrong number of arguments for '" name "' command"
#define BAD(name)   "-ERR invalid expire time in '" name "' command"

START_TEST(set_checks_syntax_first) {
    static const struct exchange lines[] = {
        {"SET", ARITY("set")},
        {"SET k", ARITY("set")},
        {"SET k v", "+OK"},
        {"SET k v EX", SYNTAX},
        {"SET k v EX 10 PX 10", SYNTAX},
        {"SET k v KEEPTTL EX 10", SYNTAX},
        {"SET k v EX 10 KEEPTTL", SYNTAX},
        {"SET k v NX XX", SYNTAX},
        {"SET k v EX 10 XX NX", SYNTAX},
        {"SET k v foo", SYNTAX},
        {"SET k v EX abc NX XX", SYNTAX},
        {"SET k v EX abc foo", SYNTAX},
        {"SET k v EX EX 10", SYNTAX},
        {"SET k v PERSIST", SYNTAX},
        {"SET k v ~3", SYNTAX},
        {"SET k v 10", SYNTAX},
        {"SET k v EX NX", NOT_INTEGER},
        {"SET k v EX 10 EX 20", "+OK"},
        {"TTL k", ":20"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(set_checks_the_number) {
    static const struct exchange lines[] = {
        {"SET k v EX abc", NOT_INTEGER},
        {"SET k v EX 0", BAD("set")},
        {"SET k v EX -1", BAD("set")},
        {"SET k v EX 9223372036854775808", NOT_INTEGER},
        {"SET k v EX 9223372036854775807", BAD("set")},
        {"SET k v EX 9223372036854775", BAD("set")},
        {"SET k v PX 9223372036854775807", BAD("set")},
        {"SET k v EXAT 9223372036854775807", BAD("set")},
        {"SET k v EXAT 9223372036854776", BAD("set")},
        {"SET k v PXAT 0", BAD("set")},
        {"SET k v NX EX 0", BAD("set")},
        {"SET k v ex 0 get", BAD("set")},
        {"SET k v NX GET EX abc", NOT_INTEGER},
        {"set k v px 01", NOT_INTEGER},
        {"set k v px +1", NOT_INTEGER},
        {"set k v px ' 1'", NOT_INTEGER},
        {"set k v px ~2", NOT_INTEGER},
        {"EXISTS k", ":0"},
        {"SET k v PXAT 9223372036854775807", "+OK"},
        {"SET k v EXAT 9223372036854775", "+OK"},
        {"PEXPIRETIME k", ":9223372036854775000"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(set_conditions_and_get) {
    static const struct exchange lines[] = {
        {"SET k v XX", "(nil)"},
        {"SET k v XX GET", "(nil)"},
        {"EXISTS k", ":0"},
        {"SET k a NX", "+OK"},
        {"SET k b NX", "(nil)"},
        {"SET k b NX NX", "(nil)"},
        {"GET k", "$a"},
        {"SET k c NX GET", "$a"},
        {"GET k", "$a"},
        {"SET k c XX", "+OK"},
        {"SET k d GET GET", "$c"},
        {"SET k e xx Get", "$d"},
        {"SET new v ex 10 get", "(nil)"},
        {"TTL new", ":10"},
        {"GET k", "$e"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(set_and_the_ttl_that_was_there) {
    static const struct exchange lines[] = {
        {"SET k v EX 100", "+OK"}, {"SET k v KEEPTTL", "+OK"},
        {"TTL k", ":100"},         {"SET k v", "+OK"},
        {"TTL k", ":-1"},          {"SET k v KEEPTTL KEEPTTL", "+OK"},
        {"TTL k", ":-1"},          {"SET k v PX 1500", "+OK"},
        {"PTTL k", ":1500"},       {"SET k v EXAT 1700000100", "+OK"},
        {"PTTL k", ":100000"},     {"SET k v PXAT 1700000000001", "+OK"},
        {"PTTL k", ":1"},          {"SET k v XX KEEPTTL GET", "$v"},
        {"PTTL k", ":1"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(set_stores_a_past_deadline) {
    static const struct exchange lines[] = {
        {"SET k v PXAT 1", "+OK"}, {"DBSIZE", ":1"}, {"GET k", "(nil)"}, {"DBSIZE", ":0"}};
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(rig.expired_lazily, 1);
    ck_assert_int_eq(rig.last_late_ms, RIG_WALL_MS - 1);
}
END_TEST

START_TEST(setex_and_psetex) {
    static const struct exchange lines[] = {
        {"SETEX k", ARITY("setex")},
        {"SETEX k 10", ARITY("setex")},
        {"SETEX k 10 v x", ARITY("setex")},
        {"SETEX k abc v", NOT_INTEGER},
        {"SETEX k 0 v", BAD("setex")},
        {"SETEX k -5 v", BAD("setex")},
        {"SETEX k 9223372036854775807 v", BAD("setex")},
        {"PSETEX k abc v", NOT_INTEGER},
        {"PSETEX k 0 v", BAD("psetex")},
        {"PSETEX k 9223372036854775807 v", BAD("psetex")},
        {"EXISTS k", ":0"},
        {"SETEX k 10 v", "+OK"},
        {"PTTL k", ":10000"},
        {"PSETEX k 10 w", "+OK"},
        {"PTTL k", ":10"},
        {"GET k", "$w"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(get_replies_what_was_set) {
    static const struct exchange lines[] = {
        {"GET", ARITY("get")}, {"GET a b", ARITY("get")},
        {"GET k", "(nil)"},    {"SET k ''", "+OK"},
        {"GET k", "$"},        {"SET k 0123", "+OK"},
        {"GET k", "$0123"},    {"SET k -42", "+OK"},
        {"GET k", "$-42"},     {"SET k ~5", "+OK"},
        {"GET k", "$xxxxx"},   {"SET k 'a b'", "+OK"},
        {"GET k", "$a b"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(getex_looks_the_key_up_before_it_reads_the_number) {
    static const struct exchange lines[] = {
        {"GETEX", ARITY("getex")},
        {"GETEX nope EX abc", "(nil)"},
        {"GETEX nope EX 0", "(nil)"},
        {"GETEX nope FOO", SYNTAX},
        {"SET k v", "+OK"},
        {"GETEX k", "$v"},
        {"GETEX k EX", SYNTAX},
        {"GETEX k EX abc", NOT_INTEGER},
        {"GETEX k EX 0", BAD("getex")},
        {"GETEX k EX 10 PX 10", SYNTAX},
        {"GETEX k PERSIST EX 10", SYNTAX},
        {"GETEX k EX 10 PERSIST", SYNTAX},
        {"GETEX k KEEPTTL", SYNTAX},
        {"GETEX k NX", SYNTAX},
        {"GETEX k GET", SYNTAX},
        {"GETEX k PX 9223372036854775807", BAD("getex")},
        {"GETEX k EX 9223372036854775807", BAD("getex")},
        {"GETEX k PXAT -1", BAD("getex")},
        {"TTL k", ":-1"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(getex_changes_the_ttl) {
    static const struct exchange lines[] = {
        {"SET k v", "+OK"},       {"GETEX k EX 10", "$v"},
        {"PTTL k", ":10000"},     {"GETEX k", "$v"},
        {"PTTL k", ":10000"},     {"GETEX k PX 5", "$v"},
        {"PTTL k", ":5"},         {"GETEX k PERSIST PERSIST", "$v"},
        {"PTTL k", ":-1"},        {"GETEX k EXAT 1700000001", "$v"},
        {"PTTL k", ":1000"},      {"GETEX k PXAT 1700000000001", "$v"},
        {"PTTL k", ":1"},         {"GETEX k PXAT 1700000000000", "$v"}, /* now is past already */
        {"DBSIZE", ":0"},         {"SET k v", "+OK"},
        {"GETEX k EXAT 1", "$v"}, {"DBSIZE", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).expired_keys, 0);
}
END_TEST

START_TEST(getdel_takes_the_key) {
    static const struct exchange lines[] = {
        {"GETDEL", ARITY("getdel")}, {"GETDEL a b", ARITY("getdel")},
        {"GETDEL k", "(nil)"},       {"SET k v", "+OK"},
        {"GETDEL k", "$v"},          {"GETDEL k", "(nil)"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(incr_counts) {
    static const struct exchange lines[] = {
        {"INCR", ARITY("incr")},
        {"INCR a b", ARITY("incr")},
        {"INCR fresh", ":1"},
        {"INCR fresh", ":2"},
        {"SET n 9223372036854775807", "+OK"},
        {"INCR n", "-ERR increment or decrement would overflow"},
        {"GET n", "$9223372036854775807"},
        {"SET n -9223372036854775808", "+OK"},
        {"INCR n", ":-9223372036854775807"},
        {"INCR n", ":-9223372036854775806"},
        {"SET n 9998", "+OK"},
        {"INCR n", ":9999"},
        {"INCR n", ":10000"},
        {"INCR n", ":10001"},
        {"SET n -2", "+OK"},
        {"INCR n", ":-1"},
        {"INCR n", ":0"},
        {"SET n 5 EX 10", "+OK"},
        {"INCR n", ":6"},
        {"TTL n", ":10"},
        {"GET n", "$6"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(incr_of_what_is_no_integer) {
    static const char *const values[] = {"abc", "' 1'", "01", "1.5", "''", "~3", "-0"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char line[32] = "SET n ";
        ck_assert_str_eq(rig_do(&rig, strcat(line, values[i])), "+OK");
        ck_assert_str_eq(rig_do(&rig, "INCR n"), NOT_INTEGER);
    }
}
END_TEST

/* The step counts of dict operations are db's and dict's to test; here is what the commands book.
 */
START_TEST(hits_and_misses_count_once) {
    static const struct exchange lines[] = {
        {"SET k v", NULL},     {"GET k", NULL},        {"GET nope", NULL},
        {"SET k w GET", NULL}, {"GETEX k EX 5", NULL}, {"GETDEL k", NULL},
        {"GETDEL k", NULL},    {"SET k v NX", NULL},   {"INCR n", NULL},
    };
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_hits, 4);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_misses, 2);
}
END_TEST

START_TEST(old_generation_knows_fewer_options) {
    static const struct exchange lines[] = {
        {"SET k v KEEPTTL", SYNTAX},
        {"SET k v GET", SYNTAX},
        {"SET k v EXAT 9999999999", SYNTAX},
        {"SET k v PXAT 9999999999999", SYNTAX},
        {"SET k v EX 0", "-ERR invalid expire time in set"},
        {"SETEX k 0 v", "-ERR invalid expire time in setex"},
        {"SET k v EX 10 NX", "+OK"},
        {"TTL k", ":10"},
        {"GETEX k", "-ERR unknown command 'GETEX', with args beginning with: 'k' "},
        {"GETDEL k", "-ERR unknown command 'GETDEL', with args beginning with: 'k' "},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

static Suite *string_suite(void) {
    Suite *suite = suite_create("command_string");
    void (*const setups[])(void) = {setup, setup_numbers};
    for (int i = 0; i < 2; i++) { /* numbers as text, and as numbers */
        TCase *tcase = tcase_create(i ? "numbers" : "texts");
        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_test(tcase, set_checks_syntax_first);
        tcase_add_test(tcase, set_checks_the_number);
        tcase_add_test(tcase, set_conditions_and_get);
        tcase_add_test(tcase, set_and_the_ttl_that_was_there);
        tcase_add_test(tcase, set_stores_a_past_deadline);
        tcase_add_test(tcase, setex_and_psetex);
        tcase_add_test(tcase, get_replies_what_was_set);
        tcase_add_test(tcase, getex_looks_the_key_up_before_it_reads_the_number);
        tcase_add_test(tcase, getex_changes_the_ttl);
        tcase_add_test(tcase, getdel_takes_the_key);
        tcase_add_test(tcase, incr_counts);
        tcase_add_test(tcase, incr_of_what_is_no_integer);
        tcase_add_test(tcase, hits_and_misses_count_once);
        suite_add_tcase(suite, tcase);
    }
    TCase *old = tcase_create("redis-5.0");
    tcase_add_checked_fixture(old, setup_5_0, teardown);
    tcase_add_test(old, old_generation_knows_fewer_options);
    suite_add_tcase(suite, old);
    return suite;
}

int main(void) { return test_run(string_suite()); }
