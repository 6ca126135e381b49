#include <stdio.h>

#include "fixture.h"

/* Every reading of the clock costs 100 us and nothing else costs anything: the cycle stops where
 * arithmetic says. */
static const struct price_table reads_cost_100_us = {.name = "reads",
                                                     .ps = {[COST_CLOCK_READ] = 100 * PS_PER_US}};
static const struct price_table free_of_charge = {.name = "free"};

static void storm(struct fixture *f, const char *generation, const struct price_table *prices,
                  uint32_t count, ms_t dead_since_ms) {
    fixture_init(f, generation, prices);
    fixture_start(f);
    fixture_preload(f, 0, fixture_keys(f, "key:", count), count,
                    fixture_wall_ms(f) - dead_since_ms);
}

/* The worked example of engine facts 4.4.15, seen on the real server: 20,000 dead keys in db 0
 * of 16. The slow cycle reads the clock 1 + 240 + 15 + 1 times: at iteration 240 the check sees
 * 25,500 us > 25,000, the end sees 25,600. */
START_TEST(slow_cycle_stops_at_the_first_16th_iteration_past_its_limit) {
    struct fixture f;
    storm(&f, "redis-7.0", &reads_cost_100_us, 20000, 10);
    f.now_ns = engine_next_cron(f.engine);
    engine_wake(f.engine, (struct instant){f.now_ns, f.wall_start_us});
    engine_cron(f.engine);
    ck_assert_uint_eq(f.last_cycle.iterations, 240);
    ck_assert_int_eq(f.last_cycle.elapsed_us, 25600);
    ck_assert(f.last_cycle.capped);
    ck_assert_uint_ge(f.last_cycle.expired, 240 * 20);
    fixture_stop(&f);
}
END_TEST

/* The same example goes on: the fast cycle starts at db 1, so 15 empty databases use up iterations
 * 1 to 15; its checks see (1 + 1) * 100 us at 16 and 19 * 100 us > 1,000 at 32. */
START_TEST(fast_cycle_after_a_capped_one_runs_32_iterations_15_of_them_on_empty_databases) {
    struct fixture f;
    storm(&f, "redis-7.0", &reads_cost_100_us, 20000, 10);
    fixture_cron_turn(&f);
    ck_assert(f.last_cycle.fast);
    ck_assert_uint_eq(f.last_cycle.iterations, 32);
    ck_assert_uint_ge(f.last_cycle.expired, 17 * 20);
    ck_assert_uint_eq(engine_stats(f.engine).expired_time_cap_reached_count, 2);
    ck_assert_int_eq(engine_stats(f.engine).expire_cycle_us / 1000, 27);
    fixture_stop(&f);
}
END_TEST

/* redis issue 15410: the gate compares a fraction of at most 1 with a percentage of at least 1.
 * However high the estimate, no fast cycle runs unless the last cycle ran out of time. */
START_TEST(fast_gate_stays_shut_at_any_stale_estimate_unless_a_cycle_was_capped) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.active_expire_effort = 10; /* acceptable: 1 percent, the tightest comparison */
    fixture_start(&f);
    for (int i = 0; i < 200; i++) {
        fixture_preload(&f, 0, fixture_keys(&f, "key:", 100), 100, fixture_wall_ms(&f) - 1000);
        fixture_cron_turn(&f);
        fixture_idle_turn(&f, f.now_ns + 10 * NS_PER_MS);
    }
    ck_assert_uint_gt(engine_stats(f.engine).expired_stale_ppm, 990000); /* 1 - 0.95^200 */
    ck_assert_uint_eq(f.fast_cycles, 0);
    fixture_stop(&f);
}
END_TEST

START_TEST(fast_cycles_keep_two_durations_between_their_starts) {
    struct fixture f;
    storm(&f, "redis-7.0", &reads_cost_100_us, 20000, 10);
    ns_t started_ns = engine_next_cron(f.engine);
    fixture_cron_turn(&f);
    ck_assert_uint_eq(f.fast_cycles, 1); /* capped; began 26,400 us after the cron */
    fixture_idle_turn(&f, started_ns + 28100 * NS_PER_US);
    ck_assert_uint_eq(f.fast_cycles, 1); /* 28,200 us: less than 2,000 later */
    fixture_idle_turn(&f, started_ns + 28500 * NS_PER_US);
    ck_assert_uint_eq(f.fast_cycles, 2);
    fixture_stop(&f);
}
END_TEST

/* 4.4.8 by arithmetic at effort 1: a database goes on above 10 %: 1 of 9 is 11 %, 1 of 10 is 10 %.
 */
static uint64_t iterations_with(uint32_t dead, uint32_t live) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.databases = 1;
    fixture_start(&f);
    fixture_preload(&f, 0, fixture_keys(&f, "dead:", dead), dead, fixture_wall_ms(&f) - 1);
    fixture_preload(&f, 0, fixture_keys(&f, "live:", live), live, fixture_wall_ms(&f) + 1000000);
    fixture_cron_turn(&f);
    uint64_t iterations = f.last_cycle.iterations;
    fixture_stop(&f);
    return iterations;
}

START_TEST(database_repeats_above_ten_percent_and_not_at_ten) {
    ck_assert_uint_eq(iterations_with(1, 9), 1);
    ck_assert_uint_eq(iterations_with(1, 8), 2);
    ck_assert_uint_eq(iterations_with(0, 9), 1);
}
END_TEST

START_TEST(key_lives_at_its_deadline_and_dies_one_ms_later) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    ms_t first_cron_ms = fixture_wall_ms(&f) + 1;
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 1), 1, first_cron_ms);
    fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).keys, 1);
    fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).keys, 0);
    ck_assert_int_eq(f.late_max_ms, 100);
    fixture_stop(&f);
}
END_TEST

/* 4.4.11: floor(999 / 50) * 49 + floor(999 / 50) = 50 * 19 = 950. */
START_TEST(avg_ttl_loses_the_remainder_of_fifty) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 1), 1, fixture_wall_ms(&f) + 1000);
    fixture_cron_turn(&f); /* 1 ms in: 999 ms left */
    ck_assert_int_eq(engine_db_stats(f.engine, 0).avg_ttl_ms, 950);
    fixture_stop(&f);
}
END_TEST

/* 4.6.2: one cycle finds 20 of 20 stale, then k idle ones: 0.05 * 0.95^k; in ppm 50,000, 47,500,
 * 45,125, 42,869 (rounded). */
/* PEXPIREAT takes any deadline; the sum of two at the end of int64 wraps, in the server too. */
START_TEST(avg_ttl_of_deadlines_without_end_wraps) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 2), 2, INT64_MAX);
    fixture_cron_turn(&f);
    ms_t left = INT64_MAX - fixture_wall_ms(&f);
    ms_t mean = (ms_t)((uint64_t)left + (uint64_t)left) / 2;
    ck_assert_int_eq(engine_db_stats(f.engine, 0).avg_ttl_ms, mean / 50 * 49 + mean / 50);
    fixture_stop(&f);
}
END_TEST

START_TEST(stale_estimate_rises_by_a_twentieth_and_decays_by_a_twentieth) {
    static const uint64_t ppm[] = {50000, 47500, 45125, 42869};
    struct fixture f;
    storm(&f, "redis-7.0", &free_of_charge, 20, 10);
    for (size_t i = 0; i < 4; i++) {
        fixture_cron_turn(&f);
        ck_assert_uint_eq(engine_stats(f.engine).expired_stale_ppm, ppm[i]);
    }
    fixture_stop(&f);
}
END_TEST

/* 4.4 line 13: 1,024 slots with 10 keys are 0 %: left alone until the cron has shrunk the table. */
START_TEST(database_under_one_percent_fill_is_left_alone_until_it_shrinks) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.activerehashing = 0;
    fixture_start(&f);
    key_id first = fixture_keys(&f, "key:", 1024);
    fixture_preload(&f, 0, first, 1024, fixture_wall_ms(&f) + 50);
    struct arg argv[] = {arg_word(f.texts, WORD_DEL), {0}};
    for (key_id id = first; id < first + 1014; id++) {
        argv[1] = arg_key(f.keys, id);
        fixture_command(&f, argv, 2);
    }
    ck_assert_uint_eq(engine_db_stats(f.engine, 0).expires_size[0], 1024);
    f.now_ns = 60 * NS_PER_MS;
    engine_wake(f.engine, (struct instant){f.now_ns, f.wall_start_us + 60000});
    engine_cron(f.engine);
    ck_assert_uint_eq(engine_stats(f.engine).expires,
                      10); /* dead, not touched; the shrink has begun */
    ck_assert_uint_eq(f.last_cycle.sampled, 0);
    ck_assert_uint_eq(engine_db_stats(f.engine, 0).expires_size[1], 16);
    fixture_stop(&f);
}
END_TEST

/* 4.7: more than 5 of 20 go on, 5 do not; the classic algorithm has no effort and draws at random.
 */
START_TEST(classic_algorithm_repeats_above_a_quarter_of_twenty) {
    struct expire_sample six = {.sampled = 20, .expired = 6}, five = {.sampled = 20, .expired = 5};
    const struct expire_policy *policy = &generation_find("redis-5.0")->expire;
    ck_assert(policy->repeats(policy, 1, &six));
    ck_assert(!policy->repeats(policy, 1, &five));
    ck_assert(policy->sample == expire_sample_random);
}
END_TEST

/* 10,000 keys lie in 16,384 slots: every round kills 20 of 20 until 163 are left, which is under 1
 * % fill (163 * 100 / 16384 = 0); a round starts with at least 164, so at least 144 stay. */
START_TEST(classic_algorithm_drains_a_storm_down_to_one_percent_fill) {
    struct fixture f;
    storm(&f, "redis-5.0", &free_of_charge, 10000, 10);
    fixture_cron_turn(&f);
    ck_assert_uint_le(engine_stats(f.engine).keys, 163);
    ck_assert_uint_ge(engine_stats(f.engine).keys, 144);
    fixture_stop(&f);
}
END_TEST

START_TEST(no_active_cycle_runs_on_a_replica) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    f.config.is_replica = true;
    fixture_start(&f);
    fixture_preload(&f, 0, fixture_keys(&f, "key:", 100), 100, fixture_wall_ms(&f) - 1000);
    for (int i = 0; i < 10; i++) fixture_cron_turn(&f);
    ck_assert_uint_eq(engine_stats(f.engine).keys, 100);
    ck_assert_uint_eq(f.cycles, 0);
    fixture_stop(&f);
}
END_TEST

/* Every configuration of a small world drains to nothing, and the walker holds after every cron. */
START_TEST(random_populations_drain_whole_with_every_invariant_kept) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(60); round++) {
        struct fixture f;
        fixture_init(&f, rng_chance(&rng, 1, 2) ? "redis-7.0" : "redis-5.0", &free_of_charge);
        f.config.hz = 1 + (int64_t)rng_below(&rng, 500);
        f.config.active_expire_effort = 1 + (int64_t)rng_below(&rng, 10);
        fixture_start(&f);
        for (int part = 0; part < 4; part++) {
            uint32_t count = (uint32_t)rng_below(&rng, 400);
            if (count == 0) continue;
            fixture_preload(&f, (uint8_t)rng_below(&rng, 16), fixture_keys(&f, "key:", count),
                            count, fixture_wall_ms(&f) + (ms_t)rng_below(&rng, 3000));
        }
        for (int i = 0; i < 20000 && engine_stats(f.engine).keys > 0; i++) {
            fixture_cron_turn(&f);
            if (i % 16 == 0) engine_check(f.engine);
        }
        ck_assert_uint_eq(engine_stats(f.engine).keys, 0);
        fixture_stop(&f);
    }
}
END_TEST

/* The sweep law on its published schedule: at minute 56 of every hour a job writes keys for each of
 * the next 16 hours, one for every 8 s from minute 0 to 55 (413 an hour), with the TTL to that
 * instant: 39-byte key, one-byte value. A real 7.0.15 on a stepped clock: mean lateness 131 to 138
 * s, at most 270 s at minutes 14 to 18 once sixteen jobs have run, 49,700 keys left at minute 56.
 * In arithmetic: N / R with N about 54,000 at minute 16 and R = 10 x 20.3 keys/s gives 266 s at
 * most, 133 s mean. */
#define JOBS           24
#define SLOTS_PER_HOUR 413

static void run_until(struct fixture *f, ns_t until_ns) {
    while (engine_next_cron(f->engine) < until_ns) fixture_cron_turn(f);
    f->now_ns = until_ns;
}

static void write_job(struct fixture *f, int job) {
    struct object value = object_from_text(f->texts, texts_intern(f->texts, "x", 1));
    for (int hour = 1; hour <= 16; hour++)
        for (int slot = 0; slot < SLOTS_PER_HOUR; slot++) {
            char name[64];
            int length = snprintf(name, sizeof name, "schedule:%04d:hour:%04d:slot:%04d:00000", job,
                                  job + hour, slot);
            ck_assert_int_eq(length, 39);
            ms_t deadline_ms =
                FIXTURE_WALL_US / 1000 + (ms_t)(job + hour) * 3600000 + (ms_t)slot * 8000;
            engine_preload(f->engine, 0, keys_add(f->keys, name, (size_t)length), &value,
                           deadline_ms);
        }
}

START_TEST(lateness_of_the_published_hourly_schedule_is_the_sweep_laws) {
    struct fixture f;
    fixture_init(&f, "redis-7.0", &free_of_charge);
    fixture_start(&f);
    for (int job = 0; job < JOBS; job++) {
        run_until(&f, (ns_t)(job * 60 + 56) * 60 * NS_PER_S);
        if (job >= 17) {
            ck_assert_uint_ge(engine_stats(f.engine).keys, 49500);
            ck_assert_uint_le(engine_stats(f.engine).keys, 49900);
        }
        write_job(&f, job);
        if (job < 17) continue;
        run_until(&f, (ns_t)((job + 1) * 60 + 14) * 60 * NS_PER_S);
        f.late_sum_ms = f.late_max_ms = 0;
        f.expired_actively = 0;
        run_until(&f, (ns_t)((job + 1) * 60 + 18) * 60 * NS_PER_S);
        ms_t mean_ms = f.late_sum_ms / (ms_t)f.expired_actively;
        ck_assert_int_ge(mean_ms, 128000);
        ck_assert_int_le(mean_ms, 141000);
        ck_assert_int_ge(f.late_max_ms, 262000);
        ck_assert_int_le(f.late_max_ms, 278000);
    }
    fixture_stop(&f);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("expire");
    TCase *tcase = tcase_create("expire");
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, slow_cycle_stops_at_the_first_16th_iteration_past_its_limit);
    tcase_add_test(tcase,
                   fast_cycle_after_a_capped_one_runs_32_iterations_15_of_them_on_empty_databases);
    tcase_add_test(tcase, fast_gate_stays_shut_at_any_stale_estimate_unless_a_cycle_was_capped);
    tcase_add_test(tcase, fast_cycles_keep_two_durations_between_their_starts);
    tcase_add_test(tcase, database_repeats_above_ten_percent_and_not_at_ten);
    tcase_add_test(tcase, key_lives_at_its_deadline_and_dies_one_ms_later);
    tcase_add_test(tcase, avg_ttl_loses_the_remainder_of_fifty);
    tcase_add_test(tcase, avg_ttl_of_deadlines_without_end_wraps);
    tcase_add_test(tcase, stale_estimate_rises_by_a_twentieth_and_decays_by_a_twentieth);
    tcase_add_test(tcase, database_under_one_percent_fill_is_left_alone_until_it_shrinks);
    tcase_add_test(tcase, classic_algorithm_repeats_above_a_quarter_of_twenty);
    tcase_add_test(tcase, classic_algorithm_drains_a_storm_down_to_one_percent_fill);
    tcase_add_test(tcase, no_active_cycle_runs_on_a_replica);
    tcase_add_test(tcase, random_populations_drain_whole_with_every_invariant_kept);
    tcase_add_test(tcase, lateness_of_the_published_hourly_schedule_is_the_sweep_laws);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
