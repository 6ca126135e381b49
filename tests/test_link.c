/* link: times by arithmetic, and against a model that moves every byte in every nanosecond. */
#include "link.h"

#include <string.h>

#include "support.h"

__extension__ typedef unsigned __int128 u128;

#define NEVER       INT64_MAX
#define BYTE_PER_NS UINT64_C(8000000000)

static struct outage outages[64];
static struct link_config config;
static struct link link_;

static void setup(void) {
    memset(&config, 0, sizeof config);
    config.latency_ns = 100;
    config.socket_buffer_bytes = 1000;
    config.outages = outages;
    link_init(&link_, &config, rng_seed(test_seed()));
}

static void teardown(void) { link_release(&link_); }

static void add_outage(ns_t at_ns, ns_t for_ns) {
    outages[config.outage_count++] = (struct outage){at_ns, for_ns};
}

/* Sends `bytes` and checks the walker; serials and offsets rise by one a segment. */
static ns_t send_bytes(ns_t now_ns, uint64_t bytes) {
    static uint64_t serial;
    serial++;
    ns_t arrival = link_send(&link_, now_ns, serial, bytes, (int64_t)serial);
    link_check(&link_);
    return arrival;
}

START_TEST(a_segment_arrives_one_latency_after_it_was_sent) {
    ck_assert_int_eq(link_next_arrival(&link_), NEVER);
    ck_assert_int_eq(link_send(&link_, 1000, 7, 50, 77), 1100);
    ck_assert_int_eq(link_next_arrival(&link_), 1100);
    struct segment segment;
    ck_assert(!link_deliver(&link_, 1099, &segment));
    ck_assert(link_deliver(&link_, 1100, &segment));
    ck_assert_uint_eq(segment.end_serial, 7);
    ck_assert_uint_eq(segment.bytes, 50);
    ck_assert_int_eq(segment.end_offset, 77);
    ck_assert_int_eq(segment.sent_ns, 1000);
    ck_assert(!link_deliver(&link_, NEVER, &segment));
}
END_TEST

START_TEST(bytes_wait_for_the_wire) {
    config.bandwidth_bits_per_s = BYTE_PER_NS;
    ck_assert_int_eq(send_bytes(0, 40), 140);
    ck_assert_int_eq(send_bytes(0, 10), 150);  /* from 40 to 50 */
    ck_assert_int_eq(send_bytes(30, 10), 160); /* from 50 to 60 */
    ck_assert_int_eq(send_bytes(70, 10), 180); /* the wire was idle from 60 to 70 */
}
END_TEST

START_TEST(a_part_of_a_nanosecond_on_the_wire_counts_as_one) {
    config.bandwidth_bits_per_s = 3;
    ck_assert_int_eq(send_bytes(0, 1), INT64_C(2666666667) + 100); /* 8e9 / 3 = 2666666666.7 */
}
END_TEST

START_TEST(a_wire_too_slow_for_int64_delivers_never) {
    config.bandwidth_bits_per_s = 1; /* 8 * 10^9 ns a byte: 2^63 ns are 1.15 * 10^9 bytes */
    ck_assert_int_eq(send_bytes(5, UINT64_C(2000000000)), NEVER);
    ck_assert_int_eq(send_bytes(6, 1), NEVER);
}
END_TEST

START_TEST(room_is_what_has_not_arrived_yet) {
    struct segment segment;
    ck_assert_uint_eq(link_room_bytes(&link_), 1000);
    send_bytes(0, 600);
    ck_assert_uint_eq(link_room_bytes(&link_), 400);
    send_bytes(1, 500); /* taken whole while there is any room */
    ck_assert_uint_eq(link_room_bytes(&link_), 0);
    ck_assert(link_deliver(&link_, 100, &segment));
    ck_assert_uint_eq(link_room_bytes(&link_), 500);
    link_check(&link_);
}
END_TEST

START_TEST(an_outage_holds_what_is_sent_in_it) {
    add_outage(1000, 500);
    ck_assert_int_eq(send_bytes(1000, 1), 1600);
    ck_assert_int_eq(send_bytes(1499, 1), 1600);
    ck_assert_int_eq(send_bytes(1500, 1), 1600);
    ck_assert_int_eq(send_bytes(1501, 1), 1601);
}
END_TEST

START_TEST(what_flies_when_an_outage_begins_arrives_one_latency_after_it) {
    add_outage(1000, 500);
    ck_assert_int_eq(send_bytes(899, 1), 999); /* landed just before */
    ck_assert_int_eq(send_bytes(900, 1), 1600);
    ck_assert_int_eq(send_bytes(950, 1), 1600);
}
END_TEST

START_TEST(an_outage_shorter_than_the_latency_still_loses_what_flies) {
    add_outage(1000, 10);
    ck_assert_int_eq(send_bytes(999, 1), 1110); /* would have landed at 1099, after the outage */
}
END_TEST

START_TEST(one_outage_after_another_is_waited_for) {
    add_outage(1000, 500);
    add_outage(1500, 100); /* begins as the first ends */
    add_outage(1650, 50);  /* catches the segment sent at 1600 */
    ck_assert_int_eq(send_bytes(1200, 1), 1800);
}
END_TEST

START_TEST(an_outage_within_a_long_segment_loses_its_last_latency_only) {
    config.bandwidth_bits_per_s = BYTE_PER_NS;
    config.latency_ns = 20;
    add_outage(70, 130);
    /* 100 bytes from 0. Before 70, bytes 1 to 49 landed (k lands at k + 20): 51 are left, sent
       from 200, the last one is gone at 251. */
    ck_assert_int_eq(send_bytes(0, 100), 271);
    ck_assert_int_eq(send_bytes(0, 5), 276);
}
END_TEST

START_TEST(long_segments_get_through_short_gaps) {
    config.bandwidth_bits_per_s = BYTE_PER_NS;
    config.latency_ns = 20;
    for (ns_t i = 0; i < 50; i++) add_outage(i * 100, 50);
    /* A gap of 50 lands 29 bytes (begin + 1 + 20 .. begin + 49). 8 gaps: 232, the 9th finishes:
       250 - 232 = 18 bytes from 850. */
    ck_assert_int_eq(send_bytes(0, 250), 850 + 18 + 20);
}
END_TEST

START_TEST(a_cut_by_event_holds_everything_until_it_heals) {
    struct segment segment;
    send_bytes(0, 1);
    send_bytes(50, 1);
    link_cut(&link_, 120);
    link_check(&link_);
    ck_assert(link_is_cut(&link_, 120));
    ck_assert_int_eq(send_bytes(130, 1), NEVER);
    ck_assert(link_deliver(&link_, 200, &segment)); /* had arrived at 100 */
    ck_assert_int_eq(segment.arrival_ns, 100);
    ck_assert_int_eq(link_next_arrival(&link_), NEVER);
    ck_assert(!link_deliver(&link_, NEVER, &segment));
    link_heal(&link_, 500);
    link_check(&link_);
    ck_assert(!link_is_cut(&link_, 500));
    ck_assert_int_eq(link_next_arrival(&link_), 600);
    ck_assert(link_deliver(&link_, 600, &segment));
    ck_assert(link_deliver(&link_, 600, &segment));
    ck_assert(!link_deliver(&link_, NEVER, &segment));
}
END_TEST

START_TEST(healing_into_an_outage_waits_for_its_end) {
    add_outage(400, 200);
    send_bytes(50, 1);
    link_cut(&link_, 120);
    link_heal(&link_, 500);
    ck_assert_int_eq(link_next_arrival(&link_), 700);
    link_check(&link_);
}
END_TEST

START_TEST(a_link_is_cut_from_the_outage_s_first_to_its_last_nanosecond) {
    add_outage(1000, 500);
    add_outage(2000, 1);
    ck_assert(!link_is_cut(&link_, 999));
    ck_assert(link_is_cut(&link_, 1000));
    ck_assert(link_is_cut(&link_, 1499));
    ck_assert(!link_is_cut(&link_, 1500));
    ck_assert(link_is_cut(&link_, 2000));
    ck_assert(!link_is_cut(&link_, 2001));
}
END_TEST

START_TEST(messages_back_take_a_latency_and_wait_out_outages_in_order) {
    add_outage(1000, 500);
    config.bandwidth_bits_per_s = 1; /* does not matter to them */
    ck_assert_int_eq(link_reverse_arrival(&link_, 0), 100);
    ck_assert_int_eq(link_reverse_arrival(&link_, 950), 1600);
    ck_assert_int_eq(link_reverse_arrival(&link_, 1200), 1600);
    link_cut(&link_, 2000);
    ck_assert_int_eq(link_reverse_arrival(&link_, 2100), NEVER);
    link_heal(&link_, 2200);
    ck_assert_int_eq(link_reverse_arrival(&link_, 2200), 2300);
}
END_TEST

START_TEST(jitter_spreads_over_its_whole_range_and_keeps_the_order) {
    config.jitter_ns = 3;
    uint32_t seen[4] = {0};
    ns_t before = 0;
    for (ns_t now = 0; now < 4000; now += 10) { /* apart by more than the jitter */
        ns_t late = send_bytes(now, 1) - now - 100;
        ck_assert(0 <= late && late <= 3);
        seen[late]++;
    }
    for (int i = 0; i < 4; i++) ck_assert_uint_gt(seen[i], 40); /* 100 each, sigma 8.7 */
    config.jitter_ns = 1000;
    for (ns_t now = 4000; now < 8000; now += 10) {
        ns_t arrival = send_bytes(now, 1);
        ck_assert_int_ge(arrival, before);
        before = arrival;
        ns_t back = link_.last_reverse_ns;
        ck_assert_int_ge(link_reverse_arrival(&link_, now), back);
    }
}
END_TEST

/* ---- drawn delays ---- */

static struct distribution lognormal_delay(void) {
    return (struct distribution){.kind = DISTRIBUTION_LOGNORMAL,
                                 .high = 100000,
                                 .middle = 100,
                                 .sigma = lognormal_sigma(100, 20000)};
}

/* Every kind there is, for latency, jitter or both. */
static void draw_delays(struct rng *rng) {
    static struct weighted_value values[] = {{1, 1}, {50, 5}, {70, 2}, {900, 1}};
    static uint64_t cumulative[] = {1, 6, 8, 9};
    struct distribution kinds[] = {
        {.kind = DISTRIBUTION_NONE},
        {.kind = DISTRIBUTION_CONSTANT, .low = 33},
        {.kind = DISTRIBUTION_UNIFORM, .low = 5, .high = 800},
        {.kind = DISTRIBUTION_MIX, .mix = values, .mix_count = 4, .mix_weight = 9},
        lognormal_delay(),
        {.kind = DISTRIBUTION_EXPONENTIAL, .low = 0, .high = 10000, .middle = 200},
        {.kind = DISTRIBUTION_EMPIRICAL,
         .mix = values,
         .mix_count = 4,
         .mix_weight = 9,
         .cumulative = cumulative},
    };
    config.latency = kinds[rng_below(rng, 7)];
    config.jitter = kinds[rng_below(rng, 7)];
}

START_TEST(a_drawn_latency_stands_for_the_plain_one_and_jitter_comes_on_top) {
    config.latency_ns = config.jitter_ns = 5000; /* of no effect */
    config.latency = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .low = 10, .high = 12};
    config.jitter = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .low = 100, .high = 200};
    bool low = false, high = false;
    for (ns_t now = 0; now < 1000000; now += 1000) { /* apart by more than any delay */
        ns_t late = send_bytes(now, 1) - now;
        ck_assert(110 <= late && late <= 212);
        low |= late<115, high |= late> 207;
    }
    ck_assert(low && high);
}
END_TEST

/* Half of all are later than the median and one in a hundred than the 99th percentile: of 10,000
 * these are 5,000 (sigma 50) and 100 (sigma 10). Sent apart, nothing waits for what is ahead. */
START_TEST(a_lognormal_latency_has_its_median_and_its_tail) {
    config.latency = lognormal_delay();
    uint32_t above_median = 0, above_p99 = 0;
    for (ns_t i = 0; i < 10000; i++) {
        ns_t late = send_bytes(i * 200000, 1) - i * 200000;
        above_median += late > 100, above_p99 += late > 20000;
    }
    ck_assert(above_median > 4750 && above_median < 5250);
    ck_assert(above_p99 > 50 && above_p99 < 150);
}
END_TEST

START_TEST(the_order_is_kept_whatever_is_drawn) {
    struct rng rng = rng_seed(test_seed() + 3);
    for (uint32_t round = 0; round < test_rounds(300); round++) {
        teardown();
        setup();
        draw_delays(&rng);
        config.socket_buffer_bytes = UINT64_MAX;
        ns_t now = 0, back = 0, arrival = 0;
        uint64_t delivered = 0, sent = 0;
        for (uint32_t i = 0; i < 300; i++) {
            struct segment segment;
            now += (ns_t)rng_below(&rng, 100);
            sent++;
            ns_t next = link_send(&link_, now, sent, 1 + rng_below(&rng, 50), (int64_t)sent);
            ck_assert_int_ge(next, arrival);
            ck_assert_int_ge(next, now);
            arrival = next;
            ns_t returned = link_reverse_arrival(&link_, now);
            ck_assert_int_ge(returned, back);
            back = returned;
            while (link_deliver(&link_, now, &segment)) {
                ck_assert_uint_eq(segment.end_serial, ++delivered);
                ck_assert_int_le(segment.arrival_ns, now);
            }
            link_check(&link_);
        }
        ck_assert_uint_eq(delivered + link_.segment_count, sent);
    }
}
END_TEST

/* ---- both directions ---- */

static struct outage up_outages[2];
static struct link_config up_config;
static struct link up;

START_TEST(directions_have_delays_and_bandwidths_of_their_own) {
    config.bandwidth_bits_per_s = BYTE_PER_NS;
    up_config = (struct link_config){.latency_ns = 700, .socket_buffer_bytes = 1000};
    link_init(&up, &up_config, rng_seed(2));
    ck_assert_int_eq(send_bytes(0, 40), 140); /* 40 bytes, 100 of latency */
    ck_assert_int_eq(link_send(&up, 0, 1, 40, 1), 700);
    ck_assert_int_eq(link_send(&up, 0, 2, 40, 2), 700); /* no bandwidth to wait for */
    ck_assert_int_eq(send_bytes(0, 40), 180);
    link_check(&up);
    link_release(&up);
}
END_TEST

START_TEST(an_outage_of_one_way_leaves_the_other) {
    up_config = config;
    up_config.outages = up_outages;
    up_config.outage_count = 1;
    up_outages[0] = (struct outage){1000, 500};
    link_init(&up, &up_config, rng_seed(2));
    ck_assert(link_is_cut(&up, 1200) && !link_is_cut(&link_, 1200));
    ck_assert_int_eq(send_bytes(1200, 1), 1300);
    ck_assert_int_eq(link_send(&up, 1200, 1, 1, 1), 1600); /* one latency after its end */
    link_check(&up);
    link_release(&up);
}
END_TEST

/* ---- against a model that moves bytes one by one ---- */

#define MODEL_BYTES 4000
#define MODEL_NS    5000

struct model_byte {
    uint32_t segment;
    ns_t delay_ns;
    ns_t landing_ns; /* NEVER: to be sent */
};

static struct model {
    struct model_byte bytes[MODEL_BYTES];
    uint32_t count, sent; /* bytes below `sent` are on their way or there */
} model;

static void model_send(uint32_t segment, uint64_t bytes, ns_t delay_ns) {
    for (uint64_t i = 0; i < bytes; i++)
        model.bytes[model.count++] = (struct model_byte){segment, delay_ns, NEVER};
}

/* One nanosecond: while cut, what would land now or later must be sent again; else one byte goes
 * out, and lands not before the one ahead of it. */
static void model_step(ns_t now_ns, bool cut) {
    if (cut) {
        while (model.sent > 0 && model.bytes[model.sent - 1].landing_ns >= now_ns) model.sent--;
    } else if (model.sent < model.count) {
        struct model_byte *byte = &model.bytes[model.sent];
        byte->landing_ns = now_ns + 1 + byte->delay_ns;
        if (model.sent > 0 && byte[-1].landing_ns > byte->landing_ns)
            byte->landing_ns = byte[-1].landing_ns;
        model.sent++;
    }
}

/* The bytes of one segment, from `*next` on: when the last one landed. */
static ns_t model_arrival(uint32_t segment, uint32_t *next) {
    while (*next < model.count && model.bytes[*next].segment == segment) ++*next;
    ck_assert_uint_le(*next, model.sent);
    return model.bytes[*next - 1].landing_ns;
}

struct trip {
    uint32_t sent, arrived;
    ns_t arrival_ns[MODEL_BYTES];
    uint64_t bytes;
};

static struct trip trip;

static void trip_deliver(ns_t now_ns) {
    struct segment segment;
    while (link_deliver(&link_, now_ns, &segment)) {
        ck_assert_int_eq(segment.arrival_ns, now_ns); /* asked every nanosecond */
        ck_assert(!link_is_cut(&link_, now_ns));
        trip.arrival_ns[trip.arrived++] = now_ns;
        ck_assert_uint_eq(segment.end_serial, trip.arrived);
        trip.bytes += segment.bytes;
    }
}

static void trip_send(struct rng *rng, ns_t now_ns) {
    uint64_t bytes = 1 + rng_below(rng, rng_below(rng, 8) == 0 ? 100 : 10);
    if (model.count + bytes > MODEL_BYTES / 2) return;
    trip.sent++;
    link_send(&link_, now_ns, trip.sent, bytes, (int64_t)trip.sent);
    uint32_t last = (link_.segment_first + link_.segment_count - 1) & (link_.segment_capacity - 1);
    model_send(trip.sent, bytes, link_.segments[last].delay_ns);
}

static void draw_outages(struct rng *rng) {
    ns_t at = 0;
    for (uint64_t i = rng_below(rng, 30); i > 0; i--) {
        at += (ns_t)rng_below(rng, 150);
        ns_t length = 1 + (ns_t)rng_below(rng, 60);
        add_outage(at, length);
        at += length;
    }
}

/* by_event: the same outages, and others, are made by link_cut and link_heal instead. */
static void travel(struct rng *rng, bool by_event) {
    bool cut = false;
    for (ns_t now = 0; now < MODEL_NS; now++) {
        bool flip = by_event && rng_below(rng, cut ? 20 : 100) == 0 && now < MODEL_NS / 2;
        if (flip || (cut && now >= MODEL_NS / 2)) {
            cut = !cut;
            if (cut)
                link_cut(&link_, now);
            else
                link_heal(&link_, now);
        }
        trip_deliver(now);
        if (now < MODEL_NS / 2 && rng_below(rng, 20) == 0) trip_send(rng, now);
        model_step(now, link_is_cut(&link_, now));
        link_check(&link_);
    }
}

START_TEST(every_arrival_is_that_of_the_byte_model) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    for (uint32_t round = 0; round < test_rounds(60); round++) {
        memset(&model, 0, sizeof model);
        memset(&trip, 0, sizeof trip);
        teardown();
        setup();
        config.latency_ns = (ns_t)rng_below(&rng, 60);
        config.jitter_ns = rng_below(&rng, 2) ? (ns_t)rng_below(&rng, 30) : 0;
        config.bandwidth_bits_per_s = BYTE_PER_NS;
        if (rng_below(&rng, 2))
            config.latency =
                (struct distribution){.kind = DISTRIBUTION_UNIFORM, .low = 1, .high = 90};
        if (_i != 1) draw_outages(&rng);
        travel(&rng, _i > 0);
        ck_assert_uint_eq(trip.arrived, trip.sent);
        ck_assert_uint_eq(trip.bytes, model.count);
        ck_assert_uint_eq(link_.in_flight_bytes, 0);
        for (uint32_t i = 0, next = 0; i < trip.arrived; i++)
            ck_assert_int_eq(trip.arrival_ns[i], model_arrival(i + 1, &next));
    }
}
END_TEST

START_TEST(no_more_arrives_than_the_bandwidth_can_carry) {
    struct rng rng = rng_seed(test_seed() + 9);
    for (uint32_t round = 0; round < test_rounds(200); round++) {
        teardown();
        setup();
        config.bandwidth_bits_per_s = 1 + rng_below(&rng, UINT64_C(100000000000));
        config.jitter_ns = (ns_t)rng_below(&rng, 5000);
        draw_outages(&rng);
        uint64_t bytes = 0;
        ns_t now = 0, before = 0;
        for (uint32_t i = 0; i < 100; i++) {
            uint64_t size = 1 + rng_below(&rng, 20000);
            ns_t arrival = send_bytes(now, size);
            bytes += size;
            ck_assert_int_ge(arrival, before);
            ck_assert(!link_is_cut(&link_, arrival));
            u128 carrying = (u128)(arrival - config.latency_ns) * config.bandwidth_bits_per_s;
            ck_assert(carrying >= (u128)bytes * 8 * (u128)NS_PER_S);
            before = arrival;
            now += (ns_t)rng_below(&rng, 3000);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("link");
    TCase *tests = tcase_create("link");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_segment_arrives_one_latency_after_it_was_sent);
    tcase_add_test(tests, bytes_wait_for_the_wire);
    tcase_add_test(tests, a_part_of_a_nanosecond_on_the_wire_counts_as_one);
    tcase_add_test(tests, a_wire_too_slow_for_int64_delivers_never);
    tcase_add_test(tests, room_is_what_has_not_arrived_yet);
    tcase_add_test(tests, an_outage_holds_what_is_sent_in_it);
    tcase_add_test(tests, what_flies_when_an_outage_begins_arrives_one_latency_after_it);
    tcase_add_test(tests, an_outage_shorter_than_the_latency_still_loses_what_flies);
    tcase_add_test(tests, one_outage_after_another_is_waited_for);
    tcase_add_test(tests, an_outage_within_a_long_segment_loses_its_last_latency_only);
    tcase_add_test(tests, long_segments_get_through_short_gaps);
    tcase_add_test(tests, a_cut_by_event_holds_everything_until_it_heals);
    tcase_add_test(tests, healing_into_an_outage_waits_for_its_end);
    tcase_add_test(tests, a_link_is_cut_from_the_outage_s_first_to_its_last_nanosecond);
    tcase_add_test(tests, messages_back_take_a_latency_and_wait_out_outages_in_order);
    tcase_add_test(tests, jitter_spreads_over_its_whole_range_and_keeps_the_order);
    tcase_add_test(tests, a_drawn_latency_stands_for_the_plain_one_and_jitter_comes_on_top);
    tcase_add_test(tests, a_lognormal_latency_has_its_median_and_its_tail);
    tcase_add_test(tests, the_order_is_kept_whatever_is_drawn);
    tcase_add_test(tests, directions_have_delays_and_bandwidths_of_their_own);
    tcase_add_test(tests, an_outage_of_one_way_leaves_the_other);
    tcase_add_loop_test(tests, every_arrival_is_that_of_the_byte_model, 0, 3);
    tcase_add_test(tests, no_more_arrives_than_the_bandwidth_can_carry);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
