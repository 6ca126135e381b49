/* population: items come in order, the same each time, with the deadlines that were asked for. */
#include "population.h"

#include <string.h>

#include "bounds.h"
#include "support.h"

#define START_US INT64_C(1767225600000000)
#define START_MS (START_US / 1000)

static const uint8_t seed[SIPHASH_SEED_BYTES] = "0123456789abcde";
static struct names *names;
static struct scenario *scenario;

static void set_up(void) { names = names_create(seed); }

static void tear_down(void) {
    names_destroy(names);
    scenario_destroy(scenario);
    scenario = NULL;
}

static struct population make(const char *rest) {
    char text[1024];
    struct scenario_error error;
    snprintf(text, sizeof text, "name: x\nservers: {a: {}}\npopulations:\n  p: %s\n", rest);
    scenario_destroy(scenario);
    scenario =
        scenario_parse(text, strlen(text), "x.yaml", LAPSE_SOURCE_DIR "/scenarios", NULL, &error);
    ck_assert_msg(scenario != NULL, "%s", error.message);
    struct population p;
    struct rng root = rng_seed(1);
    ck_assert_msg(population_init(&p, &scenario->populations[0], names, &root, START_US, &error),
                  "%s", error.message);
    return p;
}

START_TEST(preloaded_keys_have_ttl_and_deadline) {
    struct population p = make("{keys: 'k{n}', count: 100, db: 2, value: 7B, ttl: 60s}");
    for (uint32_t i = 0; i < p.count; i++) {
        struct population_item item = population_next(&p, i, START_MS, START_US);
        ck_assert_uint_eq(item.key, p.first_key + i);
        ck_assert_uint_eq(item.db, 2);
        ck_assert_uint_eq(object_length(&item.value), 7);
        ck_assert_int_eq(item.ttl_ms, 60000);
        ck_assert_int_eq(item.deadline_ms, START_MS + 60000);
    }
    population_release(&p);
}
END_TEST

START_TEST(written_keys_have_a_relative_ttl) {
    struct population p = make("{keys: 'k{n}', count: 10, ttl: 60s, load: {over: 1s}}");
    struct population_item item = population_next(&p, 0, START_MS + 500, START_US);
    ck_assert_int_eq(item.ttl_ms, 60000);
    ck_assert_int_eq(item.deadline_ms, -1);
    population_release(&p);
    p = make("{keys: 'l{n}', count: 10, load: {over: 1s}}");
    item = population_next(&p, 0, START_MS, START_US);
    ck_assert_int_eq(item.ttl_ms, -1);
    ck_assert_int_eq(item.deadline_ms, -1);
    population_release(&p);
}
END_TEST

START_TEST(a_deadline_is_one_moment_whenever_written) {
    struct population p = make("{keys: 'k{n}', count: 100, deadline: 10s, load: {over: 20s}}");
    for (uint32_t i = 0; i < p.count; i++) {
        struct population_item item = population_next(&p, i, START_MS + 200 * i, START_US);
        ck_assert_int_eq(item.deadline_ms, START_MS + 10000);
        ck_assert_int_eq(item.ttl_ms, -1);
    }
    population_release(&p);
}
END_TEST

START_TEST(jitter_spreads_a_deadline_too) {
    struct population p = make("{keys: 'k{n}', count: 1000, deadline: 10s, "
                               "jitter: {strategy: uniform, span: 4s}}");
    ms_t low = INT64_MAX, high = 0;
    for (uint32_t i = 0; i < p.count; i++) {
        ms_t deadline = population_next(&p, i, START_MS, START_US).deadline_ms - START_MS;
        if (deadline < low) low = deadline;
        if (deadline > high) high = deadline;
    }
    ck_assert(low >= 8000 && low < 8100 && high <= 12000 && high > 11900);
    population_release(&p);
}
END_TEST

START_TEST(the_same_population_draws_the_same) {
    static const char text[] = "{keys: 'k{n}', count: 500, value: {uniform: [1B, 1KiB]}, "
                               "ttl: {uniform: [1s, 60s]}, jitter: {strategy: gaussian, span: 9s}}";
    uint64_t sums[2] = {0};
    for (int round = 0; round < 2; round++) {
        struct population p = make(text);
        for (uint32_t i = 0; i < p.count; i++) {
            struct population_item item = population_next(&p, i, START_MS, START_US);
            sums[round] = sums[round] * 31 + (uint64_t)item.ttl_ms + object_length(&item.value);
        }
        population_release(&p);
    }
    ck_assert_uint_eq(sums[0], sums[1]);
}
END_TEST

START_TEST(clients_draw_ttls_by_the_same_rules) {
    struct population p = make("{keys: 'k{n}', count: 10, ttl: 60s, "
                               "jitter: {strategy: hash, span: 10s}}");
    struct rng rng = rng_seed(5);
    ms_t ttl = population_draw_ttl(&p, p.first_key + 3, START_MS, &rng);
    ck_assert(ttl >= 60000 && ttl <= 70000);
    ck_assert_int_eq(population_draw_ttl(&p, p.first_key + 3, START_MS + 99, &rng), ttl);
    population_release(&p);
    p = make("{keys: 'l{n}', count: 10, deadline: 10s}");
    ck_assert_int_eq(population_draw_ttl(&p, p.first_key, START_MS, &rng), -1);
    population_release(&p);
}
END_TEST

START_TEST(rows_that_name_a_key_twice_share_its_id) {
    static const char text[] =
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n"
        "0,string,a,104,string,24,24,\n0,string,a,104,string,24,24,\n0,string,b,104,string,24,24,"
        "\n";
    struct scenario_error error;
    struct csv_rows *rows = csv_rows_parse(text, sizeof text - 1, "a.csv", names, DATABASES_MAX, &error);
    struct population p = {.names = names, .rows = rows, .count = rows->count, .first_key = 1};
    ck_assert_uint_eq(population_key(&p, 0), population_key(&p, 1));
    ck_assert_uint_eq(population_key(&p, 2), names_find(names, "b", 1));
    population_release(&p);
}
END_TEST

START_TEST(a_file_gives_keys_and_deadlines) {
    struct population p = make("{from: sessions.csv}");
    struct rng rng = rng_seed(5);
    ck_assert_uint_eq(p.count, 1000);
    ck_assert_uint_eq(scenario->note_count, 1);
    struct population_item item = population_next(&p, 0, START_MS, START_US);
    ck_assert_int_eq(item.deadline_ms, START_MS + 49869);
    ck_assert_int_eq(item.ttl_ms, -1);
    item = population_next(&p, 1, START_MS, START_US);
    ck_assert_int_eq(item.deadline_ms, -1);
    struct object value = population_draw_value(&p, &rng);
    ck_assert_uint_ge(object_length(&value), 1);
    population_release(&p);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("population");
    TCase *tcase = tcase_create("population");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, preloaded_keys_have_ttl_and_deadline);
    tcase_add_test(tcase, written_keys_have_a_relative_ttl);
    tcase_add_test(tcase, a_deadline_is_one_moment_whenever_written);
    tcase_add_test(tcase, jitter_spreads_a_deadline_too);
    tcase_add_test(tcase, the_same_population_draws_the_same);
    tcase_add_test(tcase, clients_draw_ttls_by_the_same_rules);
    tcase_add_test(tcase, rows_that_name_a_key_twice_share_its_id);
    tcase_add_test(tcase, a_file_gives_keys_and_deadlines);
    tcase_set_timeout(tcase, 60); /* a loaded machine under sanitizers is slow */
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
