/* memory: the modelled memory of one server. `used_memory` is a sum over live allocations of the
 * allocator's size class, as the server's allocation wrappers count it; no bytes are really held
 * for it. Source: malloc_usable_size of jemalloc; classes checked against redis-server 7.0.15
 * (engine facts 10.1). */
#ifndef LAPSE_CORE_MEMORY_H
#define LAPSE_CORE_MEMORY_H

#include "base.h"

/* X(enumerator, name, what it holds) */
#define MEMORY_LIST(X)                                                                             \
    X(BASE, "base", "what the server uses before the first key: used_memory_startup")              \
    X(KEYS, "keys", "key strings")                                                                 \
    X(VALUES, "values", "value objects and strings")                                               \
    X(MAIN_ENTRIES, "main_entries", "entries of the keyspace dicts")                               \
    X(MAIN_TABLES, "main_tables", "bucket arrays of the keyspace dicts")                           \
    X(EXPIRES_ENTRIES, "expires_entries", "entries of the expires dicts")                          \
    X(EXPIRES_TABLES, "expires_tables", "bucket arrays of the expires dicts")                      \
    X(BACKLOG, "backlog", "replication buffer blocks kept for the backlog alone")                  \
    X(REPLICA_BUFFERS, "replica_buffers",                                                          \
      "replication buffer blocks a replica still needs, beyond the backlog")

enum memory_class {
#define X(id, name, help) MEMORY_##id,
    MEMORY_LIST(X)
#undef X
        MEMORY_CLASS_COUNT
};

extern const char *const memory_names[MEMORY_CLASS_COUNT];

/* Size classes as data: one of 8 bytes, then multiples of the quantum up to eight of them, then
 * four per doubling. */
struct allocator {
    const char *name; /* "bundled": the server's own build; "debian": Debian's shared jemalloc */
    uint32_t quantum_bytes; /* 8 or 16 */
    const char *help;
};

const struct allocator *allocator_find(const char *name); /* or NULL */
const struct allocator *allocator_at(size_t index);       /* or NULL past the last */

/* Bytes that a request of `bytes` (> 0) really takes. With 16-byte classes 24 takes 32, with 8-byte
 * ones 24. Every write asks this some ten times, hence here. */
/* Four classes per doubling, but never closer together than the quantum; the 8-byte class is there
 * with either quantum (jemalloc 5, engine facts 10.1.2 and 10.1.3). */
static inline uint64_t allocator_usable(const struct allocator *allocator, uint64_t bytes) {
    ASSERT(bytes > 0);
    if (bytes <= 8) return 8;
    uint32_t doubling = log2_floor(bytes - 1); /* 2^doubling < bytes <= 2^(doubling + 1) */
    uint64_t spacing = UINT64_C(1) << (doubling - 2);
    if (spacing < allocator->quantum_bytes) spacing = allocator->quantum_bytes;
    return (bytes + spacing - 1) & ~(spacing - 1);
}

/* The ledger. Invariant: used_bytes is the sum of bytes[], and no class is ever negative. */
struct memory {
    const struct allocator *allocator;
    int64_t bytes[MEMORY_CLASS_COUNT];
    int64_t used_bytes;
    int64_t peak_bytes;
};

void memory_init(struct memory *, const struct allocator *, uint64_t base_bytes);

/* Books one allocation (or its release) of `request_bytes` under `which`; returns its usable size.
 */
static inline uint64_t memory_take(struct memory *memory, enum memory_class which,
                                   uint64_t request_bytes) {
    uint64_t usable = allocator_usable(memory->allocator, request_bytes);
    memory->bytes[which] += (int64_t)usable;
    memory->used_bytes += (int64_t)usable;
    if (memory->used_bytes > memory->peak_bytes) memory->peak_bytes = memory->used_bytes;
    return usable;
}

static inline uint64_t memory_give(struct memory *memory, enum memory_class which,
                                   uint64_t request_bytes) {
    uint64_t usable = allocator_usable(memory->allocator, request_bytes);
    ASSERT(memory->bytes[which] >= (int64_t)usable);
    memory->bytes[which] -= (int64_t)usable;
    memory->used_bytes -= (int64_t)usable;
    return usable;
}

/* Moves already usable bytes between classes, for a block that changes its owner. */
void memory_move(struct memory *, enum memory_class from, enum memory_class to,
                 uint64_t usable_bytes);

/* Bytes of a length-prefixed string of `length` bytes: header by length, text and a NUL (sds, 7.0).
 */
/* The header holds length and capacity in the narrowest width that fits. The shortest kind keeps no
 * capacity, so the server makes an empty string, which is likely to grow, of the next kind (7.0
 * sdsnewlen; engine facts 10.2). */
static inline uint64_t sds_request_bytes(uint64_t length) {
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

#endif
