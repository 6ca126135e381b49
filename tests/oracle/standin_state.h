/* standin_state: the inside of the stand-ins, for the standin_*.c files alone. */
#ifndef LAPSE_TESTS_STANDIN_STATE_H
#define LAPSE_TESTS_STANDIN_STATE_H

#include "standin.h"

/* standin_bytes.c: the server's bytes. Reads what has come for everybody but the stalled. */
void standins_read(struct standins *);

/* standin_engine.c: the engine's side. */
void standins_listen(struct standins *); /* takes over the sink's replication */
void standins_tell_engine(struct standins *, int i, const struct repl_message *);
void standins_engine_turn(struct standins *);
void standins_finish_fork(struct standins *);

/* standin_figures.c */
void standins_look(struct standins *); /* fills server_seen and engine_seen */
extern const char *const standin_figure_names[STANDIN_FIGURE_COUNT];
int64_t standins_bytes_written(struct standins *); /* to replicas, as the server counts */

#endif
