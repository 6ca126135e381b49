/* replication: how what an engine says to other servers reaches them, and what they say reaches it.
 * The sink's functions note what a turn says (replication_sink.c); it leaves when the turn ends, in
 * the order in which it was said, and then the stream goes as far as each replica's socket takes
 * it. What a connection delivers goes to the receiver's inbox, and is served in its next turn
 * (replication_serve.c). Every server keeps its stream in a
 * log, as far back as its backlog reaches or a replica has yet to apply it. Invariant: of a replica
 * that is sent the stream, applied <= delivered <= sent <= fed, as serial numbers of its master's
 * log. Limits: a server that dials itself gets no answer. A frozen server's kernel answers nobody
 * either, and takes nothing beyond what the sender's socket holds. */
#ifndef LAPSE_SIM_REPLICATION_H
#define LAPSE_SIM_REPLICATION_H

#include "node.h"

/* The part of the sink that concerns other servers. */
void replication_fill_sink(struct sink *);
void replication_release(struct node *);

/* In sync from before the run; the master's own master comes first. */
void replication_stand(struct node *replica, struct node *master, ns_t now_ns);

/* Whom the engine follows now, or NULL. */
struct node *replication_master(const struct node *);

/* One record of the inbox that is no request, in a turn that began now. */
void replication_serve(struct node *, struct inbox_item *, ns_t now_ns);

/* At a turn's end: what it said leaves. `fed_serial` must count its records. */
void replication_flush(struct node *, ns_t now_ns);

/* Handlers of events. */
void replication_on_deliver(struct connections *, const struct event *);
void replication_on_pipe(struct node *, ns_t now_ns, uint64_t child);

/* What the network does to a server's connections to its master. */
void replication_reset(struct node *, ns_t now_ns);
void replication_cut(struct node *, ns_t now_ns);
void replication_heal(struct node *, ns_t now_ns);

/* What arrived while the server was frozen. */
void replication_thaw(struct node *, ns_t now_ns);

/* Fills in a replica's lag. */
void replication_measure(struct node *replica, ns_t now_ns, struct trace_row *);

/* Has the replica applied all that its master fed? */
bool replication_is_drained(const struct node *replica);
void replication_check(const struct node *);

/* For replication_sink.c. */
struct connection *replication_dial(struct node *, struct node *master);

#endif
