/* entry: one key in one database: both its links, its deadline and its value, in 28 bytes.
 * An entry's place is its key's id, so whether a key exists is one look without a walk, and the
 * expires dict shares the entry with the keyspace as the server's shares the key string. Entries
 * live in pages that are made when first needed. Owner: the database. Addresses stay valid until
 * entries_release. */
#ifndef LAPSE_CORE_ENTRY_H
#define LAPSE_CORE_ENTRY_H

#include "base.h"
#include "keys.h"
#include "object.h"
#include "pages.h"

enum dict_kind { DICT_MAIN, DICT_EXPIRES, DICT_KINDS };

/* Packed to 4-byte alignment: 28 bytes instead of 40. Read and write the fields by name; take no
 * pointer to them. */
struct __attribute__((packed, aligned(4))) entry {
    key_id link[DICT_KINDS]; /* next key in the same bucket of that dict; KEY_NONE at the end */
    ms_t deadline_ms; /* absolute unix time; meaningful while the key is in the expires dict */
    int64_t payload;  /* of the value: number, or length and text id */
    uint8_t encoding; /* of the value */
    uint8_t member;   /* bit (1 << dict_kind): the key is in that dict */
    uint16_t reserved;
};
_Static_assert(sizeof(struct entry) == 28, "an entry is 28 bytes");

#define ENTRY_PAGE_BITS 12
#define ENTRY_PAGE_SIZE (1u << ENTRY_PAGE_BITS)

/* Entry pages are cut from blocks of host memory, each as large as all before it until the largest,
 * so that few keys take little and many lie in large pages. 128 entry pages are 7 times 2 MiB. */
#define ENTRY_BLOCK_PAGES_MAX 128

struct entry_block {
    struct entry *first;
    uint32_t pages;
};

struct entries {
    struct entry **pages;
    uint32_t page_count;
    const struct pages *host; /* as handed in, or NULL */
    struct entry_block *blocks;
    uint32_t block_count, block_capacity;
    uint32_t pages_left; /* of the newest block, not yet cut */
};

static inline struct entry *entries_at(const struct entries *e,
                                       key_id id) { /* the page must exist */
    return &e->pages[id >> ENTRY_PAGE_BITS][id & (ENTRY_PAGE_SIZE - 1)];
}

/* True if the key is in that dict; works for ids never seen. */
static inline bool entries_has(const struct entries *e, key_id id, enum dict_kind kind) {
    uint32_t page = id >> ENTRY_PAGE_BITS;
    if (page >= e->page_count || !e->pages[page]) return false;
    return e->pages[page][id & (ENTRY_PAGE_SIZE - 1)].member >> kind & 1;
}

/* The entry, its page made if need be. */
struct entry *entries_touch(struct entries *, key_id id);
void entries_release(struct entries *);

/* An object's union is eight bytes whichever side of it is in use, so one copy serves both. */
_Static_assert(sizeof(struct object) - offsetof(struct object, number) == sizeof(int64_t),
               "the payload holds the whole union");

static inline struct object entry_value(const struct entry *entry) {
    return (struct object){.encoding = entry->encoding, .number = entry->payload};
}

static inline void entry_set_value(struct entry *entry, const struct object *value) {
    entry->encoding = value->encoding;
    entry->payload = value->number;
}

#endif
