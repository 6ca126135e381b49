/* text_file: a whole file in memory, and whether it is UTF-8. */
#ifndef LAPSE_SIM_TEXT_FILE_H
#define LAPSE_SIM_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the file with a NUL after them, or NULL with errno set. Free it. */
char *text_file_read(const char *path, size_t *length);

/* Well-formed UTF-8 without a NUL: what JSON can carry. */
bool text_is_utf8(const char *text, size_t length);

#endif
