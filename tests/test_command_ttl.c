/* EXPIRE and its kin, PERSIST, TTL and its kin; replies are those of redis-server 7.0.15. */
#include <stdio.h>
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
#define ARITY(name) "-ERR wrong number of arguments for '" name "' command"
#define BAD(name)   "-ERR invalid expire time in '" name "' command"
#define NX_ALONE    "-ERR NX and XX, GT or LT options at the same time are not compatible"
#define GT_OR_LT    "-ERR GT and LT options at the same time are not compatible"

START_TEST(expire_checks_in_order) {
    static const struct exchange lines[] = {
        {"SET k v", "+OK"},
        {"EXPIRE", ARITY("expire")},
        {"EXPIRE k", ARITY("expire")},
        {"PEXPIRE k", ARITY("pexpire")},
        {"EXPIREAT k", ARITY("expireat")},
        {"PEXPIREAT", ARITY("pexpireat")},
        {"EXPIRE k abc", NOT_INTEGER},
        {"EXPIRE nope abc", NOT_INTEGER},
        {"EXPIREAT k abc", NOT_INTEGER},
        {"PEXPIREAT k ~1", NOT_INTEGER},
        {"EXPIRE k 10 ZZ", "-ERR Unsupported option ZZ"},
        {"EXPIRE k abc ZZ", "-ERR Unsupported option ZZ"},
        {"EXPIRE nope 10 zz", "-ERR Unsupported option zz"},
        {"EXPIRE k 10 20", "-ERR Unsupported option 20"},
        {"EXPIRE k 10 -20", "-ERR Unsupported option -20"},
        {"EXPIRE k 10 ''", "-ERR Unsupported option "},
        {"EXPIRE k 10 NX XX", NX_ALONE},
        {"EXPIRE k 10 NX GT", NX_ALONE},
        {"EXPIRE k 10 LT NX", NX_ALONE},
        {"EXPIRE k 10 NX GT LT", NX_ALONE},
        {"EXPIRE k 10 GT LT", GT_OR_LT},
        {"EXPIRE k 10 XX GT LT", GT_OR_LT},
        {"EXPIRE k abc GT LT", GT_OR_LT},
        {"EXPIRE k 10 NX XX ZZ", "-ERR Unsupported option ZZ"},
        {"EXPIRE nope 9223372036854775807", BAD("expire")},
        {"TTL k", ":-1"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(expire_overflows) {
    static const struct exchange lines[] = {
        {"SET k v", "+OK"},
        {"EXPIRE k 9223372036854775807", BAD("expire")},
        {"EXPIRE k -9223372036854775808", BAD("expire")},
        {"EXPIRE k 9223372036854775", BAD("expire")},
        {"EXPIRE k 9223372036854776", BAD("expire")},
        {"PEXPIRE k 9223372036854775807", BAD("pexpire")},
        {"EXPIREAT k 9223372036854775807", BAD("expireat")},
        {"EXPIREAT k 9223372036854775", ":1"},
        {"EXPIRETIME k", ":9223372036854775"},
        {"PEXPIREAT k 9223372036854775807", ":1"},
        {"EXPIRETIME k", ":9223372036854776"},
        {"PEXPIRETIME k", ":9223372036854775807"},
        {"PTTL k", ":9223370336854775807"},
        {"EXPIRE k -9223372036854775", ":1"},
        {"EXISTS k", ":0"},
        {"SET k v", "+OK"},
        {"PEXPIRE k -9223372036854775808", ":1"},
        {"EXISTS k", ":0"},
        {"SET k v", "+OK"},
        {"PEXPIREAT k -9223372036854775808", ":1"},
        {"EXISTS k", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(expire_units_and_bases) {
    static const struct exchange lines[] = {
        {"EXPIRE k 10", ":0"},
        {"SET k v", "+OK"},
        {"EXPIRE k 10", ":1"},
        {"PEXPIRETIME k", ":1700000010000"},
        {"PEXPIRE k 10", ":1"},
        {"PEXPIRETIME k", ":1700000000010"},
        {"EXPIREAT k 1700000001", ":1"},
        {"PEXPIRETIME k", ":1700000001000"},
        {"PEXPIREAT k 1700000000001", ":1"},
        {"PEXPIRETIME k", ":1700000000001"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(a_past_deadline_deletes) {
    static const char *const lines[] = {"EXPIRE k 0",     "EXPIRE k -5",
                                        "PEXPIRE k 0",    "EXPIREAT k 1700000000",
                                        "EXPIREAT k -1",  "PEXPIREAT k 1700000000000",
                                        "EXPIRE k -1 LT", "EXPIRE k 0 NX"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct exchange talk[] = {{"SET k v", "+OK"}, {lines[i], ":1"}, {"DBSIZE", ":0"}};
        RIG_CONVERSE(&rig, talk);
    }
    ck_assert_uint_eq(engine_stats(rig.engine).expired_keys, 0); /* it is a deletion */
    static const struct exchange kept[] = {
        {"SET k v", "+OK"}, {"EXPIRE k 0 XX", ":0"}, {"EXPIRE k 0 GT", ":0"}, {"DBSIZE", ":1"}};
    RIG_CONVERSE(&rig, kept);
}
END_TEST

/* The truth table of the conditions: with no TTL, and with one of 100 s, does "EXPIRE k SECONDS
 * OPTIONS" take effect? */
static const struct condition_row {
    const char *options;
    bool without_ttl, at_50, at_100, at_200;
} conditions[] = {
    {"", true, true, true, true},         {"NX", true, false, false, false},
    {"XX", false, true, true, true},      {"GT", false, false, false, true},
    {"LT", true, true, false, false},     {"XX GT", false, false, false, true},
    {"xx lt", false, true, false, false}, {"NX NX", true, false, false, false},
    {"gT", false, false, false, true},
};

static void check_condition(const char *options, const char *with_ttl, int seconds, bool holds) {
    char line[64], ttl[16];
    snprintf(line, sizeof line, "EXPIRE k %d %s", seconds, options);
    snprintf(ttl, sizeof ttl, ":%d", holds ? seconds : with_ttl[0] ? 100 : -1);
    struct exchange talk[] = {
        {with_ttl[0] ? with_ttl : "SET k v", "+OK"}, {line, holds ? ":1" : ":0"}, {"TTL k", ttl}};
    RIG_CONVERSE(&rig, talk);
}

START_TEST(conditions_truth_table) {
    const struct condition_row *row = &conditions[_i];
    check_condition(row->options, "", 50, row->without_ttl);
    check_condition(row->options, "SET k v EX 100", 50, row->at_50);
    check_condition(row->options, "SET k v EX 100", 100, row->at_100);
    check_condition(row->options, "SET k v EX 100", 200, row->at_200);
}
END_TEST

START_TEST(persist_removes_the_ttl_once) {
    static const struct exchange lines[] = {
        {"PERSIST", ARITY("persist")},
        {"PERSIST a b", ARITY("persist")},
        {"PERSIST k", ":0"},
        {"SET k v", "+OK"},
        {"PERSIST k", ":0"},
        {"EXPIRE k 10", ":1"},
        {"PERSIST k", ":1"},
        {"PERSIST k", ":0"},
        {"TTL k", ":-1"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(ttl_of_what_has_none) {
    static const struct exchange lines[] = {
        {"TTL", ARITY("ttl")},
        {"TTL a b", ARITY("ttl")},
        {"PTTL", ARITY("pttl")},
        {"EXPIRETIME", ARITY("expiretime")},
        {"PEXPIRETIME a b", ARITY("pexpiretime")},
        {"TTL k", ":-2"},
        {"PTTL k", ":-2"},
        {"EXPIRETIME k", ":-2"},
        {"PEXPIRETIME k", ":-2"},
        {"SET k v", "+OK"},
        {"TTL k", ":-1"},
        {"PTTL k", ":-1"},
        {"EXPIRETIME k", ":-1"},
        {"PEXPIRETIME k", ":-1"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(ttl_rounds_to_the_nearest_second) {
    static const struct exchange lines[] = {
        {"SET k v PX 1500", "+OK"},
        {"TTL k", ":2"},
        {"PTTL k", ":1500"},
        {"SET k v PX 1499", "+OK"},
        {"TTL k", ":1"},
        {"SET k v PX 500", "+OK"},
        {"TTL k", ":1"},
        {"SET k v PX 499", "+OK"},
        {"TTL k", ":0"},
        {"PTTL k", ":499"},
        {"EXPIRETIME k", ":1700000000"},
        {"PEXPIREAT k 1700000000500", ":1"},
        {"EXPIRETIME k", ":1700000001"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

/* The lazy test takes the cached time of the command, EXPIRE's base and TTL's answer a fresh clock:
 * with a price of 1 us for everything, and a command that begins just before a millisecond ends,
 * they part. */
START_TEST(deadlines_count_from_a_fresh_clock) {
    rig_stop(&rig);
    rig_init(&rig, "redis-7.0");
    static struct price_table prices;
    prices = *price_table_find("zero");
    prices.ps[COST_CLOCK_READ] = PS_PER_US * 600; /* two readings pass a millisecond */
    rig.env.prices = &prices;
    rig_start(&rig);
    ck_assert_str_eq(rig_do(&rig, "SET k v PX 10"), "+OK"); /* 0.6 ms: cached; 1.2 ms: base */
    ck_assert_str_eq(rig_do(&rig, "PEXPIRETIME k"), ":1700000000011");
    ck_assert_str_eq(rig_do(&rig, "PTTL k"), ":10"); /* cached at 0.6 ms, answer at 1.2 ms */
    ck_assert_str_eq(rig_do(&rig, "PEXPIREAT k 1700000000001"), ":1"); /* now is 1.2 ms: past */
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
    ck_assert_str_eq(rig_do(&rig, "SET k v PXAT 1700000000000"), "+OK");
    ck_assert_str_eq(rig_do(&rig, "PTTL k"), ":0"); /* cached 0 ms is not later than 0 ms */
}
END_TEST

START_TEST(old_generation_has_no_conditions) {
    static const struct exchange lines[] = {
        {"SET k v", "+OK"},
        {"EXPIRE k 10 NX", ARITY("expire")},
        {"PEXPIREAT k 10 ZZ", ARITY("pexpireat")},
        {"EXPIRE k 10", ":1"},
        {"TTL k", ":10"},
        {"EXPIRETIME k", "-ERR unknown command 'EXPIRETIME', with args beginning with: 'k' "},
        {"EXPIRE k -1", ":1"},
        {"DBSIZE", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

static Suite *ttl_suite(void) {
    Suite *suite = suite_create("command_ttl");
    void (*const setups[])(void) = {setup, setup_numbers};
    for (int i = 0; i < 2; i++) { /* numbers as text, and as numbers */
        TCase *tcase = tcase_create(i ? "numbers" : "texts");
        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_test(tcase, expire_checks_in_order);
        tcase_add_test(tcase, expire_overflows);
        tcase_add_test(tcase, expire_units_and_bases);
        tcase_add_test(tcase, a_past_deadline_deletes);
        tcase_add_loop_test(tcase, conditions_truth_table, 0,
                            sizeof conditions / sizeof *conditions);
        tcase_add_test(tcase, persist_removes_the_ttl_once);
        tcase_add_test(tcase, ttl_of_what_has_none);
        tcase_add_test(tcase, ttl_rounds_to_the_nearest_second);
        tcase_add_test(tcase, deadlines_count_from_a_fresh_clock);
        suite_add_tcase(suite, tcase);
    }
    TCase *old = tcase_create("redis-5.0");
    tcase_add_checked_fixture(old, setup_5_0, teardown);
    tcase_add_test(old, old_generation_has_no_conditions);
    suite_add_tcase(suite, old);
    return suite;
}

int main(void) { return test_run(ttl_suite()); }
