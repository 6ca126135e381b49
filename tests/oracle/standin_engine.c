#include <stdio.h>
#include <string.h>

#include "resp.h"
#include "snapshot.h"
#include "standin_state.h"
#include "support.h"

#define PIPE_BYTES 16384 /* that the parent reads of its child's pipe at once */

static struct standins *company_of(void *lockstep) {
    return ((struct lockstep *)lockstep)->company;
}

static struct standin *at_slot(struct standins *s, int slot) {
    for (int i = 0; i < STANDINS_MAX; i++)
        if (s->all[i].slot == slot) return &s->all[i];
    return NULL;
}

/* --- the sink --- */

static void on_stream(void *context, const struct stream_command *command) {
    struct standins *s = company_of(context);
    struct resp_buffer text = {0};
    resp_print_command(&text, command->request.argv, command->request.argc, s->ls->names,
                       s->ls->texts);
    oracle_bytes_append(&s->history, text.bytes, text.length);
    ck_assert_int_eq((int64_t)s->history.length, command->end_offset);
    resp_buffer_release(&text);
}

static void print_message(struct standins *s, struct standin *p, const struct repl_message *m) {
    char text[96] = "";
    int id = repl_ids_of_engine(&s->ids, m->id);
    switch (m->kind) {
    case REPL_PONG:
        snprintf(text, sizeof text, "+PONG\r\n");
        break;
    case REPL_OK:
        snprintf(text, sizeof text, "+OK\r\n+OK\r\n");
        break;
    case REPL_CONTINUE:
        snprintf(text, sizeof text, "+CONTINUE #%d\r\n", id);
        break;
    case REPL_FULLRESYNC:
        snprintf(text, sizeof text, "+FULLRESYNC #%d %lld\r\n", id, (long long)m->offset);
        break;
    case REPL_REFUSED:
        snprintf(text, sizeof text, "-\r\n");
        break;
    case REPL_NEWLINE:
        snprintf(text, sizeof text, "\n");
        break;
    case REPL_RDB:
        if (m->last)
            snprintf(text, sizeof text, "[file %llu]", (unsigned long long)m->snapshot->rdb_bytes);
        break;
    default:
        lockstep_fail(s->ls, "a master says what only replicas say");
    }
    oracle_bytes_append(&p->engine, text, strlen(text));
}

static void on_send(void *context, int peer, const struct repl_message *message) {
    struct standins *s = company_of(context);
    struct standin *p = at_slot(s, peer);
    if (p) print_message(s, p, message);
    if (message->snapshot) snapshot_release(message->snapshot);
}

static void on_stream_from(void *context, int peer, int64_t offset) {
    struct standin *p = at_slot(company_of(context), peer);
    ASSERT(p);
    p->engine_streams = true;
    p->engine_sent = offset;
}

static void on_hang_up(void *context, int peer) {
    struct standin *p = at_slot(company_of(context), peer);
    if (!p) return;
    p->engine_closed = true;
    p->engine_streams = false;
    p->slot = -1;
}

static void on_forked(void *context, struct snapshot *snapshot) {
    struct standins *s = company_of(context);
    ASSERT(!s->forked);
    s->forked = snapshot;
}

static void on_child_killed(void *context) {
    struct standins *s = company_of(context);
    if (s->forked) snapshot_release(s->forked);
    s->forked = NULL;
}

static void on_dial(void *context, int master) {
    (void)master;
    company_of(context)->dialled = true;
}

/* What the socket took: all, or what the server's own count says that a stalled one took. */
static void write_stream(struct standins *s, struct standin *p, int64_t to) {
    ASSERT(to >= p->engine_sent && (size_t)to <= s->history.length);
    oracle_bytes_append(&p->engine, s->history.bytes + p->engine_sent,
                        (size_t)(to - p->engine_sent));
    p->engine_sent = to;
    engine_replica_written(s->ls->engine, p->slot, to);
}

static void on_turn_ended(struct lockstep *ls) {
    struct standins *s = ls->company;
    for (int i = 0; i < STANDINS_MAX; i++) {
        struct standin *p = &s->all[i];
        if (p->engine_streams && !p->stalled) write_stream(s, p, (int64_t)s->history.length);
    }
}

void standins_listen(struct standins *s) {
    struct sink *sink = &s->ls->sink;
    s->ls->company = s;
    s->ls->turn_ended = on_turn_ended;
    sink->stream = on_stream;
    sink->dial = on_dial;
    sink->send = on_send;
    sink->stream_from = on_stream_from;
    sink->hang_up = on_hang_up;
    sink->forked = on_forked;
    sink->child_killed = on_child_killed;
}

/* --- turns --- */

static void begin(struct standins *s) { lockstep_turn_begin(s->ls, oracle_now_us(s->ls->oracle)); }

void standins_engine_turn(struct standins *s) {
    begin(s);
    lockstep_turn_end(s->ls);
    while (s->dialled) { /* refused, as nobody listens there */
        s->dialled = false;
        begin(s);
        engine_closed(s->ls->engine, PEER_MASTER);
        lockstep_turn_end(s->ls);
    }
}

void standins_tell_engine(struct standins *s, int i, const struct repl_message *message) {
    if (s->all[i].slot < 0) return;
    begin(s);
    engine_message(s->ls->engine, s->all[i].slot, message);
    lockstep_turn_end(s->ls);
}

void standins_finish_fork(struct standins *s) {
    uint64_t left = s->forked ? s->forked->rdb_bytes : 0;
    while (s->forked) {
        uint64_t part = left < PIPE_BYTES ? left : PIPE_BYTES;
        bool last = part == left;
        begin(s);
        engine_pipe(s->ls->engine, part, last);
        lockstep_turn_end(s->ls);
        left -= part;
        if (last && s->forked) {
            snapshot_release(s->forked);
            s->forked = NULL;
        }
    }
}
