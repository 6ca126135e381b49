#include "lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "resp.h"
#include "support.h"
#include "tally.h"
#include "vclock.h"

#define CALM_STEPS   50
#define CALM_STEP_US INT64_C(100000)
#define INDEX_BYTES  40

/* --- the sink --- */

/* INFO is compared by its figures, not by its text. */
static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    struct lockstep *ls = context;
    struct resp_buffer text = {0};
    bool is_late = ls->late_client == client;
    if (reply->count == 1 && reply->items[0].kind == REPLY_INFO) return;
    resp_print_reply(&text, reply, ls->engine, ls->names, ls->texts);
    oracle_bytes_append(is_late ? &ls->late_replies : &ls->engine_replies, text.bytes, text.length);
    resp_buffer_release(&text);
}

static void on_stream(void *context, const struct stream_command *command) {
    struct lockstep *ls = context;
    struct resp_buffer text = {0};
    resp_print_command(&text, command->request.argv, command->request.argc, ls->names, ls->texts);
    oracle_bytes_append(&ls->engine_stream, text.bytes, text.length);
    resp_buffer_release(&text);
}

static void on_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)context, (void)deadline_ms, (void)bytes;
}

static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    (void)context, (void)late_ms, (void)cause;
}

static void on_cycle(void *context, const struct cycle_report *report) {
    (void)context, (void)report;
}

static void on_acknowledge(void *context, int64_t offset) { (void)context, (void)offset; }

/* --- time --- */

ms_t lockstep_now_ms(const struct lockstep *ls) {
    return wall_ms_of(VCLOCK_EPOCH_US + oracle_now_us(ls->oracle));
}

void lockstep_turn_begin(struct lockstep *ls, int64_t now_us) {
    engine_wake(ls->engine, (struct instant){now_us * NS_PER_US, VCLOCK_EPOCH_US + now_us});
    ls->engine_turns++;
}

/* The server writes to its replicas at the end of a turn, and this one takes all. */
void lockstep_turn_end(struct lockstep *ls) {
    engine_sleep(ls->engine);
    if (ls->turn_ended) ls->turn_ended(ls);
    if (!ls->replica) return;
    engine_replica_written(ls->engine, ls->replica_slot,
                           engine_stats(ls->engine).master_repl_offset);
}

/* Timers stand on whole milliseconds and so does every step, so the poll's rounding up to
 * milliseconds never shows. */
void lockstep_grant(struct lockstep *ls, us_t us) {
    us_t until_us = oracle_now_us(ls->oracle) + us;
    ASSERT(us % US_PER_MS == 0);
    oracle_grant(ls->oracle, us);
    while (engine_next_cron(ls->engine) <= until_us * NS_PER_US) {
        lockstep_turn_begin(ls, engine_next_cron(ls->engine) / NS_PER_US);
        engine_cron(ls->engine);
        lockstep_turn_end(ls);
    }
}

/* --- figures --- */

static void ask_server(struct lockstep *ls, struct figures *f) {
    char number[8];
    const char *info[] = {"INFO"}, *htstats[] = {"DEBUG", "HTSTATS", number};
    figures_read_info(f, oracle_ask(ls->oracle, ls->asker.link, 1, info));
    for (uint8_t db = 0; db < ls->databases_seen; db++) {
        snprintf(number, sizeof number, "%d", db);
        figures_read_htstats(f, db, oracle_ask(ls->oracle, ls->asker.link, 3, htstats));
    }
    f->server[FIGURE_turns] = oracle_turns(ls->oracle);
    f->server[FIGURE_clock_reads] = oracle_reads(ls->oracle);
}

static void ask_begin(struct lockstep *ls, const struct arg *argv, uint32_t argc) {
    const char *name = texts_bytes(ls->texts, argv[0].id);
    struct request request = {command_find(name, strlen(name)), argv, argc};
    lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
    engine_request(ls->engine, ls->asker.client, &request);
    ls->engine_replies.length = 0;
}

void lockstep_engine_info(struct lockstep *ls) {
    struct arg info[] = {lockstep_word(ls, "INFO")};
    ask_begin(ls, info, 1);
    lockstep_turn_end(ls);
}

/* Each figure as it stands within the turn of its command, as on the server: a fast cycle may run
 * when the turn ends. Turns and readings at the end of all. */
static void ask_engine(struct lockstep *ls, struct figures *f) {
    struct arg info[] = {lockstep_word(ls, "INFO")};
    ask_begin(ls, info, 1);
    figures_of_engine(f, ls->engine);
    lockstep_turn_end(ls);
    for (uint32_t db = 0; db < ls->databases_seen; db++) {
        struct arg htstats[] = {lockstep_word(ls, "DEBUG"), lockstep_word(ls, "HTSTATS"),
                                arg_number(db)};
        ask_begin(ls, htstats, 3);
        figures_of_tables(f, db, ls->engine);
        lockstep_turn_end(ls);
    }
    f->server[FIGURE_turns] = ls->engine_turns;
    f->server[FIGURE_clock_reads] = (int64_t)engine_stats(ls->engine).clock_reads;
}

static void ask(struct lockstep *ls, struct figures *server, struct figures *engine) {
    *server = *engine = (struct figures){0};
    ask_server(ls, server);
    ask_engine(ls, engine);
}

/* What the two count from different beginnings. */
static void subtract_base(struct figures *f, const struct figures *base) {
    static const enum server_figure from_base[] = {FIGURE_turns, FIGURE_clock_reads,
                                                   FIGURE_commands, FIGURE_used_memory};
    for (size_t i = 0; i < sizeof from_base / sizeof *from_base; i++)
        f->server[from_base[i]] -= base->server[from_base[i]];
}

static bool are_equal(const struct figures *a, const struct figures *b, uint32_t databases) {
    return memcmp(a->server, b->server, sizeof a->server) == 0 &&
           memcmp(a->db, b->db, databases * sizeof a->db[0]) == 0;
}

static void show_figure(const char *name, int64_t server, int64_t engine) {
    if (server == engine) return;
    fprintf(stderr, "  %-20s %16lld %16lld\n", name, (long long)server, (long long)engine);
}

static void show(const struct lockstep *ls, const struct figures *server,
                 const struct figures *engine) {
    fprintf(stderr, "%s, at %lld us: server, engine\n", ls->about,
            (long long)oracle_now_us(ls->oracle));
    for (int i = 0; i < SERVER_FIGURE_COUNT; i++)
        show_figure(server_figure_names[i], server->server[i], engine->server[i]);
    for (uint32_t db = 0; db < ls->databases_seen; db++) {
        fprintf(stderr, "  database %u\n", db);
        for (int i = 0; i < DB_FIGURE_COUNT; i++)
            show_figure(db_figure_names[i], server->db[db][i], engine->db[db][i]);
    }
}

bool lockstep_fails_by_exit;

_Noreturn void lockstep_fail(struct lockstep *ls, const char *what) {
    if (lockstep_fails_by_exit) _exit(EXIT_FAILURE);
    ck_abort_msg("%s: %s at %lld us", ls->about, what, (long long)oracle_now_us(ls->oracle));
}

/* The server keeps a radix tree of every 64th block of its replication buffer: some dozen bytes for
 * each MiB, which the engine leaves out. */
static void excuse_block_index(const struct figures *server, struct figures *engine) {
    int64_t over = server->server[FIGURE_used_memory] - engine->server[FIGURE_used_memory];
    int64_t buffers = server->server[FIGURE_replication_buffers];
    if (over > 0 && buffers > 0 && over <= INDEX_BYTES * (1 + buffers / (1024 * 1024)))
        engine->server[FIGURE_used_memory] += over;
}

void lockstep_compare(struct lockstep *ls) {
    struct figures server, engine;
    ask(ls, &server, &engine);
    subtract_base(&server, &ls->server_base);
    subtract_base(&engine, &ls->engine_base);
    excuse_block_index(&server, &engine);
    if (ls->restless) server.server[FIGURE_used_memory] = engine.server[FIGURE_used_memory] = 0;
    tally_add(TALLY_FIGURES, SERVER_FIGURE_COUNT + (int64_t)ls->databases_seen * DB_FIGURE_COUNT);
    if (are_equal(&server, &engine, ls->databases_seen)) return;
    show(ls, &server, &engine);
    lockstep_fail(ls, "figures differ");
}

void lockstep_steps(struct lockstep *ls, uint32_t steps, us_t us) {
    for (uint32_t i = 0; i < steps; i++) {
        lockstep_grant(ls, us);
        lockstep_compare(ls);
        tally_add(TALLY_STEPS, 1);
    }
}

/* --- start and stop --- */

/* Directives as words of a command line. */
struct arguments {
    char text[24][32];
    const char *argv[25];
    uint32_t count;
};

static void argument(struct arguments *a, const char *name, const char *value) {
    ASSERT(a->count + 2 <= sizeof a->text / sizeof *a->text);
    snprintf(a->text[a->count], sizeof *a->text, "--%s", name);
    snprintf(a->text[a->count + 1], sizeof *a->text, "%s", value);
    for (int i = 0; i < 2; i++, a->count++) a->argv[a->count] = a->text[a->count];
}

static void argument_number(struct arguments *a, const char *name, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    if (number) argument(a, name, text);
}

static void server_arguments(struct arguments *a, const struct lockstep_config *c) {
    *a = (struct arguments){0};
    argument_number(a, "hz", c->hz);
    argument(a, "dynamic-hz", c->dynamic_hz ? "yes" : "no");
    argument_number(a, "active-expire-effort", c->effort);
    argument_number(a, "databases", c->databases);
    argument(a, "repl-diskless-sync-delay", "0");
    argument(a, "lazyfree-lazy-expire", c->lazyfree ? "yes" : "no");
    argument(a, "lazyfree-lazy-user-del", c->lazyfree ? "yes" : "no");
    argument(a, "activerehashing", c->no_rehashing ? "no" : "yes");
    if (c->directory) argument(a, "dir", c->directory);
}

static struct engine_config engine_arguments(const struct lockstep_config *c) {
    struct engine_config config = engine_config_default();
    config.dynamic_hz = c->dynamic_hz;
    if (c->hz) config.hz = c->hz;
    if (c->effort) config.active_expire_effort = c->effort;
    if (c->databases) config.databases = c->databases;
    config.lazyfree_lazy_expire = config.lazyfree_lazy_user_del = c->lazyfree;
    config.activerehashing = !c->no_rehashing;
    if (!c->has_limits) return config;
    config.obuf_hard_bytes = c->obuf_hard_bytes;
    config.obuf_soft_bytes = c->obuf_soft_bytes;
    config.obuf_soft_s = c->obuf_soft_s;
    return config;
}

void lockstep_make_engine(struct lockstep *ls, us_t tick_us, const struct engine_config *config) {
    ls->names = ls->mate ? ls->mate->names : names_create(oracle_hash_seed);
    ls->texts = ls->mate ? ls->mate->texts : texts_create();
    ls->sink = (struct sink){.context = ls,
                             .reply = on_reply,
                             .stream = on_stream,
                             .deadline_added = on_deadline,
                             .deadline_removed = on_deadline,
                             .key_expired = on_expired,
                             .cycle_ended = on_cycle,
                             .acknowledge = on_acknowledge};
    ls->prices = (struct price_table){.name = "lockstep", .turn_time_vanishes = true};
    ls->prices.ps[COST_CLOCK_READ] = (uint64_t)tick_us * PS_PER_US;
    ls->env = (struct engine_env){.generation = ls->generation ? ls->generation
                                                               : generation_find("redis-7.0"),
                                  .allocator = allocator_find("debian"),
                                  .prices = &ls->prices,
                                  .keys = names_keys(ls->names),
                                  .texts = ls->texts,
                                  .sink = &ls->sink,
                                  .self = ls->number,
                                  .rng = rng_seed(test_seed() + (uint64_t)ls->number)};
    ls->engine = engine_create(&ls->env, config);
}

void lockstep_drop_engine(struct lockstep *ls) {
    engine_check(ls->engine);
    engine_destroy(ls->engine);
    if (ls->mate) return;
    names_destroy(ls->names);
    texts_destroy(ls->texts);
}

/* The first call of a command makes its latency histogram, and the first error its counter, which
 * count as memory; a call with too few words is refused before that. */
static void call_everything(struct lockstep *ls) {
    struct arg warm = arg_key(names_keys(ls->names), names_intern(ls->names, "warm", 4));
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        struct arg argv[] = {lockstep_word(ls, command->name), warm, arg_number(1), arg_number(1)};
        uint32_t argc = (uint32_t)(command->arity < 0 ? -command->arity : command->arity);
        if (command->flags & (COMMAND_STREAM_ONLY | COMMAND_ADMIN)) continue;
        if (strcmp(command->name, "info") == 0) continue; /* its text is not compared */
        if (command->first_key == 0 && argc > 1) argv[1] = arg_number(0);
        lockstep_command(ls, &ls->asker, argv, argc);
    }
    struct arg error[] = {lockstep_word(ls, "SELECT"), lockstep_word(ls, "nowhere")};
    lockstep_command(ls, &ls->asker, error, 2);
}

/* By then the server has fitted a client's query buffer to our asking. Reply buffers keep their
 * size: they would shrink and grow with the crons between two questions. */
static void come_to_rest(struct lockstep *ls) {
    static const char *const keep[] = {"DEBUG", "REPLYBUFFER", "RESIZING", "0"};
    oracle_ask(ls->oracle, ls->asker.link, 4, keep);
    for (int i = 0; i < CALM_STEPS; i++) {
        lockstep_grant(ls, CALM_STEP_US);
        ask(ls, &ls->server_base, &ls->engine_base);
    }
}

void lockstep_rebase(struct lockstep *ls) {
    if (!ls->restless) come_to_rest(ls);
    ask(ls, &ls->server_base, &ls->engine_base);
}

/* Several words in one argument: not for the command line. */
static void set_limits(struct lockstep *ls, const struct lockstep_config *c) {
    char text[96];
    const char *const set[] = {"CONFIG", "SET", "client-output-buffer-limit", text};
    snprintf(text, sizeof text, "replica %llu %llu %lld", (unsigned long long)c->obuf_hard_bytes,
             (unsigned long long)c->obuf_soft_bytes, (long long)c->obuf_soft_s);
    ck_assert_str_eq(oracle_ask(ls->oracle, ls->asker.link, 4, set), "OK");
}

struct lockstep *lockstep_start(const char *about, const struct lockstep_config *config) {
    struct lockstep *ls = calloc(1, sizeof *ls);
    struct arguments arguments;
    struct engine_config engine_config = engine_arguments(config);
    ASSERT(ls);
    ls->about = about;
    ls->mate = config->mate;
    ls->number = config->number;
    ls->databases_seen = config->databases_seen ? config->databases_seen : 1;
    server_arguments(&arguments, config);
    ls->oracle = oracle_start(config->tick_us, arguments.argv);
    lockstep_make_engine(ls, config->tick_us, &engine_config);
    ls->late_client = -1;
    ls->asker = lockstep_connect(ls);
    if (config->has_limits) set_limits(ls, config);
    ls->restless = config->restless;
    if (!ls->restless) call_everything(ls);
    lockstep_rebase(ls);
    return ls;
}

void lockstep_stop(struct lockstep *ls) {
    lockstep_disconnect(ls, &ls->asker);
    if (ls->replica) oracle_disconnect(ls->oracle, ls->replica);
    oracle_stop(ls->oracle);
    lockstep_drop_engine(ls);
    oracle_bytes_release(&ls->server_replies);
    oracle_bytes_release(&ls->engine_replies);
    oracle_bytes_release(&ls->server_stream);
    oracle_bytes_release(&ls->engine_stream);
    oracle_bytes_release(&ls->late_replies);
    free(ls);
}
