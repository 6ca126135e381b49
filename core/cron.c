#include "repl.h"

#define DBS_PER_CALL          16 /* databases that one cron resizes (7.0 databasesCron) */
#define REPLICATION_PERIOD_MS 1000
#define FAILOVER_PERIOD_MS    100
#define METRICS_PERIOD_MS     100
#define METRICS               5 /* commands, bytes in and out, of replication in and out (7.0) */

/* hz doubles while there are more than 200 clients for each call, up to 500; recomputed from the
 * configured hz each time (7.0 serverCron). */
static uint32_t effective_hz(const struct engine *engine) {
    uint32_t hz = (uint32_t)engine->config.hz;
    uint32_t clients = engine->clients_open + engine->replicas_attached;
    if (!engine->config.dynamic_hz) return hz;
    if (!(engine->env.generation->features & FEATURE_DYNAMIC_HZ)) return hz;
    while (clients / hz > CLIENTS_PER_HZ_MAX) {
        hz *= 2;
        if (hz > HZ_MAX) return HZ_MAX;
    }
    return hz;
}

/* Jobs of a period run by the count of crons, not by the clock, and so fall behind with them. */
static bool is_due(const struct engine *engine, uint32_t period_ms) {
    uint32_t cron_ms = 1000 / engine->expire.hz;
    return period_ms <= cron_ms || engine->cronloops % (period_ms / cron_ms) == 0;
}

static void shrink_if_sparse(struct dict *dict) {
    if (dict_wants_shrink(dict)) dict_shrink(dict);
}

static void resize_databases(struct engine *engine) {
    uint32_t count = (uint32_t)engine->config.databases;
    uint32_t visits = count < DBS_PER_CALL ? count : DBS_PER_CALL;
    for (uint32_t i = 0; i < visits; i++) {
        struct db *db = &engine->dbs[engine->resize_db++ % count];
        shrink_if_sparse(&db->main);
        shrink_if_sparse(&db->expires);
    }
}

/* One millisecond for one dict of one database; it stays with that database until nothing is left
 * to move. */
static bool rehash_database(struct db *db) {
    struct dict *dict = dict_rehashing(&db->main) ? &db->main : &db->expires;
    if (!dict_rehashing(dict)) return false;
    dict_rehash_for_1ms(dict);
    return true;
}

static void rehash_databases(struct engine *engine) {
    uint32_t count = (uint32_t)engine->config.databases;
    for (uint32_t i = 0; i < count && i < DBS_PER_CALL; i++) {
        if (rehash_database(&engine->dbs[engine->rehash_db % count])) return;
        engine->rehash_db = (engine->rehash_db + 1) % count;
    }
}

/* A replica never expires actively but for what its own clients gave deadlines. */
static void cron_databases(struct engine *engine) {
    if (engine->active_expire_enabled && engine->host.is_replica)
        expire_replica_cycle(&engine->remembered, engine->dbs, (uint32_t)engine->config.databases);
    if (engine->active_expire_enabled && !engine->host.is_replica && !pause_stops_cycle(engine))
        expire_cycle(&engine->expire, EXPIRE_CYCLE_SLOW, engine->dbs,
                     (uint32_t)engine->config.databases);
    if (engine->host.has_child) return;
    resize_databases(engine);
    if (engine->config.activerehashing) rehash_databases(engine);
}

/* What serverCron reads of the clock before the expire cycle, for its own ends: each instantaneous
 * metric's sample, the LRU clock, and clientsCron (7.0 trackInstantaneousMetric, getLRUClock,
 * clientsCron). The cycle's keys are compared with a clock that has moved on by so much. */
static void read_clock_for_others(struct engine *engine) {
    uint32_t reads = is_due(engine, METRICS_PERIOD_MS) ? METRICS + 2 : 2;
    for (uint32_t i = 0; i < reads; i++) cpu_wall_us(&engine->cpu);
}

/* Faster while a failover waits for its replica. */
static uint32_t replication_period_ms(const struct engine *engine) {
    return engine->failover.state == FAILOVER_NONE ? REPLICATION_PERIOD_MS : FAILOVER_PERIOD_MS;
}

void cron_run(struct engine *engine) {
    cpu_charge(&engine->cpu, COST_CRON, 1);
    engine->host.command_now_ms = cpu_wall_ms(&engine->cpu);
    engine->expire.hz = effective_hz(engine);
    read_clock_for_others(engine);
    repl_cron_clients(engine);
    cron_databases(engine);
    repl_reap_child(engine);
    pause_is_on(engine);
    if (is_due(engine, replication_period_ms(engine))) repl_cron(engine);
    engine->cronloops++;
}
