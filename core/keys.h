/* keys: the registry of key names, shared by all servers of a run. An id stands for a name; core
 * needs only its length and its hash, computed once under the run's hash seed. How a name is
 * printed is the business of whoever registers it. Ids are dense, start at 1 and are never reused;
 * 0 is "no key" and ends every chain. All servers of a run share one hash seed, where real ones
 * draw their own: the order of buckets is then the same on a master and its replicas, which changes
 * no figure that a trace shows. */
#ifndef LAPSE_CORE_KEYS_H
#define LAPSE_CORE_KEYS_H

#include "base.h"
#include "pages.h"
#include "siphash.h"

typedef uint32_t key_id;
#define KEY_NONE ((key_id)0)

struct keys {
    uint8_t seed[SIPHASH_SEED_BYTES];
    uint32_t *hash;   /* by id: low 32 bits of SipHash-1-2 over the name */
    uint16_t *length; /* by id: bytes of the name */
    uint32_t count;   /* ids 1..count exist */
    uint32_t capacity;
    const struct pages *pages;
};

/* Allocation failure anywhere in core is an ASSERT: a simulator that runs out of host memory has
 * nothing to model. */
struct keys *keys_create(const uint8_t seed[SIPHASH_SEED_BYTES]);

/* The same, in host memory from there. */
struct keys *keys_create_in(const struct pages *, const uint8_t seed[SIPHASH_SEED_BYTES]);
void keys_destroy(struct keys *);

/* Makes room for `count` further ids at once. */
void keys_reserve(struct keys *, uint32_t count);

/* Registers a name and returns its new id; never looks for an equal one. 0 < length <=
 * KEY_LENGTH_MAX (0 is allowed too: the server knows the empty key). */
key_id keys_add(struct keys *, const char *name, size_t length);

/* Brings near what the two below will look at. */
static inline void keys_prefetch(const struct keys *k, key_id id) {
    prefetch(&k->hash[id]);
    prefetch(&k->length[id]);
}

static inline uint32_t keys_hash(const struct keys *k, key_id id) { return k->hash[id]; }
static inline uint32_t keys_length(const struct keys *k, key_id id) { return k->length[id]; }

#endif
