/* SCAN, RANDOMKEY, DBSIZE; replies are those of redis-server 7.0.15. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

static void setup_replica(void) {
    rig_init(&rig, "redis-7.0");
    rig.config.is_replica = true;
    rig_start(&rig);
}

static void teardown(void) { rig_stop(&rig); }

#define NOT_INTEGER "-ERR value is not an integer or out of range"
#define SYNTAX      "-ERR syntax error"
#define CURSOR      "-ERR invalid cursor"
#define NOTHING     "[$0, []]"

START_TEST(scan_reads_its_cursor_as_strtoul_does) {
    static const struct exchange lines[] = {
        {"SCAN", "-ERR wrong number of arguments for 'scan' command"},
        {"SCAN abc", CURSOR},
        {"SCAN ' 1'", CURSOR},
        {"SCAN '1 '", CURSOR},
        {"SCAN 1x", CURSOR},
        {"SCAN 0x1", CURSOR},
        {"SCAN -", CURSOR},
        {"SCAN +", CURSOR},
        {"SCAN ~1", CURSOR},
        {"SCAN 18446744073709551616", CURSOR},
        {"SCAN 99999999999999999999", CURSOR},
        {"SCAN -18446744073709551616", CURSOR},
        {"SCAN abc COUNT abc", CURSOR},
        {"SCAN 0", NOTHING},
        {"SCAN ''", NOTHING},
        {"SCAN 01", NOTHING},
        {"SCAN +1", NOTHING},
        {"SCAN -1", NOTHING},
        {"SCAN -0", NOTHING},
        {"SCAN 18446744073709551615", NOTHING},
        {"SCAN -18446744073709551615", NOTHING},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(scan_checks_its_options) {
    static const struct exchange lines[] = {
        {"SET k v", "+OK"},
        {"SCAN 0 COUNT 0", SYNTAX},
        {"SCAN 0 COUNT -1", SYNTAX},
        {"SCAN 0 COUNT abc", NOT_INTEGER},
        {"SCAN 0 COUNT 9223372036854775808", NOT_INTEGER},
        {"SCAN 0 COUNT", SYNTAX},
        {"SCAN 0 FOO", SYNTAX},
        {"SCAN 0 FOO 1", SYNTAX},
        {"SCAN 0 TYPE", SYNTAX},
        {"SCAN 0 MATCH", SYNTAX},
        {"SCAN 0 MATCH * COUNT abc", NOT_INTEGER},
        {"SCAN 0 MATCH a*", "-ERR lapse does not model SCAN MATCH"},
        {"SCAN 0 MATCH *", "[$0, [$k]]"},
        {"SCAN 0 COUNT 5 COUNT 6", "[$0, [$k]]"},
        {"SCAN 0 count 5 type STRING match *", "[$0, [$k]]"},
        {"SCAN 0 TYPE hash", NOTHING},
        {"SCAN 0 TYPE foo", NOTHING},
        {"SCAN 0 TYPE none", NOTHING},
        {"SCAN 0 COUNT 9223372036854775807", "[$0, [$k]]"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

static void fill(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char line[32];
        snprintf(line, sizeof line, "SET key%" PRIu32 " 1", i);
        ck_assert_str_eq(rig_do(&rig, line), "+OK");
    }
}

/* The cursor at the head of a reply "[$CURSOR, [...]]". */
static uint64_t cursor_of(const char *reply) { return strtoull(reply + 2, NULL, 10); }

/* Scans until the cursor is 0 again; marks each key by its id. Returns the calls it took. */
static uint32_t scan_all(uint32_t count, bool seen[RIG_KEYS_MAX]) {
    uint64_t cursor = 0;
    uint32_t calls = 0;
    do {
        char line[64];
        snprintf(line, sizeof line, "SCAN %" PRIu64 " COUNT %" PRIu32, cursor, count);
        const char *reply = rig_do(&rig, line);
        cursor = cursor_of(reply);
        for (const char *key = strchr(reply, ','); (key = strchr(key + 1, '$'));) {
            char name[32] = {0};
            memcpy(name, key + 1, strcspn(key + 1, ",]"));
            seen[rig_key(&rig, name)] = true;
        }
        calls++;
    } while (cursor != 0);
    return calls;
}

START_TEST(scan_meets_every_key_whatever_the_count) {
    static const uint32_t counts[] = {1, 7, 10, 100, 5000};
    fill(1000); /* the table is still rehashing */
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        static bool seen[RIG_KEYS_MAX];
        memset(seen, 0, sizeof seen);
        uint32_t calls = scan_all(counts[c], seen);
        for (uint32_t id = 1; id <= 1000; id++) ck_assert(seen[id]);
        ck_assert_uint_le(calls, 1000 / counts[c] + 1);
    }
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1000");
}
END_TEST

/* The server's own answer: of a table of 1024 buckets with one key, SCAN 0 COUNT 1 walks 11, and
 * the cursor after 11 buckets is 11 in reversed bits. */
START_TEST(scan_gives_up_after_ten_empty_buckets_and_one) {
    fill(1000);
    while (engine_stats(rig.engine).rehashing) rig_do(&rig, "EXISTS key0");
    for (uint32_t i = 0; i < 1000; i++) {
        char line[32];
        snprintf(line, sizeof line, "DEL key%" PRIu32, i);
        rig_do(&rig, line);
    }
    ck_assert_str_eq(rig_do(&rig, "SCAN 0 COUNT 1"), NOTHING);
    ck_assert_str_eq(rig_do(&rig, "SET one 1"), "+OK");
    ck_assert_uint_eq(engine_db_stats(rig.engine, 0).main_size[0], 1024);
    const char *reply = rig_do(&rig, "SCAN 0 COUNT 1");
    ck_assert(strcmp(reply, "[$832, []]") == 0 || strstr(reply, "$one"));
    reply = rig_do(&rig, "SCAN 832 COUNT 200");
    ck_assert(strcmp(reply, "[$0, [$one]]") == 0 || strcmp(reply, "[$0, []]") == 0);
}
END_TEST

START_TEST(scan_expires_what_it_returns) {
    static const struct exchange lines[] = {
        {"SET live 1", "+OK"}, {"SET dead 1 PX 1", "+OK"}, {"SET gone 1 PX 1", "+OK"}};
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 3);
    ck_assert_str_eq(rig_do(&rig, "SCAN 0"), "[$0, [$live]]");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    ck_assert_uint_eq(rig.expired_lazily, 2);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_misses, 0);
}
END_TEST

/* The type filter looks keys up: it expires and counts. */
START_TEST(scan_by_type_is_a_lookup) {
    static const struct exchange lines[] = {{"SET live 1", "+OK"}, {"SET dead 1 PX 1", "+OK"}};
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 3);
    ck_assert_str_eq(rig_do(&rig, "SCAN 0 TYPE string"), "[$0, [$live]]");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_hits, 1);
    ck_assert_uint_eq(engine_stats(rig.engine).keyspace_misses, 1);
}
END_TEST

/* Seen on the server: the filter deletes the key, which is then neither there nor expired. */
START_TEST(scan_type_none_returns_the_key_it_expired) {
    static const struct exchange lines[] = {{"SET live 1", "+OK"}, {"SET dead 1 PX 1", "+OK"}};
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 3);
    ck_assert_str_eq(rig_do(&rig, "SCAN 0 TYPE none"), "[$0, [$dead]]");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
}
END_TEST

START_TEST(scan_on_a_replica_hides) {
    rig_receive(&rig, "SET live 1");
    rig_receive(&rig, "SET dead 1 PXAT 1");
    ck_assert_str_eq(rig_do(&rig, "SCAN 0"), "[$0, [$live]]");
    ck_assert_str_eq(rig_do(&rig, "SCAN 0 TYPE string"), "[$0, [$live]]");
    ck_assert_str_eq(rig_do(&rig, "SCAN 0 TYPE none"), "[$0, []]");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":2");
}
END_TEST

START_TEST(randomkey_never_names_an_expired_key) {
    static const struct exchange lines[] = {
        {"RANDOMKEY x", "-ERR wrong number of arguments for 'randomkey' command"},
        {"RANDOMKEY", "(nil)"},
        {"SET live 1", "+OK"},
        {"SET a 1 PX 1", "+OK"},
        {"SET b 1 PX 1", "+OK"},
    };
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 3);
    for (int i = 0; i < 50; i++) ck_assert_str_eq(rig_do(&rig, "RANDOMKEY"), "$live");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
}
END_TEST

START_TEST(dbsize_counts_the_selected_database) {
    static const struct exchange lines[] = {
        {"DBSIZE x", "-ERR wrong number of arguments for 'dbsize' command"},
        {"SET a 1", "+OK"},
        {"SET b 1 PX 1", "+OK"},
        {"DBSIZE", ":2"},
        {"SELECT 1", "+OK"},
        {"DBSIZE", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

static Suite *scan_suite(void) {
    Suite *suite = suite_create("command_scan");
    void (*const setups[])(void) = {setup, setup_numbers};
    for (int i = 0; i < 2; i++) { /* numbers as text, and as numbers */
        TCase *tcase = tcase_create(i ? "numbers" : "texts");
        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_test(tcase, scan_reads_its_cursor_as_strtoul_does);
        tcase_add_test(tcase, scan_checks_its_options);
        tcase_add_test(tcase, scan_meets_every_key_whatever_the_count);
        tcase_add_test(tcase, scan_gives_up_after_ten_empty_buckets_and_one);
        tcase_add_test(tcase, scan_expires_what_it_returns);
        tcase_add_test(tcase, scan_by_type_is_a_lookup);
        tcase_add_test(tcase, scan_type_none_returns_the_key_it_expired);
        tcase_add_test(tcase, randomkey_never_names_an_expired_key);
        tcase_add_test(tcase, dbsize_counts_the_selected_database);
        suite_add_tcase(suite, tcase);
    }
    TCase *replica = tcase_create("replica");
    tcase_add_checked_fixture(replica, setup_replica, teardown);
    tcase_add_test(replica, scan_on_a_replica_hides);
    suite_add_tcase(suite, replica);
    return suite;
}

int main(void) { return test_run(scan_suite()); }
