/* expire_replica: keys that clients of a writable replica gave a deadline (4.0 to 7.0 expire.c,
 * "slave keys"; engine facts 3.6.4 to 3.6.6). The master knows nothing of them and so never sends
 * their DEL: the replica remembers them, by name with a set of databases, and expires them itself,
 * from its cron, where a master runs its active cycle. The table is a dict of the server's kind:
 * its random picks and its memory are the server's. Invariant: a name that is in has at least one
 * database. Owner: the engine. Nothing that the table deletes is sent to anybody. */
#ifndef LAPSE_CORE_EXPIRE_REPLICA_H
#define LAPSE_CORE_EXPIRE_REPLICA_H

#include "base.h"
#include "dict.h"
#include "entry.h"
#include "rng.h"

struct db;

struct expire_replica {
    struct entries entries; /* the table's own: an entry's payload holds the databases as bits */
    struct dict names;
    struct rng rng; /* of the random picks */
};

/* `names` are booked under the expires dicts' classes, the copies of the keys under MEMORY_KEYS. */
void expire_replica_init(struct expire_replica *, const struct pages *, const struct keys *,
                         struct cpu *, struct memory *, const struct dict_policy *,
                         const struct rng *parent);
void expire_replica_release(struct expire_replica *);

/* A client has given that key of that database a deadline. */
void expire_replica_remember(struct expire_replica *, key_id, uint8_t db);

/* FLUSHALL, and the flush before a full sync's load. */
void expire_replica_forget(struct expire_replica *);

/* Random names, until more than three keys were met that live on, or more than 1 ms has passed
 * (looked at after every 64th name), or no name is left. Dead strictly after their deadline, by the
 * clock at the call; keys that lost their deadline or are gone are forgotten. */
void expire_replica_cycle(struct expire_replica *, struct db *dbs, uint32_t db_count);

/* The walker; returns the usable bytes of the names' copies. */
uint64_t expire_replica_check(const struct expire_replica *);

static inline uint64_t expire_replica_count(const struct expire_replica *remembered) {
    return dict_used(&remembered->names);
}

#endif
