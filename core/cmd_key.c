#include "command.h"

/* Each key is first looked at for expiry; one that goes that way is not counted and leaves as an
 * expiry's DEL, whatever was typed (7.0 db.c delGenericCommand). How a value is freed does not
 * matter here: a string is always freed at once. */
static void delete_keys(struct call *call) {
    int64_t deleted = 0;
    for (uint32_t i = 1; i < call->argc; i++) {
        db_expire_if_needed(call->db, call->argv[i].id);
        if (!db_delete(call->db, call->argv[i].id)) continue;
        call->engine->dirty++;
        deleted++;
    }
    reply_integer(call, deleted);
}

void cmd_del(struct call *call) { delete_keys(call); }
void cmd_unlink(struct call *call) { delete_keys(call); }

/* A key named twice counts twice. */
static void count_keys(struct call *call) {
    int64_t found = 0;
    for (uint32_t i = 1; i < call->argc; i++)
        found += db_lookup(call->db, call->argv[i].id, LOOKUP_READ) != NULL;
    reply_integer(call, found);
}

/* They differ in the access time alone, which nothing here reads. */
void cmd_exists(struct call *call) { count_keys(call); }
void cmd_touch(struct call *call) { count_keys(call); }
