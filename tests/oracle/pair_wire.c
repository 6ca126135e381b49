#include <string.h>

#include "pair.h"
#include "snapshot.h"
#include "support.h"

#define PIPE_BYTES 16384

static struct pair_wire *wire_of(void *lockstep) { return ((struct lockstep *)lockstep)->company; }

/* --- the sinks --- */

static int end_of(const struct pair_wire *w, const void *lockstep) {
    return w->ends[1].ls == lockstep;
}

/* The connection on which an engine calls its peer so. */
static struct pair_link *link_of(struct pair_wire *w, int end, int peer) {
    return &w->links[peer == PEER_MASTER ? end : !end];
}

static void on_stream(void *context, const struct stream_command *command) {
    struct pair_wire *w = wire_of(context);
    stream_log_append(w->ends[end_of(w, context)].log, command, 0);
}

static void on_dial(void *context, int master) {
    struct pair_wire *w = wire_of(context);
    ASSERT(master == !end_of(w, context));
    w->ends[end_of(w, context)].wants_dial = true;
}

static void on_send(void *context, int peer, const struct repl_message *message) {
    struct pair_wire *w = wire_of(context);
    struct pair_link *link = link_of(w, end_of(w, context), peer);
    if (!link->is_open) {
        if (message->snapshot) snapshot_release(message->snapshot);
        return;
    }
    ASSERT(link->item_count < sizeof link->items / sizeof *link->items);
    link->items[link->item_count++] = (struct pair_item){*message, peer == PEER_MASTER};
}

/* Commands that end at the offset or before are in what it has already. */
static void on_stream_from(void *context, int peer, int64_t offset) {
    struct pair_wire *w = wire_of(context);
    struct pair_link *link = link_of(w, end_of(w, context), peer);
    const struct stream_log *log = w->ends[end_of(w, context)].log;
    link->streams = link->feeds = true;
    link->cursor = stream_log_begin(log);
    while (link->cursor < stream_log_end(log) &&
           stream_log_at(log, link->cursor)->end_offset <= offset)
        link->cursor++;
}

static void close_link(struct pair_link *link) {
    for (uint32_t i = 0; i < link->item_count; i++)
        if (link->items[i].message.snapshot) snapshot_release(link->items[i].message.snapshot);
    link->item_count = 0;
    link->is_open = link->streams = false;
}

/* The other end hears of it when this turn is over. */
static void on_hang_up(void *context, int peer) {
    struct pair_wire *w = wire_of(context);
    int end = end_of(w, context);
    struct pair_link *link = link_of(w, end, peer);
    if (peer != PEER_MASTER) link->feeds = false;
    if (!link->is_open) link->tells[end] = false;
    if (!link->is_open) return;
    close_link(link);
    link->tells[!end] = true;
}

static void on_forked(void *context, struct snapshot *snapshot) {
    struct pair_wire *w = wire_of(context);
    w->ends[end_of(w, context)].forked = snapshot;
}

static void on_child_killed(void *context) {
    struct pair_wire *w = wire_of(context);
    struct pair_end *e = &w->ends[end_of(w, context)];
    if (e->forked) snapshot_release(e->forked);
    e->forked = NULL;
}

static void on_turn_ended(struct lockstep *ls) {
    struct pair_wire *w = ls->company;
    const struct pair_link *link = &w->links[!end_of(w, ls)];
    if (link->feeds)
        engine_replica_written(ls->engine, link->slot, engine_stats(ls->engine).master_repl_offset);
}

static void listen_to(struct pair_wire *w, int end, struct lockstep *ls) {
    w->ends[end] = (struct pair_end){.ls = ls, .log = stream_log_create()};
    ls->company = w;
    ls->turn_ended = on_turn_ended;
    ls->sink.stream = on_stream;
    ls->sink.dial = on_dial;
    ls->sink.send = on_send;
    ls->sink.stream_from = on_stream_from;
    ls->sink.hang_up = on_hang_up;
    ls->sink.forked = on_forked;
    ls->sink.child_killed = on_child_killed;
}

void pair_wire_join(struct pair_wire *w, struct lockstep *master, struct lockstep *replica) {
    memset(w, 0, sizeof *w);
    listen_to(w, 0, master);
    listen_to(w, 1, replica);
}

/* --- delivery: each of these does one thing, if there is one to be done --- */

static void begin(struct pair_end *e) { lockstep_turn_begin(e->ls, oracle_now_us(e->ls->oracle)); }

static bool tell_closed(struct pair_wire *w, int dialler, int end) {
    struct pair_link *link = &w->links[dialler];
    if (!link->tells[end]) return false;
    link->tells[end] = false;
    if (end != dialler) link->feeds = false;
    begin(&w->ends[end]);
    engine_closed(w->ends[end].ls->engine, end == dialler ? PEER_MASTER : link->slot);
    lockstep_turn_end(w->ends[end].ls);
    return true;
}

static bool dial(struct pair_wire *w, int end) {
    struct pair_end *caller = &w->ends[end], *called = &w->ends[!end];
    struct pair_link *link = &w->links[end];
    if (!caller->wants_dial) return false;
    caller->wants_dial = false;
    if (w->is_cut || w->is_frozen) {
        begin(caller);
        engine_closed(caller->ls->engine, PEER_MASTER);
        lockstep_turn_end(caller->ls);
        return true;
    }
    link->is_open = true;
    begin(called);
    link->slot = engine_accept(called->ls->engine);
    lockstep_turn_end(called->ls);
    begin(caller);
    engine_connected(caller->ls->engine);
    lockstep_turn_end(caller->ls);
    return true;
}

static bool deliver_item(struct pair_wire *w, int dialler) {
    struct pair_link *link = &w->links[dialler];
    if (link->item_count == 0) return false;
    struct pair_item item = link->items[0];
    struct pair_end *to = &w->ends[item.from_dialler ? !dialler : dialler];
    memmove(link->items, link->items + 1, --link->item_count * sizeof *link->items);
    begin(to);
    engine_message(to->ls->engine, item.from_dialler ? link->slot : PEER_MASTER, &item.message);
    lockstep_turn_end(to->ls);
    return true;
}

/* All that was fed so far, in one turn. */
static bool deliver_stream(struct pair_wire *w, int dialler) {
    struct pair_link *link = &w->links[dialler];
    const struct stream_log *log = w->ends[!dialler].log;
    struct pair_end *to = &w->ends[dialler];
    if (!link->is_open || !link->streams || link->cursor == stream_log_end(log)) return false;
    begin(to);
    while (link->streams && link->cursor < stream_log_end(log)) {
        struct stream_command command = stream_log_command(log, link->cursor++);
        engine_receive(to->ls->engine, &command);
    }
    lockstep_turn_end(to->ls);
    return true;
}

static bool pipe_file(struct pair_end *e) {
    if (!e->forked) return false;
    for (uint64_t left = e->forked->rdb_bytes; e->forked;) {
        uint64_t part = left < PIPE_BYTES ? left : PIPE_BYTES;
        bool last = part == left;
        begin(e);
        engine_pipe(e->ls->engine, part, last);
        lockstep_turn_end(e->ls);
        left -= part;
        if (!last || !e->forked) continue;
        snapshot_release(e->forked);
        e->forked = NULL;
    }
    return true;
}

static bool load(struct pair_end *e) {
    if (!engine_is_loading(e->ls->engine)) return false;
    begin(e);
    engine_load(e->ls->engine);
    lockstep_turn_end(e->ls);
    return true;
}

static bool act(struct pair_wire *w, int end) {
    if (w->is_frozen) return dial(w, end) || load(&w->ends[end]);
    return tell_closed(w, 0, end) || tell_closed(w, 1, end) || deliver_item(w, end) ||
           deliver_stream(w, end) || dial(w, end) || load(&w->ends[end]) ||
           pipe_file(&w->ends[end]);
}

void pair_wire_settle(struct pair_wire *w) {
    while (act(w, 0) || act(w, 1)) continue;
}

void pair_wire_cut(struct pair_wire *w) {
    w->is_cut = true;
    for (int i = 0; i < 2; i++) {
        if (!w->links[i].is_open) continue;
        close_link(&w->links[i]);
        w->links[i].tells[0] = w->links[i].tells[1] = true;
    }
    pair_wire_settle(w);
}

void pair_wire_freeze(struct pair_wire *w) { w->is_frozen = true; }

void pair_wire_mend(struct pair_wire *w) { w->is_cut = w->is_frozen = false; }

void pair_wire_release(struct pair_wire *w) {
    for (int i = 0; i < 2; i++) {
        close_link(&w->links[i]);
        stream_log_destroy(w->ends[i].log);
    }
}
