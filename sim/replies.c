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

/* A bulk string: text of several lines (INFO) as it is, else in quotes. */
static void bulk_write(FILE *stream, struct cursor *c, long length) {
    size_t left = (size_t)(c->end - c->at);
    size_t size = (size_t)length < left ? (size_t)length : left;
    const char *text = c->at;
    bool lines = memchr(text, '\n', size) != NULL;
    if (!lines) fputc('"', stream);
    for (size_t i = 0; i < size; i++)
        if (!lines || text[i] != '\r') fputc(text[i], stream);
    if (!lines)
        fputs("\"\n", stream);
    else if (size && text[size - 1] != '\n')
        fputc('\n', stream);
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
    fprintf(stream, "%" PRId64 ".%06" PRId64 " ms  %s  %s\n", at_ns / NS_PER_MS, at_ns % NS_PER_MS,
            server, command);
    for (long left = 1; left > 0 && cursor.at < cursor.end; left--)
        left += item_write(stream, &cursor);
    fputc('\n', stream);
    return !ferror(stream);
}
