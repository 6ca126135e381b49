#include "words.h"

#include "heap.h"

struct reader {
    const char *line;
    size_t at, length;
    char *out;
    size_t wrote;
};

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool more(const struct reader *r, size_t ahead) { return r->at + ahead < r->length; }

static void put(struct reader *r, char c) { r->out[r->wrote++] = c; }

/* After a backslash inside double quotes. */
static void read_escape(struct reader *r) {
    static const char from[] = "nrtba", to[] = "\n\r\t\b\a";
    char c = r->line[r->at];
    if (c == 'x' && more(r, 2) && hex_digit(r->line[r->at + 1]) >= 0 &&
        hex_digit(r->line[r->at + 2]) >= 0) {
        put(r, (char)(hex_digit(r->line[r->at + 1]) * 16 + hex_digit(r->line[r->at + 2])));
        r->at += 3;
        return;
    }
    const char *known = c ? strchr(from, c) : NULL;
    put(r, known ? to[known - from] : c);
    r->at++;
}

/* From behind the opening quote to behind the closing one. */
static bool read_quoted(struct reader *r, char quote_mark) {
    while (more(r, 0)) {
        char c = r->line[r->at++];
        if (c == quote_mark) return !more(r, 0) || is_space(r->line[r->at]);
        bool escape = c == '\\' && more(r, 0) && (quote_mark == '"' || r->line[r->at] == '\'');
        if (escape)
            read_escape(r);
        else
            put(r, c);
    }
    return false;
}

static bool read_word(struct reader *r) {
    while (more(r, 0) && !is_space(r->line[r->at])) {
        char c = r->line[r->at++];
        if (c == '"' || c == '\'') return read_quoted(r, c);
        put(r, c);
    }
    return true;
}

bool words_split(struct words *words, const char *line, size_t length, struct phrase *phrase) {
    *words = (struct words){.text = heap_zero(2 * length + 2, 1)};
    struct reader r = {.line = line, .length = length, .out = words->text};
    for (;;) {
        while (more(&r, 0) && is_space(line[r.at])) r.at++;
        if (!more(&r, 0)) return true;
        size_t start = r.wrote;
        if (!read_word(&r)) {
            phrase_add(phrase, "unbalanced quotes in %s; expected a closing quote at a word's end",
                       quote(line, length).text);
            return false;
        }
        words->places =
            heap_grow(words->places, &words->capacity, words->count, sizeof *words->places);
        words->places[words->count++] = (struct word_place){start, r.wrote - start};
        put(&r, 0);
    }
}

void words_release(struct words *words) {
    free(words->text);
    free(words->places);
    *words = (struct words){0};
}
