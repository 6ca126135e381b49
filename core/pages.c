#include "pages.h"

#include <stdlib.h>

void *pages_take(const struct pages *pages, size_t bytes) {
    if (pages) return pages->take(bytes);
    void *taken = calloc(1, bytes);
    ASSERT(taken);
    return taken;
}

void pages_give(const struct pages *pages, void *taken, size_t bytes) {
    if (pages)
        pages->give(taken, bytes);
    else
        free(taken);
}
