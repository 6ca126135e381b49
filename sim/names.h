/* names: key names as people write them, over core's registry of ids. A population's names follow a
 * pattern and take no memory; other names are kept. Owner of the registry. */
#ifndef LAPSE_SIM_NAMES_H
#define LAPSE_SIM_NAMES_H

#include "keys.h"

struct names;

struct names *names_create(const uint8_t hash_seed[SIPHASH_SEED_BYTES]);
void names_destroy(struct names *);
struct keys *names_keys(struct names *);

/* Registers `count` names "PREFIX number SUFFIX" with numbers from `first`, zero-padded to `width`
 * digits (0: not padded); returns the first of `count` consecutive ids. Names that were there
 * already get new ids all the same: a scenario whose patterns overlap is refused by the loader. */
key_id names_add_range(struct names *, const char *prefix, const char *suffix, uint32_t width,
                       uint64_t first, uint32_t count);

/* Makes room to intern `count` further names without growing on the way. */
void names_reserve(struct names *, uint32_t count);

/* The id of this name: a pattern's, a known one, or a new one. */
key_id names_intern(struct names *, const char *name, size_t length);

/* The id if the name is known, else KEY_NONE. */
key_id names_find(const struct names *, const char *name, size_t length);

/* Writes the name into buffer (not terminated; may hold any bytes) and returns its length; 0 < size
 * >= KEY_LENGTH_MAX always suffices. */
size_t names_print(const struct names *, key_id, char *buffer, size_t size);

#endif
