#include "replies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is still to be read. */
struct cursor {
    const char *at, *end;
};

/* The rest of the line, without its \r\n; moves past it. */
static size_t line_take(struct cursor *c, const char **line) {
    const char *end = memchr(c->at, '\r', (size_t)(c->end - c->at));
    if (!end) end = c->end;
    *line = c->at;
    c->at = c->end - end >= 2 ? end + 2 : c->end;
    return (size_t)(end - *line);
}

/* A string in quotes as redis-cli writes it: one line, whatever bytes it holds. */
static void quoted_write(FILE *stream, const char *text, size_t size) {
    fputc('"', stream);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n' || c == '\r' || c == '\t')
            fputs(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t", stream);
        else if (c < ' ' || c > '~')
            fprintf(stream, "\\x%02x", c);
        else
            fprintf(stream, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', stream);
}

static void lines_write(FILE *stream, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r') fputc(text[i], stream);
    if (size && text[size - 1] != '\n') fputc('\n', stream);
}

/* A bulk string: a report of many lines (INFO) as it is, else in quotes. */
static void bulk_write(FILE *stream, struct cursor *c, long length) {
    size_t left = (size_t)(c->end - c->at);
    size_t size = (size_t)length < left ? (size_t)length : left;
    const char *text = c->at;
    if (size > 1 && memcmp(text + size - 2, "\r\n", 2) == 0)
        lines_write(stream, text, size);
    else
        quoted_write(stream, text, size), fputc('\n', stream);
    c->at = left - size >= 2 ? text + size + 2 : c->end;
}

/* One item; returns how many items of an array follow it. */
static long item_write(FILE *stream, struct cursor *c) {
    const char *line;
    size_t length = line_take(c, &line);
    long number = length > 1 ? strtol(line + 1, NULL, 10) : 0;
    switch (length ? *line : 0) {
    case '$':
        if (number < 0)
            fputs("(nil)\n", stream);
        else
            bulk_write(stream, c, number);
        return 0;
    case '*':
        if (number <= 0)
            fputs(number < 0 ? "(nil)\n" : "(empty array)\n", stream);
        else
            fprintf(stream, "(array of %ld)\n", number);
        return number > 0 ? number : 0;
    case ':':
        fputs("(integer) ", stream);
        break;
    case '-':
        fputs("(error) ", stream);
        break;
    default:
        break;
    }
    if (length) fwrite(line + 1, 1, length - 1, stream);
    fputc('\n', stream);
    return 0;
}

bool replies_write(FILE *stream, ns_t at_ns, const char *server, const char *command,
                   const char *resp, size_t length) {
    struct cursor cursor = {resp, resp + length};
    fprintf(stream, "%" PRId64 ".%06" PRId64 " ms  %s  ", at_ns / NS_PER_MS, at_ns % NS_PER_MS,
            server);
    for (; *command; command++)
        fputc(*command == '\n' || *command == '\r' ? ' ' : *command, stream);
    fputc('\n', stream);
    for (long left = 1; left > 0 && cursor.at < cursor.end; left--)
        left += item_write(stream, &cursor);
    fputc('\n', stream);
    return !ferror(stream);
}
