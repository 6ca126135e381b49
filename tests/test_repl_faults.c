#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

/* Random faults: servers are cut off and joined again, connections break, roles change, limits are
 * hit, clients are paused and wait, while keys are written and expire. Watched from outside: under
 * one replication id one offset stands for one data set, wherever and whenever it is seen; and when
 * all is whole again, all servers are equal. */

#define SERVERS   4
#define STEPS     150
#define SIGHTS    (1 << 16)
#define QUIET_MS  30000
#define MASTER    0
#define TIMEOUT_S 4

struct sight {
    repl_id id;
    int64_t offset;
    uint64_t digest;
};

struct watch {
    struct cluster cluster;
    struct rng rng;
    struct sight sights[SIGHTS];
    uint32_t count;
    struct sight last[SERVERS];
    uint32_t histories[SERVERS];
    int step;
};

static struct sight *find(struct watch *w, repl_id id, int64_t offset) {
    uint64_t i = (id ^ (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15)) % SIGHTS;
    while (w->sights[i].id != 0 && (w->sights[i].id != id || w->sights[i].offset != offset))
        i = (i + 1) % SIGHTS;
    return &w->sights[i];
}

/* A server without a backlog counts no offsets; one that loads is between two data sets. A full
 * sync from a server that lags takes one back; nothing else does. */
static void look(struct watch *w, int server) {
    struct engine_stats stats = cluster_stats(&w->cluster, server);
    struct sight now = {stats.replid, stats.master_repl_offset,
                        engine_digest(w->cluster.servers[server].engine)};
    struct sight *last = &w->last[server];
    if (!stats.backlog_active || stats.loading) return;
    uint32_t histories = w->cluster.servers[server].histories;
    bool is_anew = histories != w->histories[server];
    w->histories[server] = histories;
    ck_assert_msg(is_anew || last->id != now.id || now.offset >= last->offset,
                  "step %d: server %d went back under one id", w->step, server);
    *last = now;
    struct sight *known = find(w, now.id, now.offset);
    ck_assert_msg(known->id == 0 || known->digest == now.digest,
                  "step %d: server %d differs at offset %lld", w->step, server,
                  (long long)now.offset);
    ck_assert_uint_lt(w->count, SIGHTS / 2);
    w->count += known->id == 0;
    *known = now;
}

static void run(struct watch *w, ms_t ms) {
    for (ms_t i = 0; i < ms; i += 10) {
        cluster_run(&w->cluster, 10);
        for (int server = 0; server < SERVERS; server++) look(w, server);
    }
}

static int draw(struct watch *w, int bound) { return (int)rng_below(&w->rng, (uint64_t)bound); }

static void write_keys(struct watch *w) {
    static const char *const forms[] = {"SET k%d ~%d",  "SET k%d ~%d PX 700",  "DEL k%d",
                                        "EXPIRE k%d 1", "EXISTS k%d k1 k2 k3", "INCR k2%d",
                                        "GET k%d",      "PERSIST k%d"};
    char line[64];
    for (int i = draw(w, 30); i > 0; i--) {
        int size = draw(w, 10) == 0 ? 20000 : 100;
        snprintf(line, sizeof line, forms[draw(w, 8)], draw(w, 40), size);
        cluster_do(&w->cluster, draw(w, 2) ? MASTER : draw(w, SERVERS), line);
        if (draw(w, 10) == 0) run(w, 10);
    }
}

static void break_connection(struct watch *w) {
    struct cluster_server *s = &w->cluster.servers[draw(w, SERVERS)];
    int slot = draw(w, 4);
    if (s->slots[slot].connection == 0) return;
    s->sink.hang_up(s, slot);
    engine_closed(s->engine, slot);
}

static void toggle_cut(struct watch *w) {
    int a = draw(w, SERVERS), b = draw(w, SERVERS);
    bool cut = draw(w, 2);
    w->cluster.cut[a][b] = cut && a != b;
    if (draw(w, 2)) w->cluster.cut[b][a] = cut && a != b;
}

static void command_somebody(struct watch *w) {
    static const char *const lines[] = {
        "REPLICAOF NO ONE", "REPLICAOF s0 1",
        "REPLICAOF s1 1",   "REPLICAOF s2 1",
        "FAILOVER",         "FAILOVER TIMEOUT 500",
        "FAILOVER ABORT",   "CLIENT PAUSE 300 WRITE",
        "CLIENT UNPAUSE",   "WAIT 1 200",
        "FLUSHALL",         "SELECT 1",
        "SELECT 0",         "CONFIG SET repl-diskless-sync-delay 1"};
    int server = draw(w, SERVERS), which = draw(w, 14);
    char own[32];
    snprintf(own, sizeof own, "REPLICAOF s%d 1", server);
    if (strcmp(own, lines[which]) != 0) cluster_do(&w->cluster, server, lines[which]);
}

/* One is promoted, both sides write, and one of them follows the other. */
static void branch(struct watch *w) {
    struct cluster *c = &w->cluster;
    int a = draw(w, SERVERS), b = (a + 1 + draw(w, SERVERS - 1)) % SERVERS;
    cluster_do(c, b, "REPLICAOF NO ONE");
    for (int i = draw(w, 4); i > 0; i--) cluster_do(c, a, draw(w, 2) ? "SET k1 ~7" : "SET k2 ~70");
    for (int i = draw(w, 9); i > 0; i--) cluster_do(c, b, draw(w, 2) ? "SET k1 ~8" : "SELECT 1");
    run(w, draw(w, 200));
    engine_replicaof(c->servers[a].engine, b);
}

/* A socket takes nothing for a while, and much is written meanwhile. */
static void stick(struct watch *w) {
    int server = draw(w, SERVERS);
    struct cluster_server *s = &w->cluster.servers[server];
    bool is_stuck = draw(w, 2);
    s->slots[draw(w, 4)].is_stuck = is_stuck;
    for (int i = 0; is_stuck && i < 5; i++) cluster_do(&w->cluster, server, "SET k3 ~20000");
}

static void step(struct watch *w) {
    switch (draw(w, 9)) {
    case 0:
        break_connection(w);
        break;
    case 1:
        toggle_cut(w);
        break;
    case 2:
        command_somebody(w);
        break;
    case 3:
        stick(w);
        break;
    case 4:
        w->cluster.pipe_bytes_per_turn = draw(w, 2) ? 200 : UINT64_MAX;
        break;
    case 5:
        branch(w);
        break;
    default:
        write_keys(w);
        break;
    }
    run(w, draw(w, 3) ? 20 : draw(w, 3000));
}

static void make_whole(struct watch *w) {
    struct cluster *c = &w->cluster;
    memset(c->cut, 0, sizeof c->cut);
    c->pipe_bytes_per_turn = UINT64_MAX;
    for (int i = 0; i < SERVERS; i++) {
        uint32_t admin = engine_connect(c->servers[i].engine);
        for (int slot = 0; slot < CLUSTER_SLOTS; slot++) c->servers[i].slots[slot].is_stuck = false;
        cluster_do_as(c, i, admin, "CLIENT UNPAUSE");
        cluster_do_as(c, i, admin, "FAILOVER ABORT");
        engine_disconnect(c->servers[i].engine, admin);
    }
    run(w, 1000); /* what waited comes to its end, orders to change the role among it */
    for (int i = 0; i < SERVERS; i++) {
        engine_replicaof(c->servers[i].engine, i == MASTER ? MASTER_NONE : MASTER);
        run(w, 10);
    }
    run(w, QUIET_MS);
}

static void start(struct watch *w, uint64_t seed) {
    struct cluster *c = &w->cluster;
    memset(w, 0, sizeof *w);
    w->rng = rng_seed(seed);
    cluster_init(c, SERVERS, "redis-7.0");
    for (int i = 0; i < SERVERS; i++) {
        struct engine_config *config = &c->servers[i].config;
        config->repl_backlog_size = draw(w, 2) ? 16384 : 1 << 20;
        config->repl_timeout = TIMEOUT_S;
        config->repl_ping_replica_period = 1;
        config->repl_diskless_sync_delay = 0;
        config->repl_backlog_ttl = draw(w, 2) ? 3 : 3600;
        config->obuf_hard_bytes = 60000;
    }
    c->delay_ms = draw(w, 30);
    cluster_start(c);
    for (int i = 1; i < SERVERS; i++) cluster_join(c, draw(w, i), i);
}

static void count(struct engine_stats *total, const struct cluster *c) {
    for (int i = 0; i < SERVERS; i++) {
        struct engine_stats stats = cluster_stats(c, i);
        total->sync_full += stats.sync_full;
        total->sync_partial_ok += stats.sync_partial_ok;
        total->sync_partial_err += stats.sync_partial_err;
        total->replicas_timed_out += stats.replicas_timed_out;
        total->replicas_dropped_by_limit += stats.replicas_dropped_by_limit;
    }
}

START_TEST(any_faults_leave_one_history_and_equal_servers) {
    struct watch *w = malloc(sizeof *w);
    ck_assert_ptr_nonnull(w);
    uint32_t rounds = test_rounds(10);
    struct engine_stats total = {.keys = 0};
    for (uint32_t round = 0; round < rounds; round++) {
        start(w, test_seed() + round);
        for (w->step = 0; w->step < STEPS; w->step++) step(w);
        make_whole(w);
        for (int i = 1; i < SERVERS; i++) {
            ck_assert_int_eq(cluster_stats(&w->cluster, i).master_link, LINK_UP);
            ck_assert_uint_eq(engine_digest(w->cluster.servers[0].engine),
                              engine_digest(w->cluster.servers[i].engine));
        }
        count(&total, &w->cluster);
        cluster_stop(&w->cluster);
    }
    /* it is no test of faults if they do not come */
    ck_assert_uint_gt(total.sync_full, 2 * rounds);
    ck_assert_uint_gt(total.sync_partial_ok, 2 * rounds);
    ck_assert_uint_gt(total.sync_partial_err, rounds);
    ck_assert_uint_gt(total.replicas_timed_out, rounds / 2);
    ck_assert_uint_gt(total.replicas_dropped_by_limit, 0);
    free(w);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("repl_faults");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 110);
    tcase_add_test(tcase, any_faults_leave_one_history_and_equal_servers);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
