#include "text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads to the end; NULL when memory is short. */
static char *stream_read(FILE *stream, size_t *length) {
    size_t capacity = 1 << 14, got = 1;
    char *text = malloc(capacity);
    for (*length = 0; text && got > 0; *length += got) {
        if (*length + 1 == capacity) {
            char *larger = realloc(text, capacity *= 2);
            if (!larger) free(text);
            text = larger;
            if (!text) break;
        }
        got = fread(text + *length, 1, capacity - *length - 1, stream);
    }
    if (text) text[*length] = '\0';
    return text;
}

char *text_file_read(const char *path, size_t *length) {
    FILE *stream = fopen(path, "rb");
    if (!stream) return NULL;
    errno = 0;
    char *text = stream_read(stream, length);
    int error = errno;
    if (text && ferror(stream)) {
        free(text);
        text = NULL;
    }
    fclose(stream);
    errno = error;
    return text;
}

/* Bytes that follow a lead byte, and the smallest code point of that length. */
static int followers(unsigned char lead, unsigned long *code, unsigned long *smallest) {
    if (lead < 0x80) return *code = lead, *smallest = 1, 0;
    if (lead >= 0xc0 && lead < 0xe0) return *code = lead & 0x1f, *smallest = 0x80, 1;
    if (lead >= 0xe0 && lead < 0xf0) return *code = lead & 0x0f, *smallest = 0x800, 2;
    if (lead >= 0xf0 && lead < 0xf8) return *code = lead & 0x07, *smallest = 0x10000, 3;
    return -1;
}

bool text_is_utf8(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned long code = 0, smallest = 0;
        int more = followers((unsigned char)text[i], &code, &smallest);
        if (more < 0 || length - i <= (size_t)more) return false;
        for (; more > 0; more--) {
            unsigned char next = (unsigned char)text[++i];
            if ((next & 0xc0) != 0x80) return false;
            code = code << 6 | (next & 0x3f);
        }
        if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    }
    return true;
}
