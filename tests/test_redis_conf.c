/* redis_conf: directives that the engine has are read as the server reads them, the rest listed. */
#include "redis_conf.h"

#include <string.h>

#include "support.h"

static struct engine_config config;
static struct redis_conf_ignored ignored;
static struct scenario_error error;

static bool parse(const char *text) {
    config = engine_config_default();
    redis_conf_release(&ignored);
    return redis_conf_parse(text, strlen(text), "a.conf", &config, &ignored, &error);
}

START_TEST(known_directives_are_read_and_others_listed_once) {
    ck_assert_msg(parse("# comment\n"
                        "\n"
                        "  HZ 50\r\n"
                        "save 3600 1 300 100\n"
                        "appendonly no\n"
                        "Save \"\"\n"
                        "repl-backlog-size 2mb\n"
                        "dynamic-hz \"no\"\n"
                        "active-expire-effort 4\n"
                        "hz 60"),
                  "%s", error.message);
    ck_assert_int_eq(config.hz, 60); /* the later line wins */
    ck_assert_int_eq(config.dynamic_hz, 0);
    ck_assert_int_eq(config.active_expire_effort, 4);
    ck_assert_int_eq(config.repl_backlog_size, 2 << 20);
    ck_assert_uint_eq(ignored.count, 2);
    ck_assert_str_eq(ignored.names[0], "save");
    ck_assert_str_eq(ignored.names[1], "appendonly");
    redis_conf_release(&ignored);
}
END_TEST

START_TEST(mistakes_have_a_place) {
    static const char *const rows[][2] = {
        {"hz 0\n", "a.conf:1:1: hz: '0' is out of range; expected a whole number"},
        {"\n\n  hz 501\n", "a.conf:3:3: hz: '501' is out of range"},
        {"hz\n", "a.conf:1:1: hz has 0 values; expected one, a whole number"},
        {"hz 10 20\n", "a.conf:1:1: hz has 2 values"},
        {"hz \"10\n", "a.conf:1:1: unbalanced quotes"},
        {"activerehashing y\n", "a.conf:1:1: activerehashing is 'y'; expected one of yes, no"},
        {"databases 17\n", "1 to 16"},
        {"repl-backlog-size 1tb\n", "unknown unit 'tb'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(!parse(rows[i][0]), "%s", rows[i][0]);
        ck_assert_msg(strstr(error.message, rows[i][1]) != NULL, "%s\n  wants %s", error.message,
                      rows[i][1]);
    }
    redis_conf_release(&ignored);
}
END_TEST

START_TEST(every_directive_has_a_range_with_its_default_inside) {
    for (size_t i = 0; redis_conf_at(i); i++) {
        const struct directive *d = redis_conf_at(i);
        ck_assert(d->low <= d->initial && d->initial <= d->high);
        ck_assert(d->help && d->help[0]);
        ck_assert_ptr_eq(redis_conf_find(d->name, strlen(d->name)), d);
    }
}
END_TEST

START_TEST(binary_junk_never_crashes) {
    struct rng rng = rng_seed(test_seed());
    static char bytes[4096];
    for (uint32_t round = 0; round < test_rounds(200); round++) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)rng_next(&rng);
        config = engine_config_default();
        redis_conf_release(&ignored);
        redis_conf_parse(bytes, sizeof bytes, "a.conf", &config, &ignored, &error);
    }
    redis_conf_release(&ignored);
}
END_TEST

START_TEST(limits_of_a_replica_s_output_are_read_and_other_classes_listed) {
    ck_assert(parse("hz 10"));
    ck_assert_uint_eq(config.obuf_hard_bytes, 256 << 20); /* the server's default */
    ck_assert_uint_eq(config.obuf_soft_bytes, 64 << 20);
    ck_assert_int_eq(config.obuf_soft_s, 60);
    ck_assert_msg(parse("client-output-buffer-limit normal 0 0 0\n"
                        "Client-Output-Buffer-Limit SLAVE 512mb 128mb 90\n"
                        "client-output-buffer-limit pubsub 32mb 8mb 60\n"),
                  "%s", error.message);
    ck_assert_uint_eq(config.obuf_hard_bytes, 512 << 20);
    ck_assert_uint_eq(config.obuf_soft_bytes, 128 << 20);
    ck_assert_int_eq(config.obuf_soft_s, 90);
    ck_assert_uint_eq(ignored.count, 2);
    ck_assert_str_eq(ignored.names[0], "client-output-buffer-limit normal");
    ck_assert_str_eq(ignored.names[1], "client-output-buffer-limit pubsub");
    /* several classes in a line, as 7.0 takes them; 0 is no limit */
    ck_assert_msg(parse("client-output-buffer-limit normal 0 0 0 replica 0 1000 0\n"), "%s",
                  error.message);
    ck_assert_uint_eq(config.obuf_hard_bytes, 0);
    ck_assert_uint_eq(config.obuf_soft_bytes, 1000);
    ck_assert_int_eq(config.obuf_soft_s, 0);
    redis_conf_release(&ignored);
}
END_TEST

START_TEST(a_limit_that_is_not_whole_is_refused) {
    ck_assert(!parse("\nclient-output-buffer-limit replica 1mb 1mb\n"));
    ck_assert_str_eq(
        error.message,
        "a.conf:2:1: client-output-buffer-limit: 3 values; expected a class, two sizes "
        "and seconds such as replica 256mb 64mb 60");
    ck_assert(!parse("client-output-buffer-limit master 1mb 1mb 60\n"));
    ck_assert_ptr_nonnull(strstr(error.message, "unknown class 'master'; expected one of replica"));
    ck_assert(!parse("client-output-buffer-limit\n"));
    redis_conf_release(&ignored);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("redis_conf");
    TCase *tcase = tcase_create("redis_conf");
    tcase_add_test(tcase, known_directives_are_read_and_others_listed_once);
    tcase_add_test(tcase, mistakes_have_a_place);
    tcase_add_test(tcase, every_directive_has_a_range_with_its_default_inside);
    tcase_add_test(tcase, binary_junk_never_crashes);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    tcase_add_test(tcase, limits_of_a_replica_s_output_are_read_and_other_classes_listed);
    tcase_add_test(tcase, a_limit_that_is_not_whole_is_refused);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
