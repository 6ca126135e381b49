#include "siphash.h"

#include <string.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* One load where the machine's order is the wanted one: gcc 12 makes eight of the obvious loop. */
static inline uint64_t load_le64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

static inline void sip_round(struct sip *s) {
    s->v0 += s->v1;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void sip_absorb(struct sip *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* The four constants spell "somepseudorandomlygeneratedbytes" (section 2 of the paper). */
static inline struct sip sip_begin(const uint8_t seed[SIPHASH_SEED_BYTES]) {
    uint64_t k0 = load_le64(seed), k1 = load_le64(seed + 8);
    return (struct sip){
        .v0 = k0 ^ UINT64_C(0x736f6d6570736575),
        .v1 = k1 ^ UINT64_C(0x646f72616e646f6d),
        .v2 = k0 ^ UINT64_C(0x6c7967656e657261),
        .v3 = k1 ^ UINT64_C(0x7465646279746573),
    };
}

/* The last word: the bytes that fill no whole word, and the length's low byte on top. */
static inline uint64_t sip_tail(const uint8_t *rest, size_t length) {
    uint64_t word = (uint64_t)length << 56;
    for (size_t i = 0; i < (length & 7); i++) word |= (uint64_t)rest[i] << 8 * i;
    return word;
}

uint64_t siphash12(const uint8_t seed[SIPHASH_SEED_BYTES], const void *data, size_t length) {
    struct sip s = sip_begin(seed);
    const uint8_t *p = data;
    size_t whole = length & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) sip_absorb(&s, load_le64(p + i));
    sip_absorb(&s, sip_tail(p + whole, length));
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
