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

/* Four classes per doubling, but never closer together than the quantum; the 8-byte class is there
 * with either quantum (jemalloc 5, engine facts 10.1.2 and 10.1.3). */
uint64_t allocator_usable(const struct allocator *allocator, uint64_t bytes) {
    ASSERT(bytes > 0);
    if (bytes <= 8) return 8;
    int doubling = 63 - __builtin_clzll(bytes - 1); /* 2^doubling < bytes <= 2^(doubling + 1) */
    uint64_t spacing = UINT64_C(1) << (doubling - 2);
    if (spacing < allocator->quantum_bytes) spacing = allocator->quantum_bytes;
    return (bytes + spacing - 1) & ~(spacing - 1);
}

/* What the server holds at its start is a measured sum of usable sizes already. */
void memory_init(struct memory *memory, const struct allocator *allocator, uint64_t base_bytes) {
    *memory = (struct memory){.allocator = allocator};
    memory->bytes[MEMORY_BASE] = (int64_t)base_bytes;
    memory->used_bytes = memory->peak_bytes = (int64_t)base_bytes;
}

uint64_t memory_take(struct memory *memory, enum memory_class which, uint64_t request_bytes) {
    uint64_t usable = allocator_usable(memory->allocator, request_bytes);
    memory->bytes[which] += (int64_t)usable;
    memory->used_bytes += (int64_t)usable;
    if (memory->used_bytes > memory->peak_bytes) memory->peak_bytes = memory->used_bytes;
    return usable;
}

uint64_t memory_give(struct memory *memory, enum memory_class which, uint64_t request_bytes) {
    uint64_t usable = allocator_usable(memory->allocator, request_bytes);
    ASSERT(memory->bytes[which] >= (int64_t)usable);
    memory->bytes[which] -= (int64_t)usable;
    memory->used_bytes -= (int64_t)usable;
    return usable;
}

void memory_move(struct memory *memory, enum memory_class from, enum memory_class to,
                 uint64_t usable_bytes) {
    ASSERT(memory->bytes[from] >= (int64_t)usable_bytes);
    memory->bytes[from] -= (int64_t)usable_bytes;
    memory->bytes[to] += (int64_t)usable_bytes;
}

/* The header holds length and capacity in the narrowest width that fits. The shortest kind keeps no
 * capacity, so the server makes an empty string, which is likely to grow, of the next kind (7.0
 * sdsnewlen; engine facts 10.2). */
uint64_t sds_request_bytes(uint64_t length) {
    uint64_t header = 17;
    if (length > 0 && length < 32) {
        header = 1;
    } else if (length < 256) {
        header = 3;
    } else if (length <= UINT16_MAX) {
        header = 5;
    } else if (length <= UINT32_MAX) {
        header = 9;
    }
    return header + length + 1;
}
