#include "dict.h"

#include "bounds.h"

/* What the ledger books: sizes of the server's own structures (engine facts 1.1.2 and 1.1.3). */
#define BUCKET_REQUEST_BYTES 8
#define ENTRY_REQUEST_BYTES  24

/* dictRehash gives up after ten empty buckets for each asked for; dictRehashMilliseconds looks at
 * the clock every 100; htNeedsResize gives back a table below a tenth of its slots (all 7.0). */
#define REHASH_EMPTY_PER_BUCKET 10
#define REHASH_BATCH            100
#define REHASH_LIMIT_MS         1
#define SHRINK_BELOW_PERCENT    10

/* While a child saves, a table grows only beyond so many keys a bucket (dict_force_resize_ratio).
 */
#define CHILD_GROWS_OVER 5

/* By enum dict_kind. */
static const enum memory_class table_class[] = {MEMORY_MAIN_TABLES, MEMORY_EXPIRES_TABLES};
static const enum memory_class entry_class[] = {MEMORY_MAIN_ENTRIES, MEMORY_EXPIRES_ENTRIES};

/* --- tables --- */

static int8_t exponent_for(uint64_t wanted) {
    if (wanted <= DICT_SIZE_INITIAL) return 2;
    uint32_t exponent = log2_floor(wanted - 1) + 1;
    ASSERT(exponent <= DICT_EXPONENT_MAX);
    return (int8_t)exponent;
}
_Static_assert(DICT_SIZE_INITIAL == 1 << 2, "exponent_for starts at the initial size");

static inline uint64_t table_mask(const struct dict *d, int table) {
    return (UINT64_C(1) << d->exponent[table]) - 1;
}

static inline key_id *bucket_of(const struct dict *d, int table, key_id id) {
    return &d->table[table][keys_hash(d->keys, id) & table_mask(d, table)];
}

static void table_create(struct dict *d, int table, int8_t exponent) {
    d->exponent[table] = exponent;
    d->table[table] = pages_take(d->entries->host, dict_size(d, table) * sizeof(key_id));
    memory_take(d->memory, table_class[d->kind], BUCKET_REQUEST_BYTES * dict_size(d, table));
}

static void table_drop(struct dict *d, int table) {
    if (!d->table[table]) return;
    pages_give(d->entries->host, d->table[table], dict_size(d, table) * sizeof(key_id));
    memory_give(d->memory, table_class[d->kind], BUCKET_REQUEST_BYTES * dict_size(d, table));
    d->table[table] = NULL;
    d->exponent[table] = -1;
    d->used[table] = 0;
}

/* 7.0 _dictExpand (engine facts 1.3.5, 1.3.6): refused while rehashing, or if nothing would change.
 * Moves nothing itself. The server also refuses a size below used, which no caller here asks for.
 */
static void dict_resize(struct dict *d, uint64_t wanted) {
    if (dict_rehashing(d)) return;
    ASSERT(d->used[0] <= wanted);
    int8_t exponent = exponent_for(wanted);
    if (exponent == d->exponent[0]) return;
    int table = d->table[0] ? 1 : 0;
    table_create(d, table, exponent);
    if (table == 1) d->rehash_index = 0;
}

static inline bool child_saves(const struct dict *d) { return d->child && *d->child; }

/* The first table is made in any case. */
static bool child_forbids_growth(const struct dict *d) {
    return child_saves(d) && d->table[0] && d->used[0] / dict_size(d, 0) <= CHILD_GROWS_OVER;
}

/* 7.0 _dictExpandIfNeeded (engine facts 1.3.1 to 1.3.3). Without a table both sides of the test are
 * 0 and the smallest one is made. */
static inline void dict_grow_if_full(struct dict *d) {
    if (dict_rehashing(d) || d->used[0] < dict_size(d, 0)) return;
    if (child_forbids_growth(d)) return;
    dict_resize(d, d->used[0] * d->policy->grow_factor + d->policy->grow_addend);
}

void dict_init(struct dict *d, enum dict_kind kind, struct entries *entries,
               const struct keys *keys, struct cpu *cpu, struct memory *memory,
               const struct dict_policy *policy) {
    *d = (struct dict){
        .kind = kind,
        .entries = entries,
        .keys = keys,
        .cpu = cpu,
        .memory = memory,
        .policy = policy,
        .exponent = {-1, -1},
        .rehash_index = -1,
    };
}

static inline void member_drop(struct dict *d, struct entry *e) {
    e->member &= (uint8_t) ~(1u << d->kind);
    memory_give(d->memory, entry_class[d->kind], ENTRY_REQUEST_BYTES);
}

static void table_clear(struct dict *d, int table) {
    for (uint64_t i = 0; i < dict_size(d, table) && d->used[table] > 0; i++) {
        for (key_id id = d->table[table][i]; id != KEY_NONE; id = dict_next(d, id)) {
            member_drop(d, entries_at(d->entries, id));
            d->used[table]--;
        }
    }
    table_drop(d, table);
}

void dict_clear(struct dict *d) {
    ASSERT(d->pause_rehash == 0);
    table_clear(d, 0);
    table_clear(d, 1);
    d->rehash_index = -1;
}

/* --- rehash --- */

/* For each bucket passed, empty or not: the one far ahead is looked at this once. */
static inline void rehash_hint(const struct dict *d, uint64_t index) {
    key_id near = dict_hint_head(d, 0, index + DICT_HINT_NEAR);
    dict_hint_walk(d, 0, index);
    if (near != KEY_NONE) dict_hint_place(d, near);
}

/* Leaves rehash_index on a bucket that holds something; false when the budget ran out first. One
 * such bucket must exist. */
static inline bool rehash_skip_empty(struct dict *d, uint64_t *budget) {
    rehash_hint(d, (uint64_t)d->rehash_index);
    while (d->table[0][d->rehash_index] == KEY_NONE) {
        d->rehash_index++;
        if (--*budget == 0) return false;
        rehash_hint(d, (uint64_t)d->rehash_index);
    }
    return true;
}

/* Each key goes to the head of its new chain, so keys that stay together change their order:
 * a b c becomes c b a (engine facts 1.5.1). */
static inline uint64_t rehash_move_bucket(struct dict *d) {
    key_id id = d->table[0][d->rehash_index];
    uint64_t moved = 0;
    while (id != KEY_NONE) {
        struct entry *e = entries_at(d->entries, id);
        key_id next = e->link[d->kind];
        key_id *head = bucket_of(d, 1, id);
        e->link[d->kind] = *head;
        *head = id;
        id = next;
        moved++;
    }
    d->table[0][d->rehash_index++] = KEY_NONE;
    d->used[0] -= moved;
    d->used[1] += moved;
    return moved;
}

static void rehash_finish(struct dict *d) {
    table_drop(d, 0);
    d->table[0] = d->table[1];
    d->exponent[0] = d->exponent[1];
    d->used[0] = d->used[1];
    d->table[1] = NULL;
    d->exponent[1] = -1;
    d->used[1] = 0;
    d->rehash_index = -1;
}

/* Whichever way the rehash goes: the quotient of the larger size and the smaller. */
static bool is_frozen(const struct dict *d) {
    if (!child_saves(d)) return false;
    int apart = d->exponent[1] - d->exponent[0];
    return UINT64_C(1) << (apart < 0 ? -apart : apart) < d->policy->frozen_below_ratio;
}

/* 7.0 dictRehash (engine facts 1.5). A budget that runs out ends the call even if the next bucket
 * holds something; a T0 emptied by deletions is noticed only here. */
bool dict_rehash(struct dict *d, uint32_t buckets) {
    if (!dict_rehashing(d) || is_frozen(d)) return false;
    uint64_t budget = (uint64_t)buckets * REHASH_EMPTY_PER_BUCKET;
    uint64_t moved = 0;
    int64_t start = d->rehash_index;
    bool within = true;
    while (within && buckets-- > 0 && d->used[0] != 0) {
        within = rehash_skip_empty(d, &budget);
        if (within) moved += rehash_move_bucket(d);
    }
    cpu_charge(d->cpu, COST_REHASH_BUCKET, (uint64_t)(d->rehash_index - start));
    cpu_charge(d->cpu, COST_REHASH_KEY, moved);
    if (d->used[0] != 0) return true;
    rehash_finish(d);
    return false;
}

void dict_rehash_for_1ms(struct dict *d) {
    if (d->pause_rehash > 0) return;
    ms_t start_ms = cpu_wall_ms(d->cpu);
    while (dict_rehash(d, REHASH_BATCH)) {
        if (cpu_wall_ms(d->cpu) - start_ms > REHASH_LIMIT_MS) break;
    }
}

bool dict_wants_shrink(const struct dict *d) {
    uint64_t slots = dict_slots(d);
    return slots > DICT_SIZE_INITIAL && dict_used(d) * 100 / slots < SHRINK_BELOW_PERCENT;
}

/* 7.0 dictResize (engine facts 1.4.2). */
void dict_shrink(struct dict *d) {
    if (!d->table[0] || child_saves(d)) return;
    dict_resize(d, d->used[0] > DICT_SIZE_INITIAL ? d->used[0] : DICT_SIZE_INITIAL);
}

void dict_presize(struct dict *d, uint64_t count) {
    ASSERT(dict_used(d) == 0);
    dict_resize(d, count);
}

/* --- keys in and out --- */

static inline void dict_link(struct dict *d, key_id id) {
    int table = dict_rehashing(d) ? 1 : 0;
    struct entry *e = entries_touch(d->entries, id);
    key_id *head = bucket_of(d, table, id);
    e->link[d->kind] = *head;
    e->member |= (uint8_t)(1u << d->kind);
    *head = id;
    d->used[table]++;
    memory_take(d->memory, entry_class[d->kind], ENTRY_REQUEST_BYTES);
}

bool dict_add(struct dict *d, key_id id) {
    dict_step(d);
    dict_grow_if_full(d);
    if (d->kind == DICT_EXPIRES) cpu_charge(d->cpu, COST_DEADLINE_SET, 1);
    if (dict_has(d, id)) return false;
    dict_link(d, id);
    if (d->kind == DICT_MAIN) cpu_charge(d->cpu, COST_INSERT, 1);
    return true;
}

/* Takes the key out of that table's chain if it hangs there. */
static inline bool table_unlink(struct dict *d, int table, key_id id) {
    key_id *head = bucket_of(d, table, id);
    struct entry *found = entries_at(d->entries, id);
    if (*head == id) {
        *head = found->link[d->kind];
    } else {
        key_id at = *head;
        while (at != KEY_NONE && dict_next(d, at) != id) at = dict_next(d, at);
        if (at == KEY_NONE) return false;
        entries_at(d->entries, at)->link[d->kind] = found->link[d->kind];
    }
    d->used[table]--;
    return true;
}

bool dict_delete(struct dict *d, key_id id) {
    if (dict_used(d) == 0) return false;
    dict_step(d);
    if (!dict_has(d, id)) return false;
    if (!table_unlink(d, 0, id)) {
        ASSERT(dict_rehashing(d));
        bool unlinked = table_unlink(d, 1, id);
        ASSERT(unlinked);
    }
    member_drop(d, entries_at(d->entries, id));
    if (d->kind == DICT_MAIN) cpu_charge(d->cpu, COST_DELETE, 1);
    return true;
}

/* --- random and scan --- */

/* While rehashing the buckets already moved are left out of the draw. */
static key_id random_bucket(const struct dict *d, struct rng *rng) {
    if (!dict_rehashing(d)) return d->table[0][rng_next(rng) & table_mask(d, 0)];
    uint64_t passed = (uint64_t)d->rehash_index, size = dict_size(d, 0);
    uint64_t place = passed + rng_below(rng, dict_slots(d) - passed);
    return place < size ? d->table[0][place] : d->table[1][place - size];
}

/* 7.0 dictGetRandomKey (engine facts 1.9.1). */
key_id dict_random(struct dict *d, struct rng *rng) {
    if (dict_used(d) == 0) return KEY_NONE;
    dict_step(d);
    key_id head = KEY_NONE;
    while (head == KEY_NONE) head = random_bucket(d, rng);
    uint64_t length = 0;
    for (key_id id = head; id != KEY_NONE; id = dict_next(d, id)) length++;
    key_id id = head;
    for (uint64_t skip = rng_below(rng, length); skip > 0; skip--) id = dict_next(d, id);
    return id;
}

static uint64_t reverse_bits(uint64_t v) {
    v = (v >> 1 & UINT64_C(0x5555555555555555)) | (v & UINT64_C(0x5555555555555555)) << 1;
    v = (v >> 2 & UINT64_C(0x3333333333333333)) | (v & UINT64_C(0x3333333333333333)) << 2;
    v = (v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(v);
}

/* Counts up from the highest bit under the mask: buckets that a larger table splits from one stay
 * neighbours in that order, and so none is missed when the size changes between two calls. The bits
 * above the mask are set first so that the carry runs through them. */
static uint64_t cursor_next(uint64_t cursor, uint64_t mask) {
    return reverse_bits(reverse_bits(cursor | ~mask) + 1);
}

/* The next link is read before the visit, which may delete the key it is given. */
static void scan_bucket(struct dict *d, int table, uint64_t index, void (*visit)(void *, key_id),
                        void *context) {
    cpu_charge(d->cpu, COST_SCAN_BUCKET, 1);
    key_id id = d->table[table][index];
    while (id != KEY_NONE) {
        key_id next = dict_next(d, id);
        visit(context, id);
        id = next;
    }
}

static uint64_t scan_both(struct dict *d, uint64_t cursor, void (*visit)(void *, key_id),
                          void *context) {
    int small = d->exponent[0] <= d->exponent[1] ? 0 : 1, large = 1 - small;
    uint64_t small_mask = table_mask(d, small), large_mask = table_mask(d, large);
    scan_bucket(d, small, cursor & small_mask, visit, context);
    do {
        scan_bucket(d, large, cursor & large_mask, visit, context);
        cursor = cursor_next(cursor, large_mask);
    } while (cursor & (small_mask ^ large_mask));
    return cursor;
}

/* 7.0 dictScan (engine facts 1.10). Steps are off during the visits: a key must not move to a
 * bucket already passed. */
uint64_t dict_scan(struct dict *d, uint64_t cursor, void (*visit)(void *context, key_id),
                   void *context) {
    if (dict_used(d) == 0) return 0;
    d->pause_rehash++;
    if (dict_rehashing(d)) {
        cursor = scan_both(d, cursor, visit, context);
    } else {
        uint64_t mask = table_mask(d, 0);
        scan_bucket(d, 0, cursor & mask, visit, context);
        cursor = cursor_next(cursor, mask);
    }
    d->pause_rehash--;
    return cursor;
}
