/* rdb_reader: what a real server writes into an RDB file (engine facts 12), read part by part with
 * the number of bytes each took. Strings only, uncompressed: anything else fails the running test.
 * The reader points into the caller's bytes, which outlive it. */
#ifndef LAPSE_TESTS_RDB_READER_H
#define LAPSE_TESTS_RDB_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rdb_part { RDB_AUX, RDB_SELECTDB, RDB_RESIZEDB, RDB_KEY, RDB_EOF };

/* A string's bytes, or the decimal digits of an integer in `digits`. */
struct rdb_string {
    const char *bytes;
    size_t length;
    char digits[16];
};

struct rdb_reader {
    const char *bytes;
    size_t length, at;
    /* the part read last */
    enum rdb_part part;
    size_t part_bytes;
    struct rdb_string name, value; /* of AUX and KEY */
    int64_t deadline_ms;           /* of a KEY; -1: none */
    uint64_t numbers[2];           /* of SELECTDB and RESIZEDB */
};

/* Reads the magic and the version. */
struct rdb_reader rdb_reader_open(const char *bytes, size_t length);

/* The next part; false once EOF and its checksum were read, which must end the bytes. */
bool rdb_reader_next(struct rdb_reader *);

#endif
