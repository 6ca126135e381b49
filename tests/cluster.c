#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define NOBODY        CLUSTER_SERVERS
#define KEYS          4096 /* k0 to k4095 */
#define PORTION_BYTES (16 * 1024)
#define ROUNDS_MAX    200

__attribute__((format(printf, 2, 3))) static void say(struct cluster *c, const char *format, ...) {
    size_t used = strlen(c->talk);
    va_list list;
    if (used + 128 > sizeof c->talk) return;
    va_start(list, format);
    vsnprintf(c->talk + used, sizeof c->talk - used, format, list);
    va_end(list);
}

/* --- the wire --- */

static void drop(const struct cluster_item *item) {
    if (item->kind == ITEM_MESSAGE) snapshot_release(item->message.snapshot);
}

static void post(struct cluster *c, int server, const struct cluster_item *item) {
    struct cluster_server *to = &c->servers[server];
    if (server == NOBODY) {
        drop(item);
        return;
    }
    if (to->inbox_count == to->inbox_capacity) {
        to->inbox_capacity = to->inbox_capacity ? to->inbox_capacity * 2 : 64;
        to->inbox = realloc(to->inbox, to->inbox_capacity * sizeof *to->inbox);
        ck_assert_ptr_nonnull(to->inbox);
    }
    to->inbox[to->inbox_count] = *item;
    to->inbox[to->inbox_count++].at_ns = c->now_ns + c->delay_ms * NS_PER_MS;
}

static void post_kind(struct cluster_server *from, int to, uint64_t connection, uint8_t kind) {
    struct cluster_item item = {.kind = kind, .from = from->number, .connection = connection};
    post(from->cluster, to, &item);
}

static int slot_of(const struct cluster_server *s, uint64_t connection) {
    for (int slot = 0; slot < CLUSTER_SLOTS; slot++)
        if (s->slots[slot].connection == connection) return slot;
    return -1;
}

static void on_dial(void *context, int master) {
    struct cluster_server *s = context;
    s->up_connection = ++s->cluster->connections;
    s->up_peer = master;
    say(s->cluster, "%d dials %d\n", s->number, master);
    post_kind(s, master, s->up_connection, ITEM_DIALLED);
}

static const char *const message_names[] = {
#define X(id, help, speaker) #id,
    REPL_MESSAGE_LIST(X)
#undef X
};

static void on_send(void *context, int peer, const struct repl_message *message) {
    struct cluster_server *s = context;
    uint64_t connection = peer == PEER_MASTER ? s->up_connection : s->slots[peer].connection;
    int to = peer == PEER_MASTER ? s->up_peer : s->slots[peer].peer;
    struct cluster_item item = {
        .kind = ITEM_MESSAGE, .from = s->number, .connection = connection, .message = *message};
    if (message->kind != REPL_RDB || message->last)
        say(s->cluster, "%d>%d %s\n", s->number, to, message_names[message->kind]);
    ck_assert(connection != 0);
    post(s->cluster, to, &item);
}

static void on_stream_from(void *context, int peer, int64_t offset) {
    struct cluster_server *s = context;
    s->slots[peer].streams = true;
    s->slots[peer].sent_offset = offset;
}

static void on_hang_up(void *context, int peer) {
    struct cluster_server *s = context;
    uint64_t connection = peer == PEER_MASTER ? s->up_connection : s->slots[peer].connection;
    int to = peer == PEER_MASTER ? s->up_peer : s->slots[peer].peer;
    if (connection == 0) return;
    say(s->cluster, "%d hangs up on %d\n", s->number, to);
    post_kind(s, to, connection, ITEM_CLOSED);
    if (peer == PEER_MASTER)
        s->up_connection = 0;
    else
        s->slots[peer] = (struct cluster_slot){0};
}

static void on_forked(void *context, struct snapshot *snapshot) {
    struct cluster_server *s = context;
    ck_assert_ptr_null(s->pipe);
    s->pipe = snapshot;
    s->pipe_left_bytes = snapshot->rdb_bytes + SNAPSHOT_EOF_MARK_BYTES;
    say(s->cluster, "%d forks\n", s->number);
}

static void drop_pipe(struct cluster_server *s) {
    snapshot_release(s->pipe);
    s->pipe = NULL;
}

static void on_child_killed(void *context) {
    struct cluster_server *s = context;
    say(s->cluster, "%d's child is killed\n", s->number);
    drop_pipe(s);
}

/* --- the rest of the sink --- */

static void on_history_began(void *context, int64_t offset) {
    struct cluster_server *s = context;
    (void)offset;
    s->log_count = 0;
    s->histories++;
}

static void on_stream(void *context, const struct stream_command *command) {
    struct cluster_server *s = context;
    if (s->log_count == s->log_capacity) {
        s->log_capacity = s->log_capacity ? s->log_capacity * 2 : 64;
        s->log = realloc(s->log, s->log_capacity * sizeof *s->log);
        ck_assert_ptr_nonnull(s->log);
    }
    struct cluster_record *r = &s->log[s->log_count++];
    ck_assert_uint_le(command->request.argc, 8);
    *r = (struct cluster_record){.command = command->request.command,
                                 .argc = command->request.argc,
                                 .resp_bytes = command->resp_bytes,
                                 .db = command->db,
                                 .end_offset = command->end_offset};
    memcpy(r->argv, command->request.argv, r->argc * sizeof *r->argv);
}

static void print_reply(const struct cluster *c, char *text, size_t size,
                        const struct reply *reply) {
    const struct reply_item *item = &reply->items[0];
    switch (item->kind) {
    case REPLY_STATUS:
        snprintf(text, size, "%s", item->text);
        break;
    case REPLY_ERROR:
        snprintf(text, size, "-%s%s%s%s", item->text, item->name ? item->name : "",
                 item->word ? texts_bytes(c->texts, item->word) : "",
                 item->after ? item->after : "");
        break;
    case REPLY_INTEGER:
        snprintf(text, size, ":%lld", (long long)item->integer);
        break;
    case REPLY_NIL:
        snprintf(text, size, "nil");
        break;
    case REPLY_VALUE:
        snprintf(text, size, "value");
        break;
    default:
        snprintf(text, size, "other");
        break;
    }
}

static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    struct cluster_server *s = context;
    if (client != s->client) return;
    s->reply_was_late = reply->request == NULL;
    print_reply(s->cluster, s->reply, sizeof s->reply, reply);
}

static void on_blocked(void *context, uint32_t client) {
    struct cluster_server *s = context;
    (void)client;
    s->blocked++;
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
static void on_acknowledge(void *context, int64_t offset) {
    (void)context, (void)offset;
    ck_abort_msg("an ACK beside the wire");
}

/* --- life --- */

static void init_server(struct cluster *c, int number, const char *generation) {
    struct cluster_server *s = &c->servers[number];
    s->cluster = c;
    s->number = number;
    s->is_up = true;
    s->sink = (struct sink){s,           on_reply,        on_stream,      on_deadline,
                            on_deadline, on_expired,      on_cycle,       on_acknowledge,
                            on_dial,     on_send,         on_stream_from, on_hang_up,
                            on_forked,   on_child_killed, on_blocked,     on_history_began};
    char label[16];
    struct rng root = rng_seed(test_seed());
    snprintf(label, sizeof label, "server %d", number);
    s->env = (struct engine_env){.generation = generation_find(generation),
                                 .allocator = allocator_find("debian"),
                                 .prices = price_table_find("zero"),
                                 .keys = c->keys,
                                 .texts = c->texts,
                                 .sink = &s->sink,
                                 .rng = rng_fork(&root, label),
                                 .servers = c->names,
                                 .server_count = c->count,
                                 .self = number};
    s->config = engine_config_default();
}

void cluster_init(struct cluster *c, uint32_t count, const char *generation) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};
    *c = (struct cluster){.count = count, .pipe_bytes_per_turn = UINT64_MAX};
    c->keys = keys_create(seed);
    c->texts = texts_create();
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "k%u", i);
        ck_assert_uint_eq(keys_add(c->keys, name, (size_t)length), i + 1);
    }
    for (uint32_t i = 0; i < CLUSTER_SERVERS; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "s%u", i);
        c->names[i] = texts_intern(c->texts, name, (size_t)length);
    }
    for (uint32_t i = 0; i < count; i++) init_server(c, (int)i, generation);
}

static void wake(struct cluster_server *s) {
    const struct cluster *c = s->cluster;
    engine_wake(s->engine, (struct instant){c->now_ns, CLUSTER_WALL_US + s->wall_offset_us +
                                                           c->now_ns / NS_PER_US});
}

void cluster_start(struct cluster *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        struct cluster_server *s = &c->servers[i];
        s->engine = engine_create(&s->env, &s->config);
        s->client = engine_connect(s->engine);
        wake(s);
        engine_sleep(s->engine);
    }
}

void cluster_stop(struct cluster *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        struct cluster_server *s = &c->servers[i];
        engine_check(s->engine);
        for (uint32_t j = 0; j < s->inbox_count; j++) drop(&s->inbox[j]);
        drop_pipe(s);
        engine_destroy(s->engine);
        free(s->inbox);
        free(s->log);
    }
    keys_destroy(c->keys);
    texts_destroy(c->texts);
}

/* --- turns --- */

static void accept_dialler(struct cluster_server *s, const struct cluster_item *item) {
    int slot = engine_accept(s->engine);
    if (slot < 0) {
        post_kind(s, item->from, item->connection, ITEM_CLOSED);
        return;
    }
    ck_assert(s->slots[slot].connection == 0);
    s->slots[slot] = (struct cluster_slot){.connection = item->connection, .peer = item->from};
    post_kind(s, item->from, item->connection, ITEM_CONNECTED);
}

static void read_stream(struct cluster_server *s, const struct cluster_record *record) {
    struct stream_command command = {
        .request = {record->command, record->argv, record->argc},
        .db = record->db,
        .resp_bytes = record->resp_bytes,
        .end_offset = record->end_offset,
    };
    engine_receive(s->engine, &command);
}

static void be_closed(struct cluster_server *s, int peer) {
    if (peer == PEER_MASTER)
        s->up_connection = 0;
    else
        s->slots[peer] = (struct cluster_slot){0};
    engine_closed(s->engine, peer);
}

/* What came over a connection that is gone is dropped. */
static void deliver(struct cluster_server *s, struct cluster_item *item) {
    int peer = item->connection == s->up_connection ? PEER_MASTER : slot_of(s, item->connection);
    bool is_known = peer >= 0 || item->connection == s->up_connection;
    if (item->kind == ITEM_DIALLED) {
        accept_dialler(s, item);
    } else if (!is_known) {
        drop(item);
    } else if (item->kind == ITEM_CONNECTED) {
        engine_connected(s->engine);
    } else if (item->kind == ITEM_CLOSED) {
        be_closed(s, peer);
    } else if (item->kind == ITEM_MESSAGE) {
        engine_message(s->engine, peer, &item->message);
    } else {
        read_stream(s, &item->record);
    }
}

static bool has_arrived(const struct cluster_server *s, const struct cluster_item *item) {
    return !s->cluster->cut[item->from][s->number] && item->at_ns <= s->cluster->now_ns;
}

/* One that is cut off stays, and all others keep their order. */
static void read_inbox(struct cluster_server *s) {
    uint32_t kept = 0, count = s->inbox_count;
    for (uint32_t i = 0; i < count; i++) {
        struct cluster_item item = s->inbox[i];
        if (!has_arrived(s, &item) || engine_is_loading(s->engine))
            s->inbox[kept++] = item;
        else
            deliver(s, &item);
    }
    for (uint32_t i = count; i < s->inbox_count; i++) s->inbox[kept++] = s->inbox[i];
    s->inbox_count = kept;
}

static bool has_mail(const struct cluster_server *s) {
    for (uint32_t i = 0; i < s->inbox_count; i++)
        if (has_arrived(s, &s->inbox[i])) return true;
    return false;
}

static void read_pipe(struct cluster_server *s) {
    uint64_t turn = s->cluster->pipe_bytes_per_turn;
    while (s->pipe && turn > 0) {
        uint64_t bytes = s->pipe_left_bytes < PORTION_BYTES ? s->pipe_left_bytes : PORTION_BYTES;
        if (bytes > turn) bytes = turn;
        turn -= bytes;
        s->pipe_left_bytes -= bytes;
        engine_pipe(s->engine, bytes, s->pipe_left_bytes == 0);
        if (s->pipe_left_bytes == 0) drop_pipe(s);
    }
}

static void write_stream(struct cluster_server *s, int slot) {
    struct cluster_slot *to = &s->slots[slot];
    if (!to->streams || to->is_stuck || to->peer == NOBODY) return;
    for (uint32_t i = 0; i < s->log_count; i++) {
        const struct cluster_record *record = &s->log[i];
        if (record->end_offset <= to->sent_offset) continue;
        ck_assert_int_eq(record->end_offset - record->resp_bytes, to->sent_offset);
        struct cluster_item item = {.kind = ITEM_STREAM,
                                    .from = s->number,
                                    .connection = to->connection,
                                    .record = *record};
        post(s->cluster, to->peer, &item);
        to->sent_offset = record->end_offset;
    }
    engine_replica_written(s->engine, slot, to->sent_offset);
}

static void end_turn(struct cluster_server *s) {
    engine_sleep(s->engine);
    for (int slot = 0; slot < CLUSTER_SLOTS; slot++) write_stream(s, slot);
}

static void take_turn(struct cluster_server *s) {
    bool loading = engine_is_loading(s->engine);
    bool due = engine_next_cron(s->engine) <= s->cluster->now_ns;
    if (!s->is_up || (!loading && !due && !s->pipe && !has_mail(s))) return;
    bool reads_pipe = s->pipe != NULL;
    wake(s);
    if (loading) engine_load(s->engine);
    read_inbox(s);
    if (reads_pipe) read_pipe(s);
    if (!engine_is_loading(s->engine) && engine_cron_due(s->engine)) engine_cron(s->engine);
    end_turn(s);
    engine_check(s->engine);
}

/* All that can happen now. */
static void run_now(struct cluster *c) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool busy = false;
        for (uint32_t i = 0; i < c->count; i++) {
            take_turn(&c->servers[i]);
        }
        for (uint32_t i = 0; i < c->count; i++)
            busy |= c->servers[i].is_up && has_mail(&c->servers[i]);
        if (!busy) return;
    }
}

void cluster_run(struct cluster *c, ms_t ms) {
    for (ms_t i = 0; i < ms; i++) {
        c->now_ns += NS_PER_MS;
        run_now(c);
    }
}

/* --- from outside --- */

static bool is_key_position(const struct command *command, uint32_t index) {
    if (!command || command->first_key == 0 || (int)index < command->first_key) return false;
    return command->last_key < 0 || (int)index <= command->last_key;
}

static struct arg read_word(struct cluster *c, const char *word, bool is_key) {
    int64_t number;
    size_t length = strlen(word);
    if (is_key) return arg_key(c->keys, (key_id)(1 + strtoul(word + 1, NULL, 10)));
    if (word[0] == '~') return arg_fill((uint32_t)strtoul(word + 1, NULL, 10));
    if (text_to_number(word, length, &number)) return arg_number(number);
    return arg_word(c->texts, texts_intern(c->texts, word, length));
}

static struct request read_line(struct cluster *c, const char *line, struct arg argv[8]) {
    struct request request = {.argv = argv};
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (request.argc == 0) request.command = command_find(word, strlen(word));
        ck_assert_uint_lt(request.argc, 8);
        argv[request.argc] = read_word(c, word, is_key_position(request.command, request.argc));
        request.argc++;
    }
    return request;
}

const char *cluster_do_as(struct cluster *c, int server, uint32_t client, const char *line) {
    struct cluster_server *s = &c->servers[server];
    struct arg argv[8];
    struct request request = read_line(c, line, argv);
    s->reply[0] = '\0';
    wake(s);
    engine_request(s->engine, client, &request);
    end_turn(s);
    return s->reply;
}

const char *cluster_do(struct cluster *c, int server, const char *line) {
    return cluster_do_as(c, server, c->servers[server].client, line);
}

int cluster_accept(struct cluster *c, int server) {
    struct cluster_server *s = &c->servers[server];
    int slot = engine_accept(s->engine);
    ck_assert_int_ge(slot, 0);
    s->slots[slot] = (struct cluster_slot){.connection = ++c->connections, .peer = NOBODY};
    return slot;
}

void cluster_message(struct cluster *c, int server, int slot, struct repl_message message) {
    struct cluster_server *s = &c->servers[server];
    wake(s);
    engine_message(s->engine, slot, &message);
    end_turn(s);
}

void cluster_cut(struct cluster *c, int a, int b, bool cut) { c->cut[a][b] = c->cut[b][a] = cut; }

void cluster_join(struct cluster *c, int master, int replica) {
    struct cluster_server *m = &c->servers[master], *r = &c->servers[replica];
    int slot = engine_replica_attach(m->engine);
    ck_assert_int_ge(slot, 0);
    struct engine_stats stats = engine_stats(m->engine);
    engine_replica_is(m->engine, slot, replica);
    m->slots[slot] = (struct cluster_slot){.connection = ++c->connections,
                                           .peer = replica,
                                           .streams = true,
                                           .sent_offset = stats.master_repl_offset};
    r->up_connection = c->connections;
    r->up_peer = master;
    engine_in_sync(r->engine, master, stats.replid, stats.master_repl_offset);
}

void cluster_follow(struct cluster *c, int replica, int master) {
    char line[32];
    snprintf(line, sizeof line, "REPLICAOF s%d 6379", master);
    ck_assert_str_eq(cluster_do(c, replica, line), "OK");
    for (int i = 0; i < 200 && cluster_stats(c, replica).master_link != LINK_UP; i++)
        cluster_run(c, 100);
    ck_assert_int_eq(cluster_stats(c, replica).master_link, LINK_UP);
}

struct engine_stats cluster_stats(const struct cluster *c, int server) {
    return engine_stats(c->servers[server].engine);
}

uint64_t cluster_digest(const struct cluster *c, int server) {
    return engine_digest(c->servers[server].engine);
}

void cluster_assert_equal(const struct cluster *c, int a, int b) {
    ck_assert_uint_eq(cluster_digest(c, a), cluster_digest(c, b));
    ck_assert_int_eq(cluster_stats(c, a).master_repl_offset,
                     cluster_stats(c, b).master_repl_offset);
}

const char *cluster_talk(struct cluster *c) {
    strcpy(c->told, c->talk);
    c->talk[0] = '\0';
    return c->told;
}
