#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_file.h"

static size_t count_of(const char *text, size_t length, char wanted) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += text[i] == wanted;
    return count;
}

/* Cuts one line in its cells, in place; returns how many there were, or 0 for more than `room`. */
static size_t line_cut(char *line, const char **cells, size_t room) {
    size_t count = 0;
    while (count < room) {
        cells[count++] = line;
        char *comma = strchr(line, ',');
        if (!comma) return count;
        *comma = '\0';
        line = comma + 1;
    }
    return 0;
}

static bool lines_cut(struct table *table, const char *path, char *message, size_t size) {
    char *line = table->text;
    for (size_t number = 1; *line; number++) {
        char *end = strchr(line, '\n');
        char *next = end ? end + 1 : line + strlen(line);
        if (end) *end = '\0';
        size_t row = number - 1;
        size_t count = line_cut(line, table->cells + row * table->columns, table->columns);
        if (count != table->columns) {
            snprintf(message, size, "%s:%zu: expected %zu columns as in the header, found %s", path,
                     number, table->columns, count ? "fewer" : "more");
            return false;
        }
        table->rows = row;
        line = next;
    }
    return true;
}

bool table_parse(struct table *table, const char *text, size_t length, const char *path,
                 char *message, size_t size) {
    *table = (struct table){0};
    const char *newline = memchr(text, '\n', length);
    if (!newline || memchr(text, '\0', length)) {
        snprintf(message, size, "%s:1: expected a CSV file with a header line", path);
        return false;
    }
    size_t lines = count_of(text, length, '\n') + 1;
    table->columns = count_of(text, (size_t)(newline - text), ',') + 1;
    table->text = malloc(length + 1);
    table->cells = calloc(lines * table->columns, sizeof(*table->cells));
    ASSERT(table->text && table->cells);
    memcpy(table->text, text, length);
    table->text[length] = '\0';
    if (lines_cut(table, path, message, size)) return true;
    table_release(table);
    return false;
}

bool table_read(struct table *table, const char *path, char *message, size_t size) {
    size_t length;
    char *text = text_file_read(path, &length);
    if (!text) {
        *table = (struct table){0};
        snprintf(message, size, "%s: %s", path, strerror(errno));
        return false;
    }
    bool read = table_parse(table, text, length, path, message, size);
    free(text);
    return read;
}

void table_release(struct table *table) {
    free(table->text);
    free(table->cells);
    *table = (struct table){0};
}

size_t table_column(const struct table *table, const char *name) {
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->cells[i], name) == 0) return i;
    return TABLE_NO_COLUMN;
}

const char *table_cell(const struct table *table, size_t row, size_t column) {
    ASSERT(row < table->rows && column < table->columns);
    return table->cells[(row + 1) * table->columns + column];
}

int64_t table_milli(const struct table *table, size_t row, size_t column) {
    const char *text = table_cell(table, row, column);
    bool negative = *text == '-';
    char *end;
    int64_t value = strtoll(text, &end, 10);
    if (value > INT64_MAX / 1001 || value < -(INT64_MAX / 1001)) return value < 0 ? -1 : INT64_MAX;
    int64_t rest = 0;
    if (*end == '.') end++;
    for (int digit = 0; digit < 3; digit++) {
        bool more = *end >= '0' && *end <= '9';
        rest = rest * 10 + (more ? *end++ - '0' : 0);
    }
    return value * 1000 + (negative ? -rest : rest);
}
