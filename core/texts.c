#include "texts.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES    (UINT32_C(64) << 10)
#define FIRST_CAPACITY 64 /* of ids; the slots are twice as many */

/* Bytes live in chunks that never move, so a pointer handed out stays good. */
struct chunk {
    struct chunk *next;
    char bytes[];
};

struct text {
    const char *bytes;
    uint32_t length;
    uint32_t hash;
};

/* Invariants: count < capacity; slots is a power of two, at least twice the capacity, so probing
 * always meets a free slot. */
struct texts {
    struct text *text; /* by id; [0] is unused */
    uint32_t count;    /* ids 1..count exist */
    uint32_t capacity;
    text_id *slot; /* open addressing, linear probing; TEXT_NONE is free */
    uint32_t slot_mask;
    struct chunk *chunks; /* the newest first */
    char *room;           /* free bytes of the newest chunk */
    size_t room_bytes;
};

#define X(word) [WORD_##word] = #word,
static const char *const words[WORDS_KNOWN] = {
    WORD_LIST(X)[WORD_ping] = "ping",
    [WORD_STAR] = "*",
};
#undef X

/* FNV-1a, 32 bits. Every word comes from the scenario, so nobody can aim at its collisions. */
static uint32_t text_hash(const char *bytes, size_t length) {
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)bytes[i]) * UINT32_C(16777619);
    return hash;
}

static char *texts_room(struct texts *texts, size_t bytes) {
    if (bytes > texts->room_bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct chunk *chunk = malloc(sizeof *chunk + size);
        ASSERT(chunk);
        chunk->next = texts->chunks;
        texts->chunks = chunk;
        texts->room = chunk->bytes;
        texts->room_bytes = size;
    }
    char *room = texts->room;
    texts->room += bytes;
    texts->room_bytes -= bytes;
    return room;
}

/* The slot that holds these bytes, or the free one where they belong. */
static text_id *texts_slot(const struct texts *texts, const char *bytes, size_t length,
                           uint32_t hash) {
    for (uint32_t i = hash & texts->slot_mask;; i = (i + 1) & texts->slot_mask) {
        text_id id = texts->slot[i];
        if (id == TEXT_NONE) return &texts->slot[i];
        const struct text *text = &texts->text[id];
        bool alike = text->hash == hash && text->length == length;
        if (alike && memcmp(text->bytes, bytes, length) == 0) return &texts->slot[i];
    }
}

static void texts_resize(struct texts *texts, uint32_t capacity) {
    texts->text = realloc(texts->text, capacity * sizeof *texts->text);
    free(texts->slot);
    texts->slot = calloc((size_t)capacity * 2, sizeof *texts->slot);
    ASSERT(texts->text && texts->slot);
    texts->capacity = capacity;
    texts->slot_mask = capacity * 2 - 1;
    for (text_id id = 1; id <= texts->count; id++) {
        const struct text *text = &texts->text[id];
        *texts_slot(texts, text->bytes, text->length, text->hash) = id;
    }
}

struct texts *texts_create(void) {
    struct texts *texts = calloc(1, sizeof *texts);
    ASSERT(texts);
    texts_resize(texts, FIRST_CAPACITY);
    for (text_id word = 1; word < WORDS_KNOWN; word++) {
        text_id id = texts_intern(texts, words[word], strlen(words[word]));
        ASSERT(id == word);
    }
    return texts;
}

void texts_destroy(struct texts *texts) {
    if (!texts) return;
    while (texts->chunks) {
        struct chunk *chunk = texts->chunks;
        texts->chunks = chunk->next;
        free(chunk);
    }
    free(texts->text);
    free(texts->slot);
    free(texts);
}

static text_id texts_append(struct texts *texts, const char *bytes, size_t length, uint32_t hash) {
    char *copy = texts_room(texts, length + 1);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    text_id id = ++texts->count;
    texts->text[id] = (struct text){.bytes = copy, .length = (uint32_t)length, .hash = hash};
    return id;
}

text_id texts_intern(struct texts *texts, const char *bytes, size_t length) {
    ASSERT(length < UINT32_MAX);
    uint32_t hash = text_hash(bytes, length);
    text_id *slot = texts_slot(texts, bytes, length, hash);
    if (*slot != TEXT_NONE) return *slot;
    text_id id = *slot = texts_append(texts, bytes, length, hash);
    if (texts->count + 1 == texts->capacity) {
        ASSERT(texts->capacity < UINT32_MAX / 4);
        texts_resize(texts, texts->capacity * 2);
    }
    return id;
}

const char *texts_bytes(const struct texts *texts, text_id id) {
    ASSERT(id > TEXT_NONE && id <= texts->count);
    return texts->text[id].bytes;
}

uint32_t texts_length(const struct texts *texts, text_id id) {
    ASSERT(id > TEXT_NONE && id <= texts->count);
    return texts->text[id].length;
}

/* By hand: the C library's follows the locale. */
static char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

bool text_is(const struct texts *texts, text_id id, enum word word) {
    if (id == (text_id)word) return true;
    if (id == TEXT_NONE || word == WORD_NONE) return false;
    uint32_t length = texts_length(texts, id);
    if (length != texts_length(texts, (text_id)word)) return false;
    const char *a = texts_bytes(texts, id), *b = texts_bytes(texts, (text_id)word);
    for (uint32_t i = 0; i < length; i++) {
        if (ascii_upper(a[i]) != ascii_upper(b[i])) return false;
    }
    return true;
}
