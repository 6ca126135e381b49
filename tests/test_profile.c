/* profile: what calibrate writes is what a scenario reads; a file that is wrong is named with its
 * place, what was expected, and the nearest word. */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario.h"
#include "support.h"

static char message[1024];
static struct profile profile;

static bool parse(const char *json) {
    return profile_parse(&profile, "./box.json", json, strlen(json), "box.json", message,
                         sizeof(message));
}

static char *sample(void) {
    struct price_table prices = *price_table_find("default");
    struct profile_origin origin = {.date = "2026-01-02T03:04:05Z", .cpu = "a CPU"};
    for (int i = 0; i < COST_COUNT; i++) origin.spread_per_mille[i] = 42;
    origin.spread_per_mille[COST_CYCLE] = PROFILE_SPREAD_UNKNOWN;
    return profile_print("box", &prices, &origin);
}

/* The same with prices for many keys, each twice that for few. */
static char *sample_of_two(void) {
    struct price_table prices = *price_table_find("default");
    struct profile_origin origin = {.cpu = "a CPU",
                                    .many_spread_per_mille = (uint32_t[COST_COUNT]){0}};
    for (int i = 0; i < COST_COUNT; i++) prices.many_ps[i] = 2 * prices.ps[i];
    prices.few_exponent = 17, prices.many_exponent = 20;
    return profile_print("box", &prices, &origin);
}

/* A sample with `was` replaced by `now`; frees it. */
static char *edited(char *text, const char *was, const char *now) {
    char *at = strstr(text, was);
    ck_assert_msg(at != NULL, "%s", was);
    size_t size = strlen(text) + strlen(now) + 1;
    char *made = malloc(size);
    ck_assert_ptr_nonnull(made);
    snprintf(made, size, "%.*s%s%s", (int)(at - text), text, now, at + strlen(was));
    free(text);
    return made;
}

START_TEST(what_is_written_is_read_back) {
    char *json = sample();
    ck_assert_msg(parse(json), "%s", message);
    const struct price_table *table = price_table_find("default");
    ck_assert(memcmp(profile.prices.ps, table->ps, sizeof(table->ps)) == 0);
    ck_assert_str_eq(profile.prices.name, "./box.json");
    ck_assert_uint_eq(strlen(profile.hash), 16);
    ck_assert(!profile.prices.turn_time_vanishes);
    ck_assert_ptr_nonnull(strstr(json, "\"turn\": \"4.2\""));
    ck_assert_ptr_nonnull(strstr(json, "\"cycle\": \"inferred\""));
    free(json);
    profile_release(&profile);
}
END_TEST

/* What is replaced in a good file, by what, and what is said then. */
static const char *const mistakes[][3] = {
    {"\"lookup\": 350000", "\"lockup\": 350000", "box.json:17:5: unknown operation 'lockup'"},
    {"\"lookup\": 350000", "\"lockup\": 350000", "did you mean 'lookup'?"},
    {"    \"lookup\": 350000,\n", "", "box.json:11:3: no price for 'lookup' (finding a key"},
    {"350000", "-1", "box.json:17:5: lookup is -1; expected 0 to 1000000000000 (1 s)"},
    {"350000", "1000000000001", "box.json:17:5: lookup is 1000000000001; expected 0 to"},
    {"350000", "0.35", "box.json:17:5: lookup is a broken number; expected a whole number"},
    {"350000", "\"350000\"", "box.json:17:5: lookup is a text; expected a whole number"},
    {"350000", "99999999999999999999", "box.json:17:"},
    {"350000,", "350000", "box.json:18:12: '}' expected near '\"insert\"'"},
    {"\"lookup\"", "\"turn\"", "box.json:17:10: duplicate object key"},
    {"\"prices_ps\"", "\"price_ps\"", "unknown key 'price_ps'; expected one of profile, measured"},
    {"\"prices_ps\": {", "\"prices_ps\": 4, \"spread_percent\": {", "box.json:"},
};

static const char *const mistakes_of_two[][3] = {
    {"\"few_keys\": 131072,", "", "box.json:1:1: few_keys is missing; expected a number of keys"},
    {"131072", "0", "few_keys is 0; expected 1 to 4294967294"},
    {"131072", "\"x\"", "few_keys is a text; expected a number of keys"},
    {"1048576", "131072", "many_keys is not twice few_keys or more"},
    {"\"many_prices_ps\"", "\"profile_\"", "unknown key 'profile_'"},
    {"\"lookup\": 700000", "\"lookup\": 0.5", "lookup is a broken number; expected a whole number"},
    {"    \"lookup\": 700000,\n", "", "no price for 'lookup' (finding a key"},
};

/* What is wrong with the prices for many keys is told there, not where those for few stand. */
START_TEST(mistakes_in_the_second_map_have_a_place_in_it) {
    char *json = edited(sample_of_two(), "\"lookup\": 700000", "\"lookup\": -1"), place[64];
    int line = 1;
    for (const char *at = json; at < strstr(json, "\"lookup\": -1"); at++) line += *at == '\n';
    snprintf(place, sizeof place, "box.json:%d:5: lookup is -1;", line);
    ck_assert(!parse(json));
    ck_assert_msg(strstr(message, place) != NULL, "%s\n  wants %s", message, place);
    free(json);
    profile_release(&profile);
    for (size_t i = 0; i < sizeof mistakes_of_two / sizeof *mistakes_of_two; i++) {
        json = edited(sample_of_two(), mistakes_of_two[i][0], mistakes_of_two[i][1]);
        ck_assert_msg(!parse(json), "%s", mistakes_of_two[i][2]);
        ck_assert_msg(strstr(message, mistakes_of_two[i][2]) != NULL, "%s\n  wants %s", message,
                      mistakes_of_two[i][2]);
        free(json);
        profile_release(&profile);
    }
}
END_TEST

START_TEST(two_prices_are_read_back) {
    char *json = sample_of_two();
    ck_assert_msg(parse(json), "%s", message);
    ck_assert_uint_eq(profile.prices.few_exponent, 17);
    ck_assert_uint_eq(profile.prices.many_exponent, 20);
    for (int i = 0; i < COST_COUNT; i++)
        ck_assert_uint_eq(profile.prices.many_ps[i], 2 * profile.prices.ps[i]);
    free(json);
    profile_release(&profile);
}
END_TEST

START_TEST(mistakes_have_a_place) {
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        char *json = edited(sample(), mistakes[i][0], mistakes[i][1]);
        ck_assert_msg(!parse(json), "%s", json);
        ck_assert_msg(strstr(message, mistakes[i][2]) != NULL, "%s\n  wants %s", message,
                      mistakes[i][2]);
        free(json);
        profile_release(&profile);
    }
}
END_TEST

START_TEST(what_is_no_profile_is_refused) {
    static const char *const rows[][2] = {
        {"", "box.json:1:"},
        {"[]", "box.json:1:1: the file is a list; expected a map with prices_ps"},
        {"4", "box.json:1:1: the file is a number; expected a map"},
        {"{}", "box.json:1:1: prices_ps is missing; expected a map of operations"},
        {"{\"prices_ps\": []}", "box.json:1:2: prices_ps is a list; expected a map"},
        {"{\"prices_ps\": {}}", "box.json:1:2: no price for 'turn'"},
        {"\xff\xfe", "box.json:1:"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        ck_assert_msg(!parse(rows[i][0]), "%s", rows[i][0]);
        ck_assert_msg(strstr(message, rows[i][1]) != NULL, "%s\n  wants %s", message, rows[i][1]);
        profile_release(&profile);
    }
}
END_TEST

static const char yaml[] = "name: x\ncosts: ./box.json\n"
                           "servers: {a: {}, b: {costs: zero}, c: {costs: ./box.json}}\n";

START_TEST(a_scenario_names_a_file_beside_it) {
    char folder[] = "/tmp/lapse-profile-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/box.json", folder);
    char *json = edited(sample(), "350000", "123");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(json, file);
    fclose(file);
    struct scenario_error error;
    struct scenario *s = scenario_parse(yaml, strlen(yaml), "x.yaml", folder, NULL, &error);
    ck_assert_msg(s != NULL, "%s", error.message);
    ck_assert_uint_eq(s->servers[0].prices->ps[COST_LOOKUP], 123);
    ck_assert_str_eq(s->servers[1].prices->name, "zero");
    ck_assert_ptr_eq(s->servers[0].prices, s->servers[2].prices);
    ck_assert_uint_eq(s->profile_count, 1);
    scenario_destroy(s);
    remove(path), rmdir(folder), free(json);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("profile");
    TCase *tc = tcase_create("profile");
    tcase_add_test(tc, what_is_written_is_read_back);
    tcase_add_test(tc, mistakes_have_a_place);
    tcase_add_test(tc, mistakes_in_the_second_map_have_a_place_in_it);
    tcase_add_test(tc, two_prices_are_read_back);
    tcase_add_test(tc, what_is_no_profile_is_refused);
    tcase_add_test(tc, a_scenario_names_a_file_beside_it);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
