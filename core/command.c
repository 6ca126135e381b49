#include "command.h"

#include <string.h>

#include "repl.h"

#define W  COMMAND_WRITE
#define R  COMMAND_READONLY
#define A  COMMAND_ADMIN
#define NW COMMAND_NO_WRAP
#define SO COMMAND_STREAM_ONLY
#define L  COMMAND_LOADING
#define S  COMMAND_STALE

/* Name, arity, flags, keys' positions and function; 7.0's COMMAND INFO, so far as it matters here.
 */
static const struct command commands[] = {
    {"get", 2, R, 1, 1, 1, FEATURE_ALWAYS, cmd_get},
    {"set", -3, W, 1, 1, 1, FEATURE_ALWAYS, cmd_set},
    {"setex", 4, W, 1, 1, 1, FEATURE_ALWAYS, cmd_setex},
    {"psetex", 4, W, 1, 1, 1, FEATURE_ALWAYS, cmd_psetex},
    {"getex", -2, W, 1, 1, 1, FEATURE_GETEX, cmd_getex},
    {"getdel", 2, W, 1, 1, 1, FEATURE_GETEX, cmd_getdel},
    {"incr", 2, W, 1, 1, 1, FEATURE_ALWAYS, cmd_incr},
    {"del", -2, W, 1, -1, 1, FEATURE_ALWAYS, cmd_del},
    {"unlink", -2, W, 1, -1, 1, FEATURE_ALWAYS, cmd_unlink},
    {"exists", -2, R, 1, -1, 1, FEATURE_ALWAYS, cmd_exists},
    {"touch", -2, R, 1, -1, 1, FEATURE_ALWAYS, cmd_touch},
    {"expire", -3, W, 1, 1, 1, FEATURE_ALWAYS, cmd_expire},
    {"pexpire", -3, W, 1, 1, 1, FEATURE_ALWAYS, cmd_pexpire},
    {"expireat", -3, W, 1, 1, 1, FEATURE_ALWAYS, cmd_expireat},
    {"pexpireat", -3, W, 1, 1, 1, FEATURE_ALWAYS, cmd_pexpireat},
    {"persist", 2, W, 1, 1, 1, FEATURE_ALWAYS, cmd_persist},
    {"ttl", 2, R, 1, 1, 1, FEATURE_ALWAYS, cmd_ttl},
    {"pttl", 2, R, 1, 1, 1, FEATURE_ALWAYS, cmd_pttl},
    {"expiretime", 2, R, 1, 1, 1, FEATURE_EXPIRE_FLAGS, cmd_expiretime},
    {"pexpiretime", 2, R, 1, 1, 1, FEATURE_EXPIRE_FLAGS, cmd_pexpiretime},
    {"scan", -2, R | NW, 0, 0, 0, FEATURE_ALWAYS, cmd_scan},
    {"randomkey", 1, R | NW, 0, 0, 0, FEATURE_ALWAYS, cmd_randomkey},
    {"dbsize", 1, R, 0, 0, 0, FEATURE_ALWAYS, cmd_dbsize},
    {"select", 2, L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_select},
    {"flushdb", -1, W, 0, 0, 0, FEATURE_ALWAYS, cmd_flushdb},
    {"flushall", -1, W, 0, 0, 0, FEATURE_ALWAYS, cmd_flushall},
    {"config", -2, A | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_config},
    {"debug", -2, A | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_debug},
    {"info", -1, L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_info},
    {"ping", -1, 0, 0, 0, 0, FEATURE_ALWAYS, cmd_ping},
    {"client", -2, A | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_client},
    {"replicaof", 3, A | S, 0, 0, 0, FEATURE_ALWAYS, cmd_replicaof},
    {"slaveof", 3, A | S, 0, 0, 0, FEATURE_ALWAYS, cmd_replicaof},
    {"failover", -1, A | S, 0, 0, 0, FEATURE_ALWAYS, cmd_failover},
    {"wait", 3, 0, 0, 0, 0, FEATURE_ALWAYS, cmd_wait},
    {"multi", 1, SO | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_multi},
    {"exec", 1, SO | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_exec},
    {"replconf", -1, A | SO | L | S, 0, 0, 0, FEATURE_ALWAYS, cmd_replconf},
};

#define COMMANDS (sizeof commands / sizeof *commands)

bool word_is(const char *bytes, size_t length, const char *lower) {
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (lower[i] == '\0' || c != lower[i]) return false;
    }
    return lower[length] == '\0';
}

const struct command *command_find(const char *name, size_t length) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (word_is(name, length, commands[i].name)) return &commands[i];
    return NULL;
}

const struct command *command_at(size_t index) {
    return index < COMMANDS ? &commands[index] : NULL;
}

bool call_has_feature(const struct call *call, enum feature feature) {
    return !(feature & ~call->engine->env.generation->features);
}

bool call_is(const struct call *call, uint32_t index, enum word word) {
    const struct arg *arg = &call->argv[index];
    return arg->kind == ARG_TEXT && text_is(call->engine->env.texts, arg->id, word);
}

const char *call_text(const struct call *call, uint32_t index, uint32_t *length) {
    const struct arg *arg = &call->argv[index];
    if (arg->kind != ARG_TEXT) return NULL;
    *length = texts_length(call->engine->env.texts, arg->id);
    return texts_bytes(call->engine->env.texts, arg->id);
}

bool call_spells(const struct call *call, uint32_t index, const char *word) {
    uint32_t length;
    const char *bytes = call_text(call, index, &length);
    return bytes && word_is(bytes, length, word);
}

static bool read_number(const struct call *call, uint32_t index, int64_t *number) {
    const struct arg *arg = &call->argv[index];
    if (arg->kind == ARG_NUMBER) {
        *number = arg->number;
        return true;
    }
    uint32_t length;
    const char *bytes = call_text(call, index, &length);
    return bytes && text_to_number(bytes, length, number);
}

bool call_number(struct call *call, uint32_t index, int64_t *number) {
    if (read_number(call, index, number)) return true;
    reply_error(call, "ERR value is not an integer or out of range");
    return false;
}

/* Costs nothing while nobody listens. */
void call_rewrite(struct call *call, enum word word, uint32_t argc, const struct arg *argv) {
    const struct propagate *propagate = &call->engine->propagate;
    if (!propagate->listening) return;
    ASSERT(argc >= 1 && argc <= ARGC_MAX);
    memcpy(call->rewritten, argv, argc * sizeof *argv);
    call->rewritten_argc = argc;
    call->rewritten_command = propagate->commands[word];
}

void call_rewrite_key(struct call *call, enum word word) {
    struct arg argv[] = {arg_word(call->engine->env.texts, word), call->argv[1]};
    call_rewrite(call, word, 2, argv);
}

static bool is_known(const struct call *call) {
    const struct command *command = call->command;
    if (!command || !call_has_feature(call, command->needs)) return false;
    return call->client->is_master_link || !(command->flags & COMMAND_STREAM_ONLY);
}

static bool arity_fits(const struct call *call) {
    int arity = call->command->arity;
    return arity >= 0 ? call->argc == (uint32_t)arity : call->argc >= (uint32_t)-arity;
}

/* What a command is refused with for the state that the server is in, or NULL; in the order of 7.0
 * processCommand. */
static const char *find_state_error(const struct call *call) {
    const struct engine *engine = call->engine;
    const struct engine_config *config = &engine->config;
    unsigned flags = call->command->flags;
    bool is_replica = engine->host.is_replica, writes = flags & COMMAND_WRITE;
    if (writes && !is_replica && config->min_replicas_to_write > 0 &&
        config->min_replicas_max_lag > 0 && engine->good_replicas < config->min_replicas_to_write)
        return "NOREPLICAS Not enough good replicas to write.";
    if (writes && is_replica && config->replica_read_only)
        return "READONLY You can't write against a read only replica.";
    if (is_replica && engine->upstream.state != UPSTREAM_UP && !config->replica_serve_stale_data &&
        !(flags & COMMAND_STALE))
        return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    if (engine_is_loading(engine) && !(flags & COMMAND_LOADING))
        return "LOADING Redis is loading the dataset in memory";
    return NULL;
}

/* The checks of 7.0 processCommand, in its order. A refused command is not counted as processed. */
static bool is_refused(struct call *call) {
    if (!is_known(call)) {
        reply_item(call, (struct reply_item){.kind = REPLY_UNKNOWN_COMMAND});
        return true;
    }
    if (!arity_fits(call)) {
        reply_arity_error(call);
        return true;
    }
    if (call->command->run == cmd_config && !config_accepts(call)) return true;
    if (call->command->run == cmd_client && !client_accepts(call)) return true;
    const char *error = call->client->is_master_link ? NULL : find_state_error(call);
    if (error) reply_error(call, error);
    return error;
}

/* One reading of the clock for the whole command; inside the stream's MULTI the one made there
 * stays (7.0 server.c call: only the outermost execution updates the cached time). */
static void enter(struct call *call) {
    struct engine *engine = call->engine;
    bool from_master = call->client->is_master_link;
    engine->host.client = from_master ? DB_CLIENT_MASTER_LINK : DB_CLIENT_NORMAL;
    engine->host.command_is_readonly = call->command->flags & COMMAND_READONLY;
    if (!(from_master && engine->in_multi)) engine->host.command_now_ms = cpu_wall_ms(&engine->cpu);
    engine->host.in_command = true;
}

static void leave(struct call *call) {
    struct db_host *host = &call->engine->host;
    host->in_command = false;
    host->client = DB_CLIENT_NORMAL;
    host->command_is_readonly = false;
}

/* What the command deleted as expired was queued before; the command itself follows it. */
static void propagate_call(struct call *call, uint64_t dirty_before) {
    struct propagate *propagate = &call->engine->propagate;
    if (call->engine->dirty != dirty_before || call->propagate_always) {
        bool rewritten = call->rewritten_argc > 0;
        propagate_command(propagate, call->db->id,
                          rewritten ? call->rewritten_command : call->command,
                          rewritten ? call->rewritten : call->argv,
                          rewritten ? call->rewritten_argc : call->argc);
    }
    propagate_flush(propagate, !(call->command->flags & COMMAND_NO_WRAP));
}

static void execute(struct call *call) {
    uint64_t dirty_before = call->engine->dirty;
    enter(call);
    call->command->run(call);
    cpu_wall_us(&call->engine->cpu); /* its duration, for the slow log and latency figures */
    leave(call);
    call->engine->commands_processed++;
    if (!call->client->is_master_link) propagate_call(call, dirty_before);
}

static void send_reply(struct engine *engine, uint32_t client, const struct request *request) {
    struct reply reply = {request, engine->reply, engine->reply_count};
    engine->env.sink->reply(engine->env.sink->context, client, &reply);
}

#define READ_BYTES     16384 /* what one read takes (7.0 networking.c readQueryFromClient) */
#define BIG_READ_BYTES 65536 /* of an argument of 32 KiB and more: what a socket holds, about */

/* A request longer than one read comes in several, each a turn of the loop: 16 KiB and, of a large
 * argument, what there is. Example: 16 KiB take one more, 64 KiB two, 1 MiB seventeen. */
static void charge_reads(struct engine *engine, const struct request *request) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < request->argc; i++) bytes += request->argv[i].length;
    if (bytes < READ_BYTES) return;
    uint64_t small = bytes / READ_BYTES, big = 1 + bytes / BIG_READ_BYTES;
    cpu_charge(&engine->cpu, COST_READ, small < big ? small : big);
}

static void tell_blocked(const struct engine *engine, uint32_t client) {
    if (engine->env.sink->blocked) engine->env.sink->blocked(engine->env.sink->context, client);
}

/* Returns false if a pause stops it. The offset that a WAIT would wait for is that after the
 * client's last command, whatever it was. */
static bool run(struct call *call) {
    struct engine *engine = call->engine;
    if (is_refused(call)) return true;
    if (!call->client->is_master_link && pause_stops(engine, call->command)) return false;
    execute(call);
    call->client->woff = engine->backlog.master_repl_offset;
    return true;
}

static void process(struct engine *engine, uint32_t client, const struct request *request,
                    bool is_late) {
    struct call call; /* filled by field: `rewritten` is large and mostly unused */
    call.engine = engine;
    call.client = &engine->clients[client];
    call.db = &engine->dbs[call.client->db];
    call.command = request->command;
    call.argv = request->argv;
    call.argc = request->argc;
    call.propagate_always = false;
    call.rewritten_argc = 0;
    bool from_master = call.client->is_master_link;
    engine->reply_count = 0;
    cpu_charge(&engine->cpu, from_master ? COST_APPLY : COST_COMMAND, 1);
    charge_reads(engine, request);
    if (!run(&call)) {
        pause_postpone(engine, client, request);
        return;
    }
    if (from_master) return;
    if (!engine->clients[client].waits)
        send_reply(engine, client, is_late ? NULL : request);
    else if (!is_late)
        tell_blocked(engine, client);
}

void command_execute(struct engine *engine, uint32_t client, const struct request *request) {
    process(engine, client, request, false);
}

void command_execute_late(struct engine *engine, uint32_t client, const struct request *request) {
    process(engine, client, request, true);
}
