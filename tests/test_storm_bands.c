/* The built-in prices against live runs of redis-server 7.0.15 on two cores: 1,000,000 keys
 * (14-byte key, 100-byte value) with one deadline and no traffic but a watcher's INFO, repeated.
 * Each row holds the bands of those runs: drain as the watcher's INFO sees it (ms), cap hits,
 * milliseconds in cycles. Cap hits and CPU may lie 10 % outside, the drain may not. One price table
 * serves all four. */
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "support.h"
#include "world.h"

#define DEADLINE_MS 2000

struct band {
    const char *name;
    int hz, effort, info_per_s;
    int64_t drain_low_ms, drain_high_ms, caps_low, caps_high;
};

static const struct band bands[] = {
    {"hz 10, effort 1, INFO 1/s", 10, 1, 1, 5700, 7700, 73, 102},
    {"hz 10, effort 1, INFO 200/s", 10, 1, 200, 3300, 4400, 382, 501},
    {"hz 10, effort 10, INFO 1/s", 10, 10, 1, 3700, 4700, 44, 49},
    {"hz 100, effort 1, INFO 1/s", 100, 1, 1, 4700, 5700, 574, 719},
};
#define CYCLES_LOW_MS  1000
#define CYCLES_HIGH_MS 1900

static bool on_row(void *context, const struct trace_row *row) {
    int64_t *empty_ms = context;
    int64_t at_ms = row->at_ns / NS_PER_MS;
    if (*empty_ms < 0 && at_ms > DEADLINE_MS && row->expires == 0) *empty_ms = at_ms;
    return true;
}

static struct world *run(const struct band *band, struct scenario **scenario, int64_t *empty_ms) {
    char yaml[1024];
    struct scenario_error error;
    int length =
        snprintf(yaml, sizeof yaml,
                 "name: band\nseed: 1\nduration: 12s\nallocator: debian\n"
                 "servers: {master: {config: {hz: %d, active-expire-effort: %d}}}\n"
                 "populations:\n  keys: {keys: 'key:{n:010}', count: 1_000_000, value: 100B, "
                 "deadline: %dms, load: preloaded}\n"
                 "clients:\n  watcher: {rate: %d/s, arrivals: even, mix: {INFO: 1}}\n",
                 band->hz, band->effort, DEADLINE_MS, band->info_per_s);
    *scenario = scenario_parse(yaml, (size_t)length, "band.yaml", ".", NULL, &error);
    if (!*scenario) ck_abort_msg("%s", error.message);
    struct world_output output = {.context = empty_ms, .row = on_row};
    struct world *world = world_create(*scenario, &output, &error);
    ck_assert_int_eq(world_run(world), WORLD_DONE);
    return world;
}

/* The first INFO that shows no volatile key, the watcher's calls being at whole multiples of its
 * period. */
static int64_t seen_ms(int64_t empty_ms, int info_per_s) {
    int64_t period_ms = 1000 / info_per_s, drained_ms = empty_ms - DEADLINE_MS;
    return (drained_ms + period_ms - 1) / period_ms * period_ms;
}

START_TEST(storm_drains_inside_the_bands_of_the_live_server) {
    const struct band *band = &bands[_i];
    struct scenario *scenario;
    int64_t empty_ms = -1;
    struct world *world = run(band, &scenario, &empty_ms);
    struct engine_stats stats = engine_stats(world_engine(world, 0));
    int64_t drain_ms = seen_ms(empty_ms, band->info_per_s);
    int64_t caps = (int64_t)stats.expired_time_cap_reached_count;
    int64_t cycles_ms = stats.expire_cycle_us / 1000;
    printf(
        "%-28s empty %lld ms, seen %lld ms (%lld..%lld), caps %lld (%lld..%lld), cycles %lld ms\n",
        band->name, (long long)(empty_ms - DEADLINE_MS), (long long)drain_ms,
        (long long)band->drain_low_ms, (long long)band->drain_high_ms, (long long)caps,
        (long long)band->caps_low, (long long)band->caps_high, (long long)cycles_ms);
    ck_assert_int_ge(empty_ms, 0);
    ck_assert_int_ge(drain_ms, band->drain_low_ms);
    ck_assert_int_le(drain_ms, band->drain_high_ms);
    ck_assert_int_ge(caps * 10, band->caps_low * 9);
    ck_assert_int_le(caps * 10, band->caps_high * 11);
    ck_assert_int_ge(cycles_ms * 10, CYCLES_LOW_MS * 9);
    ck_assert_int_le(cycles_ms * 10, CYCLES_HIGH_MS * 11);
    world_destroy(world);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("storm_bands");
    TCase *tcase = tcase_create("storm_bands");
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, storm_drains_inside_the_bands_of_the_live_server, 0,
                        sizeof bands / sizeof *bands);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
