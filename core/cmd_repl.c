#include "command.h"
#include "repl.h"

/* REPLICAOF, FAILOVER, CLIENT PAUSE and UNPAUSE, WAIT (7.0 replication.c, networking.c). Servers go
 * by their names in the run; a port is read and not looked at. */

/* --- arguments --- */

/* The server that argument `index` names, or MASTER_NONE. */
static int read_server(const struct call *call, uint32_t index) {
    const struct engine_env *env = &call->engine->env;
    if (call->argv[index].kind != ARG_TEXT) return MASTER_NONE;
    for (uint32_t i = 0; i < env->server_count; i++)
        if (env->servers[i] == call->argv[index].id) return (int)i;
    return MASTER_NONE;
}

static bool read_quietly(const struct call *call, uint32_t index, int64_t *number) {
    uint32_t length;
    const struct arg *arg = &call->argv[index];
    const char *bytes = call_text(call, index, &length);
    if (arg->kind == ARG_NUMBER) *number = arg->number;
    return arg->kind == ARG_NUMBER || (bytes && text_to_number(bytes, length, number));
}

/* As in getTimeoutFromObjectOrReply: a number of ms from now, or 0 for none. */
static bool read_timeout(struct call *call, uint32_t index, ms_t *end_ms) {
    int64_t timeout_ms;
    if (!read_quietly(call, index, &timeout_ms)) {
        reply_error(call, "ERR timeout is not an integer or out of range");
        return false;
    }
    if (timeout_ms < 0) {
        reply_error(call, "ERR timeout is negative");
        return false;
    }
    *end_ms = timeout_ms > 0 ? wrapping_add(timeout_ms, cpu_wall_ms(&call->engine->cpu)) : 0;
    return true;
}

/* --- REPLICAOF --- */

void cmd_replicaof(struct call *call) {
    struct engine *engine = call->engine;
    int64_t port;
    if (engine->failover.state != FAILOVER_NONE) {
        reply_error(call, "ERR REPLICAOF not allowed while failing over.");
        return;
    }
    if (call_spells(call, 1, "no") && call_spells(call, 2, "one")) {
        engine_replicaof(engine, MASTER_NONE);
        reply_ok(call);
        return;
    }
    if (!read_quietly(call, 2, &port) || port < 0 || port > 65535) {
        reply_error(call, "ERR Invalid master port");
        return;
    }
    int master = read_server(call, 1);
    if (master == MASTER_NONE) {
        reply_error_typed(call, "ERR no server of this run is called '", 1, "'");
    } else if (engine->host.is_replica && engine->upstream.master == master) {
        reply_status(call, "OK Already connected to specified master");
    } else {
        engine_replicaof(engine, master);
        reply_ok(call);
    }
}

/* --- FAILOVER --- */

struct failover_order {
    bool abort, has_target;
    int target;
    int64_t timeout_ms; /* 0: none */
    bool force;
};

static bool read_option(struct call *call, uint32_t *i, struct failover_order *order) {
    uint32_t left = call->argc - *i;
    if (call_spells(call, *i, "timeout") && left > 1 && order->timeout_ms == 0) {
        if (!call_number(call, ++*i, &order->timeout_ms)) return false;
        if (order->timeout_ms > 0) return true;
        reply_error(call, "ERR FAILOVER timeout must be greater than 0");
    } else if (call_spells(call, *i, "to") && left > 2 && !order->has_target) {
        int64_t port;
        order->has_target = true;
        order->target = read_server(call, ++*i);
        return call_number(call, ++*i, &port);
    } else if (call_spells(call, *i, "force") && !order->force) {
        order->force = true;
        return true;
    } else {
        reply_syntax_error(call);
    }
    return false;
}

static bool read_order(struct call *call, struct failover_order *order) {
    *order = (struct failover_order){.target = MASTER_NONE};
    order->abort = call->argc == 2 && call_spells(call, 1, "abort");
    for (uint32_t i = 1; !order->abort && i < call->argc; i++)
        if (!read_option(call, &i, order)) return false;
    return true;
}

static const char *find_target(const struct engine *engine, const struct failover_order *order) {
    if (!order->has_target) return NULL;
    int slot = order->target < 0 ? -1 : repl_slot_of(engine, order->target);
    if (slot < 0) return "ERR FAILOVER target HOST and PORT is not a replica.";
    if (engine->replicas[slot].state != REPLICA_ONLINE)
        return "ERR FAILOVER target replica is not online.";
    return NULL;
}

/* What stands against it, in the server's order, or NULL. */
static const char *find_objection(const struct engine *engine, const struct failover_order *order) {
    if (engine->failover.state != FAILOVER_NONE) return "ERR FAILOVER already in progress.";
    if (engine->host.is_replica) return "ERR FAILOVER is not valid when server is a replica.";
    if (engine->replicas_attached == 0) return "ERR FAILOVER requires connected replicas.";
    if (order->force && (order->timeout_ms == 0 || !order->has_target))
        return "ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
    return find_target(engine, order);
}

static void abort_failover(struct call *call) {
    if (call->engine->failover.state == FAILOVER_NONE) {
        reply_error(call, "ERR No failover in progress.");
        return;
    }
    repl_abort_failover(call->engine);
    reply_ok(call);
}

void cmd_failover(struct call *call) {
    struct engine *engine = call->engine;
    struct failover_order order;
    if (!read_order(call, &order)) return;
    if (order.abort) {
        abort_failover(call);
        return;
    }
    const char *objection = find_objection(engine, &order);
    if (objection) {
        reply_error(call, objection);
        return;
    }
    ms_t now_ms = cpu_wall_ms(&engine->cpu);
    engine->failover = (struct failover){.state = FAILOVER_WAITS,
                                         .target = order.target,
                                         .end_ms = order.timeout_ms ? now_ms + order.timeout_ms : 0,
                                         .force = order.force};
    pause_begin(engine, PAUSE_BY_FAILOVER, PAUSE_WRITE, INT64_MAX);
    reply_ok(call);
}

/* --- CLIENT --- */

static void client_pause(struct call *call) {
    enum pause_kind kind = PAUSE_ALL;
    ms_t end_ms;
    if (call->argc == 4 && call_spells(call, 3, "write")) {
        kind = PAUSE_WRITE;
    } else if (call->argc > 4 || (call->argc == 4 && !call_spells(call, 3, "all"))) {
        reply_syntax_error(call);
        return;
    }
    if (!read_timeout(call, 2, &end_ms)) return;
    pause_begin(call->engine, PAUSE_BY_COMMAND, kind, end_ms);
    reply_ok(call);
}

bool client_accepts(struct call *call) {
    bool pause = call_spells(call, 1, "pause"), unpause = call_spells(call, 1, "unpause");
    if ((pause && call->argc >= 3) || (unpause && call->argc == 2)) return true;
    if (pause || unpause)
        reply_error_about(call, "ERR wrong number of arguments for 'client|",
                          pause ? "pause" : "unpause", "' command");
    else
        reply_error_typed(call, "ERR unknown subcommand '", 1, "'. Try CLIENT HELP.");
    return false;
}

void cmd_client(struct call *call) {
    if (call_spells(call, 1, "pause")) {
        client_pause(call);
        return;
    }
    pause_end(call->engine, PAUSE_BY_COMMAND);
    reply_ok(call);
}

/* --- WAIT --- */

void cmd_wait(struct call *call) {
    struct engine *engine = call->engine;
    int64_t replicas;
    ms_t end_ms;
    if (engine->host.is_replica) {
        reply_error(call, "ERR WAIT cannot be used with replica instances. Please also note that "
                          "since Redis 4.0 if a replica is configured to be writable (which is not "
                          "the default) writes to replicas are just local and are not propagated.");
        return;
    }
    if (!call_number(call, 1, &replicas) || !read_timeout(call, 2, &end_ms)) return;
    int64_t count = wait_count(engine, call->client->woff);
    if (count >= replicas)
        reply_integer(call, count);
    else
        wait_begin(engine, call->client, replicas, end_ms);
}
