/* table: one of lapse's own CSV files (trace, summary, comparison) read back as text cells. Those
 * files have a header line, no quotes and no commas in their cells. Owns all its text. */
#ifndef LAPSE_SIM_TABLE_H
#define LAPSE_SIM_TABLE_H

#include "base.h"

struct table {
    char *text;           /* the file, its separators overwritten by NULs */
    const char **cells;   /* row by row; row 0 is the header */
    size_t columns, rows; /* rows without the header */
};

/* False with a message that names the file and the line. */
bool table_read(struct table *, const char *path, char *message, size_t size);
bool table_parse(struct table *, const char *text, size_t length, const char *path, char *message,
                 size_t size);
void table_release(struct table *);

#define TABLE_NO_COLUMN SIZE_MAX
size_t table_column(const struct table *, const char *name); /* or TABLE_NO_COLUMN */
const char *table_cell(const struct table *, size_t row, size_t column);

/* The cell as an integer in thousandths ("59.934": 59934; "-1": -1000; "3000": 3000000). */
int64_t table_milli(const struct table *, size_t row, size_t column);

#endif
