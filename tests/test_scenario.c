/* scenario: what a good file becomes; the shipped ones and the reference load. */
#include "scenario.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "schema.h"
#include "support.h"

static const char small[] = "name: small\n"
                            "servers: {a: {}}\n";

static struct scenario *parse_variant(const char *text, const char *variant) {
    struct scenario_error error;
    struct scenario *s = scenario_parse(text, strlen(text), "test.yaml",
                                        LAPSE_SOURCE_DIR "/scenarios", variant, &error);
    ck_assert_msg(s != NULL, "%s", error.message);
    return s;
}

static struct scenario *parse(const char *text) { return parse_variant(text, NULL); }

START_TEST(a_small_file_gets_every_default) {
    struct scenario *s = parse(small);
    struct engine_config config = engine_config_default();
    ck_assert_str_eq(s->name, "small");
    ck_assert_str_eq(s->about, "");
    ck_assert_uint_eq(s->seed, 1);
    ck_assert_int_eq(s->start_wall_us, INT64_C(1767225600000000));
    ck_assert_int_eq(s->duration_ns, 30 * NS_PER_S);
    ck_assert_int_eq(s->trace_interval_ns, 0);
    ck_assert_uint_eq(s->server_count, 1);
    ck_assert_str_eq(s->servers[0].generation->name, "redis-7.0");
    ck_assert_str_eq(s->servers[0].allocator->name, "bundled");
    ck_assert_str_eq(s->servers[0].prices->name, "default");
    ck_assert_int_eq(s->servers[0].master, -1);
    ck_assert_mem_eq(&s->servers[0].engine, &config, sizeof config);
    scenario_destroy(s);
}
END_TEST

static const char whole[] = "name: whole\n"
                            "about: All of it.\n"
                            "seed: 42\n"
                            "start: 2024-02-29T23:59:59.5Z\n"
                            "duration: 1.5min\n"
                            "trace: 250ms\n"
                            "engine: redis-5.0\n"
                            "allocator: debian\n"
                            "costs: unit\n"
                            "servers:\n"
                            "  main:\n"
                            "    config: {hz: 100, dynamic-hz: no, repl-backlog-size: 2mb}\n"
                            "    clock-offset: -1.5ms\n"
                            "  far:\n"
                            "    replica-of: main\n"
                            "    engine: redis-7.0\n"
                            "    link:\n"
                            "      latency: 80ms\n"
                            "      jitter: 5ms\n"
                            "      bandwidth: 100mbit/s\n"
                            "      socket-buffer: 64KiB\n"
                            "      outages: [{at: 20s, for: 1s}, {at: 12s, for: 8s}]\n"
                            "populations:\n"
                            "  sessions:\n"
                            "    keys: \"s:{n:08}:x\"\n"
                            "    first: 7\n"
                            "    count: 1_000\n"
                            "    db: 3\n"
                            "    value: {mix: {32B: 90, 1KiB: 10}}\n"
                            "    ttl: {uniform: [10s, 1min]}\n"
                            "    jitter: {strategy: gaussian, span: 10s, resolution: s}\n"
                            "    load: {at: 1s, over: 10s}\n"
                            "  others: {keys: \"o{n}\", count: 5, deadline: 10s}\n"
                            "clients:\n"
                            "  reader:\n"
                            "    server: far\n"
                            "    rate: 5k/s\n"
                            "    arrivals: even\n"
                            "    population: sessions\n"
                            "    popularity: {zipf: 0.99}\n"
                            "    mix: {\"GET {key}\": 90, \"SET {key} {value} PX {ttl}\": 10}\n"
                            "    from: 1s\n"
                            "  workers: {connections: 50, think: 10ms, mix: {INFO: 1}}\n"
                            "events:\n"
                            "  - {at: 6s, cut: far}\n"
                            "  - {at: 5s, server: far, db: 2, command: GET foo}\n"
                            "  - {at: 6s, heal: far}\n"
                            "  - {at: 5s, clock-step: +30s}\n"
                            "expect:\n"
                            "  - max(main.stale_percent) < 60\n";

START_TEST(servers_and_links_are_as_written) {
    struct scenario *s = parse(whole);
    ck_assert_int_eq(s->start_wall_us, INT64_C(1709251199500000));
    ck_assert_int_eq(s->duration_ns, 90 * NS_PER_S);
    ck_assert_int_eq(s->trace_interval_ns, 250 * NS_PER_MS);
    const struct server_config *a = &s->servers[0], *b = &s->servers[1];
    ck_assert_str_eq(a->generation->name, "redis-5.0");
    ck_assert_str_eq(b->generation->name, "redis-7.0");
    ck_assert_str_eq(b->allocator->name, "debian");
    ck_assert_str_eq(b->prices->name, "unit");
    ck_assert_int_eq(a->engine.hz, 100);
    ck_assert_int_eq(a->engine.dynamic_hz, 0);
    ck_assert_int_eq(a->engine.repl_backlog_size, 2 << 20);
    ck_assert_int_eq(a->clock_offset_us, -1500);
    ck_assert(!a->engine.is_replica && b->engine.is_replica);
    ck_assert_int_eq(b->master, 0);
    ck_assert_int_eq(b->link.latency_ns, 80 * NS_PER_MS);
    ck_assert_int_eq(b->link.jitter_ns, 5 * NS_PER_MS);
    ck_assert_uint_eq(b->link.bandwidth_bits_per_s, 100000000);
    ck_assert_uint_eq(b->link.socket_buffer_bytes, 65536);
    ck_assert_uint_eq(b->link.outage_count, 2);
    ck_assert_int_eq(b->link.outages[0].at_ns, 12 * NS_PER_S);
    ck_assert_int_eq(b->link.outages[1].for_ns, NS_PER_S);
    scenario_destroy(s);
}
END_TEST

START_TEST(populations_are_as_written) {
    struct scenario *s = parse(whole);
    const struct population_config *p = &s->populations[0], *o = &s->populations[1];
    ck_assert_str_eq(p->pattern_prefix, "s:");
    ck_assert_str_eq(p->pattern_suffix, ":x");
    ck_assert_uint_eq(p->pattern_width, 8);
    ck_assert_uint_eq(p->pattern_first, 7);
    ck_assert_uint_eq(p->count, 1000);
    ck_assert_uint_eq(p->db, 3);
    ck_assert_int_eq(p->value_bytes.kind, DISTRIBUTION_MIX);
    ck_assert_uint_eq(p->value_bytes.mix_weight, 100);
    ck_assert_int_eq(p->value_bytes.mix[1].value, 1024);
    ck_assert_int_eq(p->ttl_ms.kind, DISTRIBUTION_UNIFORM);
    ck_assert_int_eq(p->ttl_ms.low, 10000);
    ck_assert_int_eq(p->ttl_ms.high, 60000);
    ck_assert_int_eq(p->deadline_ms, -1);
    ck_assert_int_eq(p->jitter.kind, JITTER_GAUSSIAN);
    ck_assert_int_eq(p->jitter.span_ms, 10000);
    ck_assert_int_eq(p->jitter.resolution_ms, 1000);
    ck_assert(!p->preloaded);
    ck_assert_int_eq(p->load_at_ns, NS_PER_S);
    ck_assert_int_eq(p->load_over_ns, 10 * NS_PER_S);
    ck_assert(o->preloaded);
    ck_assert_int_eq(o->deadline_ms, 10000);
    ck_assert_int_eq(o->ttl_ms.kind, DISTRIBUTION_NONE);
    ck_assert_int_eq(o->value_bytes.low, 32);
    ck_assert_int_eq(o->jitter.kind, JITTER_NONE);
    ck_assert_int_eq(o->jitter.resolution_ms, 1);
    scenario_destroy(s);
}
END_TEST

START_TEST(clients_are_as_written) {
    struct scenario *s = parse(whole);
    const struct client_config *r = &s->clients[0], *w = &s->clients[1];
    ck_assert_uint_eq(r->server, 1);
    ck_assert_uint_eq(r->rate_per_1000_h, UINT64_C(18000000000));
    ck_assert(!r->poisson);
    ck_assert_uint_eq(r->connections, 1);
    ck_assert_int_eq(r->population, 0);
    ck_assert_uint_eq(r->zipf_exponent_milli, 990);
    ck_assert_uint_eq(r->mix_count, 2);
    ck_assert_uint_eq(r->mix_weight, 100);
    ck_assert_str_eq(r->mix[1].command->name, "set");
    ck_assert_uint_eq(r->mix[1].argc, 5);
    ck_assert_int_eq(r->mix[1].args[4].kind, TEMPLATE_TTL_MS);
    ck_assert_int_eq(r->from_ns, NS_PER_S);
    ck_assert_int_eq(r->until_ns, 90 * NS_PER_S);
    ck_assert_uint_eq(r->db, 3); /* its population's */
    ck_assert_uint_eq(w->rate_per_1000_h, 0);
    ck_assert_uint_eq(w->connections, 50);
    ck_assert_int_eq(w->think_ns.low, 10 * NS_PER_MS);
    ck_assert_int_eq(w->population, -1);
    scenario_destroy(s);
}
END_TEST

START_TEST(events_are_sorted_and_equals_keep_their_order) {
    struct scenario *s = parse(whole);
    ck_assert_uint_eq(s->event_count, 4);
    ck_assert_int_eq(s->events[0].kind, EVENT_COMMAND);
    ck_assert_str_eq(s->events[0].text, "GET foo");
    ck_assert_uint_eq(s->events[0].server, 1);
    ck_assert_uint_eq(s->events[0].db, 2);
    ck_assert_int_eq(s->events[1].kind, EVENT_CLOCK_STEP);
    ck_assert_int_eq(s->events[1].step_us, 30000000);
    ck_assert_uint_eq(s->events[1].server, 0);
    ck_assert_int_eq(s->events[2].kind, EVENT_CUT);
    ck_assert_uint_eq(s->events[2].server, 1);
    ck_assert_int_eq(s->events[3].kind, EVENT_HEAL);
    ck_assert_uint_eq(s->expectation_count, 1);
    ck_assert_str_eq(s->expectations[0].text, "max(main.stale_percent) < 60");
    ck_assert_int_eq(s->expectations[0].column, 5);
    scenario_destroy(s);
}
END_TEST

/* ---- links, clocks, failures ---- */

#define TWO(text) "name: two\nduration: 100s\nservers:\n  a: {}\n  b: {replica-of: a, " text "}\n"

START_TEST(the_way_up_is_as_the_way_down_and_not_limited) {
    struct scenario *s = parse(TWO("link: {latency: 5ms, jitter: 1ms, bandwidth: 8mbit/s, "
                                   "socket-buffer: 1KiB, outages: [{at: 1s, for: 2s}]}"));
    const struct link_config *up = &s->servers[1].link_up;
    ck_assert_int_eq(up->latency_ns, 5 * NS_PER_MS);
    ck_assert_int_eq(up->jitter_ns, NS_PER_MS);
    ck_assert_uint_eq(up->bandwidth_bits_per_s, 0);
    ck_assert_uint_eq(up->socket_buffer_bytes, 1024);
    ck_assert_uint_eq(up->outage_count, 1);
    ck_assert_int_eq(up->outages[0].for_ns, 2 * NS_PER_S);
    ck_assert(s->servers[1].has_link && !s->servers[0].has_link);
    ck_assert_int_eq(s->servers[0].link.latency_ns, NS_PER_MS); /* should it become a replica */
    ck_assert_uint_eq(s->servers[0].link_up.socket_buffer_bytes, 2560 << 10);
    scenario_destroy(s);
}
END_TEST

START_TEST(the_way_up_may_be_another) {
    struct scenario *s = parse(TWO("link: {latency: {uniform: [1ms, 3ms]}, jitter: 1ms, "
                                   "up: {latency: 40ms, bandwidth: 1mbit/s}}"));
    const struct server_config *b = &s->servers[1];
    ck_assert_int_eq(b->link.latency.kind, DISTRIBUTION_UNIFORM);
    ck_assert_int_eq(b->link.latency.high, 3 * NS_PER_MS);
    ck_assert_int_eq(b->link_up.latency.kind, DISTRIBUTION_NONE);
    ck_assert_int_eq(b->link_up.latency_ns, 40 * NS_PER_MS);
    ck_assert_int_eq(b->link_up.jitter_ns, NS_PER_MS);
    ck_assert_uint_eq(b->link_up.bandwidth_bits_per_s, 1000000);
    scenario_destroy(s);
}
END_TEST

START_TEST(outages_of_one_way_are_of_that_direction_alone) {
    struct scenario *s = parse(TWO("link: {outages: [{at: 9s, for: 1s, way: up}, "
                                   "{at: 1s, for: 5s, way: down}, {at: 3s, for: 1s, way: up}, "
                                   "{at: 20s, for: 1s}]}"));
    const struct server_config *b = &s->servers[1];
    ck_assert_uint_eq(b->link.outage_count, 2);
    ck_assert_int_eq(b->link.outages[0].at_ns, NS_PER_S);
    ck_assert_int_eq(b->link.outages[1].at_ns, 20 * NS_PER_S);
    ck_assert_uint_eq(b->link_up.outage_count, 3);
    ck_assert_int_eq(b->link_up.outages[0].at_ns, 3 * NS_PER_S);
    ck_assert_int_eq(b->link_up.outages[1].at_ns, 9 * NS_PER_S);
    scenario_destroy(s);
}
END_TEST

START_TEST(delays_may_be_lognormal_exponential_or_measured) {
    char directory[] = "/tmp/lapse-test-XXXXXX", path[64];
    static const char text[] =
        TWO("link: {latency: {lognormal: {median: 10ms, sigma: 0.5}}, jitter: {exponential: 2ms}, "
            "up: {latency: {csv: d.csv, unit: ms}, jitter: {lognormal: {median: 1ms, p99: 8ms}}}}");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/d.csv", directory);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs("\xef\xbb\xbf"
          "delay,weight\r\n# a comment\r\n2.5,3\r\n\"1\",4\r\n\r\n900us,1\r\n2.5,2",
          file);
    fclose(file);
    struct scenario_error error;
    struct scenario *s = scenario_parse(text, strlen(text), "t.yaml", directory, NULL, &error);
    remove(path);
    remove(directory);
    ck_assert_msg(s != NULL, "%s", error.message);
    const struct link_config *down = &s->servers[1].link, *up = &s->servers[1].link_up;
    ck_assert_int_eq(down->latency.kind, DISTRIBUTION_LOGNORMAL);
    ck_assert_int_eq(down->latency.middle, 10 * NS_PER_MS);
    ck_assert_uint_le(down->latency.sigma - (UINT64_C(1) << 55) + 1000, 2000); /* a half, Q56 */
    ck_assert_int_eq(down->latency.high, 86400 * NS_PER_S);
    ck_assert_int_eq(down->jitter.kind, DISTRIBUTION_EXPONENTIAL);
    ck_assert_int_eq(down->jitter.middle, 2 * NS_PER_MS);
    ck_assert_uint_eq(up->jitter.sigma, lognormal_sigma(NS_PER_MS, 8 * NS_PER_MS));
    ck_assert_int_eq(up->latency.kind, DISTRIBUTION_EMPIRICAL);
    ck_assert_uint_eq(up->latency.mix_count, 3); /* 2.5 ms twice */
    ck_assert_int_eq(up->latency.mix[0].value, 900 * NS_PER_US);
    ck_assert_int_eq(up->latency.mix[1].value, NS_PER_MS);
    ck_assert_int_eq(up->latency.mix[2].value, 2500 * NS_PER_US);
    ck_assert_uint_eq(up->latency.mix[2].weight, 5);
    ck_assert_uint_eq(up->latency.mix_weight, 10);
    scenario_destroy(s);
}
END_TEST

/* The same list again and again, another with another seed; sorted, disjoint, within the run. */
static void check_outages(const struct scenario *s, const struct link_config *link) {
    ns_t end_ns = 0;
    for (uint32_t i = 0; i < link->outage_count; i++) {
        ck_assert_int_ge(link->outages[i].at_ns, end_ns);
        ck_assert_int_gt(link->outages[i].for_ns, 0);
        ck_assert_int_lt(link->outages[i].at_ns, s->duration_ns);
        end_ns = link->outages[i].at_ns + link->outages[i].for_ns;
    }
}

static bool same_outages(const struct link_config *a, const struct link_config *b) {
    return a->outage_count == b->outage_count &&
           memcmp(a->outages, b->outages, a->outage_count * sizeof *a->outages) == 0;
}

START_TEST(random_outages_come_from_the_seed_and_the_server_s_name) {
    static const char text[] =
        "name: r\nduration: 1000s\nservers:\n  a: {}\n"
        "  b: {replica-of: a, link: {random-outages: {every: {exponential: 6s}, for: {uniform: "
        "[1s, 5s]}}}}\n"
        "  c: {replica-of: a, link: {random-outages: {every: {exponential: 6s}, for: {uniform: "
        "[1s, 5s]}}}}\n";
    struct scenario *s = parse(text), *t = parse(text);
    const struct link_config *b = &s->servers[1].link, *c = &s->servers[2].link;
    /* A mean of 6 s and then 3 s: 1000 / 9 = 111, with a deviation of about 7.8 (a renewal's
       variance is n * var / mean^2 = 111 * (36 + 16 / 12) / 81 = 51): five of them. */
    ck_assert(b->outage_count > 72 && b->outage_count < 150);
    check_outages(s, b);
    ck_assert(same_outages(b, &t->servers[1].link));
    ck_assert(same_outages(b, &s->servers[1].link_up));
    ck_assert(!same_outages(b, c));
    scenario_set_seed(t, 2);
    ck_assert(!same_outages(b, &t->servers[1].link));
    check_outages(t, &t->servers[1].link);
    scenario_set_seed(t, 1);
    ck_assert(same_outages(b, &t->servers[1].link));
    scenario_destroy(s);
    scenario_destroy(t);
}
END_TEST

START_TEST(random_and_planned_outages_that_meet_are_one) {
    struct scenario *s = parse(TWO("link: {outages: [{at: 3s, for: 5s}, {at: 12s, for: 1s}], "
                                   "random-outages: {every: 7s, for: 2s, way: down}}"));
    /* random: [7, 9), [16, 18), [25, 27) ...: 3..8 and 7..9 become 3..9 */
    const struct server_config *b = &s->servers[1];
    ck_assert_int_eq(b->link.outages[0].at_ns, 3 * NS_PER_S);
    ck_assert_int_eq(b->link.outages[0].for_ns, 6 * NS_PER_S);
    ck_assert_int_eq(b->link.outages[1].at_ns, 12 * NS_PER_S);
    ck_assert_int_eq(b->link.outages[2].at_ns, 16 * NS_PER_S);
    ck_assert_int_eq(b->link.outages[3].at_ns, 25 * NS_PER_S);
    ck_assert_uint_eq(b->link.outage_count, 12); /* 7 + 9 i < 100: 11, one of them met; 2 planned */
    ck_assert_uint_eq(b->link_up.outage_count, 2);
    check_outages(s, &b->link);
    scenario_destroy(s);
}
END_TEST

START_TEST(a_clock_has_an_offset_and_a_drift) {
    struct scenario *s = parse("name: c\nservers:\n  a: {clock: {offset: 5s, drift: 20ppm}}\n"
                               "  b: {clock: {drift: -500ppb}}\n  c: {clock-offset: -1.5ms}\n");
    ck_assert_int_eq(s->servers[0].clock_offset_us, 5000000);
    ck_assert_int_eq(s->servers[0].clock_drift_ppb, 20000);
    ck_assert_int_eq(s->servers[1].clock_offset_us, 0);
    ck_assert_int_eq(s->servers[1].clock_drift_ppb, -500);
    ck_assert_int_eq(s->servers[2].clock_offset_us, -1500);
    ck_assert_int_eq(s->servers[2].clock_drift_ppb, 0);
    scenario_destroy(s);
}
END_TEST

START_TEST(replicas_of_replicas_failures_and_a_failover_are_as_written) {
    struct scenario *s =
        parse("name: f\nservers:\n  a: {link: {latency: 2ms}, config: {client-output-buffer-limit: "
              "\"normal 0 0 0 replica 2mb 1mb 5\"}}\n  b: {replica-of: a}\n  c: {replica-of: b}\n"
              "events: [{at: 1s, freeze: a}, {at: 2s, thaw: a}, {at: 3s, reset: c}, "
              "{at: 4s, cut: a}, {at: 5s, heal: a}]\n"
              "failover: {watch: a, promote: b, down-after: 2s}\n");
    ck_assert_int_eq(s->servers[2].master, 1);
    ck_assert_int_eq(s->events[0].kind, EVENT_FREEZE);
    ck_assert_uint_eq(s->events[0].server, 0);
    ck_assert_int_eq(s->events[1].kind, EVENT_THAW);
    ck_assert_int_eq(s->events[2].kind, EVENT_RESET);
    ck_assert_uint_eq(s->events[2].server, 2);
    ck_assert_int_eq(s->events[3].kind, EVENT_CUT); /* a master whose link is described */
    ck_assert(s->servers[0].has_link);
    ck_assert_int_eq(s->servers[0].link.latency_ns, 2 * NS_PER_MS);
    ck_assert_uint_eq(s->servers[0].engine.obuf_hard_bytes, 2 << 20);
    ck_assert_uint_eq(s->servers[0].engine.obuf_soft_bytes, 1 << 20);
    ck_assert_int_eq(s->servers[0].engine.obuf_soft_s, 5);
    ck_assert_uint_eq(s->note_count, 1);
    ck_assert_ptr_nonnull(strstr(s->notes[0], "client-output-buffer-limit normal"));
    ck_assert(s->failover.present);
    ck_assert_uint_eq(s->failover.watch, 0);
    ck_assert_uint_eq(s->failover.promote, 1);
    ck_assert_int_eq(s->failover.down_after_ns, 2 * NS_PER_S);
    ck_assert_int_eq(s->failover.clients_after_ns, NS_PER_S);
    scenario_destroy(s);
    s = parse(small);
    ck_assert(!s->failover.present);
    scenario_destroy(s);
}
END_TEST

/* A latency that is drawn is one value; the keys of a link and of a clock are many. */
START_TEST(a_variant_replaces_a_drawn_delay_whole_and_adds_to_a_link) {
    static const char text[] =
        TWO("link: {latency: {uniform: [1ms, 2ms]}, jitter: {uniform: [1ms, 2ms]}, "
            "up: {latency: 9ms}}") "variants:\n"
                                   "  v: {servers.b.link: {latency: {exponential: 5ms}, jitter: "
                                   "{mix: {1ms: 1}}, "
                                   "up: {bandwidth: 1mbit/s}}, servers.b.clock.drift: 1ppm}\n";
    struct scenario *s = parse_variant(text, "v");
    const struct server_config *b = &s->servers[1];
    ck_assert_int_eq(b->link.latency.kind, DISTRIBUTION_EXPONENTIAL);
    ck_assert_int_eq(b->link.jitter.kind, DISTRIBUTION_MIX);
    ck_assert_int_eq(b->link_up.latency_ns, 9 * NS_PER_MS);
    ck_assert_int_eq(b->link_up.jitter.kind, DISTRIBUTION_MIX);
    ck_assert_uint_eq(b->link_up.bandwidth_bits_per_s, 1000000);
    ck_assert_int_eq(b->clock_drift_ppb, 1000);
    scenario_destroy(s);
}
END_TEST

static const char varied[] = "name: varied\n"
                             "servers: {a: {config: {hz: 20, databases: 4}}}\n"
                             "populations: {p: {keys: \"k{n}\", count: 5, jitter: none}}\n"
                             "variants:\n"
                             "  base: {}\n"
                             "  blank:\n"
                             "  dotted: {servers.a.config.hz: 100, duration: 5s}\n"
                             "  nested: {servers: {a: {config: {hz: 200}}, b: {replica-of: a}}}\n"
                             "  made: {clients.c.rate: 1/s, clients.c.mix: {PING: 1}}\n"
                             "  mixed: {populations.p: {jitter: {strategy: add, span: 1s}}}\n"
                             "  more: {populations.q: {keys: \"q{n}\", count: 5}}\n";

START_TEST(a_variant_is_laid_over_the_file) {
    struct scenario *s = parse(varied);
    ck_assert_ptr_null(s->variant);
    ck_assert_uint_eq(s->variant_count, 7);
    ck_assert_str_eq(s->variants[2], "dotted");
    ck_assert_int_eq(s->servers[0].engine.hz, 20);
    scenario_destroy(s);
    s = parse_variant(varied, "dotted");
    ck_assert_str_eq(s->variant, "dotted");
    ck_assert_int_eq(s->servers[0].engine.hz, 100);
    ck_assert_int_eq(s->servers[0].engine.databases, 4);
    ck_assert_int_eq(s->duration_ns, 5 * NS_PER_S);
    scenario_destroy(s);
    s = parse_variant(varied, "nested");
    ck_assert_int_eq(s->servers[0].engine.hz, 200);
    ck_assert_int_eq(s->servers[0].engine.databases, 4);
    ck_assert_uint_eq(s->server_count, 2);
    scenario_destroy(s);
    s = parse_variant(varied, "made");
    ck_assert_uint_eq(s->client_count, 1);
    scenario_destroy(s);
    s = parse_variant(varied, "mixed");
    ck_assert_int_eq(s->populations[0].jitter.kind, JITTER_ADD);
    scenario_destroy(s);
    s = parse_variant(varied, "more");
    ck_assert_uint_eq(s->population_count, 2);
    scenario_destroy(s);
    scenario_destroy(parse_variant(varied, "base"));
    scenario_destroy(parse_variant(varied, "blank"));
}
END_TEST

/* A variant's TTL or mix is not merged with the file's: a command can be taken away. */
START_TEST(a_variant_replaces_a_distribution_and_a_mix_whole) {
    static const char text[] =
        "name: whole\nservers: {a: {}}\n"
        "populations: {p: {keys: \"k{n}\", count: 5, ttl: {uniform: [1s, 2s]}}}\n"
        "clients: {c: {rate: 1/s, population: p, mix: {PING: 1, \"GET {key}\": 1}}}\n"
        "variants:\n"
        "  v: {populations.p.ttl: {mix: {1s: 1, 5s: 1}}, clients: {c: {mix: {PING: 1}}}}\n";
    struct scenario *s = parse_variant(text, "v");
    ck_assert_int_eq(s->populations[0].ttl_ms.kind, DISTRIBUTION_MIX);
    ck_assert_uint_eq(s->clients[0].mix_count, 1);
    scenario_destroy(s);
}
END_TEST

START_TEST(a_variant_may_have_dots_in_values_and_commands) {
    static const char text[] =
        "name: a\nservers: {a: {}}\n"
        "populations: {p: {keys: \"k{n}\", count: 5, value: {mix: {1KiB: 1}}}}\n"
        "clients: {c: {rate: 1/s, mix: {PING: 1}}}\n"
        "variants:\n"
        "  v: {populations.p.value: {mix: {0.5KiB: 1}}, clients: {c: {mix: {SET k 1.5: 1}}}}\n";
    struct scenario *s = parse_variant(text, "v");
    ck_assert_uint_eq(s->populations[0].value_bytes.mix_count, 1);
    ck_assert_int_eq(s->populations[0].value_bytes.mix[0].value, 512);
    ck_assert_uint_eq(s->clients[0].mix_count, 1);
    scenario_destroy(s);
}
END_TEST

START_TEST(names_of_patterns_that_cannot_meet_may_be_alike) {
    scenario_destroy(parse("name: a\nservers: {a: {}}\npopulations:\n"
                           "  a: {keys: 'session:{n}', count: 5}\n"
                           "  b: {keys: 'session:a:{n}', count: 5}\n"
                           "  c: {keys: 'session:{n}:x', count: 5}\n"
                           "  d: {keys: 'session:{n}', first: 5, count: 5}\n"));
}
END_TEST

START_TEST(an_old_generation_ignores_effort_with_a_note) {
    struct scenario *s = parse("name: a\nengine: redis-5.0\n"
                               "servers: {a: {config: {active-expire-effort: 9}}}\n");
    ck_assert_uint_eq(s->note_count, 1);
    ck_assert_ptr_nonnull(strstr(s->notes[0], "active-expire-effort"));
    ck_assert_int_eq(s->servers[0].engine.active_expire_effort, 1);
    scenario_destroy(s);
}
END_TEST

/* Loads a file as it is and with each of its variants. */
static void load_all(const char *path) {
    struct scenario_error error;
    struct scenario *s = scenario_load(path, NULL, &error);
    ck_assert_msg(s != NULL, "%s", error.message);
    for (uint32_t i = 0; i < s->variant_count; i++) {
        struct scenario *v = scenario_load(path, s->variants[i], &error);
        ck_assert_msg(v != NULL, "%s", error.message);
        scenario_destroy(v);
    }
    scenario_destroy(s);
}

START_TEST(every_shipped_scenario_loads_with_each_variant) {
    DIR *folder = opendir(LAPSE_SOURCE_DIR "/scenarios");
    ck_assert_ptr_nonnull(folder);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[1024];
        if (!dot || strcmp(dot, ".yaml") != 0) continue;
        snprintf(path, sizeof path, LAPSE_SOURCE_DIR "/scenarios/%s", entry->d_name);
        load_all(path);
        count++;
    }
    closedir(folder);
    ck_assert_int_ge(count, 7);
}
END_TEST

START_TEST(every_key_has_a_line_of_help_and_stands_in_the_reference) {
    char *text = NULL, wanted[128];
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    scenario_print_reference(file);
    fclose(file);
    for (size_t i = 0; i < schema_row_count; i++) {
        const struct schema_row *row = &schema_rows[i];
        ck_assert_msg(row->help && *row->help && !strchr(row->help, '\n'), "%s", row->key);
        ck_assert_msg(row->size == 0 || row->initial || row->example, "%s", row->key);
        snprintf(wanted, sizeof wanted, "%s:", row->key);
        ck_assert_msg(strstr(text, wanted) && strstr(text, row->help), "%s", row->key);
    }
    free(text);
}
END_TEST

START_TEST(the_printed_reference_loads_with_each_variant) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    scenario_print_reference(file);
    fclose(file);
    struct scenario *s = parse(text);
    ck_assert_uint_eq(s->server_count, 2);
    ck_assert_uint_eq(s->variant_count, 3);
    for (uint32_t i = 0; i < s->variant_count; i++)
        scenario_destroy(parse_variant(text, s->variants[i]));
    scenario_destroy(s);
    free(text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("scenario");
    TCase *tcase = tcase_create("scenario");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_small_file_gets_every_default);
    tcase_add_test(tcase, servers_and_links_are_as_written);
    tcase_add_test(tcase, populations_are_as_written);
    tcase_add_test(tcase, clients_are_as_written);
    tcase_add_test(tcase, events_are_sorted_and_equals_keep_their_order);
    tcase_add_test(tcase, a_variant_is_laid_over_the_file);
    tcase_add_test(tcase, a_variant_may_have_dots_in_values_and_commands);
    tcase_add_test(tcase, a_variant_replaces_a_distribution_and_a_mix_whole);
    tcase_add_test(tcase, names_of_patterns_that_cannot_meet_may_be_alike);
    tcase_add_test(tcase, an_old_generation_ignores_effort_with_a_note);
    tcase_add_test(tcase, the_way_up_is_as_the_way_down_and_not_limited);
    tcase_add_test(tcase, the_way_up_may_be_another);
    tcase_add_test(tcase, outages_of_one_way_are_of_that_direction_alone);
    tcase_add_test(tcase, delays_may_be_lognormal_exponential_or_measured);
    tcase_add_test(tcase, random_outages_come_from_the_seed_and_the_server_s_name);
    tcase_add_test(tcase, random_and_planned_outages_that_meet_are_one);
    tcase_add_test(tcase, a_clock_has_an_offset_and_a_drift);
    tcase_add_test(tcase, replicas_of_replicas_failures_and_a_failover_are_as_written);
    tcase_add_test(tcase, a_variant_replaces_a_drawn_delay_whole_and_adds_to_a_link);
    tcase_add_test(tcase, every_shipped_scenario_loads_with_each_variant);
    tcase_add_test(tcase, every_key_has_a_line_of_help_and_stands_in_the_reference);
    tcase_add_test(tcase, the_printed_reference_loads_with_each_variant);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
