/* live: which servers are left alone, what is said then, and that nothing was sent to them but a
 * question. */
#include "live.h"

#include <stdio.h>
#include <string.h>

#include "fake_server.h"
#include "support.h"

#define FIELDS "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"

/* What INFO says, what of that lapse says, and which database was asked for. */
static const struct refused {
    const char *info, *says;
    int db;
} refused[] = {
    {FIELDS "loading:1\r\n", "is loading its data", -1},
    {FIELDS "async_loading:1\r\n", "is loading its data", -1},
    {FIELDS "role:slave\r\n", "is a replica", -1},
    {FIELDS "cluster_enabled:1\r\n", "is a cluster node", -1},
    {"redis_version:7.0.15\r\nredis_mode:cluster\r\n", "is a cluster node", -1},
    {"redis_version:7.0.15\r\nredis_mode:sentinel\r\n", "is a sentinel", -1},
    {"redis_version:9.9.9\r\n", "runs version 9.9.9; expected one of 7.0, 5.0", -1},
    {"redis_version:7.01.1\r\n", "runs version 7.01.1", -1},
    {"redis_version:7.0.0\r\nserver_name:valkey\r\n", "is valkey, which lapse does not know", -1},
    {"# Server\r\nuptime:5\r\n", "no Redis server", -1},
    {FIELDS "aof_enabled:1\r\n", "append-only file", -1},
    {FIELDS "rdb_bgsave_in_progress:1\r\n", "is saving", -1},
    {FIELDS "connected_slaves:2\r\n", "has replicas", -1},
    {FIELDS "maxmemory:100\r\n", "has maxmemory set", -1},
    {FIELDS "# Keyspace\r\ndb3:keys=5,expires=0\r\n", "has data; say with --db", -1},
    {FIELDS "# Keyspace\r\ndb3:keys=5,expires=0\r\n", "has data in database 3", 3},
};

static struct live live;

static bool open_fake(const struct fake_server *server, int db) {
    char address[32];
    snprintf(address, sizeof(address), "127.0.0.1:%d", server->port);
    struct live_order order = {.server = address, .db = db};
    bool opened = live_open(&live, &order);
    live_close(&live);
    return opened;
}

START_TEST(servers_that_are_left_alone) {
    const struct refused *row = &refused[_i];
    char reply[1024];
    struct fake_server server;
    snprintf(reply, sizeof(reply), "$%zu\r\n%s\r\n", strlen(row->info), row->info);
    fake_server_start(&server, reply);
    ck_assert(!open_fake(&server, row->db));
    ck_assert_msg(strstr(live.message, row->says) != NULL, "'%s' wants '%s'", live.message,
                  row->says);
    ck_assert_int_eq(fake_server_stop(&server), 0);
}
END_TEST

START_TEST(servers_that_answer_with_an_error) {
    static const char *const rows[][2] = {
        {"-NOAUTH Authentication required.\r\n", "needs a password"},
        {"-NOPERM this user has no permissions\r\n", "needs a password"},
        {"-DENIED Redis is running in protected mode\r\n", "DENIED Redis is running in protected"},
        {"-LOADING Redis is loading the dataset in memory\r\n", "LOADING Redis is loading"},
        {"+OK\r\n", "no Redis server"},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "Protocol error"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fake_server server;
        fake_server_start(&server, rows[i][0]);
        ck_assert(!open_fake(&server, -1));
        ck_assert_msg(strstr(live.message, rows[i][1]) != NULL, "'%s' wants '%s'", live.message,
                      rows[i][1]);
        ck_assert_int_eq(fake_server_stop(&server), 0);
    }
}
END_TEST

START_TEST(addresses_that_lead_nowhere) {
    static const char *const rows[][2] = {
        {"127.0.0.1:1", "127.0.0.1:1: cannot connect: Connection refused"},
        {"127.0.0.1:0", "'127.0.0.1:0' is no HOST:PORT"},
        {"127.0.0.1:70000", "is no HOST:PORT"},
        {"127.0.0.1:", "is no HOST:PORT"},
        {":6379", "is no HOST:PORT"},
        {"127.0.0.1:63x", "is no HOST:PORT"},
        {"no.such.host.invalid:6379", "cannot connect"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct live_order order = {.server = rows[i][0], .db = -1};
        ck_assert(!live_open(&live, &order));
        live_close(&live);
        ck_assert_msg(strstr(live.message, rows[i][1]) != NULL, "'%s' wants '%s'", live.message,
                      rows[i][1]);
    }
}
END_TEST

START_TEST(programs_that_are_no_server) {
    static const char *const rows[][2] = {{"/nowhere/redis-server", "cannot be started: No such"},
                                          {"/bin/true", "ended at once"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct live_order order = {.start = rows[i][0], .db = -1};
        ck_assert(!live_open(&live, &order));
        live_close(&live);
        ck_assert_msg(strstr(live.message, rows[i][1]) != NULL, "'%s' wants '%s'", live.message,
                      rows[i][1]);
    }
}
END_TEST

START_TEST(fields_are_found_at_the_start_of_a_line) {
    static const char info[] = "# A\r\nmaxmemory_human:1G\r\nmaxmemory:42\r\nstale:39.317\r\n";
    char value[16];
    ck_assert_int_eq(live_field_number(info, "maxmemory", -1), 42);
    ck_assert_int_eq(live_field_number(info, "memory", -1), -1);
    ck_assert_int_eq(live_field_milli(info, "stale", -1), 39317);
    ck_assert_int_eq(live_field_milli(info, "maxmemory", -1), 42000);
    ck_assert(live_field(info, "maxmemory_human", value, sizeof(value)));
    ck_assert_str_eq(value, "1G");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("live");
    TCase *tc = tcase_create("live");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, servers_that_are_left_alone, 0, sizeof(refused) / sizeof(*refused));
    tcase_add_test(tc, servers_that_answer_with_an_error);
    tcase_add_test(tc, addresses_that_lead_nowhere);
    tcase_add_test(tc, programs_that_are_no_server);
    tcase_add_test(tc, fields_are_found_at_the_start_of_a_line);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
