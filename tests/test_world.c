/* The laws of the world by arithmetic: price tables of one or two prices, so that every moment of a
 * run can be worked out by hand. Scenarios are filled in here, without YAML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "world.h"

#define SERVERS_MAX 3
#define EVENTS_MAX  16
#define ROWS_MAX    4096
#define START_US    (INT64_C(1700000000) * 1000000)
#define MS          NS_PER_MS
#define US          NS_PER_US

/* A scenario under construction, and what its run said. */
struct bench {
    struct scenario scenario;
    struct server_config servers[SERVERS_MAX];
    struct population_config population;
    struct client_config client;
    struct mix_config mix;
    struct event_config events[EVENTS_MAX];
    struct price_table prices;
    struct world *world;
    struct trace_row *rows;
    uint32_t row_count;
    struct {
        ns_t at_ns;
        char text[64];
    } replies[EVENTS_MAX];
    ns_t stream_ns[64];
    uint32_t stream_count;
    uint32_t checks;
};

static bool bench_row(void *context, const struct trace_row *row) {
    struct bench *bench = context;
    ck_assert_uint_lt(bench->row_count, ROWS_MAX);
    bench->rows[bench->row_count++] = *row;
    return true;
}

static bool bench_stream(void *context, uint32_t server, ns_t at_ns,
                         const struct stream_command *command) {
    struct bench *bench = context;
    ck_assert_uint_eq(server, 0);
    ck_assert_int_gt(command->resp_bytes, 0);
    if (bench->stream_count < 64) bench->stream_ns[bench->stream_count] = at_ns;
    bench->stream_count++;
    return true;
}

static bool bench_reply(void *context, uint32_t event, ns_t at_ns, const char *resp,
                        size_t length) {
    struct bench *bench = context;
    bench->replies[event].at_ns = at_ns;
    snprintf(bench->replies[event].text, sizeof bench->replies[event].text, "%.*s", (int)length,
             resp);
    return true;
}

static bool bench_interrupted(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    struct bench *bench = context;
    ck_assert_int_le(now_ns, duration_ns);
    ck_assert_uint_gt(events, 0);
    world_check(bench->world);
    bench->checks++;
    return false;
}

static struct bench *bench_create(uint32_t servers, ns_t duration_ns) {
    static const char *const names[SERVERS_MAX] = {"master", "near", "far"};
    struct bench *bench = calloc(1, sizeof *bench);
    bench->rows = calloc(ROWS_MAX, sizeof *bench->rows);
    bench->prices = (struct price_table){.name = "bench"};
    for (uint32_t i = 0; i < servers; i++) {
        bench->servers[i] = (struct server_config){.name = (char *)(uintptr_t)names[i],
                                                   .generation = generation_find("redis-7.0"),
                                                   .allocator = allocator_find("bundled"),
                                                   .prices = &bench->prices,
                                                   .engine = engine_config_default(),
                                                   .master = i == 0 ? -1 : 0};
        bench->servers[i].engine.is_replica = i > 0;
        bench->servers[i].link =
            (struct link_config){.latency_ns = MS, .socket_buffer_bytes = 1 << 20};
        bench->servers[i].link_up = bench->servers[i].link;
    }
    bench->scenario = (struct scenario){.seed = test_seed(),
                                        .start_wall_us = START_US,
                                        .duration_ns = duration_ns,
                                        .servers = bench->servers,
                                        .server_count = servers,
                                        .populations = &bench->population,
                                        .clients = &bench->client,
                                        .events = bench->events,
                                        .texts = texts_create()};
    return bench;
}

static void bench_add_keys(struct bench *bench, uint32_t count, ms_t ttl_ms) {
    bench->population = (struct population_config){
        .name = (char *)(uintptr_t) "keys",
        .pattern_prefix = (char *)(uintptr_t) "key:",
        .pattern_suffix = (char *)(uintptr_t) "",
        .pattern_width = 6,
        .count = count,
        .value_bytes = {.kind = DISTRIBUTION_CONSTANT, .low = 10, .high = 10},
        .deadline_ms = -1,
        .jitter = {.resolution_ms = 1},
        .preloaded = true};
    if (ttl_ms > 0)
        bench->population.ttl_ms =
            (struct distribution){.kind = DISTRIBUTION_CONSTANT, .low = ttl_ms, .high = ttl_ms};
    bench->scenario.population_count = 1;
}

static void bench_add_client(struct bench *bench, const char *line, uint32_t server,
                             uint64_t rate_mhz) {
    char message[256];
    ck_assert(template_parse(bench->scenario.texts, line, &bench->mix, message, sizeof message));
    bench->mix.weight = 1;
    bench->client = (struct client_config){.name = (char *)(uintptr_t) "client",
                                           .server = server,
                                           .connections = 1,
                                           .rate_per_1000_h = rate_mhz * 3600,
                                           .mix = &bench->mix,
                                           .mix_count = 1,
                                           .mix_weight = 1,
                                           .population = 0,
                                           .until_ns = bench->scenario.duration_ns};
    bench->scenario.client_count = 1;
}

static uint32_t bench_add_event(struct bench *bench, ns_t at_ns, enum event_kind kind,
                                uint32_t server, const char *text) {
    uint32_t event = bench->scenario.event_count++;
    bench->events[event] = (struct event_config){
        .at_ns = at_ns, .kind = kind, .server = server, .text = (char *)(uintptr_t)text};
    return event;
}

static uint32_t bench_add_command(struct bench *bench, ns_t at_ns, uint32_t server,
                                  const char *text) {
    return bench_add_event(bench, at_ns, EVENT_COMMAND, server, text);
}

static void bench_create_world(struct bench *bench) {
    struct scenario_error error;
    struct world_output output = {bench,       bench_row,         bench_stream,
                                  bench_reply, bench_interrupted, NULL};
    bench->world = world_create(&bench->scenario, &output, &error);
    ck_assert_ptr_nonnull(bench->world);
}

static void bench_run(struct bench *bench) {
    bench_create_world(bench);
    world_check(bench->world);
    ck_assert_int_eq(world_run(bench->world), WORLD_DONE);
    world_check(bench->world);
}

static void bench_destroy(struct bench *bench) {
    if (bench->world) world_destroy(bench->world);
    texts_destroy(bench->scenario.texts);
    free(bench->rows);
    free(bench);
}

/* The rows of one server, the i-th. */
static const struct trace_row *bench_row_of(const struct bench *bench, uint32_t server,
                                            uint32_t i) {
    for (uint32_t r = 0; r < bench->row_count; r++)
        if (bench->rows[r].server == bench->servers[server].name && i-- == 0)
            return &bench->rows[r];
    return NULL;
}

static int64_t bench_sum_requests(const struct bench *bench) {
    int64_t sum = 0;
    for (uint32_t r = 0; r < bench->row_count; r++) sum += bench->rows[r].requests;
    return sum;
}

/* The event loop. */

START_TEST(cron_without_cost_runs_at_1_ms_and_then_each_100_ms) {
    struct bench *bench = bench_create(1, 1000 * MS);
    bench_run(bench);
    ck_assert_uint_eq(bench->row_count, 11); /* ten crons and the last row */
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_int_eq(bench->rows[i].at_ns, MS + (ns_t)i * 100 * MS);
    ck_assert_int_eq(bench->rows[10].at_ns, 1000 * MS);
    bench_destroy(bench);
}
END_TEST

START_TEST(cron_period_is_its_own_time_and_1000_by_hz) {
    struct bench *bench = bench_create(1, 1000 * MS);
    bench->prices.ps[COST_CRON] = 2500 * PS_PER_US; /* 2.5 ms */
    bench->servers[0].engine.hz = 100;
    bench_run(bench);
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_int_eq(bench->rows[i].at_ns, MS + 2500 * US + (ns_t)i * (10 * MS + 2500 * US));
    bench_destroy(bench);
}
END_TEST

/* A turn at 1.6 ms polls again then: 99.4 ms to go, of which epoll makes 100. */
START_TEST(poll_rounds_its_timeout_up_to_whole_ms) {
    struct bench *bench = bench_create(1, 250 * MS);
    bench_add_command(bench, 1600 * US, 0, "PING");
    bench_run(bench);
    ck_assert_int_eq(bench->rows[0].at_ns, MS);
    ck_assert_int_eq(bench->rows[1].at_ns, 101600 * US);
    ck_assert_int_eq(bench->rows[2].at_ns, 201600 * US);
    bench_destroy(bench);
}
END_TEST

START_TEST(request_between_timer_and_late_wake_up_runs_the_cron) {
    struct bench *bench = bench_create(1, 250 * MS);
    bench_add_command(bench, 1600 * US, 0, "PING");
    bench_add_command(bench, 101200 * US, 0, "PING"); /* due at 101 ms, polled until 101.6 */
    bench_run(bench);
    ck_assert_int_eq(bench->rows[1].at_ns, 101200 * US);
    ck_assert_int_eq(bench->rows[2].at_ns, 201200 * US);
    bench_destroy(bench);
}
END_TEST

START_TEST(request_in_mid_turn_waits_for_the_next_one) {
    struct bench *bench = bench_create(1, 90 * MS);
    bench->prices.ps[COST_COMMAND] = 10 * PS_PER_US;
    bench_add_command(bench, 5000 * US, 0, "PING");
    bench_add_command(bench, 5004 * US, 0, "PING");
    bench_add_command(bench, 5005 * US, 0, "PING");
    bench_run(bench);
    ck_assert_int_eq(bench->replies[0].at_ns, 5010 * US);
    ck_assert_int_eq(bench->replies[1].at_ns, 5030 * US); /* two in one turn leave together */
    ck_assert_int_eq(bench->replies[2].at_ns, 5030 * US);
    ck_assert_str_eq(bench->replies[2].text, "+PONG\r\n");
    const struct histogram *us = world_request_us(bench->world, 0);
    ck_assert_uint_eq(us->count, 3);
    ck_assert_int_eq(us->min, 10);
    ck_assert_int_eq(us->max, 26);
    ck_assert_uint_eq(us->sum, 10 + 26 + 25);
    bench_destroy(bench);
}
END_TEST

START_TEST(reply_just_before_a_long_cron_leaves_after_it) {
    struct bench *bench = bench_create(1, 90 * MS);
    bench->prices.ps[COST_CRON] = 25000 * PS_PER_US;
    bench->prices.ps[COST_COMMAND] = PS_PER_US;
    bench_add_command(bench, 2 * MS, 0, "PING");
    bench_run(bench);
    ck_assert_int_eq(bench->replies[0].at_ns, 26 * MS + US);
    ck_assert_int_eq(bench->rows[0].at_ns, 26 * MS);
    ck_assert_int_eq(bench->rows[0].busy_percent, 25 * 100000 / 26);
    bench_destroy(bench);
}
END_TEST

START_TEST(turn_time_vanishes_in_lockstep) {
    struct bench *bench = bench_create(1, 90 * MS);
    bench->prices.ps[COST_CRON] = 25000 * PS_PER_US;
    bench->prices.turn_time_vanishes = true;
    bench_add_command(bench, 2 * MS, 0, "PING");
    bench_run(bench);
    ck_assert_int_eq(bench->rows[0].at_ns, MS);
    ck_assert_int_eq(bench->replies[0].at_ns, 2 * MS);
    bench_destroy(bench);
}
END_TEST

/* Rows. */

START_TEST(interval_rows_carry_sums_of_all_servers) {
    struct bench *bench = bench_create(2, 1000 * MS);
    bench->scenario.trace_interval_ns = 300 * MS;
    bench_add_keys(bench, 10, 0);
    bench_add_client(bench, "GET {key}", 1, 100 * 1000);
    bench_run(bench);
    ck_assert_uint_eq(bench->row_count, 8); /* 300, 600, 900 ms and the end */
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_int_eq(bench->rows[2 * i].at_ns, i < 3 ? (ns_t)(i + 1) * 300 * MS : 1000 * MS);
        ck_assert_str_eq(bench->rows[2 * i].role, "master");
        ck_assert_str_eq(bench->rows[2 * i + 1].role, "replica");
    }
    ck_assert_int_eq(bench_row_of(bench, 1, 0)->requests, 30);
    ck_assert_int_eq(bench_row_of(bench, 1, 3)->requests, 10);
    bench_destroy(bench);
}
END_TEST

START_TEST(clock_step_moves_one_servers_wall_clock) {
    struct bench *bench = bench_create(2, 250 * MS);
    uint32_t step = bench_add_event(bench, 50 * MS, EVENT_CLOCK_STEP, 1, NULL);
    bench->events[step].step_us = 5000000;
    bench_add_keys(bench, 100, 3000);
    bench_run(bench);
    const struct trace_row *near = bench_row_of(bench, 1, 1), *master = bench_row_of(bench, 0, 1);
    ck_assert_int_eq(bench_row_of(bench, 1, 0)->stale_keys, 0);
    ck_assert_int_eq(near->stale_keys, 100);
    ck_assert_int_eq(near->stale_percent, 100000);
    ck_assert_int_eq(master->stale_keys, 0);
    ck_assert_int_gt(near->stale_memory_bytes, 100 * 10);
    bench_destroy(bench);
}
END_TEST

/* Clients. */

START_TEST(even_arrivals_do_not_drift) {
    struct bench *bench = bench_create(1, 3000000 * MS);
    bench->scenario.trace_interval_ns = 1000000 * MS;
    bench_add_keys(bench, 10, 0);
    bench_add_client(bench, "GET {key}", 0, 7 * 1000 / 3 + 1); /* 2.334 a second */
    bench_run(bench);
    ck_assert_int_eq(bench_row_of(bench, 0, 0)->requests, 2334);
    ck_assert_int_eq(bench_row_of(bench, 0, 1)->requests, 2334);
    ck_assert_int_eq(bench_sum_requests(bench), 3 * 2334);
    bench_destroy(bench);
}
END_TEST

START_TEST(poisson_arrivals_keep_their_rate) {
    struct bench *bench = bench_create(1, 100000 * MS);
    bench->scenario.trace_interval_ns = 10000 * MS;
    bench_add_keys(bench, 10, 0);
    bench_add_client(bench, "GET {key}", 0, 1000 * 1000);
    bench->client.poisson = true;
    bench->client.connections = 7;
    bench_run(bench);
    ck_assert_int_gt(bench_sum_requests(bench), 100000 - 1600); /* five sigma */
    ck_assert_int_lt(bench_sum_requests(bench), 100000 + 1600);
    ck_assert_uint_eq(world_client_us(bench->world, 0)->count,
                      world_request_us(bench->world, 0)->count);
    ck_assert_uint_gt(bench->checks, 10);
    bench_destroy(bench);
}
END_TEST

/* Command 10 us, thinking 90 us: 10,000 a second for each of two connections that do not meet. */
START_TEST(closed_loop_sends_when_it_has_thought) {
    struct bench *bench = bench_create(1, 1000 * MS);
    bench->prices.ps[COST_COMMAND] = 10 * PS_PER_US;
    bench_add_keys(bench, 10, 0);
    bench_add_client(bench, "GET {key}", 0, 0);
    bench->client.think_ns = (struct distribution){.kind = DISTRIBUTION_CONSTANT, .low = 90 * US};
    bench_run(bench);
    ck_assert_int_ge(bench_sum_requests(bench), 9990);
    ck_assert_int_le(bench_sum_requests(bench), 10000);
    bench_destroy(bench);
}
END_TEST

START_TEST(closed_loop_at_a_server_without_cost_ends) {
    struct bench *bench = bench_create(1, 10 * MS);
    bench_add_keys(bench, 10, 0);
    bench_add_client(bench, "GET {key}", 0, 0);
    bench_run(bench);
    ck_assert_int_eq(bench_sum_requests(bench), 10000); /* one a microsecond */
    bench_destroy(bench);
}
END_TEST

START_TEST(no_request_is_lost_at_an_overloaded_server) {
    struct bench *bench = bench_create(1, 2000 * MS);
    bench->prices.ps[COST_COMMAND] = 15 * PS_PER_US;
    bench_add_keys(bench, 100, 0);
    bench_add_client(bench, "SET {key} {value}", 0, UINT64_C(100000) * 1000);
    bench->client.until_ns = 1000 * MS;
    bench->client.connections = 50;
    bench_run(bench);
    ck_assert_int_eq(bench_sum_requests(bench), 100000); /* takes 1.5 s in all */
    ck_assert_uint_eq(world_request_us(bench->world, 0)->count, 100000);
    ck_assert_int_gt(world_request_us(bench->world, 0)->max, 490000);
    bench_destroy(bench);
}
END_TEST

START_TEST(population_is_loaded_evenly) {
    struct bench *bench = bench_create(1, 1000 * MS);
    bench->scenario.trace_interval_ns = 100 * MS;
    bench_add_keys(bench, 1000, 50000);
    bench->population.preloaded = false;
    bench->population.load_at_ns = 200 * MS;
    bench->population.load_over_ns = 500 * MS;
    bench->population.db = 3;
    bench_run(bench);
    ck_assert_int_eq(bench->rows[0].keys, 0);
    ck_assert_int_eq(bench->rows[2].requests, 201); /* SELECT 3 is one */
    ck_assert_int_eq(bench->rows[2].keys, 200);
    ck_assert_int_eq(bench->rows[6].keys, 1000);
    ck_assert_int_eq(bench->rows[6].expires, 1000);
    ck_assert_uint_eq(engine_db_stats(world_engine(bench->world, 0), 3).keys, 1000);
    bench_destroy(bench);
}
END_TEST

START_TEST(population_is_loaded_back_to_back) {
    struct bench *bench = bench_create(1, 50 * MS);
    bench->prices.ps[COST_COMMAND] = 10 * PS_PER_US;
    bench_add_keys(bench, 1000, 0);
    bench->population.preloaded = false;
    bench->population.load_at_ns = 2 * MS;
    bench_add_command(bench, 12 * MS - 1, 0, "DBSIZE");
    bench_run(bench);
    ck_assert_str_eq(bench->replies[0].text, ":1000\r\n");
    ck_assert_int_eq(world_request_us(bench->world, 0)->max, 10);
    bench_destroy(bench);
}
END_TEST

/* Replication. */

/* *2 SELECT 0 and *2 DEL key:000001 take 23 + 30 bytes; 8 ns a byte at 1 Gbit/s. */
START_TEST(del_reaches_the_replica_after_sending_and_latency) {
    struct bench *bench = bench_create(2, 50 * MS);
    ns_t arrival_ns = 5 * MS + 10 * US + 7 * MS + (23 + 30) * 8;
    bench->prices.ps[COST_COMMAND] = 10 * PS_PER_US;
    bench->servers[1].link.latency_ns = 7 * MS;
    bench->servers[1].link.bandwidth_bits_per_s = 1000000000;
    bench_add_keys(bench, 10, 0);
    bench_add_command(bench, 5 * MS, 0, "DEL key:000001");
    bench_add_command(bench, arrival_ns - 20 * US, 1, "EXISTS key:000001");
    bench_add_command(bench, arrival_ns + 1, 1, "EXISTS key:000001");
    bench_run(bench);
    ck_assert_str_eq(bench->replies[1].text, ":1\r\n");
    ck_assert_str_eq(bench->replies[2].text, ":0\r\n");
    ck_assert_uint_ge(bench->stream_count, 2);
    bench_destroy(bench);
}
END_TEST

START_TEST(stream_leaves_when_its_turn_ends) {
    struct bench *bench = bench_create(2, 50 * MS);
    bench->prices.ps[COST_CRON] = 4000 * PS_PER_US;
    bench->prices.ps[COST_COMMAND] = 10 * PS_PER_US;
    bench_add_keys(bench, 10, 0);
    bench_add_command(bench, 20 * MS, 0, "DEL key:000001");
    bench_run(bench);
    ck_assert_uint_eq(bench->stream_count, 3);
    ck_assert_int_eq(bench->stream_ns[0], 5 * MS); /* the first cron's ping */
    ck_assert_int_eq(bench->stream_ns[1], 20 * MS + 10 * US);
    ck_assert_int_eq(bench->stream_ns[2], 20 * MS + 10 * US);
    bench_destroy(bench);
}
END_TEST

START_TEST(lag_grows_behind_a_cut_and_ends_after_it) {
    struct bench *bench = bench_create(3, 1000 * MS);
    bench->scenario.trace_interval_ns = 100 * MS;
    bench_add_keys(bench, 10, 0);
    bench_add_event(bench, 150 * MS, EVENT_CUT, 2, NULL);
    bench_add_command(bench, 200 * MS, 0, "DEL key:000001");
    bench_add_event(bench, 650 * MS, EVENT_HEAL, 2, NULL);
    bench_run(bench);
    ck_assert_int_eq(bench_row_of(bench, 2, 0)->lag_ms, 0);
    ck_assert_int_eq(bench_row_of(bench, 2, 4)->lag_ms, 300);
    ck_assert_int_eq(bench_row_of(bench, 2, 4)->lag_bytes, 53);
    ck_assert_int_eq(bench_row_of(bench, 2, 4)->link_queue_bytes, 53);
    ck_assert_int_eq(bench_row_of(bench, 1, 4)->lag_bytes, 0);
    ck_assert_int_eq(bench_row_of(bench, 2, 6)->lag_bytes, 0);
    ck_assert_int_eq(bench_row_of(bench, 2, 6)->keys, 9);
    bench_destroy(bench);
}
END_TEST

START_TEST(replica_hides_what_its_memory_still_holds) {
    struct bench *bench = bench_create(2, 1000 * MS);
    bench->scenario.trace_interval_ns = 500 * MS;
    bench_add_keys(bench, 10, 100);
    bench_add_event(bench, 50 * MS, EVENT_CUT, 1, NULL);
    bench_add_client(bench, "GET {key}", 1, 1000 * 1000);
    bench_run(bench);
    const struct trace_row *near = bench_row_of(bench, 1, 0);
    ck_assert_int_eq(near->requests, 500);
    ck_assert_int_ge(near->nil_replies, 398);
    ck_assert_int_eq(near->nil_replies, near->hits_hidden);
    ck_assert_int_eq(near->stale_keys, 10);
    ck_assert_int_eq(bench_row_of(bench, 0, 0)->keys, 0);
    ck_assert(world_drain(bench->world, 1000 * MS));
    ck_assert_uint_eq(engine_stats(world_engine(bench->world, 1)).keys, 0);
    bench_destroy(bench);
}
END_TEST

/* SET leaves at 5 ms and is there at 6; so is REPLCONF GETACK, whose answer is back at 7. */
START_TEST(a_command_that_waits_is_answered_when_it_need_wait_no_more) {
    struct bench *bench = bench_create(2, 50 * MS);
    bench_add_keys(bench, 10, 0);
    bench_add_command(bench, 5 * MS, 0, "SET key:000001 x");
    bench_add_command(bench, 5 * MS, 0, "WAIT 1 0");
    bench_add_command(bench, 6 * MS, 0, "PING");
    bench_run(bench);
    ck_assert_str_eq(bench->replies[1].text, ":1\r\n");
    ck_assert_int_eq(bench->replies[1].at_ns, 7 * MS);
    ck_assert_str_eq(bench->replies[2].text, "+PONG\r\n");
    ck_assert_int_eq(bench->replies[2].at_ns, 7 * MS); /* same connection: it waits behind it */
    ck_assert_uint_eq(world_request_us(bench->world, 0)->count, 3);
    bench_destroy(bench);
}
END_TEST

START_TEST(a_frozen_server_answers_when_it_is_thawed) {
    struct bench *bench = bench_create(1, 90 * MS);
    bench->prices.ps[COST_COMMAND] = 10000 * PS_PER_US; /* 10 ms */
    bench_add_command(bench, 5 * MS, 0, "PING");
    bench_add_event(bench, 8 * MS, EVENT_FREEZE, 0, NULL);
    bench_add_command(bench, 20 * MS, 0, "PING");
    bench_add_event(bench, 40 * MS, EVENT_THAW, 0, NULL);
    bench_run(bench);
    ck_assert_int_eq(bench->replies[0].at_ns, 47 * MS); /* 3 of its 10 ms were done */
    ck_assert_int_eq(bench->replies[2].at_ns, 57 * MS);
    ck_assert_int_eq(world_request_us(bench->world, 0)->max, 42000);
    bench_destroy(bench);
}
END_TEST

/* The key is in database 0, alive; the connection looks for it in 3. */
START_TEST(key_of_another_database_is_not_hidden) {
    struct bench *bench = bench_create(2, 1000 * MS);
    bench_add_keys(bench, 1, 5000);
    bench_add_command(bench, 50 * MS, 1, "SELECT 3");
    bench_add_command(bench, 60 * MS, 1, "GET key:000000");
    bench->scenario.trace_interval_ns = 500 * MS;
    bench_run(bench);
    ck_assert_int_eq(bench_row_of(bench, 1, 0)->nil_replies, 1);
    ck_assert_int_eq(bench_row_of(bench, 1, 0)->hits_hidden, 0);
    bench_destroy(bench);
}
END_TEST

/* The output. */

START_TEST(event_that_does_not_parse_is_refused) {
    struct bench *bench = bench_create(1, MS);
    struct scenario_error error = {""};
    struct world_output output = {.context = bench, .row = bench_row};
    bench_add_command(bench, 0, 0, "SET \"half");
    ck_assert_ptr_null(world_create(&bench->scenario, &output, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "SET"));
    bench_destroy(bench);
}
END_TEST

static bool refuse_row(void *context, const struct trace_row *row) {
    uint32_t *left = context;
    ck_assert_ptr_nonnull(row->server);
    return (*left)-- > 1;
}

START_TEST(failing_output_stops_the_run) {
    struct bench *bench = bench_create(1, 1000 * MS);
    struct scenario_error error;
    uint32_t left = 3;
    struct world_output output = {.context = &left, .row = refuse_row};
    struct world *world = world_create(&bench->scenario, &output, &error);
    ck_assert_int_eq(world_run(world), WORLD_OUTPUT_FAILED);
    ck_assert_int_eq(world_now_ns(world), 201 * MS);
    world_destroy(world);
    bench_destroy(bench);
}
END_TEST

/* What loading() was told, and when it says stop. */
struct loading {
    uint64_t calls, done, all, stop_at;
};

static bool watch_loading(void *context, uint64_t done, uint64_t all) {
    struct loading *loading = context;
    ck_assert_uint_gt(done, loading->done);
    *loading = (struct loading){loading->calls + 1, done, all, loading->stop_at};
    return done >= loading->stop_at;
}

START_TEST(loading_says_how_far_it_is_and_stops_when_told) {
    struct bench *bench = bench_create(2, MS);
    struct scenario_error error;
    struct loading loading = {.stop_at = UINT64_MAX};
    struct world_output output = {.context = &loading, .row = refuse_row, .loading = watch_loading};
    bench_add_keys(bench, 10000, 1000);
    struct world *world = world_create(&bench->scenario, &output, &error);
    ck_assert_uint_eq(loading.calls, 3);
    ck_assert_uint_eq(loading.done, 10000);
    ck_assert_uint_eq(loading.all, 10000);
    ck_assert_uint_eq(engine_stats(world_engine(world, 1)).keys, 10000);
    world_destroy(world);
    loading = (struct loading){.stop_at = 5000};
    ck_assert_ptr_null(world_create(&bench->scenario, &output, &error));
    ck_assert_uint_eq(loading.calls, 2);
    ck_assert_str_eq(error.message, "");
    bench_destroy(bench);
}
END_TEST

static bool keep_row(void *context, const struct trace_row *row) { return context && row; }

static bool count_question(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    ++*(uint32_t *)context;
    return now_ns > duration_ns || events == 0;
}

/* 20 turns of 50 ms of work: a handful of events. */
START_TEST(interrupted_is_asked_by_work_as_well_as_by_events) {
    struct bench *bench = bench_create(1, 2000 * MS);
    struct scenario_error error;
    uint32_t questions = 0;
    struct world_output output = {
        .context = &questions, .row = keep_row, .interrupted = count_question};
    bench->prices.ps[COST_CRON] = 50000 * PS_PER_US;
    struct world *world = world_create(&bench->scenario, &output, &error);
    ck_assert_int_eq(world_run(world), WORLD_DONE);
    ck_assert_uint_lt(world_event_count(world), 200);
    ck_assert_uint_ge(questions, 13);
    world_destroy(world);
    bench_destroy(bench);
}
END_TEST

START_TEST(same_seed_gives_the_same_rows) {
    struct bench *benches[2];
    for (int i = 0; i < 2; i++) {
        struct bench *bench = benches[i] = bench_create(3, 2000 * MS);
        bench->prices = *price_table_find("default");
        bench->servers[2].link.jitter_ns = 9 * MS;
        bench_add_keys(bench, 5000, 1000);
        bench->population.jitter = (struct jitter){JITTER_UNIFORM, 500, 1};
        bench_add_client(bench, "SET {key} {value} PX {ttl}", 0, UINT64_C(5000) * 1000);
        bench->client.poisson = true;
        bench_run(bench);
    }
    ck_assert_uint_gt(benches[0]->row_count, 40);
    ck_assert_uint_eq(benches[0]->row_count, benches[1]->row_count);
    ck_assert_uint_eq(world_event_count(benches[0]->world), world_event_count(benches[1]->world));
    size_t bytes = benches[0]->row_count * sizeof *benches[0]->rows;
    ck_assert_int_eq(memcmp(benches[0]->rows, benches[1]->rows, bytes), 0);
    for (int i = 0; i < 2; i++) bench_destroy(benches[i]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("world");
    TCase *loop = tcase_create("event loop"), *rows = tcase_create("rows");
    TCase *clients = tcase_create("clients"), *replication = tcase_create("replication");
    TCase *output = tcase_create("output");
    tcase_add_test(loop, cron_without_cost_runs_at_1_ms_and_then_each_100_ms);
    tcase_add_test(loop, cron_period_is_its_own_time_and_1000_by_hz);
    tcase_add_test(loop, poll_rounds_its_timeout_up_to_whole_ms);
    tcase_add_test(loop, request_between_timer_and_late_wake_up_runs_the_cron);
    tcase_add_test(loop, request_in_mid_turn_waits_for_the_next_one);
    tcase_add_test(loop, reply_just_before_a_long_cron_leaves_after_it);
    tcase_add_test(loop, turn_time_vanishes_in_lockstep);
    tcase_add_test(rows, interval_rows_carry_sums_of_all_servers);
    tcase_add_test(rows, clock_step_moves_one_servers_wall_clock);
    tcase_add_test(clients, even_arrivals_do_not_drift);
    tcase_add_test(clients, poisson_arrivals_keep_their_rate);
    tcase_add_test(clients, closed_loop_sends_when_it_has_thought);
    tcase_add_test(clients, closed_loop_at_a_server_without_cost_ends);
    tcase_add_test(clients, no_request_is_lost_at_an_overloaded_server);
    tcase_add_test(clients, population_is_loaded_evenly);
    tcase_add_test(clients, population_is_loaded_back_to_back);
    tcase_add_test(replication, del_reaches_the_replica_after_sending_and_latency);
    tcase_add_test(replication, stream_leaves_when_its_turn_ends);
    tcase_add_test(replication, lag_grows_behind_a_cut_and_ends_after_it);
    tcase_add_test(replication, replica_hides_what_its_memory_still_holds);
    tcase_add_test(replication, a_command_that_waits_is_answered_when_it_need_wait_no_more);
    tcase_add_test(replication, a_frozen_server_answers_when_it_is_thawed);
    tcase_add_test(replication, key_of_another_database_is_not_hidden);
    tcase_add_test(output, event_that_does_not_parse_is_refused);
    tcase_add_test(output, failing_output_stops_the_run);
    tcase_add_test(output, loading_says_how_far_it_is_and_stops_when_told);
    tcase_add_test(output, interrupted_is_asked_by_work_as_well_as_by_events);
    tcase_add_test(output, same_seed_gives_the_same_rows);
    TCase *all[] = {loop, rows, clients, replication, output};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tcase_set_timeout(all[i], 60);
        suite_add_tcase(suite, all[i]);
    }
    return test_run(suite);
}
