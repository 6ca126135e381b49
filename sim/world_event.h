/* world_event: the kinds of events in a run's queue, in one list that gives the handlers their
 * order too. `subject` and `argument` of each are named here. */
#ifndef LAPSE_SIM_WORLD_EVENT_H
#define LAPSE_SIM_WORLD_EVENT_H

/* X(enumerator, handler in world.c) */
#define WORLD_EVENT_LIST(X)                                                                        \
    X(TURN_END, turn_end) /* a node's turn is over; which */                                       \
    X(CRON_DUE, cron_due) /* a node's timer is due */                                              \
    X(WAKE, wake)         /* a node's poll times out; the turn after which it slept */             \
    X(DELIVER, deliver)   /* a connection delivers: index and direction; which schedule of it */   \
    X(PIPE, pipe)         /* a node's child has written a portion; which child */                  \
    X(ARRIVAL, arrival)   /* the next request of an open-loop client */                            \
    X(SEND, send)         /* a closed-loop client's next request; the connection */                \
    X(LOAD, load)         /* a population's next key is written */                                 \
    X(TIMED, timed)       /* an event of the scenario */                                           \
    X(INTERVAL, interval) /* a row for every server */

enum world_event {
#define X(id, handler) WORLD_##id,
    WORLD_EVENT_LIST(X)
#undef X
        WORLD_EVENT_KINDS
};

#endif
