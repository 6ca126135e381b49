/* repl_ids: replication ids, which either side draws for itself, by the order of their first
 * appearance: 1, 2, ... Equal histories have equal numbers. 0 is none. */
#ifndef LAPSE_TESTS_REPL_IDS_H
#define LAPSE_TESTS_REPL_IDS_H

#include "repl_message.h"

#define REPL_IDS_MAX 16
#define REPL_ID_HEX  40

struct repl_ids { /* zero-initialise */
    char server[REPL_IDS_MAX][REPL_ID_HEX + 1];
    repl_id engine[REPL_IDS_MAX];
    int server_count, engine_count;
};

int repl_ids_of_server(struct repl_ids *, const char *hex);
int repl_ids_of_engine(struct repl_ids *, repl_id);

#endif
