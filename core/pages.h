/* pages: host memory in large pieces, from whoever owns the engine. What a simulated key costs is
 * mostly waiting for memory: tables are looked at in no order, so nearly every look misses the
 * cache, and with pages of 4 KiB it misses the translation cache too, which under a hypervisor
 * costs more than the miss itself. Core cannot ask the system for larger pages, its owner can. What
 * is taken is zeroed and lies still until it is given back with the size it was taken with. */
#ifndef LAPSE_CORE_PAGES_H
#define LAPSE_CORE_PAGES_H

#include "base.h"

struct pages {
    void *(*take)(size_t bytes); /* never NULL */
    void (*give)(void *, size_t bytes);
};

/* NULL stands for calloc and free. */
void *pages_take(const struct pages *, size_t bytes);
void pages_give(const struct pages *, void *, size_t bytes);

#endif
