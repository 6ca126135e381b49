/* The inbox against a plain array: the same records in the same order with the arguments they came
 * with, however often the rings wrap and grow. */
#include <stdlib.h>
#include <string.h>

#include "inbox.h"
#include "support.h"

#define MODEL_MAX 4096

struct model {
    uint64_t number; /* of the record; its arguments are number, number + 1 ... */
    uint16_t argc;
};

static void push_numbered(struct inbox *inbox, uint64_t number, uint16_t argc) {
    struct inbox_item item = {.arrival_ns = (ns_t)number, .argc = argc, .kind = INBOX_REQUEST};
    if (argc > 0) {
        struct arg *argv = inbox_reserve(inbox, argc);
        for (uint16_t i = 0; i < argc; i++) argv[i] = arg_number((int64_t)(number + i));
    } else {
        item.kind = INBOX_PIPE;
    }
    inbox_push(inbox, &item);
}

static void expect_equal(const struct inbox *inbox, const struct model *model, uint64_t count) {
    ck_assert_uint_eq(inbox_count(inbox), count);
    for (uint64_t i = 0; i < count; i++) {
        const struct inbox_item *item = inbox_at(inbox, i);
        ck_assert_int_eq(item->arrival_ns, (ns_t)model[i].number);
        ck_assert_uint_eq(item->argc, model[i].argc);
        for (uint16_t a = 0; a < item->argc; a++)
            ck_assert_int_eq(inbox_argv(inbox, item)[a].number, (int64_t)(model[i].number + a));
    }
}

START_TEST(inbox_keeps_records_and_arguments_through_wraps_and_growth) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(50); round++) {
        struct model *model = calloc(MODEL_MAX, sizeof *model);
        uint64_t count = 0, number = 0, top = 1 + rng_below(&rng, 300);
        struct inbox inbox;
        inbox_init(&inbox);
        for (uint32_t step = 0; step < 2000; step++) {
            if (count < top && rng_chance(&rng, 3, 5)) {
                uint16_t argc = (uint16_t)rng_below(&rng, rng_chance(&rng, 1, 100) ? 1024 : 13);
                push_numbered(&inbox, number, argc);
                model[count++] = (struct model){number++, argc};
            } else {
                uint64_t drop = rng_below(&rng, count + 1);
                inbox_drop(&inbox, drop);
                count -= drop;
                memmove(model, model + drop, count * sizeof *model);
            }
            inbox_check(&inbox);
            if (step % 16 == 0) expect_equal(&inbox, model, count);
        }
        inbox_release(&inbox);
        free(model);
    }
}
END_TEST

START_TEST(inbox_with_few_records_never_grows) {
    struct inbox inbox;
    inbox_init(&inbox);
    uint64_t items = inbox.item_capacity, args = inbox.arg_capacity;
    for (uint64_t i = 0; i < 10000; i++) {
        push_numbered(&inbox, i, 5);
        push_numbered(&inbox, i, 12);
        inbox_drop(&inbox, 2);
    }
    ck_assert_uint_eq(inbox.item_capacity, items);
    ck_assert_uint_eq(inbox.arg_capacity, args);
    inbox_release(&inbox);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("inbox");
    TCase *tcase = tcase_create("rings");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, inbox_keeps_records_and_arguments_through_wraps_and_growth);
    tcase_add_test(tcase, inbox_with_few_records_never_grows);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
