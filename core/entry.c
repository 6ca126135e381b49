#include "entry.h"

#include <stdlib.h>
#include <string.h>

/* The page table doubles; page_count is its capacity, and pages never touched stay NULL. */
static void entries_widen(struct entries *entries, uint32_t page) {
    uint32_t count = entries->page_count ? entries->page_count : 16;
    while (count <= page) count *= 2; /* at most 2^20 pages: ids have 32 bits */
    entries->pages = realloc(entries->pages, count * sizeof *entries->pages);
    ASSERT(entries->pages);
    memset(entries->pages + entries->page_count, 0,
           (count - entries->page_count) * sizeof *entries->pages);
    entries->page_count = count;
}

struct entry *entries_touch(struct entries *entries, key_id id) {
    uint32_t page = id >> ENTRY_PAGE_BITS;
    if (page >= entries->page_count) entries_widen(entries, page);
    if (!entries->pages[page]) {
        entries->pages[page] = calloc(ENTRY_PAGE_SIZE, sizeof **entries->pages);
        ASSERT(entries->pages[page]);
    }
    return entries_at(entries, id);
}

void entries_release(struct entries *entries) {
    for (uint32_t i = 0; i < entries->page_count; i++) free(entries->pages[i]);
    free(entries->pages);
    *entries = (struct entries){0};
}

/* An object's union is eight bytes whichever side of it is in use, so one copy serves both. */
_Static_assert(sizeof(struct object) - offsetof(struct object, number) == sizeof(int64_t),
               "the payload holds the whole union");

struct object entry_value(const struct entry *entry) {
    return (struct object){.encoding = entry->encoding, .number = entry->payload};
}

void entry_set_value(struct entry *entry, const struct object *value) {
    entry->encoding = value->encoding;
    entry->payload = value->number;
}
