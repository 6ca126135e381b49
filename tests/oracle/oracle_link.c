#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "oracle_state.h"

struct oracle_link {
    redisContext *context;
    struct oracle_bytes answer; /* of the last oracle_ask, decoded */
};

/* --- connections --- */

static void wait_for_turn_after(struct oracle *o, int64_t turns) {
    for (long waited_us = 0; oracle_turns(o) == turns; waited_us += 20) {
        if (waited_us > ORACLE_PATIENCE_S * 1000000L) oracle_give_up(o, "the server does not turn");
        oracle_sleep_us(20);
    }
    oracle_wait_for_idle(o);
}

struct oracle_link *oracle_connect(struct oracle *o) {
    struct oracle_link *link = calloc(1, sizeof *link);
    int64_t turns = oracle_turns(o);
    if (!link) abort();
    link->context = redisConnect("127.0.0.1", o->port);
    if (!link->context || link->context->err) oracle_give_up(o, "no connection");
    wait_for_turn_after(o, turns);
    return link;
}

void oracle_disconnect(struct oracle *o, struct oracle_link *link) {
    int64_t turns = oracle_turns(o);
    redisFree(link->context);
    oracle_bytes_release(&link->answer);
    free(link);
    wait_for_turn_after(o, turns);
}

static void send_all(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(link->context->fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0) oracle_give_up(o, "sending");
        bytes += sent;
        length -= (size_t)sent;
    }
}

static size_t receive(struct oracle *o, struct oracle_link *link, char *into, size_t size) {
    struct pollfd at = {.fd = link->context->fd, .events = POLLIN};
    if (poll(&at, 1, ORACLE_PATIENCE_S * 1000) != 1) oracle_give_up(o, "no answer");
    ssize_t got = recv(at.fd, into, size, 0);
    if (got <= 0) oracle_give_up(o, "the server closed the connection");
    return (size_t)got;
}

/* How many whole replies the reader can give now. */
static uint32_t count_replies(struct oracle *o, redisReader *reader) {
    uint32_t count = 0;
    void *reply;
    while (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
        freeReplyObject(reply);
        count++;
    }
    if (reader->err) oracle_give_up(o, reader->errstr);
    return count;
}

void oracle_call(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length,
                 uint32_t replies, struct oracle_bytes *out) {
    char chunk[65536];
    atomic_store(&o->page->hold, 1);
    send_all(o, link, bytes, length);
    atomic_store(&o->page->hold, 0);
    oracle_ring(o);
    for (uint32_t seen = 0; seen < replies;) {
        size_t got = receive(o, link, chunk, sizeof chunk);
        redisReaderFeed(link->context->reader, chunk, got);
        seen += count_replies(o, link->context->reader);
        if (out) oracle_bytes_append(out, chunk, got);
    }
    oracle_wait_for_idle(o);
}

void oracle_tell(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length) {
    int64_t turns = oracle_turns(o);
    send_all(o, link, bytes, length);
    wait_for_turn_after(o, turns);
}

void oracle_drain(struct oracle *o, struct oracle_link *link, struct oracle_bytes *out) {
    struct pollfd at = {.fd = link->context->fd, .events = POLLIN};
    char chunk[65536];
    while (poll(&at, 1, 0) == 1) {
        size_t got = receive(o, link, chunk, sizeof chunk);
        oracle_bytes_append(out, chunk, got);
    }
}

/* --- asking --- */

/* A line without its type, or a bulk string's text. */
static void decode(const struct oracle_bytes *raw, struct oracle_bytes *text) {
    const char *line_end = strstr(raw->bytes, "\r\n");
    text->length = 0;
    if (raw->bytes[0] == '$' && raw->bytes[1] != '-')
        oracle_bytes_append(text, line_end + 2, strtoul(raw->bytes + 1, NULL, 10));
    else
        oracle_bytes_append(text, raw->bytes + 1, (size_t)(line_end - raw->bytes - 1));
}

const char *oracle_ask(struct oracle *o, struct oracle_link *link, uint32_t argc,
                       const char *const *argv) {
    struct oracle_bytes raw = {0};
    char *bytes;
    long long length = redisFormatCommandArgv(&bytes, (int)argc, (const char **)argv, NULL);
    if (length < 0) abort();
    oracle_call(o, link, bytes, (size_t)length, 1, &raw);
    redisFreeCommand(bytes);
    decode(&raw, &link->answer);
    oracle_bytes_release(&raw);
    return link->answer.bytes;
}
