#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "standin_state.h"
#include "support.h"

#define MARK_LINE_BYTES (5 + REPL_ID_HEX + 2) /* $EOF:, the mark, CR LF */

static void say(struct standin *p, const char *text) {
    oracle_bytes_append(&p->server, text, strlen(text));
}

static void drop(struct oracle_bytes *b, size_t bytes) {
    memmove(b->bytes, b->bytes + bytes, b->length - bytes + 1);
    b->length -= bytes;
}

static void take_fullresync(struct standins *s, struct standin *p, const char *words) {
    char text[96];
    p->have = strtoll(words + REPL_ID_HEX, NULL, 10);
    p->phase = STANDIN_ANNOUNCED;
    snprintf(text, sizeof text, "+FULLRESYNC #%d %lld\r\n", repl_ids_of_server(&s->ids, words),
             (long long)p->have);
    say(p, text);
}

static void take_continue(struct standins *s, struct standin *p, const char *words) {
    char text[96];
    p->phase = STANDIN_STREAM;
    snprintf(text, sizeof text, "+CONTINUE #%d\r\n", repl_ids_of_server(&s->ids, words));
    say(p, text);
}

static bool take_line(struct standins *s, struct standin *p) {
    static const char full[] = "+FULLRESYNC ", go_on[] = "+CONTINUE ";
    const char *line = p->raw.bytes, *end = strstr(line, "\r\n");
    if (!end) return false;
    size_t length = (size_t)(end - line) + 2;
    if (strncmp(line, full, strlen(full)) == 0)
        take_fullresync(s, p, line + strlen(full));
    else if (strncmp(line, go_on, strlen(go_on)) == 0)
        take_continue(s, p, line + strlen(go_on));
    else if (*line == '-')
        say(p, "-\r\n");
    else
        oracle_bytes_append(&p->server, line, length);
    drop(&p->raw, length);
    return true;
}

static bool take_mark(struct standin *p) {
    if (p->raw.length < MARK_LINE_BYTES) return false;
    ck_assert_msg(strncmp(p->raw.bytes, "$EOF:", 5) == 0, "no file: %.60s", p->raw.bytes);
    memcpy(p->mark, p->raw.bytes + 5, REPL_ID_HEX);
    drop(&p->raw, MARK_LINE_BYTES);
    p->phase = STANDIN_FILE;
    return true;
}

static bool take_file(struct standin *p) {
    char text[64];
    const char *end = memmem(p->raw.bytes, p->raw.length, p->mark, REPL_ID_HEX);
    if (!end) return false;
    snprintf(text, sizeof text, "[file %zu]", (size_t)(end - p->raw.bytes));
    say(p, text);
    drop(&p->raw, (size_t)(end - p->raw.bytes) + REPL_ID_HEX);
    p->phase = STANDIN_STREAM;
    return true;
}

static bool take_stream(struct standin *p) {
    oracle_bytes_append(&p->server, p->raw.bytes, p->raw.length);
    p->have += (int64_t)p->raw.length;
    drop(&p->raw, p->raw.length);
    return true;
}

/* A newline between lines keeps the connection alive. */
static bool take_newline(struct standin *p) {
    say(p, "\n");
    drop(&p->raw, 1);
    return true;
}

static bool take(struct standins *s, struct standin *p) {
    bool may_be_newline = p->phase == STANDIN_LINES || p->phase == STANDIN_ANNOUNCED;
    if (p->raw.length == 0) return false;
    if (may_be_newline && *p->raw.bytes == '\n') return take_newline(p);
    switch (p->phase) {
    case STANDIN_LINES:
        return take_line(s, p);
    case STANDIN_ANNOUNCED:
        return take_mark(p);
    case STANDIN_FILE:
        return take_file(p);
    case STANDIN_STREAM:
        return take_stream(p);
    }
    return false;
}

static void read_socket(struct standin *p) {
    static char chunk[1 << 16];
    ssize_t got;
    while ((got = recv(p->fd, chunk, sizeof chunk, MSG_DONTWAIT)) > 0)
        oracle_bytes_append(&p->raw, chunk, (size_t)got);
    if (got == 0 || errno == ECONNRESET) p->server_closed = true;
}

void standins_read(struct standins *s) {
    for (int i = 0; i < STANDINS_MAX; i++) {
        struct standin *p = &s->all[i];
        if (p->fd < 0 || p->server_closed || p->stalled) continue;
        read_socket(p);
        while (take(s, p)) continue;
    }
}
