/* Pages by deadline >> 10 in an open-addressing hash table with linear probing, kept at most two
 * thirds full and never less than one twelfth, so that walking the table costs no more than some
 * steps a page. A page holds its distinct deadlines as cells, split in three arrays in one block:
 * while few, an unsorted list searched four at a time; beyond LIST_MAX, indexed by the millisecond.
 * A cell of a list takes 14 bytes, of an array 12: at worst some 48 bytes a distinct deadline. */
#include "census.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_MS = 1024,
    LIST_MIN = 4,   /* a multiple of the four that one search step compares */
    LIST_MAX = 256, /* longer lists take longer to search than a million keys a second allow */
    TABLE_MIN = 16,
};

struct page {
    int64_t number; /* floor(deadline / PAGE_MS) */
    uint64_t keys, bytes;
    void *block; /* cell_bytes[capacity], cell_keys[capacity], cell_ms[capacity]; NULL: free slot */
    uint16_t cells; /* cells with keys */
    uint16_t capacity;
};

struct census {
    struct page *table;
    uint64_t table_size, page_count;
    uint32_t table_bits;
    ms_t now_ms; /* the reading time; INT64_MIN before the first */
    struct census_count count;
};

/* ---- cells ---- */

static uint64_t *page_cell_bytes(const struct page *page) { return page->block; }

static uint32_t *page_cell_keys(const struct page *page) {
    return (uint32_t *)(page_cell_bytes(page) + page->capacity);
}

/* In a list alone: an array is indexed by it. */
static uint16_t *page_cell_ms(const struct page *page) {
    return (uint16_t *)(page_cell_keys(page) + page->capacity);
}

static bool page_is_array(const struct page *page) { return page->capacity == PAGE_MS; }

static size_t block_bytes(uint32_t capacity) {
    size_t cell = sizeof(uint64_t) + sizeof(uint32_t) + (capacity < PAGE_MS ? sizeof(uint16_t) : 0);
    return capacity * cell;
}

static uint64_t ms_quad(const uint16_t *ms) {
    uint64_t quad;
    memcpy(&quad, ms, sizeof quad);
    return quad;
}

/* The list's cell of this millisecond, or `cells`. A quad that equals in some lane has a zero lane
 * after the exclusive or, and only then does the subtraction borrow into a top bit that was clear;
 * which lane it is, the plain compare says. */
static uint32_t list_find(const struct page *page, uint16_t ms) {
    const uint64_t ones = UINT64_C(0x0001000100010001), tops = ones << 15;
    const uint16_t *all = page_cell_ms(page);
    for (uint32_t i = 0; i < page->cells; i += 4) {
        uint64_t quad = ms_quad(all + i) ^ (ones * ms);
        if (((quad - ones) & ~quad & tops) == 0) continue;
        for (uint32_t cell = i; cell < i + 4 && cell < page->cells; cell++)
            if (all[cell] == ms) return cell;
    }
    return page->cells;
}

static void page_new_block(struct page *page, uint32_t capacity) {
    page->capacity = (uint16_t)capacity;
    page->block = calloc(1, block_bytes(capacity));
    ASSERT(page->block != NULL);
}

/* A longer list, or the array once the list is at its longest. */
static void page_grow(struct page *page) {
    struct page old = *page;
    bool array = old.capacity >= LIST_MAX;
    page_new_block(page, array ? PAGE_MS : old.capacity * 2u);
    for (uint32_t i = 0; i < old.cells; i++) {
        uint32_t cell = array ? page_cell_ms(&old)[i] : i;
        page_cell_bytes(page)[cell] = page_cell_bytes(&old)[i];
        page_cell_keys(page)[cell] = page_cell_keys(&old)[i];
        if (!array) page_cell_ms(page)[cell] = page_cell_ms(&old)[i];
    }
    free(old.block);
}

/* The cell of this millisecond, a new empty one if there is none. */
static uint32_t page_cell_for(struct page *page, uint16_t ms) {
    if (!page_is_array(page)) {
        uint32_t cell = list_find(page, ms);
        if (cell < page->cells) return cell;
        if (page->cells == page->capacity) page_grow(page);
    }
    if (page_is_array(page)) {
        if (page_cell_keys(page)[ms] == 0) page->cells++;
        return ms;
    }
    page_cell_ms(page)[page->cells] = ms;
    page_cell_keys(page)[page->cells] = 0;
    page_cell_bytes(page)[page->cells] = 0;
    return page->cells++;
}

/* Forgets a cell that lost its last key: in a list the last one takes its place. */
static void page_drop_cell(struct page *page, uint32_t cell) {
    uint32_t last = --page->cells;
    if (page_is_array(page)) return;
    page_cell_bytes(page)[cell] = page_cell_bytes(page)[last];
    page_cell_keys(page)[cell] = page_cell_keys(page)[last];
    page_cell_ms(page)[cell] = page_cell_ms(page)[last];
}

static void page_add(struct page *page, uint16_t ms, uint64_t bytes) {
    uint32_t cell = page_cell_for(page, ms);
    ASSERT(page_cell_keys(page)[cell] < UINT32_MAX);
    page_cell_keys(page)[cell]++;
    page_cell_bytes(page)[cell] += bytes;
    page->keys++;
    page->bytes += bytes;
}

static void page_remove(struct page *page, uint16_t ms, uint64_t bytes) {
    uint32_t cell = page_is_array(page) ? ms : list_find(page, ms);
    ASSERT(page_is_array(page) || cell < page->cells);
    uint32_t *keys = &page_cell_keys(page)[cell];
    uint64_t *held = &page_cell_bytes(page)[cell];
    ASSERT(*keys > 0 && *held >= bytes);
    *held -= bytes;
    if (--*keys == 0) {
        ASSERT(*held == 0);
        page_drop_cell(page, cell);
    }
    page->keys--;
    page->bytes -= bytes;
}

/* What the page holds with deadlines in [first, last]. */
static void page_sum(const struct page *page, ms_t first, ms_t last, struct census_count *sum) {
    ms_t begin = page->number * PAGE_MS;
    bool whole = first <= begin && begin + (PAGE_MS - 1) <= last;
    uint32_t cells = whole ? 0 : page_is_array(page) ? PAGE_MS : page->cells;
    for (uint32_t cell = 0; cell < cells; cell++) {
        ms_t deadline = begin + (page_is_array(page) ? (ms_t)cell : page_cell_ms(page)[cell]);
        if (deadline < first || deadline > last) continue;
        sum->stale_keys += page_cell_keys(page)[cell];
        sum->stale_bytes += page_cell_bytes(page)[cell];
    }
    sum->stale_keys += whole ? page->keys : 0;
    sum->stale_bytes += whole ? page->bytes : 0;
}

/* ---- table of pages ---- */

static int64_t page_number(ms_t deadline_ms) { return floor_div(deadline_ms, PAGE_MS); }

/* Without page->number * PAGE_MS, which the remainder of a negative deadline would need. */
static uint16_t page_offset(ms_t deadline_ms) {
    return (uint16_t)((uint64_t)deadline_ms % PAGE_MS);
}

/* Fibonacci hashing: consecutive pages, which is what there mostly is, land far apart. */
static uint64_t slot_home(const struct census *census, int64_t number) {
    return (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - census->table_bits);
}

/* The page's slot, or the free one where it would stand. */
static uint64_t slot_find(const struct census *census, int64_t number) {
    uint64_t mask = census->table_size - 1;
    uint64_t slot = slot_home(census, number);
    while (census->table[slot].block && census->table[slot].number != number)
        slot = (slot + 1) & mask;
    return slot;
}

static void table_resize(struct census *census, uint32_t bits) {
    struct page *old = census->table;
    uint64_t old_size = census->table_size;
    census->table_bits = bits;
    census->table_size = UINT64_C(1) << bits;
    census->table = calloc(census->table_size, sizeof *census->table);
    ASSERT(census->table != NULL);
    for (uint64_t i = 0; i < old_size; i++)
        if (old[i].block) census->table[slot_find(census, old[i].number)] = old[i];
    free(old);
}

static struct page *census_page_for(struct census *census, int64_t number) {
    struct page *page = &census->table[slot_find(census, number)];
    if (page->block) return page;
    if ((census->page_count + 1) * 3 > census->table_size * 2) {
        table_resize(census, census->table_bits + 1);
        page = &census->table[slot_find(census, number)];
    }
    census->page_count++;
    *page = (struct page){.number = number};
    page_new_block(page, LIST_MIN);
    return page;
}

/* Frees an empty page and moves up what was probed past it, so that no tombstones pile up. */
static void census_drop_page(struct census *census, uint64_t hole) {
    uint64_t mask = census->table_size - 1;
    free(census->table[hole].block);
    for (uint64_t slot = (hole + 1) & mask; census->table[slot].block; slot = (slot + 1) & mask) {
        uint64_t home = slot_home(census, census->table[slot].number);
        if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
        census->table[hole] = census->table[slot];
        hole = slot;
    }
    census->table[hole] = (struct page){.block = NULL};
    census->page_count--;
    if (census->table_size > TABLE_MIN && census->page_count * 12 < census->table_size)
        table_resize(census, census->table_bits - 1);
}

/* What is held with deadlines in [first, last]: page by page over a short span, by a walk over the
 * table when the span has more page numbers than the table has slots. */
static struct census_count census_sum(const struct census *census, ms_t first, ms_t last) {
    struct census_count sum = {.stale_keys = 0};
    int64_t low = page_number(first), high = page_number(last);
    uint64_t gap = (uint64_t)high - (uint64_t)low;
    for (uint64_t i = 0; gap < census->table_size && i <= gap; i++) {
        const struct page *page = &census->table[slot_find(census, low + (int64_t)i)];
        if (page->block) page_sum(page, first, last, &sum);
    }
    for (uint64_t slot = 0; gap >= census->table_size && slot < census->table_size; slot++) {
        const struct page *page = &census->table[slot];
        if (page->block && low <= page->number && page->number <= high)
            page_sum(page, first, last, &sum);
    }
    return sum;
}

/* ---- the census ---- */

struct census *census_create(void) {
    struct census *census = calloc(1, sizeof *census);
    ASSERT(census != NULL);
    census->now_ms = INT64_MIN;
    table_resize(census, 4);
    ASSERT(census->table_size == TABLE_MIN);
    return census;
}

void census_destroy(struct census *census) {
    if (!census) return;
    for (uint64_t slot = 0; slot < census->table_size; slot++) free(census->table[slot].block);
    free(census->table);
    free(census);
}

void census_add(struct census *census, ms_t deadline_ms, uint64_t bytes) {
    page_add(census_page_for(census, page_number(deadline_ms)), page_offset(deadline_ms), bytes);
    census->count.keys++;
    if (deadline_ms >= census->now_ms) return;
    census->count.stale_keys++;
    census->count.stale_bytes += bytes;
}

void census_remove(struct census *census, ms_t deadline_ms, uint64_t bytes) {
    uint64_t slot = slot_find(census, page_number(deadline_ms));
    struct page *page = &census->table[slot];
    ASSERT(page->block != NULL);
    page_remove(page, page_offset(deadline_ms), bytes);
    if (page->keys == 0) census_drop_page(census, slot);
    census->count.keys--;
    if (deadline_ms >= census->now_ms) return;
    census->count.stale_keys--;
    census->count.stale_bytes -= bytes;
}

struct census_count census_read(struct census *census, ms_t now_ms) {
    if (now_ms > census->now_ms) {
        struct census_count passed = census_sum(census, census->now_ms, now_ms - 1);
        census->count.stale_keys += passed.stale_keys;
        census->count.stale_bytes += passed.stale_bytes;
    } else if (now_ms < census->now_ms) {
        struct census_count back = census_sum(census, now_ms, census->now_ms - 1);
        census->count.stale_keys -= back.stale_keys;
        census->count.stale_bytes -= back.stale_bytes;
    }
    census->now_ms = now_ms;
    return census->count;
}

static void page_check(const struct page *page, ms_t now_ms, struct census_count *count) {
    uint64_t keys = 0, bytes = 0;
    uint32_t cells = 0;
    for (uint32_t i = 0; i < (page_is_array(page) ? (uint32_t)PAGE_MS : page->cells); i++) {
        ms_t ms = page_is_array(page) ? (ms_t)i : page_cell_ms(page)[i];
        ASSERT(0 <= ms && ms < PAGE_MS);
        ASSERT(page_is_array(page) || list_find(page, (uint16_t)ms) == i);
        ASSERT(page_cell_keys(page)[i] > 0 || (page_is_array(page) && !page_cell_bytes(page)[i]));
        bool stale = page->number * PAGE_MS + ms < now_ms;
        count->stale_keys += stale ? page_cell_keys(page)[i] : 0;
        count->stale_bytes += stale ? page_cell_bytes(page)[i] : 0;
        keys += page_cell_keys(page)[i];
        bytes += page_cell_bytes(page)[i];
        cells += page_cell_keys(page)[i] > 0;
    }
    ASSERT(keys == page->keys && bytes == page->bytes && cells == page->cells && keys > 0);
    count->keys += keys;
}

void census_check(const struct census *census) {
    struct census_count count = {.keys = 0};
    uint64_t pages = 0;
    for (uint64_t slot = 0; slot < census->table_size; slot++) {
        const struct page *page = &census->table[slot];
        if (!page->block) continue;
        ASSERT(slot_find(census, page->number) == slot);
        page_check(page, census->now_ms, &count);
        pages++;
    }
    ASSERT(pages == census->page_count && pages * 3 <= census->table_size * 2);
    ASSERT(count.keys == census->count.keys);
    ASSERT(count.stale_keys == census->count.stale_keys);
    ASSERT(count.stale_bytes == census->count.stale_bytes);
}
