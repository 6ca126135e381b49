#include "dict.h"

/* The walker (dict.h): every invariant, checked against the buckets themselves. */

static uint64_t place_of(const struct dict *d, int table, key_id id) {
    return keys_hash(d->keys, id) & (dict_size(d, table) - 1);
}

static bool chain_has(const struct dict *d, key_id id, key_id wanted) {
    while (id != KEY_NONE && id != wanted) id = dict_next(d, id);
    return id != KEY_NONE;
}

/* `seen` bounds the walk, so a chain that bites its own tail fails instead of looping. */
static void check_chain(const struct dict *d, int table, uint64_t index, uint64_t *seen) {
    for (key_id id = d->table[table][index]; id != KEY_NONE; id = dict_next(d, id)) {
        ASSERT(id <= d->keys->count);
        ASSERT(dict_has(d, id));
        ASSERT(place_of(d, table, id) == index);
        ASSERT(++*seen <= d->used[table]);
    }
}

static void check_table(const struct dict *d, int table) {
    uint64_t seen = 0;
    for (uint64_t i = 0; i < dict_size(d, table); i++) check_chain(d, table, i, &seen);
    ASSERT(seen == d->used[table]);
}

/* Runs after T1 was checked on its own: its chains end. */
static void check_no_key_in_both(const struct dict *d) {
    for (uint64_t i = 0; i < dict_size(d, 0); i++) {
        for (key_id id = d->table[0][i]; id != KEY_NONE; id = dict_next(d, id)) {
            ASSERT(!chain_has(d, dict_bucket(d, 1, place_of(d, 1, id)), id));
        }
    }
}

static uint64_t count_members(const struct dict *d) {
    uint64_t members = 0;
    for (uint32_t p = 0; p < d->entries->page_count; p++) {
        const struct entry *page = d->entries->pages[p];
        for (uint32_t i = 0; page && i < ENTRY_PAGE_SIZE; i++) {
            members += page[i].member >> d->kind & 1;
        }
    }
    return members;
}

static void check_rehash_state(const struct dict *d) {
    ASSERT(dict_rehashing(d) == (d->table[1] != NULL));
    if (!dict_rehashing(d)) return;
    ASSERT(d->table[0] != NULL && d->exponent[0] != d->exponent[1]);
    ASSERT(d->rehash_index <= (int64_t)dict_size(d, 0));
    for (int64_t i = 0; i < d->rehash_index; i++) ASSERT(d->table[0][i] == KEY_NONE);
}

void dict_check(const struct dict *d) {
    for (int t = 0; t < 2; t++) {
        ASSERT((d->table[t] != NULL) == (d->exponent[t] >= 0));
        ASSERT(d->table[t] == NULL || d->exponent[t] >= 2);
        check_table(d, t);
    }
    check_rehash_state(d);
    if (dict_rehashing(d)) check_no_key_in_both(d);
    ASSERT(count_members(d) == dict_used(d));
}
