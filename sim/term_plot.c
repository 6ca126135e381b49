#include "term_plot.h"

#include <stdlib.h>
#include <string.h>

#include "talk.h"

#define HEIGHT      6  /* lines of one chart */
#define AXIS_WIDTH  11 /* its figures, and the line at its left */
#define SERVERS_MAX 16
#define WIDTH_MIN   40

static const struct chart {
    const char *column, *title;
    enum figure_kind kind;
    int64_t least_milli; /* the top of the axis is at least this */
} charts[] = {{"stale_percent", "stale keys, % of keys with a TTL", FIGURE_PERCENT, 100000},
              {"used_memory_bytes", "used memory", FIGURE_BYTES, 1000},
              {"request_p99_us", "request p99", FIGURE_US, 1000}};

/* Dots, `across` x `down` of them in one character. */
struct canvas {
    size_t width, height; /* characters */
    size_t across, down;
    unsigned char *dots; /* one a dot */
};

static struct canvas canvas_create(size_t width, bool unicode) {
    struct canvas c = {
        .width = width, .height = HEIGHT, .across = unicode ? 2 : 1, .down = unicode ? 4 : 2};
    c.dots = calloc(c.width * c.across * c.height * c.down, 1);
    ASSERT(c.dots);
    return c;
}

static unsigned char *canvas_dot(const struct canvas *c, size_t x, size_t y) {
    return &c->dots[y * c->width * c->across + x];
}

/* One column of dots from y0 to y1, counted from the bottom. */
static void canvas_bar(struct canvas *c, size_t x, size_t y0, size_t y1) {
    size_t high = y0 > y1 ? y0 : y1, low = y0 > y1 ? y1 : y0;
    for (size_t y = low; y <= high; y++) *canvas_dot(c, x, c->height * c->down - 1 - y) = 1;
}

/* The bit that Unicode's braille patterns (U+2800) give each dot of 2 x 4. */
static const unsigned char braille_bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};

static void braille_print(FILE *out, const struct canvas *c, size_t column, size_t line) {
    unsigned bits = 0;
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 2; x++)
            if (*canvas_dot(c, column * 2 + x, line * 4 + y)) bits |= braille_bits[y][x];
    if (bits == 0) {
        fputc(' ', out);
        return;
    }
    fputc(0xe2, out);
    fputc((int)(0xa0 | bits >> 6), out);
    fputc((int)(0x80 | (bits & 0x3f)), out);
}

/* Two dots a character: upper, lower, both. */
static void ascii_print(FILE *out, const struct canvas *c, size_t column, size_t line) {
    unsigned upper = *canvas_dot(c, column, line * 2), lower = *canvas_dot(c, column, line * 2 + 1);
    fputc(upper && lower ? '|' : upper ? '\'' : lower ? '.' : ' ', out);
}

/* ---- the data of one chart ------------------------------------------------------------------ */

struct series {
    const struct table *trace;
    const char *server;
    size_t server_column, time_column, column;
    int64_t end_milli; /* of time */
    int64_t top_milli;
};

static bool is_of(const struct series *s, size_t row) {
    return strcmp(table_cell(s->trace, row, s->server_column), s->server) == 0;
}

static int64_t series_max(const struct series *s) {
    int64_t max = 0;
    for (size_t row = 0; row < s->trace->rows; row++) {
        int64_t value = is_of(s, row) ? table_milli(s->trace, row, s->column) : 0;
        max = value > max ? value : max;
    }
    return max;
}

/* part of whole, in steps 0 .. steps - 1. */
static size_t scaled(int64_t part, int64_t whole, size_t steps) {
    if (part <= 0 || whole <= 0) return 0;
    if (part >= whole) return steps - 1;
    while (whole > INT64_MAX / 65536) whole /= 2, part /= 2;
    return (size_t)(part * (int64_t)(steps - 1) / whole);
}

/* Each column of dots shows from the least to the largest of its rows, joined with the last. */
static void series_draw(const struct series *s, struct canvas *c) {
    size_t last_x = 0, last_y = 0;
    bool first = true;
    for (size_t row = 0; row < s->trace->rows; row++) {
        if (!is_of(s, row)) continue;
        size_t x =
            scaled(table_milli(s->trace, row, s->time_column), s->end_milli, c->width * c->across);
        size_t y = scaled(table_milli(s->trace, row, s->column), s->top_milli, c->height * c->down);
        for (size_t between = last_x + 1; !first && between < x; between++)
            canvas_bar(c, between, last_y, last_y);
        canvas_bar(c, x, first ? y : last_y, y);
        last_x = x, last_y = y, first = false;
    }
}

/* ---- output --------------------------------------------------------------------------------- */

static void canvas_print(FILE *out, const struct canvas *c, const struct series *s,
                         const struct chart *chart) {
    for (size_t line = 0; line < c->height; line++) {
        char figure[FIGURE_SIZE] = "";
        if (line == 0) figure_print(figure, chart->kind, s->top_milli);
        if (line == c->height - 1) figure_print(figure, chart->kind, 0);
        fprintf(out, "%*s |", AXIS_WIDTH - 2, figure);
        for (size_t column = 0; column < c->width; column++)
            (c->across == 2 ? braille_print : ascii_print)(out, c, column, line);
        fputc('\n', out);
    }
}

static void chart_print(FILE *out, const struct term_plot *plot, struct series *s,
                        const struct chart *chart) {
    int64_t max = series_max(s);
    if (max == 0) return; /* nothing to see */
    s->top_milli = max > chart->least_milli ? max : chart->least_milli;
    size_t width = plot->width > WIDTH_MIN ? plot->width : WIDTH_MIN;
    struct canvas c = canvas_create(width - AXIS_WIDTH, plot->unicode);
    fprintf(out, "%s: %s\n", s->server, chart->title);
    series_draw(s, &c);
    canvas_print(out, &c, s, chart);
    char end[FIGURE_SIZE];
    fprintf(out, "%*s 0 %*s\n\n", AXIS_WIDTH - 2, "", (int)(c.width - 2),
            figure_print(end, FIGURE_MS, s->end_milli));
    free(c.dots);
}

/* Masters first, then replicas, each in the order of their first rows. Returns how many. */
static size_t servers_of(const struct series *s, const char *servers[SERVERS_MAX]) {
    size_t count = 0, role = table_column(s->trace, "role");
    for (int replicas = 0; replicas < 2; replicas++)
        for (size_t row = 0; row < s->trace->rows && count < SERVERS_MAX; row++) {
            const char *name = table_cell(s->trace, row, s->server_column);
            bool is_replica =
                role != TABLE_NO_COLUMN && strcmp(table_cell(s->trace, row, role), "replica") == 0;
            bool known = is_replica != (replicas == 1);
            for (size_t i = 0; i < count; i++) known = known || strcmp(servers[i], name) == 0;
            if (!known) servers[count++] = name;
        }
    return count;
}

static bool series_begin(struct series *s, const struct table *trace, char *message, size_t size) {
    *s = (struct series){.trace = trace,
                         .server_column = table_column(trace, "server"),
                         .time_column = table_column(trace, "t_ms")};
    if (s->server_column == TABLE_NO_COLUMN || s->time_column == TABLE_NO_COLUMN) {
        snprintf(message, size, "expected a trace with columns t_ms and server");
        return false;
    }
    for (size_t row = 0; row < trace->rows; row++) {
        int64_t at = table_milli(trace, row, s->time_column);
        s->end_milli = at > s->end_milli ? at : s->end_milli;
    }
    if (trace->rows == 0) snprintf(message, size, "the trace has no row");
    return trace->rows > 0;
}

bool term_plot_print(FILE *out, const struct term_plot *plot, const struct table *trace,
                     char *message, size_t size) {
    struct series s;
    if (!series_begin(&s, trace, message, size)) return false;
    const char *servers[SERVERS_MAX];
    size_t count = servers_of(&s, servers);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof(charts) / sizeof(*charts); k++) {
            s.server = servers[i];
            s.column = table_column(trace, charts[k].column);
            if (s.column != TABLE_NO_COLUMN) chart_print(out, plot, &s, &charts[k]);
        }
    return true;
}
