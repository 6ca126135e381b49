/* text_file: a whole file in memory. */
#ifndef LAPSE_SIM_TEXT_FILE_H
#define LAPSE_SIM_TEXT_FILE_H

#include <stddef.h>

/* The bytes of the file with a NUL after them, or NULL with errno set. Free it. */
char *text_file_read(const char *path, size_t *length);

#endif
