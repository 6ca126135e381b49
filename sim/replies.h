/* replies: the replies to a scenario's timed commands as redis-cli would show them. */
#ifndef LAPSE_SIM_REPLIES_H
#define LAPSE_SIM_REPLIES_H

#include <stdio.h>

#include "base.h"

/* One heading line "2000.000000 ms  master  GET k", then the reply. False on a stream error. */
bool replies_write(FILE *, ns_t at_ns, const char *server, const char *command, const char *resp,
                   size_t length);

#endif
