/* PING, SELECT, FLUSHDB, FLUSHALL, CONFIG, DEBUG, INFO, unknown commands, and what a command
 * costs and counts; replies are those of redis-server 7.0.15. */
#include <string.h>

#include "command.h"
#include "engine_state.h"
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

static void setup_replica(void) {
    rig_init(&rig, "redis-7.0");
    rig.config.is_replica = true;
    rig_start(&rig);
}

static void teardown(void) { rig_stop(&rig); }

#define NOT_INTEGER   "-ERR value is not an integer or out of range"
#define SYNTAX        "-ERR syntax error"
#define ARITY(name)   "-ERR wrong number of arguments for '" name "' command"
#define FAILED(name)  "-ERR CONFIG SET failed (possibly related to argument '" name "') - "
#define UNKNOWN(name) "-ERR Unknown option or number of arguments for CONFIG SET - '" name "'"
#define RANGE(range)  "argument must be between " range " inclusive"
#define NO_INTEGER    "argument couldn't be parsed into an integer"
#define NO_BOOL       "argument must be 'yes' or 'no'"
#define NO_MEMORY     "argument must be a memory value"
#define IMMUTABLE     "can't set immutable config"
#define DUPLICATE     "duplicate parameter"
#define BACKLOG_RANGE FAILED("repl-backlog-size") RANGE("1 and 9223372036854775807")
#define DEBUG_BAD(sub)                                                                             \
    "-ERR unknown subcommand or wrong number of arguments for '" sub "'. Try DEBUG HELP."

START_TEST(ping_and_unknown_commands) {
    static const struct exchange lines[] = {
        {"PING", "+PONG"},
        {"ping hello", "$hello"},
        {"PING ~3", "$xxx"},
        {"PING a b", ARITY("ping")},
        {"FOO", "-ERR unknown command 'FOO', with args beginning with: "},
        {"foo 'a b' c", "-ERR unknown command 'foo', with args beginning with: 'a b' 'c' "},
        /* of the replication stream alone */
        {"MULTI", "-ERR unknown command 'MULTI', with args beginning with: "},
        {"EXEC", "-ERR unknown command 'EXEC', with args beginning with: "},
        {"REPLCONF GETACK *",
         "-ERR unknown command 'REPLCONF', with args beginning with: 'GETACK' '*' "},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(select_checks_its_index) {
    static const struct exchange lines[] = {
        {"SELECT", ARITY("select")},
        {"SELECT 0 1", ARITY("select")},
        {"SELECT 99", "-ERR DB index is out of range"},
        {"SELECT 16", "-ERR DB index is out of range"},
        {"SELECT -1", "-ERR DB index is out of range"},
        {"SELECT abc", NOT_INTEGER},
        {"SELECT 01", NOT_INTEGER},
        {"SELECT 99999999999",
         "-ERR value is out of range, value must between -2147483648 and 2147483647"},
        {"SELECT 15", "+OK"},
        {"SET k v", "+OK"},
        {"SELECT 0", "+OK"},
        {"GET k", "(nil)"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(clients_select_apart) {
    uint32_t other = engine_connect(rig.engine);
    ck_assert_str_eq(rig_do(&rig, "SELECT 3"), "+OK");
    ck_assert_str_eq(rig_do(&rig, "SET k three"), "+OK");
    ck_assert_str_eq(rig_do_as(&rig, other, "GET k"), "(nil)");
    ck_assert_str_eq(rig_do_as(&rig, other, "SELECT 3"), "+OK");
    ck_assert_str_eq(rig_do_as(&rig, other, "GET k"), "$three");
}
END_TEST

START_TEST(flushing) {
    static const struct exchange lines[] = {
        {"FLUSHALL foo", SYNTAX}, {"FLUSHALL SYNC ASYNC", SYNTAX},
        {"FLUSHDB foo", SYNTAX},  {"FLUSHDB sync x", SYNTAX},
        {"SET a 1 EX 10", "+OK"}, {"SELECT 1", "+OK"},
        {"SET b 1", "+OK"},       {"FLUSHDB async", "+OK"},
        {"DBSIZE", ":0"},         {"SET b 1", "+OK"},
        {"SELECT 0", "+OK"},      {"DBSIZE", ":1"},
        {"FLUSHALL sync", "+OK"}, {"DBSIZE", ":0"},
        {"FLUSHALL", "+OK"},      {"FLUSHALL ASYNC", "+OK"},
        {"SELECT 1", "+OK"},      {"DBSIZE", ":0"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(config_subcommands) {
    static const struct exchange lines[] = {
        {"CONFIG", ARITY("config")},
        {"CONFIG FOO", "-ERR unknown subcommand 'FOO'. Try CONFIG HELP."},
        {"CONFIG GET", ARITY("config|get")},
        {"config set", ARITY("config|set")},
        {"CONFIG SET hz", ARITY("config|set")},
        {"CONFIG SET hz 10 dynamic-hz", SYNTAX},
        {"CONFIG SET databases 1 foo", SYNTAX},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(config_get) {
    static const struct exchange lines[] = {
        {"CONFIG GET hz", "[$hz, $10]"},
        {"Config Get HZ", "[$HZ, $10]"},
        {"CONFIG GET foo", "[]"},
        {"CONFIG GET hz*", "[$hz, $10]"},
        {"CONFIG GET h? HZ", "[$hz, $10]"},
        {"CONFIG GET HZ hz", "[$HZ, $10]"},
        {"CONFIG GET h?z *hzz hz? h", "[]"},
        {"CONFIG GET databases", "[$databases, $16]"},
        {"CONFIG GET dynamic-hz foo hz", "[$hz, $10, $dynamic-hz, $yes]"},
        {"CONFIG GET L*EXP*E", "[$lazyfree-lazy-expire, $no]"},
        {"CONFIG GET *",
         "[$hz, $10, $dynamic-hz, $yes, $active-expire-effort, $1, $lazyfree-lazy-expire, $no, "
         "$lazyfree-lazy-user-del, $no, $lazyfree-lazy-server-del, $no, $activerehashing, $yes, "
         "$databases, $16, $repl-backlog-size, $1048576, $repl-ping-replica-period, $10, "
         "$repl-timeout, $60, $repl-backlog-ttl, $3600, $repl-diskless-sync-delay, $5, "
         "$repl-diskless-sync-max-replicas, $0, $replica-serve-stale-data, $yes, "
         "$replica-read-only, $yes, $replica-lazy-flush, $no, $min-replicas-to-write, $0, "
         "$min-replicas-max-lag, $10, $client-output-buffer-limit, "
         "$normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60]"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

#define LIMITS  "client-output-buffer-limit"
#define CLASSES "buffer limit configuration."

/* 7.0 config.c setConfigOutputBufferLimitOption: whole groups of four, any class, units in both
 * sizes, all or nothing. */
START_TEST(config_of_output_limits) {
    static const struct exchange lines[] = {
        {"CONFIG SET " LIMITS " 'replica 2mb 1mb 10'", "+OK"},
        {"CONFIG GET " LIMITS,
         "[$" LIMITS ", $normal 0 0 0 slave 2097152 1048576 10 pubsub 33554432 8388608 60]"},
        {"CONFIG SET " LIMITS " 'slave 1 0 0 NORMAL 5 4 3'", "+OK"},
        {"CONFIG GET client*",
         "[$" LIMITS ", $normal 5 4 3 slave 1 0 0 pubsub 33554432 8388608 60]"},
        {"CONFIG SET " LIMITS " 'replica 1 2'",
         FAILED(LIMITS) "Wrong number of arguments in " CLASSES},
        {"CONFIG SET " LIMITS " ''", FAILED(LIMITS) "Wrong number of arguments in " CLASSES},
        {"CONFIG SET " LIMITS " 'master 1 2 3'",
         FAILED(LIMITS) "Invalid client class specified in " CLASSES},
        {"CONFIG SET " LIMITS " 'replica 7 7 7 pubsub x 2 3'",
         FAILED(LIMITS) "Error in hard, soft or soft_seconds setting in " CLASSES},
        {"CONFIG SET " LIMITS " 'pubsub 1 2 -3'",
         FAILED(LIMITS) "Error in hard, soft or soft_seconds setting in " CLASSES},
        {"CONFIG GET " LIMITS,
         "[$" LIMITS ", $normal 5 4 3 slave 1 0 0 pubsub 33554432 8388608 60]"},
    };
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_config(rig.engine)->obuf_hard_bytes, 1);
}
END_TEST

START_TEST(config_set_of_numbers) {
    static const struct exchange lines[] = {
        {"CONFIG SET hz 1000", "+OK"},
        {"CONFIG GET hz", "[$hz, $500]"},
        {"CONFIG SET hz 0", "+OK"},
        {"CONFIG GET hz", "[$hz, $1]"},
        {"CONFIG SET hz -5", FAILED("hz") RANGE("0 and 2147483647")},
        {"CONFIG SET hz 3000000000", FAILED("hz") RANGE("0 and 2147483647")},
        {"CONFIG SET HZ abc", FAILED("hz") NO_INTEGER},
        {"CONFIG SET hz ''", FAILED("hz") NO_INTEGER},
        {"CONFIG SET hz 010", FAILED("hz") NO_INTEGER},
        {"CONFIG SET hz 99999999999999999999", FAILED("hz") NO_INTEGER},
        {"CONFIG SET active-expire-effort 0", FAILED("active-expire-effort") RANGE("1 and 10")},
        {"CONFIG SET active-expire-effort 11", FAILED("active-expire-effort") RANGE("1 and 10")},
        {"CONFIG SET active-expire-effort x", FAILED("active-expire-effort") NO_INTEGER},
        {"CONFIG SET repl-ping-replica-period 0",
         FAILED("repl-ping-replica-period") RANGE("1 and 2147483647")},
        {"CONFIG SET repl-ping-replica-period 2147483648",
         FAILED("repl-ping-replica-period") RANGE("1 and 2147483647")},
        {"CONFIG SET repl-timeout 0", FAILED("repl-timeout") RANGE("1 and 2147483647")},
        {"CONFIG SET repl-backlog-ttl -1",
         FAILED("repl-backlog-ttl") RANGE("0 and 9223372036854775807")},
        {"CONFIG SET repl-ping-replica-period 20", "+OK"},
        {"CONFIG GET repl-ping-replica-period", "[$repl-ping-replica-period, $20]"},
        {"CONFIG SET databases 5", FAILED("databases") IMMUTABLE},
        {"CONFIG SET DATABASES abc", FAILED("DATABASES") IMMUTABLE},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(config_set_of_switches) {
    static const struct exchange lines[] = {
        {"CONFIG SET dynamic-hz maybe", FAILED("dynamic-hz") NO_BOOL},
        {"CONFIG SET lazyfree-lazy-expire 1", FAILED("lazyfree-lazy-expire") NO_BOOL},
        {"CONFIG SET activerehashing ''", FAILED("activerehashing") NO_BOOL},
        {"CONFIG SET lazyfree-lazy-expire YES activerehashing No", "+OK"},
        {"CONFIG GET lazyfree-lazy-expire activerehashing",
         "[$lazyfree-lazy-expire, $yes, $activerehashing, $no]"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(config_set_of_memory) {
    static const struct exchange lines[] = {
        {"CONFIG SET repl-backlog-size 0", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size ''", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size kb", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size 9223372036854775808", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size 18446744073709551616", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size 18446744073709551615k", BACKLOG_RANGE},
        {"CONFIG SET repl-backlog-size 1xb", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size abc", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size -5", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size 1.5mb", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size 10%", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size 10*", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG SET repl-backlog-size ' 10'", FAILED("repl-backlog-size") NO_MEMORY},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $1048576]"},
        {"CONFIG SET repl-backlog-size 12b", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $16384]"},
        {"CONFIG SET repl-backlog-size 17k", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $17000]"},
        {"CONFIG SET repl-backlog-size 17KB", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $17408]"},
        {"CONFIG SET repl-backlog-size 3m", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $3000000]"},
        {"CONFIG SET repl-backlog-size 1gb", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $1073741824]"},
        {"CONFIG SET repl-backlog-size 0000016385", "+OK"},
        {"CONFIG GET repl-backlog-size", "[$repl-backlog-size, $16385]"},
        {"CONFIG SET repl-backlog-size 20000", "+OK"},
    };
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).backlog_size_bytes, 20000);
}
END_TEST

START_TEST(config_set_is_all_or_nothing) {
    static const struct exchange lines[] = {
        {"CONFIG SET foo bar", UNKNOWN("foo")},
        {"CONFIG SET Foo bar", UNKNOWN("Foo")},
        {"CONFIG SET hz 20 foo bar", UNKNOWN("foo")},
        {"CONFIG SET foo bar hz abc", UNKNOWN("foo")},
        {"CONFIG SET hz abc foo bar", UNKNOWN("foo")},
        {"CONFIG SET hz 10 hz 20", FAILED("hz") DUPLICATE},
        {"CONFIG SET hz 10 HZ 10", FAILED("HZ") DUPLICATE},
        {"CONFIG SET databases 5 databases 6", FAILED("databases") IMMUTABLE},
        {"CONFIG SET databases 5 foo bar", FAILED("databases") IMMUTABLE},
        {"CONFIG SET foo bar databases 5", UNKNOWN("foo")},
        {"CONFIG SET hz 10 hz 20 databases 5", FAILED("hz") DUPLICATE},
        {"CONFIG SET hz abc databases 5", FAILED("databases") IMMUTABLE},
        {"CONFIG SET active-expire-effort 5 hz abc", FAILED("hz") NO_INTEGER},
        {"CONFIG SET hz abc active-expire-effort 99", FAILED("hz") NO_INTEGER},
        {"CONFIG GET hz active-expire-effort", "[$hz, $10, $active-expire-effort, $1]"},
        {"CONFIG SET active-expire-effort 5 hz 20", "+OK"},
        {"CONFIG GET hz active-expire-effort", "[$hz, $20, $active-expire-effort, $5]"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

START_TEST(hz_is_in_effect_at_once) {
    ck_assert_str_eq(rig_do(&rig, "CONFIG SET hz 77"), "+OK");
    ck_assert_uint_eq(engine_stats(rig.engine).hz, 77);
    ck_assert_int_eq(engine_config(rig.engine)->hz, 77);
}
END_TEST

START_TEST(old_generation_has_no_effort) {
    ck_assert_str_eq(rig_do(&rig, "CONFIG GET active*"), "[$activerehashing, $yes]");
    ck_assert_str_eq(rig_do(&rig, "CONFIG SET active-expire-effort 2"),
                     UNKNOWN("active-expire-effort"));
}
END_TEST

START_TEST(debug_subcommands) {
    static const struct exchange lines[] = {
        {"DEBUG", ARITY("debug")},
        {"DEBUG FOO", DEBUG_BAD("FOO")},
        {"DEBUG foo bar", DEBUG_BAD("foo")},
        {"DEBUG SET-ACTIVE-EXPIRE", DEBUG_BAD("SET-ACTIVE-EXPIRE")},
        {"DEBUG SET-ACTIVE-EXPIRE 1 2", DEBUG_BAD("SET-ACTIVE-EXPIRE")},
        {"DEBUG HTSTATS", DEBUG_BAD("HTSTATS")},
        {"DEBUG HTSTATS 15 full", DEBUG_BAD("HTSTATS")},
        {"DEBUG HTSTATS abc", NOT_INTEGER},
        {"DEBUG HTSTATS 99", "-ERR Out of range database"},
        {"DEBUG HTSTATS -1", "-ERR Out of range database"},
        {"debug htstats 15", "(htstats 15)"},
        {"INFO", "(info all)"},
        {"INFO keyspace", "(info keyspace)"},
        {"INFO foo bar", "(info all)"},
    };
    RIG_CONVERSE(&rig, lines);
}
END_TEST

/* One cron with an expired key there; did the active cycle take it? */
static bool cron_expires(const char *setting) {
    static const struct exchange lines[] = {{"FLUSHALL", "+OK"}, {"SET k v PX 1", "+OK"}};
    ck_assert_str_eq(rig_do(&rig, setting), "+OK");
    RIG_CONVERSE(&rig, lines);
    rig_advance(&rig, 1000);
    engine_wake(rig.engine, rig.now);
    engine_cron(rig.engine);
    engine_sleep(rig.engine);
    return engine_db_stats(rig.engine, 0).keys == 0;
}

START_TEST(debug_switches_active_expiry) {
    ck_assert(!cron_expires("DEBUG SET-ACTIVE-EXPIRE 0"));
    ck_assert(cron_expires("debug set-active-expire 1"));
    ck_assert(!cron_expires("DEBUG SET-ACTIVE-EXPIRE abc"));
    ck_assert(cron_expires("DEBUG SET-ACTIVE-EXPIRE 7"));
    ck_assert(!cron_expires("DEBUG SET-ACTIVE-EXPIRE -0x"));
    ck_assert(cron_expires("DEBUG SET-ACTIVE-EXPIRE ' 01'"));
}
END_TEST

START_TEST(refused_commands_are_not_counted) {
    static const struct exchange lines[] = {
        {"FOO", NULL}, {"GET", NULL}, {"GET k", NULL}, {"SET k v foo", NULL}, {"PING", NULL}};
    RIG_CONVERSE(&rig, lines);
    ck_assert_uint_eq(engine_stats(rig.engine).commands_processed, 3);
}
END_TEST

/* What one command costs, with every operation at 1 ns: beside the dict's and the turn's own, which
 * the same command in another form pays too. */
static ns_t cost_of(const char *line) {
    struct arg argv[RIG_WORDS_MAX];
    struct request request = rig_request(&rig, line, argv);
    rig.reply[0] = '\0';
    engine_wake(rig.engine, rig.now);
    engine_request(rig.engine, rig.client, &request);
    return engine_sleep(rig.engine);
}

START_TEST(charges) {
    rig_stop(&rig);
    rig_init(&rig, "redis-7.0");
    static struct price_table prices;
    prices = *price_table_find("zero");
    prices.ps[COST_COMMAND] = 1000 * PS_PER_NS;
    prices.ps[COST_COMMAND_INFO] = 100000 * PS_PER_NS;
    prices.ps[COST_VALUE_BYTE] = 1 * PS_PER_NS;
    prices.ps[COST_DELETE] = 1000000 * PS_PER_NS;
    rig.env.prices = &prices;
    rig_start(&rig);
    ck_assert_int_eq(cost_of("PING"), 1000);
    ck_assert_int_eq(cost_of("FOO"), 1000);
    ck_assert_int_eq(cost_of("INFO"), 101000);
    ck_assert_int_eq(cost_of("SET k ~500"), 1500);
    ck_assert_int_eq(cost_of("SET k ~700"), 1700);
    ck_assert_int_eq(cost_of("SET k ~100 NX"), 1000);
    ck_assert_int_eq(cost_of("SET k ~600 GET"), 2300);
    ck_assert_int_eq(cost_of("GET k"), 1600);
    ck_assert_int_eq(cost_of("GET nope"), 1000);
    ck_assert_int_eq(cost_of("GETEX k EX 10"), 1600);
    ck_assert_int_eq(cost_of("FLUSHALL ASYNC"), 1000);
    ck_assert_int_eq(cost_of("SET k ~0"), 1000);
    ck_assert_int_eq(cost_of("FLUSHALL"), 1001000);
}
END_TEST

START_TEST(every_command_is_found_by_its_name) {
    size_t count = 0;
    for (const struct command *c; (c = command_at(count)); count++) {
        ck_assert_ptr_eq(command_find(c->name, strlen(c->name)), c);
        ck_assert(c->run != NULL);
    }
    ck_assert_uint_eq(count, 38);
    ck_assert_ptr_nonnull(command_find("pExPiReAt", 9));
    ck_assert_ptr_null(command_find("get ", 4));
    ck_assert_ptr_null(command_find("ge", 2));
    ck_assert_ptr_null(command_find("", 0));
}
END_TEST

/* --- what only the stream says --- */

START_TEST(getack_is_answered_with_what_was_applied_before) {
    rig_receive(&rig, "SELECT 0");          /* 23 bytes */
    rig_receive(&rig, "SET k v");           /* 27 */
    rig_receive(&rig, "REPLCONF GETACK *"); /* 37 */
    ck_assert_int_eq(rig.acknowledged, 50);
    rig_receive(&rig, "ping");
    rig_receive(&rig, "replconf getack *");
    ck_assert_int_eq(rig.acknowledged, 50 + 37 + 14);
    rig.acknowledged = -1;
    rig_receive(&rig, "REPLCONF ACK 5");
    rig_receive(&rig, "REPLCONF");
    ck_assert_int_eq(rig.acknowledged, -1);
}
END_TEST

START_TEST(a_transaction_of_the_stream_is_applied_as_one) {
    rig_receive(&rig, "SELECT 2");
    rig_receive(&rig, "MULTI");
    rig_receive(&rig, "SET k v");
    ck_assert_int_eq(engine_stats(rig.engine).master_repl_offset, 23);
    rig_receive(&rig, "SET k w");
    rig_receive(&rig, "EXEC");
    ck_assert_int_eq(engine_stats(rig.engine).master_repl_offset, 23 + 15 + 27 + 27 + 14);
    ck_assert_str_eq(rig_do(&rig, "SELECT 2"), "+OK");
    ck_assert_str_eq(rig_do(&rig, "GET k"), "$w");
}
END_TEST

/* The time is that of the EXEC, by which all of it runs (7.0 multi.c execCommand). */
START_TEST(a_transaction_of_the_stream_has_one_cached_time) {
    const struct db_host *host = &rig.engine->host;
    rig_receive(&rig, "MULTI");
    rig_receive(&rig, "SET k v");
    rig_advance(&rig, 5);
    ck_assert_str_eq(rig_do(&rig, "GET k"), "(nil)"); /* held back until EXEC */
    rig_advance(&rig, 5);
    rig_receive(&rig, "EXEC");
    ck_assert_int_eq(host->command_now_ms, RIG_WALL_MS + 10);
    ck_assert_str_eq(rig_do(&rig, "GET k"), "$v");
    rig_advance(&rig, 5);
    rig_receive(&rig, "SET k v");
    ck_assert_int_eq(host->command_now_ms, RIG_WALL_MS + 15);
}
END_TEST

START_TEST(between_commands_there_is_none) {
    const struct db_host *host = &rig.engine->host;
    rig_receive(&rig, "SET k v");
    ck_assert(!host->in_command && host->client == DB_CLIENT_NORMAL);
    rig_do(&rig, "GET k");
    ck_assert(!host->in_command && !host->command_is_readonly);
}
END_TEST

START_TEST(the_stream_is_applied_without_checks_of_role_or_time) {
    rig_receive(&rig, "SET k v PXAT 1");
    rig_receive(&rig, "PEXPIREAT k 5"); /* past as well: stored, for the DEL is the master's */
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":1");
    rig_receive(&rig, "PEXPIREAT k 1700000005000 GT");
    ck_assert_str_eq(rig_do(&rig, "TTL k"), ":5");
    rig_receive(&rig, "FLUSHALL");
    ck_assert_str_eq(rig_do(&rig, "DBSIZE"), ":0");
}
END_TEST

static Suite *server_suite(void) {
    Suite *suite = suite_create("command_server");
    void (*const setups[])(void) = {setup, setup_numbers};
    for (int i = 0; i < 2; i++) { /* numbers as text, and as numbers */
        TCase *tcase = tcase_create(i ? "numbers" : "texts");
        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_test(tcase, ping_and_unknown_commands);
        tcase_add_test(tcase, select_checks_its_index);
        tcase_add_test(tcase, clients_select_apart);
        tcase_add_test(tcase, flushing);
        tcase_add_test(tcase, config_subcommands);
        tcase_add_test(tcase, config_get);
        tcase_add_test(tcase, config_of_output_limits);
        tcase_add_test(tcase, config_set_of_numbers);
        tcase_add_test(tcase, config_set_of_switches);
        tcase_add_test(tcase, config_set_of_memory);
        tcase_add_test(tcase, config_set_is_all_or_nothing);
        tcase_add_test(tcase, hz_is_in_effect_at_once);
        tcase_add_test(tcase, debug_subcommands);
        tcase_add_test(tcase, debug_switches_active_expiry);
        tcase_add_test(tcase, refused_commands_are_not_counted);
        tcase_add_test(tcase, charges);
        suite_add_tcase(suite, tcase);
    }
    TCase *table = tcase_create("table");
    tcase_add_test(table, every_command_is_found_by_its_name);
    suite_add_tcase(suite, table);
    TCase *old = tcase_create("redis-5.0");
    tcase_add_checked_fixture(old, setup_5_0, teardown);
    tcase_add_test(old, old_generation_has_no_effort);
    suite_add_tcase(suite, old);
    TCase *replica = tcase_create("replica");
    tcase_add_checked_fixture(replica, setup_replica, teardown);
    tcase_add_test(replica, getack_is_answered_with_what_was_applied_before);
    tcase_add_test(replica, a_transaction_of_the_stream_is_applied_as_one);
    tcase_add_test(replica, a_transaction_of_the_stream_has_one_cached_time);
    tcase_add_test(replica, between_commands_there_is_none);
    tcase_add_test(replica, the_stream_is_applied_without_checks_of_role_or_time);
    suite_add_tcase(suite, replica);
    return suite;
}

int main(void) { return test_run(server_suite()); }
