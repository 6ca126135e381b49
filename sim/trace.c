/* The columns as a table, and a row as a line. Numbers are printed from integers alone, so neither
 * locale nor the C library's rounding can change a byte of a trace. */
#include "trace.h"

#include <string.h>

#define NUMBER_BYTES 24 /* a sign, 20 digits, a point */

const struct trace_column trace_columns[] = {
#define X(field, kind, help) {#field, COLUMN_##kind, offsetof(struct trace_row, field), help},
    TRACE_LIST(X)
#undef X
};

const size_t trace_column_count = sizeof trace_columns / sizeof trace_columns[0];

int64_t trace_value(const struct trace_row *row, size_t column) {
    ASSERT(column < trace_column_count);
    return *(const int64_t *)(const void *)((const char *)row + trace_columns[column].offset);
}

/* Digits from the right; returns where they begin. `end` has NUMBER_BYTES before it. */
static char *number_print(char *end, uint64_t value) {
    do *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

/* Every row of a long run prints some thirty numbers, most of them 0: by hand that takes a tenth of
 * what fprintf takes. */
static char *value_print(char *end, int64_t value, enum column_kind kind) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (kind == COLUMN_MILLI) {
        char *thousandths = number_print(end, 1000 + magnitude % 1000);
        *thousandths = '.'; /* the 1 that kept the zeros */
        end = thousandths;
        magnitude /= 1000;
    }
    end = number_print(end, magnitude);
    if (value < 0) *--end = '-';
    return end;
}

void trace_print_value(FILE *out, int64_t value, enum column_kind kind) {
    char text[NUMBER_BYTES];
    char *start = value_print(text + sizeof text, value, kind);
    fwrite(start, 1, (size_t)(text + sizeof text - start), out);
}

void trace_print_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    fputc('"', out);
}

bool trace_write_header(FILE *out) {
    fputs("t_ms,server,role", out);
    for (size_t i = 0; i < trace_column_count; i++) fprintf(out, ",%s", trace_columns[i].name);
    fputc('\n', out);
    return !ferror(out);
}

bool trace_write_row(FILE *out, const struct trace_row *row) {
    char text[(sizeof trace_columns / sizeof *trace_columns) * (NUMBER_BYTES + 1) + 1];
    char *at = text + sizeof text;
    trace_print_value(out, floor_div(row->at_ns, NS_PER_MS), COLUMN_INT);
    fputc(',', out);
    trace_print_text(out, row->server);
    fputc(',', out);
    trace_print_text(out, row->role);
    *--at = '\n';
    for (size_t i = trace_column_count; i-- > 0;) {
        at = value_print(at, trace_value(row, i), trace_columns[i].kind);
        *--at = ',';
    }
    fwrite(at, 1, (size_t)(text + sizeof text - at), out);
    return !ferror(out);
}
