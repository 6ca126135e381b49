#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "repl.h"

#define STARTUP_BYTES     876192    /* used_memory_startup of Debian's 7.0.15 (engine facts 10.6) */
#define FIRST_CRON_NS     NS_PER_MS /* the first serverCron comes 1 ms after the start */
#define TRIM_BEFORE_SLEEP 640 /* replication buffer blocks (ten times what a write may drop) */

struct engine_config engine_config_default(void) {
    return (struct engine_config){
#define X(field, directive, kind, initial) .field = initial,
        DIRECTIVE_LIST(X)
#undef X
            .obuf_hard_bytes = UINT64_C(256) << 20,
        .obuf_soft_bytes = UINT64_C(64) << 20,
        .obuf_soft_s = 60,
        .startup_bytes = STARTUP_BYTES,
    };
}

/* The words that are commands, resolved once, so that a rewritten command needs no look-up. */
static void resolve_commands(struct engine *engine) {
    for (uint32_t word = 1; word < WORDS_KNOWN; word++) {
        const char *name = texts_bytes(engine->env.texts, word);
        engine->propagate.commands[word] = command_find(name, strlen(name));
    }
}

static void init_host(struct engine *engine) {
    engine->host = (struct db_host){.cpu = &engine->cpu,
                                    .memory = &engine->memory,
                                    .keys = engine->env.keys,
                                    .sink = engine->env.sink,
                                    .propagate = &engine->propagate,
                                    .lazy = &engine->env.generation->lazy,
                                    .rng = &engine->env.rng,
                                    .pages = engine->env.pages,
                                    .remembered = &engine->remembered,
                                    .is_replica = engine->config.is_replica,
                                    .replica_is_writable = !engine->config.replica_read_only,
                                    .lazyfree_lazy_expire = engine->config.lazyfree_lazy_expire};
}

/* The server's defaults for the other classes. */
static void init_limits(struct engine *engine) {
    const struct engine_config *config = &engine->config;
    engine->limits.of[OUTPUT_REPLICA] = (struct output_limit){
        config->obuf_hard_bytes, config->obuf_soft_bytes, config->obuf_soft_s};
    engine->limits.of[OUTPUT_PUBSUB] =
        (struct output_limit){UINT64_C(32) << 20, UINT64_C(8) << 20, 60};
}

static void init_replication(struct engine *engine) {
    const struct engine_env *env = &engine->env;
    backlog_init(&engine->backlog, &engine->memory, (uint64_t)engine->config.repl_backlog_size);
    engine->backlog.policy = &env->generation->backlog;
    propagate_init(&engine->propagate, &env->generation->stream, &engine->backlog, env->sink,
                   env->texts, env->keys, &engine->cpu);
    resolve_commands(engine);
    engine->backlog.grown = repl_check_limits;
    engine->backlog.context = engine;
    engine->ids = rng_fork(&env->rng, "replication ids");
    repl_new_id(engine);
    repl_forget_second_id(engine);
    engine->upstream.master = engine->failover.target = MASTER_NONE;
    if (!engine->config.is_replica) return;
    backlog_activate(&engine->backlog);
    repl_open_master_client(engine, 0);
    engine->upstream.state = UPSTREAM_UP;
}

struct engine *engine_create(const struct engine_env *env, const struct engine_config *config) {
    struct engine *engine = calloc(1, sizeof *engine);
    ASSERT(engine && config->databases >= 1 && config->databases <= DATABASES_MAX);
    engine->env = *env;
    engine->config = *config;
    engine->cpu.prices = env->prices;
    engine->active_expire_enabled = true;
    engine->next_cron_ns = FIRST_CRON_NS;
    memory_init(&engine->memory, env->allocator, config->startup_bytes);
    init_limits(engine);
    init_host(engine);
    init_replication(engine);
    expire_init(&engine->expire, &env->generation->expire, (uint32_t)config->active_expire_effort,
                (uint32_t)config->hz);
    expire_replica_init(&engine->remembered, env->pages, env->keys, &engine->cpu, &engine->memory,
                        &env->generation->dict, &engine->env.rng);
    engine->remembered.names.child = &engine->host.has_child;
    for (uint8_t i = 0; i < DATABASES_MAX; i++)
        db_init(&engine->dbs[i], i, &engine->host, &env->generation->dict);
    return engine;
}

void engine_destroy(struct engine *engine) {
    for (int i = 0; i < DATABASES_MAX; i++) db_release(&engine->dbs[i]);
    expire_replica_release(&engine->remembered);
    backlog_release(&engine->backlog);
    propagate_release(&engine->propagate);
    command_queue_release(&engine->held);
    command_queue_release(&engine->stalled);
    snapshot_release(engine->child.snapshot);
    snapshot_release(engine->upstream.snapshot);
    for (uint32_t i = 0; i < engine->client_count; i++)
        command_queue_release(&engine->clients[i].queue);
    free(engine->postponed);
    for (int class = 0; class < MEMORY_CLASS_COUNT; class ++)
        ASSERT(class == MEMORY_BASE || engine->memory.bytes[class] == 0);
    free(engine->clients);
    free(engine->reply);
    free(engine);
}

static uint32_t free_client(struct engine *engine) {
    for (uint32_t i = 0; engine->clients_open < engine->client_count && i < engine->client_count;
         i++)
        if (!engine->clients[i].open) return i;
    if (engine->client_count == engine->client_capacity) {
        engine->client_capacity = engine->client_capacity ? engine->client_capacity * 2 : 16;
        engine->clients =
            realloc(engine->clients, engine->client_capacity * sizeof *engine->clients);
        ASSERT(engine->clients);
    }
    engine->clients[engine->client_count] = (struct client){0};
    return engine->client_count++;
}

uint32_t engine_connect(struct engine *engine) {
    uint32_t client = free_client(engine);
    command_queue_clear(&engine->clients[client].queue);
    engine->clients[client] = (struct client){.open = true, .queue = engine->clients[client].queue};
    engine->clients_open++;
    return client;
}

void engine_disconnect(struct engine *engine, uint32_t client) {
    ASSERT(client < engine->client_count && engine->clients[client].open);
    struct client *c = &engine->clients[client];
    engine->waiting_clients -= c->waits;
    command_queue_clear(&c->queue);
    c->queue_next = 0;
    c->open = c->waits = false;
    engine->clients_open--;
}

/* Tables that grow or shrink make keys dearer or cheaper to reach (cost.h). */
static void follow_size(struct engine *engine) {
    uint64_t buckets = 0;
    for (int64_t i = 0; i < engine->config.databases; i++)
        buckets += dict_slots(&engine->dbs[i].main);
    if (buckets == engine->priced_buckets) return;
    engine->priced_buckets = buckets;
    engine->cpu.prices = price_table_at_size(engine->env.prices, buckets, &engine->between);
}

void engine_wake(struct engine *engine, struct instant now) {
    if (engine->env.prices->few_exponent < engine->env.prices->many_exponent) follow_size(engine);
    cpu_begin(&engine->cpu, now);
    cpu_charge(&engine->cpu, COST_TURN, 1);
    if (engine->host.command_now_ms == 0) repl_refresh_time(engine); /* as at the start */
}

void engine_request(struct engine *engine, uint32_t client, const struct request *request) {
    ASSERT(client < engine->client_count && engine->clients[client].open);
    const struct client *c = &engine->clients[client];
    if (c->waits || c->queue.count > 0)
        pause_postpone(engine, client, request); /* unread while one before it waits */
    else
        command_execute(engine, client, request);
}

/* The time that this turn has taken so far; none where a turn's time vanishes. */
static ns_t turn_ns(const struct engine *engine) {
    return engine->env.prices->turn_time_vanishes ? 0 : cpu_spent_ns(&engine->cpu);
}

/* The timer is armed again when the callback returns, so the period is 1000 / hz ms plus the cron's
 * own duration (7.0 ae.c processTimeEvents). */
void engine_cron(struct engine *engine) {
    cron_run(engine);
    ns_t returned_ns = engine->cpu.began.mono_ns + turn_ns(engine);
    engine->next_cron_ns = returned_ns + 1000 / engine->expire.hz * NS_PER_MS;
}

/* Each replica gets what the turn has fed, in one write. */
static void charge_replica_writes(struct engine *engine) {
    int64_t fed = engine->backlog.master_repl_offset - engine->written_offset;
    engine->written_offset = engine->backlog.master_repl_offset;
    if (fed <= 0 || engine->replicas_attached == 0) return;
    for (int i = 0; i < REPLICAS_MAX; i++) {
        if (!repl_is_streaming(&engine->replicas[i])) continue;
        cpu_charge(&engine->cpu, COST_REPLICA_WRITE, 1);
        cpu_charge(&engine->cpu, COST_REPLICA_KIB, ceil_div((uint64_t)fed, BYTES_PER_KIB));
    }
}

static ns_t timeout_ns(const struct engine *engine) {
    ns_t left_ns = engine->next_cron_ns - engine->cpu.began.mono_ns - turn_ns(engine);
    return left_ns <= 0 ? 0 : (left_ns + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS;
}

ns_t engine_poll_timeout(const struct engine *engine) { return engine->poll_timeout_ns; }

static bool runs_fast_cycle(struct engine *engine) {
    return engine->active_expire_enabled && !engine->host.is_replica && !pause_stops_cycle(engine);
}

/* 7.0 beforeSleep, in its order (engine facts 5.4). While a file is loaded it is a shorter one. */
static void before_sleep(struct engine *engine) {
    wait_time_out(engine);
    if (runs_fast_cycle(engine))
        expire_cycle(&engine->expire, EXPIRE_CYCLE_FAST, engine->dbs,
                     (uint32_t)engine->config.databases);
    wait_look(engine);
    if (engine->postponed_count > 0 || engine->stalled.count > 0) pause_run_postponed(engine);
    wait_ask(engine);
    repl_look_at_failover(engine);
}

ns_t engine_sleep(struct engine *engine) {
    engine->poll_timeout_ns = timeout_ns(engine);
    if (!engine_is_loading(engine)) before_sleep(engine);
    charge_replica_writes(engine);
    repl_end_turn(engine);
    backlog_trim(&engine->backlog, TRIM_BEFORE_SLEEP);
    return turn_ns(engine);
}

ns_t engine_next_cron(const struct engine *engine) { return engine->next_cron_ns; }

bool engine_cron_due(const struct engine *engine) {
    return !engine_is_loading(engine) &&
           engine->next_cron_ns <= engine->cpu.began.mono_ns + turn_ns(engine);
}

/* The dicts see what SET with a TTL would do: look-up, insertion, removal of the old TTL, the new
 * one. */
void engine_preload(struct engine *engine, uint8_t db_id, key_id key, const struct object *value,
                    ms_t deadline_ms) {
    struct db *db = &engine->dbs[db_id];
    engine->cpu.muted++;
    db_set(db, key, value, dict_find(&db->main, key), false);
    if (deadline_ms >= 0) db_set_deadline(db, key, deadline_ms);
    engine->cpu.muted--;
}

uint8_t engine_client_db(const struct engine *engine, uint32_t client) {
    ASSERT(client < engine->client_count && engine->clients[client].open);
    return engine->clients[client].db;
}

bool engine_peek(const struct engine *engine, uint8_t db_id, key_id key, struct object *value,
                 ms_t *deadline_ms) {
    const struct db *db = &engine->dbs[db_id];
    if (!dict_has(&db->main, key)) return false;
    const struct entry *entry = entries_at(&db->entries, key);
    if (value) *value = entry_value(entry);
    if (deadline_ms) *deadline_ms = dict_has(&db->expires, key) ? entry->deadline_ms : -1;
    return true;
}

void engine_prefetch(const struct engine *engine, uint8_t db_id, key_id key) {
    const struct entries *entries = &engine->dbs[db_id].entries;
    uint32_t page = key >> ENTRY_PAGE_BITS;
    keys_prefetch(engine->env.keys, key);
    if (page < entries->page_count && entries->pages[page]) prefetch(entries_at(entries, key));
}

void engine_prefetch_place(const struct engine *engine, uint8_t db_id, key_id key) {
    dict_hint_place(&engine->dbs[db_id].main, key);
    dict_hint_place(&engine->dbs[db_id].expires, key);
}

const struct engine_config *engine_config(const struct engine *engine) { return &engine->config; }
