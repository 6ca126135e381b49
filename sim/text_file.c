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
