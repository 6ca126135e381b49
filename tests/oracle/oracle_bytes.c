#include <stdlib.h>
#include <string.h>

#include "oracle.h"

void oracle_bytes_append(struct oracle_bytes *b, const void *bytes, size_t length) {
    if (b->length + length + 1 > b->capacity) {
        b->capacity = (b->length + length + 1) * 2;
        b->bytes = realloc(b->bytes, b->capacity);
        if (!b->bytes) abort();
    }
    if (length) memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
    b->bytes[b->length] = '\0';
}

void oracle_bytes_release(struct oracle_bytes *b) {
    free(b->bytes);
    *b = (struct oracle_bytes){0};
}
