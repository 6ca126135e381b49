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

static size_t block_bytes(uint32_t pages) {
    return (size_t)pages * ENTRY_PAGE_SIZE * sizeof(struct entry);
}

static void entries_add_block(struct entries *entries) {
    uint32_t pages = 1;
    if (entries->block_count > 0) pages = entries->blocks[entries->block_count - 1].pages;
    if (entries->block_count > 1 && pages < ENTRY_BLOCK_PAGES_MAX) pages *= 2;
    if (entries->block_count == entries->block_capacity) {
        entries->block_capacity = entries->block_capacity ? entries->block_capacity * 2 : 16;
        entries->blocks =
            realloc(entries->blocks, entries->block_capacity * sizeof *entries->blocks);
        ASSERT(entries->blocks);
    }
    entries->blocks[entries->block_count++] =
        (struct entry_block){pages_take(entries->host, block_bytes(pages)), pages};
    entries->pages_left = pages;
}

/* The next entry page of the newest block. */
static struct entry *entries_cut(struct entries *entries) {
    if (entries->pages_left == 0) entries_add_block(entries);
    const struct entry_block *block = &entries->blocks[entries->block_count - 1];
    return block->first + (size_t)(block->pages - entries->pages_left--) * ENTRY_PAGE_SIZE;
}

struct entry *entries_touch(struct entries *entries, key_id id) {
    uint32_t page = id >> ENTRY_PAGE_BITS;
    if (page >= entries->page_count) entries_widen(entries, page);
    if (!entries->pages[page]) {
        entries->pages[page] = entries_cut(entries);
    }
    return entries_at(entries, id);
}

void entries_release(struct entries *entries) {
    for (uint32_t i = 0; i < entries->block_count; i++)
        pages_give(entries->host, entries->blocks[i].first, block_bytes(entries->blocks[i].pages));
    free(entries->blocks);
    free(entries->pages);
    *entries = (struct entries){.host = entries->host};
}
