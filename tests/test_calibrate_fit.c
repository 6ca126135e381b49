/* calibrate_fit: figures made from known prices give those prices back; what no figure shows is
 * inferred; noise below nothing is nothing. And the engine that counts charges what it should. */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "support.h"

static struct figure figures[FIGURES];
static struct fit fit;

/* Three rounds around what these prices say. */
static void measure(enum figure_id id, const struct price_table *prices) {
    double ps = calibrate_predict(&figures[id], prices);
    figures[id].count = 0;
    figure_add(&figures[id], ps * 0.99);
    figure_add(&figures[id], ps);
    figure_add(&figures[id], ps * 1.01);
    figure_settle(&figures[id]);
}

static void count(enum figure_id id, enum cost_op op, double times) {
    figures[id].counts[op] = times;
}

static void counts_of_commands(void) {
    memset(figures, 0, sizeof(figures));
    for (int i = FIGURE_PING_1; i <= FIGURE_DEL_64K; i++) {
        count(i, COST_COMMAND, 1);
        count(i, COST_TURN, i == FIGURE_PING_1 ? 1 : 1.0 / 64);
    }
    count(FIGURE_GET, COST_LOOKUP, 2);
    count(FIGURE_GET_VOLATILE, COST_LOOKUP, 3);
    count(FIGURE_DEL, COST_LOOKUP, 2), count(FIGURE_DEL, COST_DELETE, 1);
    count(FIGURE_GET_16K, COST_LOOKUP, 2), count(FIGURE_GET_16K, COST_VALUE_BYTE, 16384);
}

START_TEST(prices_come_back) {
    struct price_table prices = *price_table_find("default");
    prices.ps[COST_TURN] = 5000000, prices.ps[COST_COMMAND] = 250000;
    counts_of_commands();
    static const enum figure_id used[] = {FIGURE_PING_1, FIGURE_PING,         FIGURE_GET,
                                          FIGURE_DEL,    FIGURE_GET_VOLATILE, FIGURE_GET_16K};
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) measure(used[i], &prices);
    calibrate_fit(figures, &fit);
    static const enum cost_op ops[] = {COST_TURN, COST_COMMAND, COST_LOOKUP, COST_DELETE,
                                       COST_VALUE_BYTE};
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        double ratio = (double)fit.prices.ps[ops[i]] / (double)prices.ps[ops[i]];
        ck_assert_msg(fabs(ratio - 1) < 0.03, "%s: %f", cost_names[ops[i]], ratio);
        ck_assert(fit.spread[ops[i]] >= 0 && fit.spread[ops[i]] < 0.05);
    }
    ck_assert(fabs(fit.worst) < 0.02);
}
END_TEST

START_TEST(what_no_figure_shows_follows_the_machine) {
    struct price_table twice = *price_table_find("default");
    for (int op = 0; op < COST_COUNT; op++) twice.ps[op] *= 2;
    counts_of_commands();
    measure(FIGURE_PING_1, &twice), measure(FIGURE_PING, &twice), measure(FIGURE_GET, &twice);
    calibrate_fit(figures, &fit);
    const struct price_table *built_in = price_table_find("default");
    static const enum cost_op ops[] = {COST_CYCLE, COST_BUCKET_STEP, COST_PROPAGATE, COST_APPLY};
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        double ratio = (double)fit.prices.ps[ops[i]] / (double)built_in->ps[ops[i]];
        ck_assert_msg(fabs(ratio - 2) < 0.02, "%s: %f", cost_names[ops[i]], ratio);
        ck_assert(fit.spread[ops[i]] < 0);
    }
}
END_TEST

START_TEST(no_price_is_negative) {
    counts_of_commands();
    const struct price_table *prices = price_table_find("default");
    measure(FIGURE_PING_1, prices), measure(FIGURE_PING, prices), measure(FIGURE_GET, prices);
    measure(FIGURE_DEL, prices);
    for (uint32_t i = 0; i < 3; i++)
        figures[FIGURE_DEL].samples[i] /= 4; /* less than its lookups */
    figure_settle(&figures[FIGURE_DEL]);
    calibrate_fit(figures, &fit);
    ck_assert_uint_lt(fit.prices.ps[COST_DELETE], 100000);
    ck_assert(fabs(fit.worst) > 0.05);
}
END_TEST

START_TEST(a_median_and_its_quartiles) {
    static const double samples[] = {5, 1, 4, 2, 3};
    struct figure figure = {0};
    for (int i = 0; i < 5; i++) figure_add(&figure, samples[i]);
    figure_settle(&figure);
    ck_assert(figure.median_ps == 3);
    ck_assert(fabs(figure.spread - 2.0 / 3) < 1e-9);
}
END_TEST

static double counts[COST_COUNT];

static struct work a_work(enum work_kind kind) {
    return (struct work){.kind = kind,
                         .first = 0,
                         .keys = MODEL_KEYS / 2,
                         .value_bytes = 32,
                         .pipeline = 64,
                         .commands = 64};
}

START_TEST(the_engine_is_charged_what_its_commands_do) {
    struct model *model = model_create(generation_find("redis-7.0"), 1, false);
    struct work set = a_work(WORK_SET), get = a_work(WORK_GET), del = a_work(WORK_DEL);
    model_preload(model, &set);
    model_count(model, &get, counts);
    ck_assert(counts[COST_COMMAND] == 1 && counts[COST_LOOKUP] == 1);
    ck_assert(counts[COST_TURN] == 1.0 / 64 && counts[COST_VALUE_BYTE] == 32);
    model_count(model, &del, counts);
    ck_assert(counts[COST_DELETE] == 1 && counts[COST_INSERT] == 0);
    model_count(model, &set, counts); /* those that were deleted */
    ck_assert(counts[COST_INSERT] == 1 && counts[COST_OVERWRITE] == 0);
    ck_assert(counts[COST_REHASH_KEY] == 0 && counts[COST_PROPAGATE] == 0);
    model_destroy(model);
}
END_TEST

START_TEST(a_replica_is_charged_for) {
    struct model *model = model_create(generation_find("redis-7.0"), 1, true);
    struct work set = a_work(WORK_SET);
    model_preload(model, &set);
    model_count(model, &set, counts);
    ck_assert(counts[COST_PROPAGATE] >= 1 && counts[COST_OVERWRITE] == 1);
    ck_assert(counts[COST_REPLICA_WRITE] == 1.0 / 64);
    model_destroy(model);
}
END_TEST

START_TEST(a_key_that_dies_is_checked_once_and_deleted_once) {
    model_count_storm(generation_find("redis-7.0"), 1, 32, counts);
    ck_assert(counts[COST_KEY_EXPIRED] == 1 && counts[COST_DELETE] == 1);
    ck_assert(counts[COST_KEY_CHECKED] >= 1 && counts[COST_KEY_CHECKED] < 1.1);
    ck_assert(counts[COST_TURN] == 0 && counts[COST_CRON] == 0);
    model_count_storm(generation_find("redis-7.0"), 2, 32, counts);
    ck_assert(counts[COST_KEY_EXPIRED] == 1);
    ck_assert(counts[COST_KEY_CHECKED] > 1.8 && counts[COST_KEY_CHECKED] < 2.5);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("calibrate_fit");
    TCase *tc = tcase_create("calibrate_fit");
    tcase_set_timeout(tc, 100);
    tcase_add_test(tc, prices_come_back);
    tcase_add_test(tc, what_no_figure_shows_follows_the_machine);
    tcase_add_test(tc, no_price_is_negative);
    tcase_add_test(tc, a_median_and_its_quartiles);
    tcase_add_test(tc, the_engine_is_charged_what_its_commands_do);
    tcase_add_test(tc, a_replica_is_charged_for);
    tcase_add_test(tc, a_key_that_dies_is_checked_once_and_deleted_once);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
