#include "inbox.h"

#include <stdlib.h>

#define ITEMS_INITIAL 64
#define ARGS_INITIAL  256

void inbox_init(struct inbox *inbox) {
    *inbox = (struct inbox){.item_capacity = ITEMS_INITIAL, .arg_capacity = ARGS_INITIAL};
    inbox->items = malloc(ITEMS_INITIAL * sizeof *inbox->items);
    inbox->args = malloc(ARGS_INITIAL * sizeof *inbox->args);
    ASSERT(inbox->items && inbox->args);
}

void inbox_release(struct inbox *inbox) {
    free(inbox->items);
    free(inbox->args);
    *inbox = (struct inbox){0};
}

static void inbox_grow_items(struct inbox *inbox) {
    uint64_t capacity = inbox->item_capacity * 2;
    struct inbox_item *items = malloc(capacity * sizeof *items);
    ASSERT(items);
    for (uint64_t at = inbox->first; at < inbox->end; at++)
        items[at & (capacity - 1)] = inbox->items[at & (inbox->item_capacity - 1)];
    free(inbox->items);
    inbox->items = items;
    inbox->item_capacity = capacity;
}

/* Runs stay side by side: where the larger ring ends, the smaller one ended too. */
static void inbox_grow_args(struct inbox *inbox) {
    uint64_t capacity = inbox->arg_capacity * 2;
    struct arg *args = malloc(capacity * sizeof *args);
    ASSERT(args);
    for (uint64_t at = inbox->arg_first; at < inbox->arg_end; at++)
        args[at & (capacity - 1)] = inbox->args[at & (inbox->arg_capacity - 1)];
    free(inbox->args);
    inbox->args = args;
    inbox->arg_capacity = capacity;
}

/* Where a run of argc arguments can begin: here, or at the ring's start when it would not fit. */
static uint64_t inbox_run_start(const struct inbox *inbox, uint32_t argc) {
    uint64_t place = inbox->arg_end & (inbox->arg_capacity - 1);
    bool fits = place + argc <= inbox->arg_capacity;
    return fits ? inbox->arg_end : inbox->arg_end + inbox->arg_capacity - place;
}

struct arg *inbox_reserve(struct inbox *inbox, uint32_t argc) {
    uint64_t start = inbox_run_start(inbox, argc);
    while (start + argc - inbox->arg_first > inbox->arg_capacity) {
        inbox_grow_args(inbox);
        start = inbox_run_start(inbox, argc);
    }
    inbox->arg_end = start;
    return &inbox->args[start & (inbox->arg_capacity - 1)];
}

void inbox_push(struct inbox *inbox, const struct inbox_item *item) {
    if (inbox_count(inbox) == inbox->item_capacity) inbox_grow_items(inbox);
    struct inbox_item *place = &inbox->items[inbox->end & (inbox->item_capacity - 1)];
    *place = *item;
    place->first_arg = inbox->arg_end;
    inbox->arg_end += item->argc;
    inbox->end++;
}

void inbox_drop(struct inbox *inbox, uint64_t count) {
    ASSERT(count <= inbox_count(inbox));
    inbox->first += count;
    inbox->arg_first = inbox_count(inbox) ? inbox_at(inbox, 0)->first_arg : inbox->arg_end;
}

void inbox_check(const struct inbox *inbox) {
    uint64_t arg = inbox->arg_first;
    ASSERT(inbox_count(inbox) <= inbox->item_capacity);
    for (uint64_t i = 0; i < inbox_count(inbox); i++) {
        const struct inbox_item *item = inbox_at(inbox, i);
        uint64_t place = item->first_arg & (inbox->arg_capacity - 1);
        ASSERT(item->first_arg >= arg && place + item->argc <= inbox->arg_capacity);
        ASSERT(i == 0 || item->arrival_ns >= inbox_at(inbox, i - 1)->arrival_ns);
        arg = item->first_arg + item->argc;
    }
    ASSERT(arg <= inbox->arg_end && inbox->arg_end - inbox->arg_first <= inbox->arg_capacity);
}
