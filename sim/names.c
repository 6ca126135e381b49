/* Names of a pattern are made up again whenever they are asked for; the others lie one after
 * another in `text`. Ids are dense and given in order, so the ranges, which are in order of ids,
 * tell both kinds apart: a name's place among the kept ones is its id less the ids that ranges took
 * before it. */
#include "names.h"

#include "bounds.h"
#include "heap.h"
#include "huge_pages.h"

struct range {
    char *prefix, *suffix;
    size_t prefix_length, suffix_length;
    uint32_t width;
    uint64_t first;
    uint32_t count;
    key_id first_id;
    uint32_t ids_before; /* taken by this range and all before it */
};

/* The hash stands beside the number, so that a search looks at a name only when it is the one. */
struct slot {
    uint32_t kept; /* number of a kept name + 1; 0: free */
    uint32_t hash;
};

struct names {
    struct keys *keys;
    struct range *ranges;
    uint32_t range_count, range_capacity;
    char *text; /* kept names, one after another */
    size_t text_length, text_capacity;
    size_t *start; /* of each kept name in text */
    uint32_t kept_count, kept_capacity;
    struct slot *slots; /* open addressing by hash */
    uint32_t slot_mask;
};

#define SLOTS_INITIAL 64

/* A look-up goes to a slot anywhere: in large pages where there are any. */
static struct slot *slots_take(uint32_t size) {
    return pages_take(&huge_pages, size * sizeof(struct slot));
}

static void slots_give(struct slot *slots, uint32_t size) {
    pages_give(&huge_pages, slots, size * sizeof(struct slot));
}

struct names *names_create(const uint8_t hash_seed[SIPHASH_SEED_BYTES]) {
    struct names *names = heap_zero(1, sizeof *names);
    names->keys = keys_create_in(&huge_pages, hash_seed);
    names->slots = slots_take(SLOTS_INITIAL);
    names->slot_mask = SLOTS_INITIAL - 1;
    return names;
}

void names_destroy(struct names *names) {
    if (!names) return;
    for (uint32_t i = 0; i < names->range_count; i++) {
        free(names->ranges[i].prefix);
        free(names->ranges[i].suffix);
    }
    free(names->ranges);
    free(names->text);
    free(names->start);
    slots_give(names->slots, names->slot_mask + 1);
    keys_destroy(names->keys);
    free(names);
}

struct keys *names_keys(struct names *names) {
    return names->keys;
}

static uint32_t digits_of(uint64_t number) {
    uint32_t digits = 1;
    while (number >= 10) number /= 10, digits++;
    return digits;
}

static size_t range_name_length(const struct range *range, uint64_t number) {
    uint32_t digits = digits_of(number);
    if (digits < range->width) digits = range->width;
    return range->prefix_length + digits + range->suffix_length;
}

/* Writes prefix, number and suffix; the caller has the room. */
static size_t range_print(const struct range *range, uint64_t number, char *buffer) {
    size_t length = range_name_length(range, number);
    memcpy(buffer, range->prefix, range->prefix_length);
    memcpy(buffer + length - range->suffix_length, range->suffix, range->suffix_length);
    for (size_t at = length - range->suffix_length; at > range->prefix_length; number /= 10)
        buffer[--at] = (char)('0' + number % 10);
    return length;
}

/* Makes the next name of a printed one, without a division for each digit; false when all digits
 * are nines, so that the next number may be longer. */
static bool range_count_up(const struct range *range, char *name, size_t length) {
    for (size_t at = length - range->suffix_length; at-- > range->prefix_length;) {
        if (name[at]++ < '9') return true;
        name[at] = '0';
    }
    return false;
}

/* Last range that begins at or before this id, or NULL. */
static const struct range *range_before(const struct names *names, key_id id) {
    uint32_t low = 0, high = names->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (names->ranges[middle].first_id <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &names->ranges[low - 1] : NULL;
}

key_id names_add_range(struct names *names, const char *prefix, const char *suffix, uint32_t width,
                       uint64_t first, uint32_t count) {
    uint32_t before = names->range_count ? names->ranges[names->range_count - 1].ids_before : 0;
    names->ranges =
        heap_grow(names->ranges, &names->range_capacity, names->range_count, sizeof *names->ranges);
    struct range *range = &names->ranges[names->range_count++];
    *range = (struct range){.prefix = heap_text(prefix, strlen(prefix)),
                            .suffix = heap_text(suffix, strlen(suffix)),
                            .prefix_length = strlen(prefix),
                            .suffix_length = strlen(suffix),
                            .width = width,
                            .first = first,
                            .count = count,
                            .first_id = names->keys->count + 1,
                            .ids_before = before + count};
    ASSERT(count == 0 || first <= UINT64_MAX - (count - 1));
    ASSERT(range->prefix_length + range->suffix_length + width + 20 <= KEY_LENGTH_MAX);
    char buffer[KEY_LENGTH_MAX];
    keys_reserve(names->keys, count);
    size_t length = count ? range_print(range, first, buffer) : 0;
    for (uint32_t i = 0; i < count; i++) {
        keys_add(names->keys, buffer, length);
        if (i + 1 < count && !range_count_up(range, buffer, length))
            length = range_print(range, first + i + 1, buffer);
    }
    return range->first_id;
}

/* The number in `digits` if the pattern would write it so: padded to the width, not further. */
static bool range_number(const struct range *range, const char *digits, size_t length,
                         uint64_t *number) {
    if (length == 0 || length < range->width || length > 20) return false;
    if (length > range->width && length > 1 && digits[0] == '0') return false;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9') return false;
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(digits[i] - '0'), &value)) return false;
    }
    *number = value;
    return true;
}

static key_id range_find(const struct range *range, const char *name, size_t length) {
    size_t fixed = range->prefix_length + range->suffix_length;
    if (length <= fixed || memcmp(name, range->prefix, range->prefix_length) != 0) return KEY_NONE;
    if (memcmp(name + length - range->suffix_length, range->suffix, range->suffix_length) != 0)
        return KEY_NONE;
    uint64_t number;
    if (!range_number(range, name + range->prefix_length, length - fixed, &number)) return KEY_NONE;
    if (number < range->first || number - range->first >= range->count) return KEY_NONE;
    return range->first_id + (uint32_t)(number - range->first);
}

static uint32_t kept_index(const struct names *names, key_id id) {
    const struct range *range = range_before(names, id);
    return id - 1 - (range ? range->ids_before : 0);
}

static key_id kept_id(const struct names *names, uint32_t index) {
    /* The inverse of kept_index: pass the ranges that begin before. Ranges are few. */
    key_id id = index + 1;
    for (uint32_t i = 0; i < names->range_count && names->ranges[i].first_id <= id; i++)
        id += names->ranges[i].count;
    return id;
}

static size_t kept_length(const struct names *names, uint32_t index) {
    size_t end = index + 1 < names->kept_count ? names->start[index + 1] : names->text_length;
    return end - names->start[index];
}

/* The slot that holds the name, or the free one where it belongs. */
static struct slot *slot_of(const struct names *names, const char *name, size_t length,
                            uint32_t hash) {
    for (uint32_t at = hash & names->slot_mask;; at = (at + 1) & names->slot_mask) {
        struct slot *slot = &names->slots[at];
        if (!slot->kept) return slot;
        if (slot->hash == hash && kept_length(names, slot->kept - 1) == length &&
            (length == 0 || /* the first name of all may be empty, and then there is no text */
             memcmp(names->text + names->start[slot->kept - 1], name, length) == 0))
            return slot;
    }
}

static uint32_t hash_of(const struct names *names, const char *name, size_t length) {
    return (uint32_t)siphash12(names->keys->seed, name, length);
}

static void slots_resize(struct names *names, uint32_t size) {
    struct slot *old = names->slots;
    uint32_t old_size = names->slot_mask + 1;
    names->slot_mask = size - 1;
    names->slots = slots_take(size);
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i].kept) continue;
        uint32_t at = old[i].hash & names->slot_mask;
        while (names->slots[at].kept) at = (at + 1) & names->slot_mask;
        names->slots[at] = old[i];
    }
    slots_give(old, old_size);
}

/* At most half of the slots are taken. */
void names_reserve(struct names *names, uint32_t count) {
    uint64_t size = (uint64_t)names->slot_mask + 1;
    while (size / 2 <= (uint64_t)names->kept_count + count) size *= 2;
    ASSERT(size <= UINT32_C(1) << 31);
    if (size > names->slot_mask + 1) slots_resize(names, (uint32_t)size);
}

static key_id keep(struct names *names, const char *name, size_t length, struct slot *slot,
                   uint32_t hash) {
    ASSERT(length <= KEY_LENGTH_MAX);
    while (names->text_capacity - names->text_length < length) {
        names->text_capacity = names->text_capacity ? names->text_capacity * 2 : 4096;
        names->text = heap_resize(names->text, names->text_capacity, 1);
    }
    names->start =
        heap_grow(names->start, &names->kept_capacity, names->kept_count, sizeof *names->start);
    names->start[names->kept_count] = names->text_length;
    if (length) memcpy(names->text + names->text_length, name, length);
    names->text_length += length;
    *slot = (struct slot){.kept = ++names->kept_count, .hash = hash};
    key_id id = keys_add(names->keys, name, length);
    names_reserve(names, 0);
    return id;
}

static key_id ranges_find(const struct names *names, const char *name, size_t length) {
    for (uint32_t i = 0; i < names->range_count; i++) {
        key_id id = range_find(&names->ranges[i], name, length);
        if (id != KEY_NONE) return id;
    }
    return KEY_NONE;
}

key_id names_intern(struct names *names, const char *name, size_t length) {
    key_id id = ranges_find(names, name, length);
    if (id != KEY_NONE) return id;
    uint32_t hash = hash_of(names, name, length);
    struct slot *slot = slot_of(names, name, length, hash);
    if (slot->kept) return kept_id(names, slot->kept - 1);
    return keep(names, name, length, slot, hash);
}

key_id names_find(const struct names *names, const char *name, size_t length) {
    key_id id = ranges_find(names, name, length);
    if (id != KEY_NONE) return id;
    const struct slot *slot = slot_of(names, name, length, hash_of(names, name, length));
    return slot->kept ? kept_id(names, slot->kept - 1) : KEY_NONE;
}

size_t names_print(const struct names *names, key_id id, char *buffer, size_t size) {
    ASSERT(id >= 1 && id <= names->keys->count);
    size_t length = keys_length(names->keys, id);
    ASSERT(length <= size);
    const struct range *range = range_before(names, id);
    if (range && id - range->first_id < range->count)
        return range_print(range, range->first + (id - range->first_id), buffer);
    if (length) memcpy(buffer, names->text + names->start[kept_index(names, id)], length);
    return length;
}
