#include "expire_replica.h"

#include "db.h"

#define LIVING_MAX      3  /* keys not yet due, after which the cycle ends (7.0 expireSlaveKeys) */
#define NAMES_PER_CHECK 64 /* between two looks at the clock */
#define CYCLE_LIMIT_MS  1

void expire_replica_init(struct expire_replica *remembered, const struct pages *pages,
                         const struct keys *keys, struct cpu *cpu, struct memory *memory,
                         const struct dict_policy *policy, const struct rng *parent) {
    *remembered = (struct expire_replica){.entries = {.host = pages},
                                          .rng = rng_fork(parent, "replica-expires")};
    dict_init(&remembered->names, DICT_EXPIRES, &remembered->entries, keys, cpu, memory, policy);
}

void expire_replica_release(struct expire_replica *remembered) {
    expire_replica_forget(remembered);
    entries_release(&remembered->entries);
}

static uint64_t name_bytes(const struct expire_replica *remembered, key_id id) {
    return sds_request_bytes(keys_length(remembered->names.keys, id));
}

/* The table keeps a copy of the name. */
void expire_replica_remember(struct expire_replica *remembered, key_id id, uint8_t db) {
    struct entry *entry = entries_touch(&remembered->entries, id);
    if (dict_add(&remembered->names, id)) {
        entry->payload = 0;
        memory_take(remembered->names.memory, MEMORY_KEYS, name_bytes(remembered, id));
    }
    entry->payload |= INT64_C(1) << db;
}

/* Walks one table of the names; gives back their copies if so asked. Returns the usable bytes. */
static uint64_t walk(const struct expire_replica *remembered, int table, bool give_back) {
    const struct dict *names = &remembered->names;
    uint64_t usable = 0;
    for (uint64_t i = 0; i < dict_size(names, table); i++)
        for (key_id id = dict_bucket(names, table, i); id != KEY_NONE; id = dict_next(names, id)) {
            uint64_t bytes = name_bytes(remembered, id);
            usable += allocator_usable(names->memory->allocator, bytes);
            ASSERT(entries_at(&remembered->entries, id)->payload != 0);
            if (give_back) memory_give(names->memory, MEMORY_KEYS, bytes);
        }
    return usable;
}

void expire_replica_forget(struct expire_replica *remembered) {
    walk(remembered, 0, true);
    walk(remembered, 1, true);
    dict_clear(&remembered->names);
}

uint64_t expire_replica_check(const struct expire_replica *remembered) {
    dict_check(&remembered->names);
    return walk(remembered, 0, false) + walk(remembered, 1, false);
}

/* True if the key has a deadline that is still to come. */
static bool lives_on(struct db *db, key_id id, ms_t now_ms) {
    if (!dict_find(&db->expires, id)) return false;
    cpu_charge(db->host->cpu, COST_KEY_CHECKED, 1);
    if (now_ms <= entries_at(&db->entries, id)->deadline_ms) return true;
    cpu_charge(db->host->cpu, COST_KEY_EXPIRED, 1);
    db_delete_expired(db, id, now_ms, EXPIRY_ACTIVE);
    return false;
}

/* One random name in all its databases; returns how many keys of that name live on. */
static uint32_t visit_name(struct expire_replica *remembered, struct db *dbs, uint32_t db_count,
                           ms_t now_ms) {
    key_id id = dict_random(&remembered->names, &remembered->rng);
    struct entry *entry = entries_at(&remembered->entries, id);
    int64_t kept = 0;
    uint32_t living = 0;
    for (uint32_t i = 0; i < db_count; i++) {
        if (!(entry->payload >> i & 1) || !lives_on(&dbs[i], id, now_ms)) continue;
        kept |= INT64_C(1) << i;
        living++;
    }
    entry->payload = kept;
    if (kept) return living;
    dict_delete(&remembered->names, id);
    memory_give(remembered->names.memory, MEMORY_KEYS, name_bytes(remembered, id));
    return 0;
}

void expire_replica_cycle(struct expire_replica *remembered, struct db *dbs, uint32_t db_count) {
    struct cpu *cpu = remembered->names.cpu;
    if (expire_replica_count(remembered) == 0) return;
    ms_t start_ms = cpu_wall_ms(cpu);
    uint32_t living = 0;
    for (uint32_t names = 1; expire_replica_count(remembered) > 0; names++) {
        living += visit_name(remembered, dbs, db_count, start_ms);
        if (living > LIVING_MAX) break;
        if (names % NAMES_PER_CHECK == 0 && cpu_wall_ms(cpu) - start_ms > CYCLE_LIMIT_MS) break;
    }
}
