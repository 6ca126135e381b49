/* oracle_state: the inside of an oracle, for oracle.c (the server and its clock) and oracle_link.c
 * (connections to it) alone. */
#ifndef LAPSE_TESTS_ORACLE_STATE_H
#define LAPSE_TESTS_ORACLE_STATE_H

#include <sys/types.h>

#include "oracle.h"
#include "vclock.h"

#define ORACLE_PATIENCE_S 60 /* real seconds without an answer: the server hangs */

struct oracle {
    pid_t pid;
    int port;
    int bell;   /* the pipe's write end */
    int log_fd; /* an unlinked file: what the server prints */
    struct vclock_page *page;
};

_Noreturn void oracle_give_up(const struct oracle *, const char *what);
void oracle_sleep_us(long us);

/* Idle is taken back first: the server says it anew once it has seen what there is to see. */
void oracle_ring(struct oracle *);
void oracle_wait_for_idle(struct oracle *);

#endif
