/* repl: what the files of the replication room share (7.0 replication.c; engine facts section 7).
 * repl.c: ids, times, slots, messages. repl_master.c: PSYNC, ACKs, the stream's release.
 * repl_sync.c: full syncs, the child and its pipe. repl_replica.c: handshake and stream.
 * repl_load.c: the file that a full sync brought. repl_role.c: promotion, demotion, failover.
 * repl_cron.c: once a second. repl_limit.c: output limits. pause.c, wait.c: what makes clients
 * wait. Times in whole seconds are the server's cached ones unless they say fresh. Two rules run
 * through all of it: whatever came over a connection that is gone is dropped without a word, and
 * nothing is closed in the middle of another's work, but its slot is marked until the turn ends. */
#ifndef LAPSE_CORE_REPL_H
#define LAPSE_CORE_REPL_H

#include "engine_state.h"
#include "snapshot.h"

/* --- repl.c --- */

/* The cached time, as it was when the running or the last command or cron began. */
int64_t repl_cached_s(const struct engine *);
int64_t repl_fresh_s(const struct engine *); /* time(NULL): the turn's work so far included */
/* A message that the server takes for a command refreshes the cached time. */
void repl_refresh_time(struct engine *);

/* Do connections exist, or did the owner join engines by hand? */
bool repl_has_wire(const struct engine *);

void repl_send(struct engine *, int peer, struct repl_message);
void repl_send_kind(struct engine *, int peer, enum repl_message_kind, uint64_t wire_bytes);

/* A new replication id is drawn (changeReplicationId), and the second one forgotten
 * (clearReplicationId2). */
void repl_new_id(struct engine *);
void repl_forget_second_id(struct engine *);

/* The backlog begins, after the present offset. */
void repl_begin_history(struct engine *);

/* Is anybody to hear of what this server's commands do? To be asked after a change of role,
 * backlog or replicas. */
void repl_listen(struct engine *);

/* The slot becomes one of the server's replicas; or is one no more: its buffers go, and the child
 * is killed if it wrote for this one alone. */
void repl_attach(struct engine *, int slot, enum replica_state);
void repl_detach(struct engine *, int slot);
void repl_hang_up(struct engine *, int slot);
void repl_hang_up_all(struct engine *); /* disconnectSlaves */
void repl_count_good(struct engine *);
bool repl_is_streaming(const struct engine_replica *);
int repl_slot_of(const struct engine *, int server); /* of the attached ones, or -1 */

/* Feeds a command of the server's own (PING, REPLCONF GETACK), which never causes a SELECT. */
void repl_feed_own(struct engine *, enum word, const struct arg *argv, uint32_t argc);

/* What beforeSleep does about replicas at its end: closes those that are to be closed, frees the
 * slots of those that are gone. */
void repl_end_turn(struct engine *);

/* --- repl_master.c --- */
void repl_hear_replica(struct engine *, int slot, const struct repl_message *);
void repl_take_ack(struct engine *, int slot, int64_t offset);
void repl_refuse(struct engine *, int slot);

/* --- repl_sync.c --- */
void repl_start_sync(struct engine *);   /* if it is time (shouldStartChildReplication) */
void repl_fork(struct engine *);         /* for all that wait, now */
void repl_reap_child(struct engine *);   /* has it ended? then its replicas are online */
void repl_forget_child(struct engine *); /* a replica that it wrote for is gone */

/* --- repl_replica.c --- */
void repl_dial(struct engine *);
void repl_hear_master(struct engine *, const struct repl_message *);
void repl_lose_master(struct engine *); /* an established link is gone: cached, dialled again */
void repl_break_handshake(struct engine *, bool again); /* cancelReplicationHandshake */
void repl_open_master_client(struct engine *, uint8_t db);
void repl_close_master_client(struct engine *);
void repl_send_ack(struct engine *);
void repl_run_stalled(struct engine *); /* what a pause had stopped */

/* --- repl_load.c --- */
void repl_begin_load(struct engine *, struct snapshot *);

/* --- repl_role.c --- */
void repl_promote(struct engine *);            /* replicationUnsetMaster */
void repl_demote(struct engine *, int master); /* replicationSetMaster */
void repl_abort_failover(struct engine *);
void repl_end_failover(struct engine *);
void repl_look_at_failover(struct engine *); /* updateFailoverStatus */

/* --- repl_cron.c --- */
void repl_cron(struct engine *); /* replicationCron */

/* --- repl_limit.c --- */
void repl_check_limits(void *engine);    /* of every replica; backlog's `grown` */
void repl_cron_clients(struct engine *); /* clientsCron's look at a few of them */

/* --- pause.c --- */
bool pause_is_on(struct engine *); /* after looking whether its time has come */
bool pause_stops(struct engine *, const struct command *);
bool pause_stops_cycle(struct engine *); /* the active expire cycle, in this generation */
void pause_begin(struct engine *, enum pause_purpose, enum pause_kind, ms_t end_ms);
void pause_end(struct engine *, enum pause_purpose);
void pause_postpone(struct engine *, uint32_t client, const struct request *);
void pause_run_postponed(struct engine *); /* what waits and need wait no longer */

/* --- wait.c --- */
void wait_begin(struct engine *, struct client *, int64_t replicas, ms_t end_ms);
int64_t wait_count(const struct engine *, int64_t offset); /* online replicas that far */
void wait_time_out(struct engine *);
void wait_look(struct engine *);      /* whose replicas are that far now? */
void wait_ask(struct engine *);       /* REPLCONF GETACK, if one began */
void wait_break_all(struct engine *); /* the server became a replica */

#endif
