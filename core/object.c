#include "object.h"

/* 7.0 object.c and server.h (engine facts 10.3). */
#define OBJECT_BYTES       16 /* the object itself */
#define SHARED_INTEGERS    10000
#define EMBSTR_LENGTH_MAX  44
#define EMBSTR_EXTRA_BYTES (3 + 1) /* string header and NUL beside the object */

/* Of strings that are freed: the least one that is not embedded is about 64 bytes; up to 16 KiB an
 * allocator keeps them in slabs, above in pages. */
#define SLAB_BYTES_MIN 64
#define SLAB_BYTES_MAX 16384
#define PAGE_BYTES     4096

struct object object_from_number(int64_t number) {
    bool shared = number >= 0 && number < SHARED_INTEGERS;
    return (struct object){.encoding = shared ? ENCODING_SHARED_INT : ENCODING_INT,
                           .number = number};
}

static struct object object_from_bytes(uint32_t length, text_id text) {
    return (struct object){.encoding = length <= EMBSTR_LENGTH_MAX ? ENCODING_EMBSTR : ENCODING_RAW,
                           .length = length,
                           .text = text};
}

struct object object_from_fill(uint32_t length) {
    return object_from_bytes(length, TEXT_NONE);
}

/* 7.0 tryObjectEncoding tries integers on 20 bytes or less; no canonical 64-bit integer is longer.
 */
struct object object_from_text(const struct texts *texts, text_id text) {
    uint32_t length = texts_length(texts, text);
    int64_t number;
    if (text_to_number(texts_bytes(texts, text), length, &number)) {
        return object_from_number(number);
    }
    return object_from_bytes(length, text);
}

/* A key given as a value has a length and no known bytes, so it is stored as fill. */
struct object object_from_arg(const struct texts *texts, struct arg arg) {
    switch ((enum arg_kind)arg.kind) {
    case ARG_TEXT:
        return object_from_text(texts, arg.id);
    case ARG_NUMBER:
        return object_from_number(arg.number);
    case ARG_KEY:
    case ARG_FILL:
        break;
    }
    return object_from_fill(arg.length);
}

static bool object_is_integer(const struct object *o) {
    return o->encoding == ENCODING_SHARED_INT || o->encoding == ENCODING_INT;
}

struct arg object_to_arg(const struct object *o) {
    if (object_is_integer(o)) return arg_number(o->number);
    if (o->text == TEXT_NONE) return arg_fill(o->length);
    return (struct arg){.kind = ARG_TEXT, .length = o->length, .id = o->text};
}

uint32_t object_length(const struct object *o) {
    return object_is_integer(o) ? decimal_length(o->number) : o->length;
}

/* Texts are interned, so equal bytes have equal ids. */
bool object_equal(const struct object *a, const struct object *b) {
    if (object_is_integer(a) != object_is_integer(b)) return false;
    if (object_is_integer(a)) return a->number == b->number;
    return a->text == b->text && a->length == b->length;
}

bool object_to_number(const struct texts *texts, const struct object *o, int64_t *number) {
    if (object_is_integer(o)) {
        *number = o->number;
        return true;
    }
    if (o->text == TEXT_NONE) return false;
    return text_to_number(texts_bytes(texts, o->text), o->length, number);
}

/* Digits to a magnitude of at most `most`. */
static bool read_magnitude(const char *bytes, size_t length, uint64_t most, uint64_t *magnitude) {
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return false;
        uint64_t digit = (uint64_t)(bytes[i] - '0');
        if (value > (most - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *magnitude = value;
    return true;
}

/* "0" alone may begin with a zero, and "-0" is no number (7.0 util.c string2ll). */
bool text_to_number(const char *bytes, size_t length, int64_t *number) {
    bool negative = length > 0 && bytes[0] == '-';
    const char *digits = bytes + negative;
    size_t count = length - negative;
    if (count == 0 || (digits[0] == '0' && length > 1)) return false;
    uint64_t magnitude;
    uint64_t most = (uint64_t)INT64_MAX + negative;
    if (!read_magnitude(digits, count, most, &magnitude)) return false;
    *number = negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return true;
}

/* The allocations of a value: at most the object and, apart from it, the string. 0: none. */
struct allocations {
    uint64_t object_bytes;
    uint64_t string_bytes;
};

static struct allocations object_allocations(const struct object *o) {
    switch ((enum encoding)o->encoding) {
    case ENCODING_SHARED_INT:
        break;
    case ENCODING_INT:
        return (struct allocations){OBJECT_BYTES, 0};
    case ENCODING_EMBSTR:
        return (struct allocations){OBJECT_BYTES + EMBSTR_EXTRA_BYTES + o->length, 0};
    case ENCODING_RAW:
        return (struct allocations){OBJECT_BYTES, sds_request_bytes(o->length)};
    }
    return (struct allocations){0, 0};
}

uint64_t object_take(struct memory *memory, const struct object *o) {
    struct allocations a = object_allocations(o);
    uint64_t usable = 0;
    if (a.object_bytes) usable += memory_take(memory, MEMORY_VALUES, a.object_bytes);
    if (a.string_bytes) usable += memory_take(memory, MEMORY_VALUES, a.string_bytes);
    return usable;
}

uint64_t object_give(struct memory *memory, const struct object *o) {
    struct allocations a = object_allocations(o);
    uint64_t usable = 0;
    if (a.object_bytes) usable += memory_give(memory, MEMORY_VALUES, a.object_bytes);
    if (a.string_bytes) usable += memory_give(memory, MEMORY_VALUES, a.string_bytes);
    return usable;
}

uint32_t object_places(const struct allocator *allocator, const struct object *o,
                       uint64_t usable_bytes[2]) {
    struct allocations a = object_allocations(o);
    uint32_t count = 0;
    if (a.object_bytes) usable_bytes[count++] = allocator_usable(allocator, a.object_bytes);
    if (a.string_bytes) usable_bytes[count++] = allocator_usable(allocator, a.string_bytes);
    return count;
}

uint64_t object_usable_bytes(const struct memory *memory, const struct object *o) {
    uint64_t usable_bytes[2], sum = 0;
    uint32_t count = object_places(memory->allocator, o, usable_bytes);
    for (uint32_t i = 0; i < count; i++) sum += usable_bytes[i];
    return sum;
}

/* From the least slab to this size. */
static uint32_t doublings(uint64_t bytes) {
    return bytes < SLAB_BYTES_MIN ? 0 : log2_floor(bytes / SLAB_BYTES_MIN);
}

/* Fewer and fewer of a size lie in a slab, and more and more frees give one back; beyond the slabs
 * pages are. */
void object_charge_free(struct cpu *cpu, const struct object *o) {
    uint64_t length = object_length(o);
    if (object_allocations(o).string_bytes == 0) return;
    cpu_charge(cpu, COST_FREE_DOUBLING,
               doublings(length < SLAB_BYTES_MAX ? length : SLAB_BYTES_MAX));
    if (length > SLAB_BYTES_MAX)
        cpu_charge(cpu, COST_FREE_PAGE, ceil_div(length - SLAB_BYTES_MAX, PAGE_BYTES));
}
