#include "rdb_reader.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC_BYTES    9
#define CHECKSUM_BYTES 8

static const uint8_t *take(struct rdb_reader *r, size_t bytes) {
    ck_assert_msg(bytes <= r->length - r->at, "the file ends at %zu, in the middle", r->length);
    r->at += bytes;
    return (const uint8_t *)r->bytes + r->at - bytes;
}

static uint8_t take_byte(struct rdb_reader *r) { return *take(r, 1); }

static uint64_t take_big_endian(struct rdb_reader *r, int bytes) {
    uint64_t number = 0;
    for (const uint8_t *at = take(r, (size_t)bytes); bytes-- > 0; at++) number = number << 8 | *at;
    return number;
}

static int64_t take_little_endian(struct rdb_reader *r, int bytes) {
    const uint8_t *at = take(r, (size_t)bytes);
    uint64_t number = (at[bytes - 1] & 0x80) ? UINT64_MAX : 0;
    while (bytes-- > 0) number = number << 8 | at[bytes];
    return (int64_t)number;
}

static uint64_t length_after(struct rdb_reader *r, uint8_t first) {
    if (first >> 6 == 0) return first;
    if (first >> 6 == 1) return (uint64_t)(first & 0x3f) << 8 | take_byte(r);
    ck_assert_msg(first == 0x80 || first == 0x81, "no length: %02x at %zu", first, r->at);
    return take_big_endian(r, first == 0x80 ? 4 : 8);
}

static uint64_t take_length(struct rdb_reader *r) { return length_after(r, take_byte(r)); }

static void take_string(struct rdb_reader *r, struct rdb_string *s) {
    uint8_t first = take_byte(r);
    if (first >> 6 != 3) {
        s->length = length_after(r, first);
        s->bytes = (const char *)take(r, s->length);
        return;
    }
    ck_assert_msg(first <= 0xc2, "a compressed string, or none: %02x at %zu", first, r->at);
    int64_t number = take_little_endian(r, 1 << (first & 3));
    s->length = (size_t)snprintf(s->digits, sizeof s->digits, "%" PRId64, number);
    s->bytes = s->digits;
}

struct rdb_reader rdb_reader_open(const char *bytes, size_t length) {
    struct rdb_reader r = {.bytes = bytes, .length = length};
    ck_assert(memcmp(take(&r, MAGIC_BYTES), "REDIS0010", MAGIC_BYTES) == 0);
    return r;
}

static void read_key(struct rdb_reader *r, uint8_t opcode) {
    r->part = RDB_KEY;
    r->deadline_ms = -1;
    if (opcode == 252) {
        r->deadline_ms = take_little_endian(r, 8);
        opcode = take_byte(r);
    }
    ck_assert_msg(opcode == 0, "no string: %d at %zu", opcode, r->at);
    take_string(r, &r->name);
    take_string(r, &r->value);
}

static void read_part(struct rdb_reader *r, uint8_t opcode) {
    switch (opcode) {
    case 250:
        r->part = RDB_AUX;
        take_string(r, &r->name);
        take_string(r, &r->value);
        return;
    case 251:
        r->part = RDB_RESIZEDB;
        r->numbers[0] = take_length(r);
        r->numbers[1] = take_length(r);
        return;
    case 254:
        r->part = RDB_SELECTDB;
        r->numbers[0] = take_length(r);
        return;
    case 255:
        r->part = RDB_EOF;
        take(r, CHECKSUM_BYTES);
        ck_assert_uint_eq(r->at, r->length);
        return;
    default:
        read_key(r, opcode);
    }
}

bool rdb_reader_next(struct rdb_reader *r) {
    size_t before = r->at;
    if (r->part == RDB_EOF && r->at == r->length) return false;
    read_part(r, take_byte(r));
    r->part_bytes = r->at - before;
    return true;
}
