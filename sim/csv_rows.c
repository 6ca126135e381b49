/* A memory report of rdb-tools, row by row. Keys are written raw: one with a comma makes more
 * columns, one with a quote is no quoted field. A line without quotes is split at its commas, two
 * columns from the left and the rest from the right, so what is between is the key. A line with a
 * quote is read by libcsv first, as a well-behaved writer may have meant it, then raw. Lines are
 * parted before anything else, so no quote reaches beyond its row. */
#include <csv.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "complain.h"
#include "heap.h"
#include "object.h"
#include "population.h"
#include "scenario_load.h"
#include "units.h"

enum column { DATABASE, TYPE, KEY, SIZE, ENCODING, ELEMENTS, LARGEST, EXPIRY, COLUMNS_MAX };

static const char header_new[] =
    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry";
/* Room is made at once for so many names; more grow as they come. */
#define KEYS_RESERVED_MAX 200000000

#define OLD_HEADER_LENGTH (sizeof header_new - sizeof ",expiry")

#define REFUSED_NAMED 10

struct field {
    const char *text;
    size_t length;
};

struct csv_reader {
    struct names *names;
    struct csv_rows *rows;
    uint32_t databases; /* of the server that gets the keys */
    uint32_t capacity;
    uint32_t columns; /* 8, or 7 in older files */
    uint64_t line;    /* from 1 */
    struct phrase refused;
    struct csv_parser parser;
    /* libcsv's fields of one line */
    char *cells; /* bytes of the fields, one after another */
    size_t cells_length, cells_capacity;
    struct field fields[COLUMNS_MAX];
    size_t starts[COLUMNS_MAX];
    uint32_t field_count;
};

/* Splits from both ends; false when there are too few commas. */
static bool split_raw(const char *line, size_t length, uint32_t columns,
                      struct field fields[COLUMNS_MAX]) {
    const char *left = line, *right = line + length;
    for (uint32_t i = DATABASE; i < KEY; i++) {
        const char *comma = memchr(left, ',', (size_t)(right - left));
        if (!comma) return false;
        fields[i] = (struct field){left, (size_t)(comma - left)};
        left = comma + 1;
    }
    for (uint32_t i = columns - 1; i > KEY; i--) {
        const char *start = right;
        while (start > left && start[-1] != ',') start--;
        if (start == left) return false;
        fields[i] = (struct field){start, (size_t)(right - start)};
        right = start - 1;
    }
    fields[KEY] = (struct field){left, (size_t)(right - left)};
    return true;
}

static bool read_number(struct field field, uint64_t *number) {
    if (field.length == 0 || field.length > 18) return false;
    *number = 0;
    for (size_t i = 0; i < field.length; i++) {
        if (field.text[i] < '0' || field.text[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(field.text[i] - '0');
    }
    return true;
}

static bool read_expiry(struct field field, ms_t *deadline_ms) {
    us_t wall_us;
    *deadline_ms = -1;
    if (field.length == 0) return true;
    if (!units_parse_time(field.text, field.length, false, &wall_us)) return false;
    *deadline_ms = wall_ms_of(wall_us);
    return true;
}

/* Length of a string that weighs this much with its object, before size classes: the object's 16
 * bytes, the string's header and its NUL (object.h). At least one byte. */
static uint32_t value_length(uint64_t weight) {
    uint64_t overhead = weight <= 275 ? 20 : weight <= 65557 ? 22 : 26;
    uint64_t length = weight > overhead ? weight - overhead : 1;
    return (uint32_t)(length < VALUE_LENGTH_MAX ? length : VALUE_LENGTH_MAX);
}

#define ENTRY_BYTES 24

/* NULL if the row can be placed, else what is wrong with it. */
static const char *read_row(const struct field *fields, uint32_t columns, uint32_t databases,
                            struct csv_row *row) {
    uint64_t db, size, ignored;
    if (!read_number(fields[DATABASE], &db)) return "database is no number";
    if (db >= DATABASES_MAX) return "database above 15";
    if (db >= databases) return "a database that the server has not";
    if (!read_number(fields[SIZE], &size)) return "size_in_bytes is no number";
    if (!read_number(fields[ELEMENTS], &ignored)) return "num_elements is no number";
    if (fields[LARGEST].length && !read_number(fields[LARGEST], &ignored))
        return "len_largest_element is no number";
    row->deadline_ms = -1;
    if (columns > EXPIRY && !read_expiry(fields[EXPIRY], &row->deadline_ms))
        return "expiry is no time such as 2026-01-01T00:00:00";
    if (fields[KEY].length > KEY_LENGTH_MAX) return "a key longer than 65,535 bytes";
    uint64_t around = sds_request_bytes(fields[KEY].length) + ENTRY_BYTES;
    if (row->deadline_ms >= 0) around += ENTRY_BYTES;
    row->db = (uint8_t)db;
    row->value_bytes = value_length(size > around ? size - around : 0);
    return NULL;
}

static void refuse(struct csv_reader *r, const char *why) {
    r->rows->refused++;
    if (r->rows->refused > REFUSED_NAMED) return;
    phrase_add(&r->refused, "%sline %llu: %s", r->refused.length ? "; " : "",
               (unsigned long long)r->line, why);
}

static void take(struct csv_reader *r, struct field key, struct csv_row row) {
    struct csv_rows *rows = r->rows;
    row.key = names_intern(r->names, key.text, key.length);
    rows->rows = heap_grow(rows->rows, &r->capacity, rows->count, sizeof *rows->rows);
    rows->rows[rows->count++] = row;
}

static void on_field(void *bytes, size_t length, void *context) {
    struct csv_reader *r = context;
    uint32_t index = r->field_count++;
    if (index >= COLUMNS_MAX) return;
    while (r->cells_capacity - r->cells_length < length) {
        r->cells_capacity = r->cells_capacity ? r->cells_capacity * 2 : 4096;
        r->cells = heap_resize(r->cells, r->cells_capacity, 1);
    }
    r->starts[index] = r->cells_length;
    r->fields[index].length = length;
    if (length) memcpy(r->cells + r->cells_length, bytes, length);
    r->cells_length += length;
}

/* One line through libcsv; true when it has as many columns as the header. */
static bool split_quoted(struct csv_reader *r, const char *line, size_t length) {
    r->cells_length = 0;
    r->field_count = 0;
    bool fine = csv_parse(&r->parser, line, length, on_field, NULL, r) == length;
    csv_fini(&r->parser, on_field, NULL, r);
    if (!fine || r->field_count != r->columns) return false;
    for (uint32_t i = 0; i < r->columns; i++)
        r->fields[i].text = r->cells ? r->cells + r->starts[i] : "";
    return true;
}

static void read_line(struct csv_reader *r, const char *line, size_t length) {
    struct csv_row row;
    if (length && line[length - 1] == '\r') length--;
    if (length == 0) return;
    if (memchr(line, '"', length) && split_quoted(r, line, length) &&
        !read_row(r->fields, r->columns, r->databases, &row)) {
        take(r, r->fields[KEY], row);
        return;
    }
    struct field fields[COLUMNS_MAX];
    if (!split_raw(line, length, r->columns, fields)) {
        char why[64];
        uint32_t commas = 0;
        for (size_t i = 0; i < length; i++) commas += line[i] == ',';
        snprintf(why, sizeof why, "%u columns, expected %u", commas + 1, r->columns);
        refuse(r, why);
        return;
    }
    const char *why = read_row(fields, r->columns, r->databases, &row);
    if (why)
        refuse(r, why);
    else
        take(r, fields[KEY], row);
}

/* 8 or 7 columns, or 0: no such report. */
static uint32_t header_columns(const char *line, size_t length) {
    if (length && line[length - 1] == '\r') length--;
    if (length == sizeof header_new - 1 && memcmp(line, header_new, length) == 0) return 8;
    if (length == OLD_HEADER_LENGTH && memcmp(line, header_new, length) == 0) return 7;
    return 0;
}

static const char *next_line(const char **at, const char *end, size_t *length) {
    const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
    *length = (size_t)((stop ? stop : end) - line);
    *at = stop ? stop + 1 : end;
    return line;
}

static uint32_t lines_in(const char *at, const char *end) {
    uint64_t lines = 0;
    for (const char *found; (found = memchr(at, '\n', (size_t)(end - at))); at = found + 1) lines++;
    return lines < KEYS_RESERVED_MAX ? (uint32_t)lines : KEYS_RESERVED_MAX;
}

struct csv_rows *csv_rows_parse(const char *bytes, size_t length, const char *path,
                                struct names *names, uint32_t databases,
                                struct scenario_error *error) {
    const char *at = bytes, *end = bytes + length;
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) at += 3;
    size_t line_length;
    const char *line = next_line(&at, end, &line_length);
    struct csv_reader r = {.names = names,
                           .databases = databases,
                           .columns = header_columns(line, line_length),
                           .line = 1};
    if (!r.columns) {
        complain(error, path, 1, 1, "not a memory report of rdb-tools; expected the header %s",
                 header_new);
        return NULL;
    }
    ASSERT(csv_init(&r.parser, 0) == 0);
    names_reserve(names, lines_in(at, end));
    r.rows = heap_zero(1, sizeof *r.rows);
    while (at < end) {
        line = next_line(&at, end, &line_length);
        r.line++;
        read_line(&r, line, line_length);
    }
    csv_free(&r.parser);
    free(r.cells);
    r.rows->refused_lines = heap_text(r.refused.text, r.refused.length);
    return r.rows;
}

#define CSV_BYTES_MAX (SIZE_MAX / 4)

struct csv_rows *csv_rows_read(const char *path, struct names *names, uint32_t databases,
                               struct scenario_error *error) {
    size_t length;
    char *bytes = draft_read_file(path, CSV_BYTES_MAX, &length);
    if (!bytes) {
        complain(error, path, 1, 1, "cannot read this file; expected a memory report of rdb-tools");
        return NULL;
    }
    struct csv_rows *rows = csv_rows_parse(bytes, length, path, names, databases, error);
    free(bytes);
    return rows;
}

void csv_rows_destroy(struct csv_rows *rows) {
    if (!rows) return;
    free(rows->rows);
    free(rows->refused_lines);
    free(rows);
}
