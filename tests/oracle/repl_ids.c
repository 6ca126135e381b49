#include "repl_ids.h"

#include <stdio.h>
#include <string.h>

int repl_ids_of_server(struct repl_ids *ids, const char *hex) {
    if (strspn(hex, "0") >= REPL_ID_HEX) return 0;
    for (int i = 0; i < ids->server_count; i++)
        if (strncmp(hex, ids->server[i], REPL_ID_HEX) == 0) return i + 1;
    ASSERT(ids->server_count < REPL_IDS_MAX);
    snprintf(ids->server[ids->server_count], REPL_ID_HEX + 1, "%s", hex);
    return ++ids->server_count;
}

int repl_ids_of_engine(struct repl_ids *ids, repl_id id) {
    if (id == 0) return 0;
    for (int i = 0; i < ids->engine_count; i++)
        if (id == ids->engine[i]) return i + 1;
    ASSERT(ids->engine_count < REPL_IDS_MAX);
    ids->engine[ids->engine_count] = id;
    return ++ids->engine_count;
}
