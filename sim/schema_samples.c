/* Measured values from a CSV, for a distribution: one a line, or a value and its weight. Blank
 * lines and lines that begin with # are passed over, and so is a first line that begins with a
 * letter: the columns' names. Lines are parted before libcsv reads them, so no quote reaches beyond
 * its row. A mistake is told in the file's own lines and columns. */
#include <csv.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "schema.h"

#define SAMPLES_BYTES_MAX (64 << 20)
#define CELL_BYTES        80 /* no number is longer: what is cut off is refused all the same */

static const char samples_expected[] =
    "expected a value a line such as 12ms, or 12ms,20 with its weight";

struct samples {
    struct draft draft; /* of the CSV: its path */
    const struct schema_row *row;
    const char *unit;
    struct weighted_value *values;
    uint32_t count, capacity;
    uint32_t columns; /* 1 or 2, as the first row has it; 0 before */
    bool started;     /* a line of words is a header no more */
    struct tree_node place;
    struct csv_parser parser;
    char cells[2][CELL_BYTES];
    size_t lengths[2];
    uint32_t cell_count;
};

static void on_cell(void *bytes, size_t length, void *context) {
    struct samples *s = context;
    uint32_t index = s->cell_count++;
    if (index >= 2) return;
    if (length > CELL_BYTES - 1) length = CELL_BYTES - 1;
    if (length) memcpy(s->cells[index], bytes, length);
    s->cells[index][length] = 0;
    s->lengths[index] = length;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* A number of the row's kind at this column; a bare one gets the unit. */
static bool read_cell(struct samples *s, const struct schema_row *row, uint32_t index, int column,
                      const char *unit, int64_t *value) {
    char text[CELL_BYTES + 40];
    const char *cell = s->cells[index];
    size_t length = s->lengths[index];
    bool bare = length > 0 && cell[length - 1] >= '0' && cell[length - 1] <= '9';
    struct tree_node word = s->place;
    int wrote = snprintf(text, sizeof text, "%s%s", cell, bare ? unit : "");
    word.kind = TREE_WORD, word.text = text, word.length = (size_t)wrote, word.column = column;
    return schema_read_integer(&s->draft, row, &word, value);
}

/* Where the second cell begins: behind the first comma that no quote holds. */
static int second_column(const char *line, size_t length) {
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == ',' && !quoted) return (int)i + 2;
    }
    return 1;
}

static bool split_line(struct samples *s, const char *line, size_t length) {
    s->cell_count = 0;
    bool fine = csv_parse(&s->parser, line, length, on_cell, NULL, s) == length &&
                csv_fini(&s->parser, on_cell, NULL, s) == 0;
    if (!fine)
        return draft_refuse(&s->draft, &s->place, "not CSV: %s; %s",
                            csv_strerror(csv_error(&s->parser)), samples_expected);
    uint32_t wanted = s->columns ? s->columns : s->cell_count == 2 ? 2 : 1;
    if (s->cell_count != wanted)
        return draft_refuse(&s->draft, &s->place, "%u columns%s; %s", s->cell_count,
                            s->columns == 1   ? " below lines of 1"
                            : s->columns == 2 ? " below lines of 2"
                                              : "",
                            samples_expected);
    s->columns = wanted;
    return true;
}

static bool read_line(struct samples *s, const char *line, size_t length) {
    struct weighted_value sample = {.weight = 1};
    int64_t weight;
    while (length && (line[length - 1] == '\r' || line[length - 1] == ' ')) length--;
    if (length == 0 || line[0] == '#') return true;
    bool header = !s->started && is_letter(line[line[0] == '"' && length > 1]);
    s->started = true;
    if (header) return true;
    if (!split_line(s, line, length)) return false;
    if (!read_cell(s, s->row, 0, 1, s->unit, &sample.value)) return false;
    if (s->columns == 2) {
        int column = second_column(line, length);
        if (!read_cell(s, &schema_weight, 1, column, "", &weight)) return false;
        sample.weight = (uint32_t)weight;
    }
    s->values = heap_grow(s->values, &s->capacity, s->count, sizeof *s->values);
    s->values[s->count++] = sample;
    return true;
}

static bool read_lines(struct samples *s, const char *at, const char *end) {
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        s->place.line++;
        if (!read_line(s, at, (size_t)(stop - at))) return false;
        at = stop < end ? stop + 1 : end;
    }
    s->place.line = 1;
    return s->count > 0 ||
           draft_refuse(&s->draft, &s->place, "no values in this file; %s", samples_expected);
}

static bool read_file(struct draft *draft, const struct schema_row *row, const char *path,
                      const char *bytes, size_t length, const char *unit, struct distribution *d) {
    struct samples s = {.draft = *draft, .row = row, .unit = unit, .place = {.column = 1}};
    s.draft.path = path;
    ASSERT(csv_init(&s.parser, CSV_STRICT | CSV_STRICT_FINI) == 0);
    bool fine = read_lines(&s, bytes, bytes + length);
    csv_free(&s.parser);
    if (fine)
        *d = empirical_create(s.values, s.count);
    else
        free(s.values);
    return fine;
}

bool schema_read_samples(struct draft *draft, const struct schema_row *row,
                         const struct tree_node *file, const char *unit, struct distribution *d) {
    if (file->kind != TREE_WORD || file->length == 0)
        return draft_refuse(draft, file, "%s: csv is %s; expected the name of a file of values",
                            row->key, file->kind == TREE_WORD ? "empty" : tree_kind_name(file));
    char *path = draft_file(draft, file->text);
    size_t length;
    char *bytes = draft_read_file(path, SAMPLES_BYTES_MAX, &length);
    bool fine = bytes ? read_file(draft, row, path, bytes, length, unit, d)
                      : draft_refuse(draft, file,
                                     "cannot read %s; expected a CSV of values (at most 64 MiB)",
                                     quote(file->text, file->length).text);
    free(bytes);
    free(path);
    return fine;
}
