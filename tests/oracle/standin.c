#define _GNU_SOURCE
#include "standin.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "resp.h"
#include "standin_state.h"
#include "support.h"
#include "tally.h"

#define STEP_MS      100
#define STEPS_AN_ACK 10
#define SMALL_BUFFER 4096
#define CHILD_WAIT   300000 /* tenths of a millisecond */
#define ARRIVAL_WAIT 50000  /* the same, that bytes may be on their way */
#define ANOTHER_ID   "0123456789012345678901234567890123456789" /* nobody draws it */

/* --- comparison --- */

static void show_bytes(const char *whose, const struct oracle_bytes *b, size_t from) {
    fprintf(stderr, "  %s, %zu bytes, from byte %zu on: %.200s\n", whose, b->length, from,
            b->length > from ? b->bytes + from : "");
}

static bool same_bytes(const struct oracle_bytes *a, const struct oracle_bytes *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

static void compare_bytes(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    size_t at = 0, from = 0;
    tally_add(TALLY_BYTES, (int64_t)p->server.length);
    if (p->stalled || same_bytes(&p->server, &p->engine)) return;
    for (; at < p->server.length && at < p->engine.length; at++) {
        if (p->server.bytes[at] != p->engine.bytes[at]) break;
        if (p->server.bytes[at] == '*') from = at;
    }
    fprintf(stderr, "replica %d is told other things\n", i);
    show_bytes("server", &p->server, from);
    show_bytes("engine", &p->engine, from);
    lockstep_fail(s->ls, "what a replica is told differs");
}

static void compare_peer(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    if (p->fd < 0) return;
    compare_bytes(s, i);
    p->server.length = p->engine.length = 0;
    if (p->server_closed == p->engine_closed) return;
    fprintf(stderr, "replica %d: closed by %s alone\n", i,
            p->server_closed ? "the server" : "the engine");
    lockstep_fail(s->ls, "one side closed a connection");
}

static void compare_figures(struct standins *s) {
    bool equal = true;
    for (int i = 0; i < STANDIN_FIGURE_COUNT; i++) {
        if (s->server_seen[i] == s->engine_seen[i]) continue;
        equal = false;
        fprintf(stderr, "  %-18s server %lld, engine %lld\n", standin_figure_names[i],
                (long long)s->server_seen[i], (long long)s->engine_seen[i]);
    }
    tally_add(TALLY_FIGURES, STANDIN_FIGURE_COUNT);
    if (!equal) lockstep_fail(s->ls, "figures of replication differ");
}

/* What was sent may be on its way still when the server rests. */
static void await_bytes(struct standins *s) {
    for (int wait = 0, missing = 1; missing && wait < ARRIVAL_WAIT; wait++) {
        standins_read(s);
        missing = 0;
        for (int i = 0; i < STANDINS_MAX; i++) {
            struct standin *p = &s->all[i];
            if (p->fd < 0 || p->stalled || p->server_closed) continue;
            missing |= p->server.length < p->engine.length || p->engine_closed;
        }
        if (missing) oracle_pause();
    }
}

/* The bytes that a stalled one's socket took are the server's to tell. */
static void follow_stalled(struct standins *s, struct standin *p) {
    int64_t to = standins_bytes_written(s) - p->stall_base;
    if (!p->engine_streams || to <= p->engine_sent) return;
    p->engine_sent = to;
    engine_replica_written(s->ls->engine, p->slot, to);
}

/* What a full socket holds keeps the end of the connection from being seen: the server counts. */
static void look_for_end(struct standins *s, struct standin *p) {
    int64_t open = 0;
    if (!p->stalled || p->server_closed) return;
    for (int i = 0; i < STANDINS_MAX; i++) open += s->all[i].fd >= 0 && !s->all[i].server_closed;
    p->server_closed = s->server_seen[STANDIN_replicas] < open;
}

void standins_compare(struct standins *s) {
    for (int i = 0; i < STANDINS_MAX; i++)
        if (s->all[i].stalled) follow_stalled(s, &s->all[i]);
    standins_look(s);
    await_bytes(s);
    for (int i = 0; i < STANDINS_MAX; i++) {
        look_for_end(s, &s->all[i]);
        compare_peer(s, i);
    }
    compare_figures(s);
    tally_add(TALLY_STEPS, 1);
}

/* --- start and stop --- */

struct standins *standins_start(const char *about, const struct standin_limits *limits) {
    struct lockstep_config config = {.restless = true};
    struct standins *s = calloc(1, sizeof *s);
    static const char *const plainly[] = {"CONFIG", "SET", "rdbcompression", "no"};
    ASSERT(s);
    if (limits) {
        config.has_limits = true;
        config.obuf_hard_bytes = (uint64_t)limits->hard_bytes;
        config.obuf_soft_bytes = (uint64_t)limits->soft_bytes;
        config.obuf_soft_s = limits->soft_s;
    }
    for (int i = 0; i < STANDINS_MAX; i++) s->all[i].fd = s->all[i].slot = -1;
    s->ls = lockstep_start(about, &config);
    standins_listen(s);
    oracle_ask(s->ls->oracle, s->ls->asker.link, 4, plainly);
    s->client = lockstep_connect(s->ls);
    standins_do(s, "CONFIG SET repl-diskless-sync-delay 0");
    standins_compare(s);
    return s;
}

static void release(struct standin *p) {
    if (p->fd >= 0) close(p->fd);
    oracle_bytes_release(&p->raw);
    oracle_bytes_release(&p->server);
    oracle_bytes_release(&p->engine);
    *p = (struct standin){.fd = -1, .slot = -1};
}

void standins_stop(struct standins *s) {
    for (int i = 0; i < STANDINS_MAX; i++)
        if (s->all[i].fd >= 0) standin_leave(s, i);
    lockstep_disconnect(s->ls, &s->client);
    lockstep_stop(s->ls);
    oracle_bytes_release(&s->history);
    free(s);
}

/* --- deeds of all --- */

void standins_do(struct standins *s, const char *text) {
    struct arg argv[ARGC_MAX];
    const struct command *command;
    char message[256];
    int argc =
        resp_parse_line(text, s->ls->names, s->ls->texts, argv, &command, message, sizeof message);
    ck_assert_msg(argc > 0, "%s: %s", text, message);
    lockstep_command(s->ls, &s->client, argv, (uint32_t)argc);
    oracle_settle(s->ls->oracle);
    standins_read(s);
}

void standins_write(struct standins *s, uint32_t key, uint32_t value_bytes) {
    char name[16];
    int length = snprintf(name, sizeof name, "w%07u", key);
    key_id id = names_intern(s->ls->names, name, (size_t)length);
    struct arg set[] = {lockstep_word(s->ls, "SET"), arg_key(names_keys(s->ls->names), id),
                        arg_fill(value_bytes)};
    lockstep_command(s->ls, &s->client, set, 3);
    oracle_settle(s->ls->oracle);
    standins_read(s);
}

/* Children write, and end, in their own real time; virtual time waits for them. */
static void await_child(struct standins *s) {
    for (int i = 0; oracle_has_child(s->ls->oracle); i++) {
        if (i == CHILD_WAIT) lockstep_fail(s->ls, "the server's child does not end");
        oracle_pause();
        standins_read(s);
    }
    oracle_settle(s->ls->oracle);
    standins_read(s);
    standins_finish_fork(s);
}

static void acknowledge_all(struct standins *s) {
    for (int i = 0; i < STANDINS_MAX; i++)
        if (s->all[i].acks && s->all[i].fd >= 0 && !s->all[i].server_closed)
            standin_acknowledge(s, i, s->all[i].have);
}

void standins_pass(struct standins *s, ms_t ms) {
    for (; ms > 0; ms -= STEP_MS) {
        lockstep_grant(s->ls, STEP_MS * US_PER_MS);
        standins_engine_turn(s);
        await_child(s);
        if (++s->tenths % STEPS_AN_ACK == 0) acknowledge_all(s);
    }
    standins_compare(s);
}

static void replicaof(struct standins *s, const char *host, const char *port, int master) {
    const char *const words[] = {"REPLICAOF", host, port};
    ck_assert_str_eq(oracle_ask(s->ls->oracle, s->ls->asker.link, 3, words), "OK");
    oracle_settle(s->ls->oracle);
    lockstep_turn_begin(s->ls, oracle_now_us(s->ls->oracle));
    engine_replicaof(s->ls->engine, master);
    lockstep_turn_end(s->ls);
    standins_engine_turn(s);
}

/* Port 1 of the loopback: nobody listens there. */
void standins_promote(struct standins *s) {
    replicaof(s, "127.0.0.1", "1", 0);
    replicaof(s, "NO", "ONE", MASTER_NONE);
    standins_compare(s);
}

/* --- deeds of one --- */

static void tell(struct standins *s, int i, const char *text, const struct repl_message *message) {
    struct standin *p = &s->all[i];
    ssize_t length = (ssize_t)strlen(text);
    if (send(p->fd, text, (size_t)length, MSG_NOSIGNAL) == length) oracle_settle(s->ls->oracle);
    standins_read(s);
    standins_tell_engine(s, i, message);
    await_child(s);
}

static int open_socket(const struct oracle *o) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)oracle_port(o))};
    int small = SMALL_BUFFER, yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) != 0) abort();
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) abort();
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) abort();
    return fd;
}

void standin_greet(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    ASSERT(p->fd < 0);
    p->fd = open_socket(s->ls->oracle);
    oracle_settle(s->ls->oracle);
    lockstep_turn_begin(s->ls, oracle_now_us(s->ls->oracle));
    p->slot = engine_accept(s->ls->engine);
    lockstep_turn_end(s->ls);
    tell(s, i, "*1\r\n$4\r\nPING\r\n", &(struct repl_message){.kind = REPL_PING});
    tell(s, i,
         "*3\r\n$8\r\nREPLCONF\r\n$14\r\nlistening-port\r\n$1\r\n7\r\n"
         "*5\r\n$8\r\nREPLCONF\r\n$4\r\ncapa\r\n$3\r\neof\r\n$4\r\ncapa\r\n$6\r\npsync2\r\n",
         &(struct repl_message){.kind = REPL_REPLCONF});
    standins_compare(s);
}

bool standin_ask(struct standins *s, int i, int id, int64_t offset) {
    struct repl_message psync = {.kind = REPL_PSYNC, .offset = offset};
    struct standin *p = &s->all[i];
    char text[128];
    const char *hex = id == STANDIN_NOTHING ? "?" : id ? s->ids.server[id - 1] : ANOTHER_ID;
    if (id >= 0) psync.id = id ? s->ids.engine[id - 1] : ~(repl_id)0;
    ASSERT(id <= s->ids.server_count && id <= s->ids.engine_count);
    snprintf(text, sizeof text, "PSYNC %s %lld\r\n", hex, (long long)offset);
    p->have = offset - 1;
    tell(s, i, text, &psync);
    bool goes_on = p->phase == STANDIN_STREAM && p->server.length > 0 &&
                   strncmp(p->server.bytes, "+CONTINUE", strlen("+CONTINUE")) == 0;
    standins_compare(s);
    return goes_on;
}

void standin_acknowledge(struct standins *s, int i, int64_t offset) {
    char text[96], digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)offset);
    snprintf(text, sizeof text, "*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$%d\r\n%s\r\n", length,
             digits);
    tell(s, i, text, &(struct repl_message){.kind = REPL_ACK, .offset = offset});
}

void standin_sync(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    standin_greet(s, i);
    standin_ask(s, i, STANDIN_NOTHING, -1);
    for (int step = 0; p->phase != STANDIN_STREAM && step < 100; step++) standins_pass(s, STEP_MS);
    standins_pass(s, STEP_MS); /* a cron notices that the child has ended */
    standin_acknowledge(s, i, p->have);
    p->acks = true;
    standins_compare(s);
}

void standin_leave(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    int slot = p->slot;
    release(p);
    oracle_settle(s->ls->oracle);
    await_child(s);
    if (slot < 0) return;
    lockstep_turn_begin(s->ls, oracle_now_us(s->ls->oracle));
    engine_closed(s->ls->engine, slot);
    lockstep_turn_end(s->ls);
}

void standin_stall(struct standins *s, int i) {
    struct standin *p = &s->all[i];
    standins_compare(s);
    p->stalled = true;
    p->acks = false;
    p->stall_base = standins_bytes_written(s) - p->engine_sent;
}
