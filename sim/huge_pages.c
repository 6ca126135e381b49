#define _GNU_SOURCE /* madvise and MADV_HUGEPAGE */
#include "huge_pages.h"

#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Exactly the bytes, to the system's page, at a multiple of 2 MiB: the address space around it goes
 * back. What does not fill a large page lies in small ones, so nothing is wasted. */
static void *aligned_take(size_t bytes) {
    size_t reserved = bytes + HUGE_PAGE_BYTES;
    char *start = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT(start != MAP_FAILED);
    size_t before = (HUGE_PAGE_BYTES - (uintptr_t)start % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
    if (before > 0) munmap(start, before);
    munmap(start + before + bytes, reserved - before - bytes);
    madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
}

/* mmap counts in pages, and so must munmap. */
static size_t whole_pages(size_t bytes) {
    const size_t page = 4096;
    return (bytes + page - 1) / page * page;
}

static void *huge_take(size_t bytes) {
    if (bytes < HUGE_PAGE_BYTES) return pages_take(NULL, bytes);
    return aligned_take(whole_pages(bytes));
}

static void huge_give(void *taken, size_t bytes) {
    if (bytes < HUGE_PAGE_BYTES)
        pages_give(NULL, taken, bytes);
    else
        munmap(taken, whole_pages(bytes));
}

const struct pages huge_pages = {huge_take, huge_give};
