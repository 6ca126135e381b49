#include <string.h>

#include "pair.h"
#include "snapshot.h"
#include "support.h"

#define PIPE_BYTES 16384

static struct pair_wire *wire_of(void *lockstep) { return ((struct lockstep *)lockstep)->company; }

static int end_of(const struct pair_wire *w, const void *lockstep) {
    return w->ends[1].ls == lockstep;
}

/* --- the sinks --- */

static void on_stream(void *context, const struct stream_command *command) {
    struct pair_wire *w = wire_of(context);
    stream_log_append(w->ends[end_of(w, context)].log, command, 0);
}

static void on_dial(void *context, int master) {
    struct pair_wire *w = wire_of(context);
    (void)master;
    w->ends[end_of(w, context)].wants_dial = true;
}

static void on_send(void *context, int peer, const struct repl_message *message) {
    struct pair_wire *w = wire_of(context);
    (void)peer;
    if (!w->is_open) {
        if (message->snapshot) snapshot_release(message->snapshot);
        return;
    }
    ASSERT(w->item_count < sizeof w->items / sizeof *w->items);
    w->items[w->item_count++] = (struct pair_item){*message, end_of(w, context) == w->dialler};
}

/* Commands of one turn that end at the offset or before are in what it has already. */
static void on_stream_from(void *context, int peer, int64_t offset) {
    struct pair_wire *w = wire_of(context);
    const struct stream_log *log = w->ends[end_of(w, context)].log;
    (void)peer;
    w->streams = true;
    w->from_offset = offset;
    w->cursor = stream_log_begin(log);
    while (w->cursor < stream_log_end(log) && stream_log_at(log, w->cursor)->end_offset <= offset)
        w->cursor++;
}

static void drop_items(struct pair_wire *w) {
    for (uint32_t i = 0; i < w->item_count; i++)
        if (w->items[i].message.snapshot) snapshot_release(w->items[i].message.snapshot);
    w->item_count = 0;
}

static void close_wire(struct pair_wire *w) {
    drop_items(w);
    w->is_open = w->streams = false;
}

static void begin(struct pair_end *e) { lockstep_turn_begin(e->ls, oracle_now_us(e->ls->oracle)); }

static void tell_closed(struct pair_wire *w, int end) {
    begin(&w->ends[end]);
    engine_closed(w->ends[end].ls->engine, end == w->dialler ? PEER_MASTER : w->slot);
    lockstep_turn_end(w->ends[end].ls);
}

/* The other end hears of it at once, as soon as this turn is over. */
static void on_hang_up(void *context, int peer) {
    struct pair_wire *w = wire_of(context);
    (void)peer;
    if (!w->is_open) return;
    close_wire(w);
    w->ends[!end_of(w, context)].wants_closing = true;
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
    if (!w->is_open || !w->streams || end_of(w, ls) == w->dialler) return;
    engine_replica_written(ls->engine, w->slot, engine_stats(ls->engine).master_repl_offset);
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
    *w = (struct pair_wire){.slot = -1};
    listen_to(w, 0, master);
    listen_to(w, 1, replica);
}

/* --- delivery --- */

static void dial(struct pair_wire *w, int end) {
    struct pair_end *caller = &w->ends[end], *called = &w->ends[!end];
    caller->wants_dial = false;
    w->dialler = end;
    if (w->is_cut || w->is_open) {
        begin(caller);
        engine_closed(caller->ls->engine, PEER_MASTER);
        lockstep_turn_end(caller->ls);
        return;
    }
    w->is_open = true;
    begin(called);
    w->slot = engine_accept(called->ls->engine);
    lockstep_turn_end(called->ls);
    begin(caller);
    engine_connected(caller->ls->engine);
    lockstep_turn_end(caller->ls);
}

static void deliver_item(struct pair_wire *w) {
    struct pair_item item = w->items[0];
    struct pair_end *to = &w->ends[item.from_dialler ? !w->dialler : w->dialler];
    memmove(w->items, w->items + 1, --w->item_count * sizeof *w->items);
    begin(to);
    engine_message(to->ls->engine, item.from_dialler ? w->slot : PEER_MASTER, &item.message);
    lockstep_turn_end(to->ls);
}

/* All that was fed so far, in one turn. */
static bool deliver_stream(struct pair_wire *w) {
    const struct stream_log *log = w->ends[!w->dialler].log;
    struct pair_end *to = &w->ends[w->dialler];
    if (!w->is_open || !w->streams || w->cursor == stream_log_end(log)) return false;
    begin(to);
    while (w->streams && w->cursor < stream_log_end(log)) {
        struct stream_command command = stream_log_command(log, w->cursor++);
        engine_receive(to->ls->engine, &command);
    }
    lockstep_turn_end(to->ls);
    return true;
}

static void pipe_file(struct pair_end *e) {
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
}

static void load(struct pair_end *e) {
    while (engine_is_loading(e->ls->engine)) {
        begin(e);
        engine_load(e->ls->engine);
        lockstep_turn_end(e->ls);
    }
}

static bool act(struct pair_wire *w, int end) {
    struct pair_end *e = &w->ends[end];
    if (e->wants_closing) {
        e->wants_closing = false;
        tell_closed(w, end);
    } else if (e->wants_dial) {
        dial(w, end);
    } else if (engine_is_loading(e->ls->engine)) {
        load(e);
    } else if (e->forked) {
        pipe_file(e);
    } else {
        return false;
    }
    return true;
}

void pair_wire_settle(struct pair_wire *w) {
    for (bool acted = true; acted;) {
        acted = true;
        if (w->item_count > 0)
            deliver_item(w);
        else if (!deliver_stream(w))
            acted = act(w, 0) | act(w, 1);
    }
}

void pair_wire_cut(struct pair_wire *w) {
    bool was_open = w->is_open;
    close_wire(w);
    w->is_cut = true;
    if (!was_open) return;
    tell_closed(w, w->dialler);
    tell_closed(w, !w->dialler);
    pair_wire_settle(w);
}

void pair_wire_mend(struct pair_wire *w) { w->is_cut = false; }

void pair_wire_release(struct pair_wire *w) {
    close_wire(w);
    for (int i = 0; i < 2; i++) stream_log_destroy(w->ends[i].log);
}
