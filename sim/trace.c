/* The columns as a table, and a row as a line. Numbers are printed from integers alone, so neither
 * locale nor the C library's rounding can change a byte of a trace. */
#include "trace.h"

#include <inttypes.h>
#include <string.h>

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

void trace_print_value(FILE *out, int64_t value, enum column_kind kind) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (kind == COLUMN_INT)
        fprintf(out, "%" PRId64, value);
    else
        fprintf(out, "%s%" PRIu64 ".%03" PRIu64, value < 0 ? "-" : "", magnitude / 1000,
                magnitude % 1000);
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
    fprintf(out, "%" PRId64 ",", floor_div(row->at_ns, NS_PER_MS));
    trace_print_text(out, row->server);
    fputc(',', out);
    trace_print_text(out, row->role);
    for (size_t i = 0; i < trace_column_count; i++) {
        fputc(',', out);
        trace_print_value(out, trace_value(row, i), trace_columns[i].kind);
    }
    fputc('\n', out);
    return !ferror(out);
}
