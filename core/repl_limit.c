#include "repl.h"

/* client-output-buffer-limit of replicas (7.0 networking.c checkClientOutputBufferLimits; engine
 * facts 7.8). Looked at only when a block was added and, now and then, by clientsCron: a replica
 * may stay above a limit unseen. */

#define CLIENTS_A_CRON_MIN 5 /* 7.0 CLIENTS_CRON_MIN_ITERATIONS */

/* Since the buffer is shared, a limit below the backlog's size would close every replica that asks
 * for a partial resync. */
static uint64_t hard_limit(const struct engine *engine) {
    uint64_t hard = engine->config.obuf_hard_bytes;
    bool is_shared = !engine->backlog.policy->is_private;
    if (hard > 0 && is_shared && hard < engine->backlog.size_bytes)
        return engine->backlog.size_bytes;
    return hard;
}

/* The time runs from the first look that finds it above the limit, in whole seconds. */
static bool is_over_soft(struct engine *engine, struct engine_replica *r, uint64_t used) {
    const struct engine_config *config = &engine->config;
    if (config->obuf_soft_bytes == 0 || used < config->obuf_soft_bytes) {
        r->soft_since_s = 0;
        return false;
    }
    if (r->soft_since_s == 0) {
        r->soft_since_s = repl_cached_s(engine);
        return false;
    }
    return repl_cached_s(engine) - r->soft_since_s > config->obuf_soft_s;
}

static void check_limits(struct engine *engine, int slot) {
    struct engine_replica *r = &engine->replicas[slot];
    if (!r->attached || r->closes_soon || !repl_has_wire(engine)) return;
    uint64_t used = backlog_reader_memory(&engine->backlog, slot), hard = hard_limit(engine);
    bool soft = is_over_soft(engine, r, used);
    r->closes_soon = soft || (hard > 0 && used >= hard);
    engine->slots_end |= r->closes_soon;
}

void repl_check_limits(void *context) {
    struct engine *engine = context;
    for (int slot = 0; slot < REPLICAS_MAX; slot++) check_limits(engine, slot);
}

static int nth_attached(const struct engine *engine, uint32_t n) {
    for (int slot = 0; slot < REPLICAS_MAX; slot++)
        if (engine->replicas[slot].attached && n-- == 0) return slot;
    return -1;
}

/* A few clients a call, in turn, so that all have had theirs in about a second. */
void repl_cron_clients(struct engine *engine) {
    uint32_t clients = engine->clients_open + engine->replicas_attached;
    uint32_t visits = clients / engine->expire.hz;
    if (engine->replicas_attached == 0) return;
    if (visits < CLIENTS_A_CRON_MIN) visits = CLIENTS_A_CRON_MIN;
    if (visits > clients) visits = clients;
    for (uint32_t i = 0; i < visits; i++) {
        uint32_t at = engine->clients_cron_at++ % clients;
        int slot = at < engine->clients_open ? -1 : nth_attached(engine, at - engine->clients_open);
        if (slot >= 0) check_limits(engine, slot);
    }
}
