#include "memory.h"

#include <string.h>

const char *const memory_names[MEMORY_CLASS_COUNT] = {
#define X(id, name, help) name,
    MEMORY_LIST(X)
#undef X
};

static const struct allocator allocators[] = {
    {"bundled", 8,
     "the server's own build: jemalloc with 8-byte classes, a 24-byte entry takes 24"},
    {"debian", 16, "Debian's shared jemalloc: 16-byte classes, a 24-byte entry takes 32"},
};

const struct allocator *allocator_at(size_t index) {
    return index < sizeof allocators / sizeof *allocators ? &allocators[index] : NULL;
}

const struct allocator *allocator_find(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        const char *known = allocators[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return &allocators[i];
    }
    return NULL;
}

/* What the server holds at its start is a measured sum of usable sizes already. */
void memory_init(struct memory *memory, const struct allocator *allocator, uint64_t base_bytes) {
    *memory = (struct memory){.allocator = allocator};
    memory->bytes[MEMORY_BASE] = (int64_t)base_bytes;
    memory->used_bytes = memory->peak_bytes = (int64_t)base_bytes;
}

void memory_move(struct memory *memory, enum memory_class from, enum memory_class to,
                 uint64_t usable_bytes) {
    ASSERT(memory->bytes[from] >= (int64_t)usable_bytes);
    memory->bytes[from] -= (int64_t)usable_bytes;
    memory->bytes[to] += (int64_t)usable_bytes;
}
