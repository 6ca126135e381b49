/* fake_server: answers every command on one port with one canned reply, in a process of its own,
 * and counts what it was sent that is not INFO: for tests of what lapse refuses to touch. */
#ifndef LAPSE_TESTS_FAKE_SERVER_H
#define LAPSE_TESTS_FAKE_SERVER_H

#include <sys/types.h>

struct fake_server {
    pid_t pid;
    int port;
    int report_fd;
};

/* `reply`: the raw bytes of RESP; NULL: none, ever. */
void fake_server_start(struct fake_server *, const char *reply);

/* Ends it; how many commands other than INFO it was sent. */
int fake_server_stop(struct fake_server *);

#endif
