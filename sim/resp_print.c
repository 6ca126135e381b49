/* RESP as the server writes it (protocol 2). Sizes are known before bytes are written, so a bulk
 * string of a payload without content is as cheap as a memset. */
#include "resp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"

enum { CAPACITY_MIN = 256, QUOTED_MAX = 128 };

/* ---- the buffer ---- */

void resp_buffer_release(struct resp_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct resp_buffer){.bytes = NULL};
}

/* Room for that many further bytes, to be written at the end. */
static char *resp_reserve(struct resp_buffer *buffer, size_t length) {
    if (buffer->capacity - buffer->length < length) {
        size_t capacity = buffer->capacity * 2 > CAPACITY_MIN ? buffer->capacity * 2 : CAPACITY_MIN;
        while (capacity - buffer->length < length) capacity *= 2;
        buffer->bytes = realloc(buffer->bytes, capacity);
        ASSERT(buffer->bytes != NULL);
        buffer->capacity = capacity;
    }
    return buffer->bytes + buffer->length;
}

void resp_append(struct resp_buffer *buffer, const char *bytes, size_t length) {
    if (length == 0) return;
    memcpy(resp_reserve(buffer, length), bytes, length);
    buffer->length += length;
}

static void append_text(struct resp_buffer *buffer, const char *text) {
    resp_append(buffer, text, strlen(text));
}

/* "*3\r\n", ":-7\r\n", "$5\r\n" */
static void append_header(struct resp_buffer *buffer, char type, int64_t number) {
    char line[32];
    int length = snprintf(line, sizeof line, "%c%" PRId64 "\r\n", type, number);
    resp_append(buffer, line, (size_t)length);
}

static void append_bulk(struct resp_buffer *buffer, const char *bytes, size_t length) {
    append_header(buffer, '$', (int64_t)length);
    resp_append(buffer, bytes, length);
    append_text(buffer, "\r\n");
}

/* ---- arguments ---- */

static void append_fill(struct resp_buffer *buffer, uint32_t length) {
    if (length == 0) return;
    memset(resp_reserve(buffer, length), 'x', length);
    buffer->length += length;
}

static void append_number(struct resp_buffer *buffer, int64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, number);
    resp_append(buffer, digits, (size_t)length);
}

static void append_key(struct resp_buffer *buffer, key_id id, const struct names *names) {
    char *end = resp_reserve(buffer, KEY_LENGTH_MAX);
    buffer->length += names_print(names, id, end, KEY_LENGTH_MAX);
}

/* The argument's bytes as they stand inside a bulk string. */
static void append_arg(struct resp_buffer *buffer, const struct arg *arg, const struct names *names,
                       const struct texts *texts) {
    switch ((enum arg_kind)arg->kind) {
    case ARG_TEXT:
        resp_append(buffer, texts_bytes(texts, arg->id), texts_length(texts, arg->id));
        break;
    case ARG_KEY:
        append_key(buffer, arg->id, names);
        break;
    case ARG_NUMBER:
        append_number(buffer, arg->number);
        break;
    case ARG_FILL:
        append_fill(buffer, arg->length);
        break;
    }
}

static void append_arg_bulk(struct resp_buffer *buffer, const struct arg *arg,
                            const struct names *names, const struct texts *texts) {
    append_header(buffer, '$', arg->length);
    size_t begin = buffer->length;
    append_arg(buffer, arg, names, texts);
    ASSERT(buffer->length - begin == arg->length);
    append_text(buffer, "\r\n");
}

void resp_print_command(struct resp_buffer *buffer, const struct arg *argv, uint32_t argc,
                        const struct names *names, const struct texts *texts) {
    append_header(buffer, '*', argc);
    for (uint32_t i = 0; i < argc; i++) append_arg_bulk(buffer, &argv[i], names, texts);
}

/* ---- errors ---- */

/* The server builds errors with printf: a quoted word ends at its first NUL, and line ends, which
 * would end the reply, become spaces. */
static void append_quoted(struct resp_buffer *buffer, const char *bytes, size_t length,
                          size_t length_max) {
    const char *nul = length ? memchr(bytes, '\0', length) : NULL;
    if (nul) length = (size_t)(nul - bytes);
    if (length > length_max) length = length_max;
    char *out = resp_reserve(buffer, length);
    for (size_t i = 0; i < length; i++)
        out[i] = bytes[i] == '\r' || bytes[i] == '\n' ? ' ' : bytes[i];
    buffer->length += length;
}

static void append_quoted_arg(struct resp_buffer *buffer, const struct arg *arg, size_t length_max,
                              const struct names *names, const struct texts *texts) {
    struct resp_buffer word = {.bytes = NULL};
    struct arg part = *arg;
    if (part.kind == ARG_FILL && part.length > length_max) part.length = (uint32_t)length_max;
    append_arg(&word, &part, names, texts);
    append_quoted(buffer, word.bytes, word.length, length_max);
    resp_buffer_release(&word);
}

/* "unknown command 'foo', with args beginning with: 'a' 'b' ": as many arguments as begin within
 * QUOTED_MAX bytes of the list, each cut where the list would exceed them by more than its quotes.
 */
static void append_unknown_command(struct resp_buffer *buffer, const struct request *request,
                                   const struct names *names, const struct texts *texts) {
    append_text(buffer, "-ERR unknown command '");
    append_quoted_arg(buffer, &request->argv[0], QUOTED_MAX, names, texts);
    append_text(buffer, "', with args beginning with: ");
    size_t begin = buffer->length;
    for (uint32_t i = 1; i < request->argc && buffer->length - begin < QUOTED_MAX; i++) {
        size_t left = QUOTED_MAX - (buffer->length - begin);
        append_text(buffer, "'");
        append_quoted_arg(buffer, &request->argv[i], left, names, texts);
        append_text(buffer, "' ");
    }
    append_text(buffer, "\r\n");
}

static void append_error(struct resp_buffer *buffer, const struct reply_item *item,
                         const struct texts *texts) {
    append_text(buffer, "-");
    append_text(buffer, item->text);
    if (item->name)
        append_text(buffer, item->name);
    else if (item->word != TEXT_NONE)
        append_quoted(buffer, texts_bytes(texts, item->word), texts_length(texts, item->word),
                      SIZE_MAX);
    if (item->after) append_text(buffer, item->after);
    append_text(buffer, "\r\n");
}

/* ---- replies ---- */

static void append_status(struct resp_buffer *buffer, const char *text) {
    append_text(buffer, "+");
    append_text(buffer, text);
    append_text(buffer, "\r\n");
}

static void append_number_text(struct resp_buffer *buffer, uint64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    append_bulk(buffer, digits, (size_t)length);
}

/* The registry's lengths are out of reach of a const names, so the name is printed first. */
static void append_key_bulk(struct resp_buffer *buffer, key_id id, const struct names *names) {
    struct resp_buffer name = {.bytes = NULL};
    append_key(&name, id, names);
    append_bulk(buffer, name.bytes, name.length);
    resp_buffer_release(&name);
}

/* INFO and HTSTATS: a text that somebody else prints, as a bulk string. */
static void append_report(struct resp_buffer *buffer, const struct reply_item *item,
                          const struct engine *engine, const struct texts *texts) {
    struct resp_buffer report = {.bytes = NULL};
    if (item->kind == REPLY_INFO)
        resp_print_info(&report, engine, item->word ? texts_bytes(texts, item->word) : NULL);
    else
        resp_print_htstats(&report, engine, (uint8_t)item->integer);
    append_bulk(buffer, report.bytes, report.length);
    resp_buffer_release(&report);
}

static void append_item(struct resp_buffer *buffer, const struct reply *reply,
                        const struct reply_item *item, const struct engine *engine,
                        const struct names *names, const struct texts *texts) {
    struct arg arg;
    switch ((enum reply_kind)item->kind) {
    case REPLY_STATUS:
        append_status(buffer, item->text);
        break;
    case REPLY_ERROR:
        append_error(buffer, item, texts);
        break;
    case REPLY_UNKNOWN_COMMAND:
        if (reply->request)
            append_unknown_command(buffer, reply->request, names, texts);
        else
            append_text(buffer,
                        "-ERR unknown command\r\n"); /* it had to wait: its words are gone */
        break;
    case REPLY_INTEGER:
        append_header(buffer, ':', item->integer);
        break;
    case REPLY_VALUE:
        arg = object_to_arg(&item->value);
        append_arg_bulk(buffer, &arg, names, texts);
        break;
    case REPLY_KEY:
        append_key_bulk(buffer, item->key, names);
        break;
    case REPLY_TEXT:
        append_bulk(buffer, item->text, strlen(item->text));
        break;
    case REPLY_NUMBER_TEXT:
        append_number_text(buffer, (uint64_t)item->integer);
        break;
    case REPLY_NIL:
        append_text(buffer, "$-1\r\n");
        break;
    case REPLY_ARRAY:
        append_header(buffer, '*', item->integer);
        break;
    case REPLY_INFO:
    case REPLY_HTSTATS:
        append_report(buffer, item, engine, texts);
        break;
    }
}

void resp_print_reply(struct resp_buffer *buffer, const struct reply *reply,
                      const struct engine *engine, const struct names *names,
                      const struct texts *texts) {
    for (uint32_t i = 0; i < reply->count; i++)
        append_item(buffer, reply, &reply->items[i], engine, names, texts);
}
