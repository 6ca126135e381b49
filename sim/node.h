/* node: one server placed in the world: its engine, its inbox, its wall clock and its event loop.
 * Either it sleeps in poll, until something arrives or its timer is due, or it is in a turn. All of
 * a turn's work is done by the engine at the moment it begins; what it sends leaves when it ends
 * (the world's part, on TURN_END), and what arrives meanwhile waits in the inbox. So the state that
 * an onlooker sees in mid-turn is already that of the turn's end. */
#ifndef LAPSE_SIM_NODE_H
#define LAPSE_SIM_NODE_H

#include "child.h"
#include "clock.h"
#include "connection.h"
#include "engine.h"
#include "event_queue.h"
#include "inbox.h"
#include "names.h"
#include "observer.h"
#include "resp.h"
#include "scenario.h"
#include "stream_log.h"

/* What all nodes of a run share. Owned by the world. */
struct node_env {
    struct event_queue *queue;
    struct names *names;
    struct texts *texts;
    const struct rng *root;
    struct node *nodes; /* by the number that engines call them by */
    const text_id *server_names;
    uint32_t server_count;
    struct connections *connections;
    us_t start_wall_us;
    bool keep_replies; /* somebody wants to read the replies to timed events */
};

/* What a turn says to another server; it leaves when the turn ends. */
enum outgoing_kind { OUT_DIAL, OUT_SEND, OUT_STREAM, OUT_HANG_UP };

struct outgoing {
    uint8_t kind;                  /* enum outgoing_kind */
    uint8_t own_end;               /* enum direction: the end at which this server sits */
    struct connection *connection; /* held */
    struct repl_message message;   /* of a SEND: owns its snapshot */
};

struct node {
    const struct server_config *config;
    const struct node_env *env;
    uint32_t index;
    struct clock clock; /* its wall clock; steps change it */
    struct engine *engine;
    struct sink sink;
    struct observer observer;

    /* the event loop */
    struct inbox inbox;
    bool in_turn;
    bool cron_ran;              /* in this turn */
    uint64_t turn;              /* counts turns: an older wake-up is void */
    uint64_t served;            /* records at the head of the inbox that this turn has executed */
    ns_t busy_since_ns;         /* the turn's begin, or the row since */
    ns_t poll_ns;               /* when it fell asleep */
    ns_t cron_event_ns;         /* the timer for which a CRON_DUE is under way */
    struct inbox_item *current; /* the request being executed */
    struct resp_buffer text;    /* replies of this turn to timed events */
    ns_t turn_end_ns;
    uint64_t turn_end_event; /* names the TURN_END under way: any other one is void */
    bool frozen;             /* stopped by a signal: begins no turn and ends none */
    ns_t frozen_ns;          /* since when */

    /* requests whose replies are late: they waited in the engine beyond their turn */
    struct inbox_item *waiting, *late; /* oldest first; answered in this turn */
    uint32_t waiting_count, waiting_capacity, late_count, late_capacity;

    const struct command *get;

    /* replication */
    struct stream_log *log; /* what it feeds, or hands on as a replica */
    uint64_t fed_serial;    /* records below this have left its engine, at a turn's end */
    uint64_t log_limit;     /* records at which the log is trimmed next */
    struct node *master;    /* whom it follows now; NULL: it is a master */
    ns_t behind_since_ns; /* of a replica: its oldest unapplied record left then, as of the last row
                           */
    struct connection *upstream;            /* to its master, until one of both hangs up */
    struct connection *slots[REPLICAS_MAX]; /* of its replicas, as the engine numbers them */
    struct child child;
    struct outgoing *outgoing;
    uint32_t outgoing_count, outgoing_capacity;
    uint64_t dialled;       /* connections over its link so far */
    bool link_cut;          /* by an event */
    struct wire_bytes wire; /* over its link */
};

void node_init(struct node *, const struct node_env *, const struct server_config *,
               uint32_t index);
void node_release(struct node *);

struct instant node_instant(const struct node *, ns_t now_ns);
ms_t node_wall_ms(const struct node *, ns_t now_ns);

/* A connection that has selected this database. Takes no time: it was there before. */
uint32_t node_connect(struct node *, uint8_t db, ns_t now_ns);

/* Executes a command of the scenario's author, not of the run: no turn, no time, no reply. */
void node_command(struct node *, ns_t now_ns, const char *line);

/* Something is in the inbox: a sleeping node begins a turn. */
void node_notice(struct node *, ns_t now_ns);

/* As SIGSTOP and SIGCONT do. What arrives meanwhile waits; a turn goes on where it stopped. */
void node_freeze(struct node *, ns_t now_ns);
void node_thaw(struct node *, ns_t now_ns);

/* Handlers of its own wake-ups. */
void node_on_cron_due(struct node *, ns_t now_ns);
void node_on_wake(struct node *, ns_t now_ns, uint64_t turn);

/* At TURN_END, when the replies have left: what was served is gone. */
void node_end_turn(struct node *, ns_t now_ns);

/* After it, when the stream has left too: the next turn, or sleep. */
void node_poll(struct node *, ns_t now_ns);

/* Books working time up to now. */
void node_settle_busy(struct node *, ns_t now_ns);

#endif
