#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static char message[512];
static const char scenario[] = "name: storm\nabout: \"caf\xc3\xa9\"\n";

static struct manifest sample(const char *variant) {
    struct manifest m;
    manifest_init(&m, "storm", "scenarios/storm.yaml", scenario, strlen(scenario), variant,
                  UINT64_MAX);
    manifest_add_server(&m, "master", "redis-7.0", "7.0.15", "debian", "default", NULL);
    manifest_add_server(&m, "near", "redis-5.0", "5.0.14", "bundled", "./box.json",
                        "00112233aabbccdd");
    manifest_add_output(&m, "trace.csv", "0123456789abcdef");
    manifest_add_output(&m, "summary.csv", "fedcba9876543210");
    m.events = 4512345;
    return m;
}

static bool parse(struct manifest *m, const char *json) {
    return manifest_parse(m, json, strlen(json), "run.json", message, sizeof(message));
}

START_TEST(what_is_written_is_read_back) {
    struct manifest wrote = sample("jitter-10s"), read;
    char *json = manifest_print(&wrote);
    ck_assert_msg(parse(&read, json), "%s", message);
    ck_assert_str_eq(read.version, wrote.version);
    ck_assert_str_eq(read.scenario_name, "storm");
    ck_assert_str_eq(read.scenario_path, "scenarios/storm.yaml");
    ck_assert_str_eq(read.scenario_text, scenario);
    ck_assert_str_eq(read.variant, "jitter-10s");
    ck_assert(read.seed == UINT64_MAX);
    ck_assert_uint_eq(read.events, 4512345);
    ck_assert_uint_eq(read.server_count, 2);
    ck_assert_str_eq(read.servers[1].engine, "redis-5.0");
    ck_assert_ptr_null(read.servers[0].costs_hash);
    ck_assert_str_eq(read.servers[1].costs_hash, "00112233aabbccdd");
    ck_assert_uint_eq(read.output_count, 2);
    ck_assert_str_eq(read.outputs[1].name, "summary.csv");
    ck_assert_str_eq(read.outputs[1].hash, "fedcba9876543210");
    char *again = manifest_print(&read);
    ck_assert_str_eq(again, json);
    free(json), free(again);
    manifest_release(&wrote), manifest_release(&read);
}
END_TEST

START_TEST(keys_stand_in_a_fixed_order) {
    static const char *const keys[] = {"\"lapse\"",   "\"scenario\"", "\"variant\"", "\"seed\"",
                                       "\"servers\"", "\"events\"",   "\"xxh64\": {"};
    struct manifest m = sample(NULL);
    char *json = manifest_print(&m);
    const char *at = json;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        at = strstr(at, keys[i]);
        ck_assert_msg(at != NULL, "%s in %s", keys[i], json);
    }
    ck_assert(strstr(json, "\"variant\": null") != NULL);
    ck_assert(json[strlen(json) - 1] == '\n');
    free(json);
    manifest_release(&m);
}
END_TEST

START_TEST(a_scenario_that_was_edited_is_found_out) {
    struct manifest m = sample(NULL), read;
    char *json = manifest_print(&m);
    strstr(json, "name: storm")[6] = 'S';
    ck_assert(!parse(&read, json));
    ck_assert_msg(strstr(message, "hash") != NULL, "%s", message);
    free(json);
    manifest_release(&m);
}
END_TEST

START_TEST(what_is_not_a_manifest_is_refused_with_its_place) {
    static const char *const wrong[] = {"",
                                        "{",
                                        "[]",
                                        "{}",
                                        "null",
                                        "{\"lapse\": 1}",
                                        "{\"lapse\": \"0.1.0\", \"scenario\": []}",
                                        "\xff\xfe"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct manifest read;
        ck_assert_msg(!parse(&read, wrong[i]), "%s", wrong[i]);
        ck_assert(strncmp(message, "run.json", 8) == 0);
    }
    struct manifest read;
    ck_assert(!manifest_read(&read, "missing.json", message, sizeof(message)));
    ck_assert_str_eq(message, "missing.json: No such file or directory");
}
END_TEST

/* A manifest with one byte changed is either refused or printed as a whole one: never a crash. */
START_TEST(a_damaged_manifest_never_crashes) {
    struct rng rng = rng_seed(test_seed());
    struct manifest m = sample("v");
    char *json = manifest_print(&m);
    size_t length = strlen(json);
    for (uint32_t round = 0; round < test_rounds(2000); round++) {
        size_t at = rng_below(&rng, length);
        char kept = json[at];
        json[at] = (char)rng_below(&rng, 256);
        struct manifest read;
        if (manifest_parse(&read, json, length, "run.json", message, sizeof(message)))
            manifest_release(&read);
        json[at] = kept;
    }
    free(json);
    manifest_release(&m);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("manifest");
    TCase *tests = tcase_create("manifest");
    tcase_add_test(tests, what_is_written_is_read_back);
    tcase_add_test(tests, keys_stand_in_a_fixed_order);
    tcase_add_test(tests, a_scenario_that_was_edited_is_found_out);
    tcase_add_test(tests, what_is_not_a_manifest_is_refused_with_its_place);
    tcase_add_test(tests, a_damaged_manifest_never_crashes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
