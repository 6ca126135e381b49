/* event_queue: pops come in the order (time, push), against a naive list that is searched. */
#include "event_queue.h"

#include "support.h"

START_TEST(an_empty_queue_pops_nothing_and_keeps_its_time) {
    struct event_queue queue;
    struct event event;
    event_queue_init(&queue);
    ck_assert(!event_queue_pop(&queue, &event));
    ck_assert_ptr_null(event_queue_peek(&queue));
    ck_assert_int_eq(queue.now_ns, 0);
    event_queue_check(&queue);
    event_queue_release(&queue);
}
END_TEST

START_TEST(earlier_events_pop_first_whatever_the_order_of_pushes) {
    struct event_queue queue;
    struct event event;
    event_queue_init(&queue);
    for (ns_t at = 9; at >= 0; at--) event_queue_push(&queue, at, (uint32_t)at, 0, 0);
    for (ns_t at = 0; at <= 9; at++) {
        ck_assert_int_eq(event_queue_peek(&queue)->at_ns, at);
        ck_assert(event_queue_pop(&queue, &event));
        ck_assert_int_eq(event.at_ns, at);
        ck_assert_uint_eq(event.kind, at);
        ck_assert_int_eq(queue.now_ns, at);
    }
    event_queue_release(&queue);
}
END_TEST

START_TEST(events_of_one_time_pop_in_the_order_of_their_pushes) {
    struct event_queue queue;
    struct event event;
    event_queue_init(&queue);
    for (uint64_t i = 0; i < 1000; i++) event_queue_push(&queue, 5, 1, 2, i);
    for (uint64_t i = 0; i < 1000; i++) {
        ck_assert(event_queue_pop(&queue, &event));
        ck_assert_uint_eq(event.argument, i);
        event_queue_check(&queue);
    }
    event_queue_release(&queue);
}
END_TEST

START_TEST(an_event_may_be_pushed_for_this_very_moment) {
    struct event_queue queue;
    struct event event;
    event_queue_init(&queue);
    event_queue_push(&queue, 7, 1, 0, 0);
    event_queue_push(&queue, 7, 2, 0, 0);
    ck_assert(event_queue_pop(&queue, &event));
    event_queue_push(&queue, queue.now_ns, 3, 0, 0);
    ck_assert(event_queue_pop(&queue, &event));
    ck_assert_uint_eq(event.kind, 2);
    ck_assert(event_queue_pop(&queue, &event));
    ck_assert_uint_eq(event.kind, 3);
    event_queue_release(&queue);
}
END_TEST

#define LIVE_MAX 300

struct naive {
    struct event live[LIVE_MAX];
    uint32_t count;
};

static struct event naive_pop(struct naive *naive) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < naive->count; i++) {
        const struct event *a = &naive->live[i], *b = &naive->live[first];
        if (a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->sequence < b->sequence)) first = i;
    }
    struct event event = naive->live[first];
    naive->live[first] = naive->live[--naive->count];
    return event;
}

static void push_both(struct event_queue *queue, struct naive *naive, struct rng *rng) {
    struct event event = {.at_ns = queue->now_ns + (ns_t)rng_below(rng, 20),
                          .sequence = queue->next_sequence,
                          .kind = (uint32_t)rng_below(rng, 9),
                          .subject = (uint32_t)rng_below(rng, 9),
                          .argument = rng_next(rng)};
    event_queue_push(queue, event.at_ns, event.kind, event.subject, event.argument);
    naive->live[naive->count++] = event;
}

static void pop_both(struct event_queue *queue, struct naive *naive) {
    struct event expected = naive_pop(naive), event;
    ck_assert(event_queue_pop(queue, &event));
    ck_assert_int_eq(event.at_ns, expected.at_ns);
    ck_assert_uint_eq(event.sequence, expected.sequence);
    ck_assert_uint_eq(event.kind, expected.kind);
    ck_assert_uint_eq(event.subject, expected.subject);
    ck_assert_uint_eq(event.argument, expected.argument);
    ck_assert_int_eq(queue->now_ns, expected.at_ns);
}

START_TEST(pops_equal_those_of_a_searched_list) {
    static struct naive naive;
    struct rng rng = rng_seed(test_seed());
    struct event_queue queue;
    event_queue_init(&queue);
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        /* Waves: the target length changes, so that the queue also runs empty and full. */
        bool grow = rng_below(&rng, LIVE_MAX) >= naive.count * (1 + round / 2000 % 3);
        if (naive.count == 0 || (grow && naive.count < LIVE_MAX))
            push_both(&queue, &naive, &rng);
        else
            pop_both(&queue, &naive);
        ck_assert_uint_eq(queue.count, naive.count);
        event_queue_check(&queue);
    }
    while (naive.count > 0) pop_both(&queue, &naive);
    event_queue_check(&queue);
    event_queue_release(&queue);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("event_queue");
    TCase *tests = tcase_create("event_queue");
    tcase_add_test(tests, an_empty_queue_pops_nothing_and_keeps_its_time);
    tcase_add_test(tests, earlier_events_pop_first_whatever_the_order_of_pushes);
    tcase_add_test(tests, events_of_one_time_pop_in_the_order_of_their_pushes);
    tcase_add_test(tests, an_event_may_be_pushed_for_this_very_moment);
    tcase_add_test(tests, pops_equal_those_of_a_searched_list);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
