/* object: what a string value is, what it weighs and what freeing it costs; no payload bytes are
 * held. Encodings and sizes follow redis-server 7.0 (object.c tryObjectEncoding; engine facts 10.2,
 * 10.3): a canonical integer is shared from 0 to 9999 and weighs nothing, else it is an object of
 * 16 bytes; text of up to 44 bytes is embedded in its object, longer text is a block of its own. */
#ifndef LAPSE_CORE_OBJECT_H
#define LAPSE_CORE_OBJECT_H

#include "base.h"
#include "cost.h"
#include "memory.h"
#include "request.h"

enum encoding { ENCODING_SHARED_INT, ENCODING_INT, ENCODING_EMBSTR, ENCODING_RAW };

/* A value, passed by value. For integers `number` counts; else length and text (TEXT_NONE: fill
 * without content). */
struct object {
    uint8_t encoding; /* enum encoding */
    union {
        int64_t number;
        struct {
            uint32_t length;
            text_id text;
        };
    };
};

struct object object_from_number(int64_t number);
struct object object_from_fill(uint32_t length);
struct object object_from_text(const struct texts *,
                               text_id); /* becomes an integer when it reads as one */
struct object object_from_arg(const struct texts *, struct arg);

/* The argument that writes this value on the wire. */
struct arg object_to_arg(const struct object *);
uint32_t object_length(const struct object *); /* bytes of the value as a client sees it */

/* Same bytes? Fill equals fill of the same length only. */
bool object_equal(const struct object *, const struct object *);

/* Reads the value as a 64-bit integer as INCR does; false when it is none. */
bool object_to_number(const struct texts *, const struct object *, int64_t *number);

/* Reads bytes as the server's string2ll does: optional minus, no leading zeros or spaces, in range.
 */
bool text_to_number(const char *bytes, size_t length, int64_t *number);

/* Books the value's allocations under MEMORY_VALUES, and back. Both return the usable bytes. */
uint64_t object_take(struct memory *, const struct object *);
uint64_t object_give(struct memory *, const struct object *);
uint64_t object_usable_bytes(const struct memory *, const struct object *);

/* The usable sizes of a value's allocations; how many there are: 0 for a shared integer, 2 for a
 * string outside its object. */
uint32_t object_places(const struct allocator *, const struct object *, uint64_t usable_bytes[2]);

/* Charges what freeing the value costs beyond COST_DELETE, nothing for a value inside its object:
 * COST_FREE_DOUBLING for each doubling from 64 B to 16 KiB, COST_FREE_PAGE for
 * each started 4 KiB beyond. */
void object_charge_free(struct cpu *, const struct object *);

#endif
