#define _GNU_SOURCE
#include "pair.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "resp.h"
#include "support.h"
#include "tally.h"

#define STEP_MS    100
#define CHILD_WAIT 300000 /* tenths of a millisecond */

static const char *const figure_names[PAIR_FIGURE_COUNT] = {
#define X(name) #name,
    PAIR_FIGURES(X)
#undef X
};

/* --- rest --- */

static int64_t turns_of(const struct pair *p) {
    return oracle_turns(p->side[0]->oracle) + oracle_turns(p->side[1]->oracle);
}

static bool has_child(const struct pair *p) {
    return oracle_has_child(p->side[0]->oracle) || oracle_has_child(p->side[1]->oracle);
}

/* Nothing is on the wire, nothing to be done, and no child writes. An ACK makes the master look
 * whether its child has ended, so none arrives before it has. */
static void settle_servers(struct pair *p) {
    bool moved = true;
    for (int wait = 0; moved; wait++) {
        int64_t turns = turns_of(p);
        bool writes = has_child(p);
        moved = pair_proxy_pump(&p->proxy, !writes);
        for (int i = 0; i < 2; i++) oracle_settle(p->side[i]->oracle);
        moved |= writes || has_child(p) || turns_of(p) != turns;
        if (wait == CHILD_WAIT) lockstep_fail(p->side[0], "the pair does not come to rest");
        if (wait > 8) oracle_pause();
    }
}

static void settle(struct pair *p) {
    settle_servers(p);
    pair_wire_settle(&p->wire);
}

/* --- comparison --- */

static const char *field(const char *info, const char *name) {
    char line[64];
    snprintf(line, sizeof line, "\n%s:", name);
    const char *at = strstr(info, line);
    return at ? at + strlen(line) : "";
}

static int64_t number(const char *info, const char *name) {
    return strtoll(field(info, name), NULL, 10);
}

static void sum_keys(const char *info, int64_t *f) {
    long long keys, expires;
    for (const char *at = info; (at = strstr(at, ":keys=")); at++) {
        if (sscanf(at, ":keys=%lld,expires=%lld", &keys, &expires) != 2) continue;
        f[PAIR_keys] += keys;
        f[PAIR_expires] += expires;
    }
}

static void look_at_server(struct pair *p, int side) {
    static const char *const ask[] = {"INFO"};
    const char *info = oracle_ask(p->side[side]->oracle, p->side[side]->asker.link, 1, ask);
    int64_t f[PAIR_FIGURE_COUNT] = {
        [PAIR_is_replica] = strncmp(field(info, "role"), "slave", 5) == 0,
        [PAIR_link_is_up] = strncmp(field(info, "master_link_status"), "up", 2) == 0,
        [PAIR_id] = repl_ids_of_server(&p->ids, field(info, "master_replid")),
        [PAIR_id2] = repl_ids_of_server(&p->ids, field(info, "master_replid2")),
        [PAIR_offset] = number(info, "master_repl_offset"),
        [PAIR_second_offset] = number(info, "second_repl_offset"),
        [PAIR_first_byte] = number(info, "repl_backlog_first_byte_offset"),
        [PAIR_histlen] = number(info, "repl_backlog_histlen"),
        [PAIR_sync_full] = number(info, "sync_full"),
        [PAIR_sync_partial_ok] = number(info, "sync_partial_ok"),
        [PAIR_sync_partial_err] = number(info, "sync_partial_err"),
        [PAIR_replicas] = number(info, "connected_slaves"),
        [PAIR_expired_keys] = number(info, "expired_keys"),
    };
    sum_keys(info, f);
    memcpy(p->server[side], f, sizeof f);
}

static void look_at_engine(struct pair *p, int side) {
    lockstep_engine_info(p->side[side]);
    struct engine_stats e = engine_stats(p->side[side]->engine);
    int64_t f[PAIR_FIGURE_COUNT] = {
        [PAIR_is_replica] = e.is_replica,
        [PAIR_link_is_up] = e.master_link == LINK_UP,
        [PAIR_id] = repl_ids_of_engine(&p->ids, e.replid),
        [PAIR_id2] = repl_ids_of_engine(&p->ids, e.replid2),
        [PAIR_offset] = e.master_repl_offset,
        [PAIR_second_offset] = e.second_repl_offset,
        [PAIR_first_byte] = e.backlog_active ? e.backlog_first_offset : 0,
        [PAIR_histlen] = (int64_t)e.backlog_histlen_bytes,
        [PAIR_sync_full] = (int64_t)e.sync_full,
        [PAIR_sync_partial_ok] = (int64_t)e.sync_partial_ok,
        [PAIR_sync_partial_err] = (int64_t)e.sync_partial_err,
        [PAIR_replicas] = e.connected_replicas,
        [PAIR_expired_keys] = (int64_t)e.expired_keys,
        [PAIR_keys] = (int64_t)e.keys,
        [PAIR_expires] = (int64_t)e.expires,
    };
    memcpy(p->engine[side], f, sizeof f);
}

static bool is_same(const struct pair *p, int side) {
    bool same = true;
    for (int i = 0; i < PAIR_FIGURE_COUNT; i++) {
        if (p->server[side][i] == p->engine[side][i]) continue;
        same = false;
        fprintf(stderr, "%s: %s's %-16s server %lld, engine %lld\n", p->about,
                side == PAIR_MASTER ? "master" : "replica", figure_names[i],
                (long long)p->server[side][i], (long long)p->engine[side][i]);
    }
    tally_add(TALLY_FIGURES, PAIR_FIGURE_COUNT);
    return same;
}

void pair_compare(struct pair *p) {
    settle(p);
    for (int side = 0; side < 2; side++) {
        look_at_server(p, side);
        look_at_engine(p, side);
    }
    bool same = is_same(p, 0);
    same &= is_same(p, 1);
    tally_add(TALLY_STEPS, 1);
    if (!same) lockstep_fail(p->side[0], "figures of a pair differ");
}

/* --- start and stop --- */

static void set_server(struct lockstep *ls, const char *name, const char *value) {
    const char *const words[] = {"CONFIG", "SET", name, value};
    ck_assert_str_eq(oracle_ask(ls->oracle, ls->asker.link, 4, words), "OK");
}

/* Both read the same entropy, so that their hash seeds are the engines', and would draw the same
 * replication ids. A long password uses up what the other will draw; then a new id. */
static void become_another(struct lockstep *ls) {
    static const char *const draw[] = {"ACL", "GENPASS", "4096"};
    static const char *const change[] = {"DEBUG", "CHANGE-REPL-ID"};
    oracle_ask(ls->oracle, ls->asker.link, 3, draw);
    ck_assert_str_eq(oracle_ask(ls->oracle, ls->asker.link, 2, change), "OK");
}

struct pair *pair_start(const char *about) {
    struct pair *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->about = about;
    snprintf(p->directory, sizeof p->directory, "/tmp/lapse-pair-XXXXXX");
    if (!mkdtemp(p->directory)) abort();
    struct lockstep_config config = {.restless = true, .directory = p->directory};
    for (int i = 0; i < 2; i++) {
        config.mate = i ? p->side[0] : NULL;
        config.number = i;
        p->side[i] = lockstep_start(about, &config);
    }
    become_another(p->side[PAIR_REPLICA]);
    pair_wire_join(&p->wire, p->side[0], p->side[1]);
    pair_proxy_open(&p->proxy, oracle_port(p->side[0]->oracle));
    for (int i = 0; i < 2; i++) {
        set_server(p->side[i], "rdbcompression", "no");
        p->line[i] = lockstep_connect(p->side[i]);
        pair_do(p, i, "CONFIG SET repl-diskless-sync-delay 0");
    }
    pair_compare(p);
    return p;
}

static void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory) closedir(directory);
    rmdir(path);
}

void pair_stop(struct pair *p) {
    pair_wire_mend(&p->wire);
    pair_cut(p);
    for (int i = 1; i >= 0; i--) {
        lockstep_disconnect(p->side[i], &p->line[i]);
        lockstep_stop(p->side[i]);
    }
    pair_wire_release(&p->wire);
    remove_directory(p->directory);
    free(p);
}

/* --- deeds --- */

static void replicaof(struct pair *p, int side, const char *host, const char *port, int master) {
    const char *const words[] = {"REPLICAOF", host, port};
    struct lockstep *ls = p->side[side];
    ck_assert_str_eq(oracle_ask(ls->oracle, ls->asker.link, 3, words), "OK");
    lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
    engine_replicaof(ls->engine, master);
    lockstep_turn_end(ls);
    settle(p);
}

void pair_join(struct pair *p) {
    char port[16];
    snprintf(port, sizeof port, "%d", p->proxy.port);
    replicaof(p, PAIR_REPLICA, "127.0.0.1", port, 0);
}

void pair_promote(struct pair *p, int side) { replicaof(p, side, "NO", "ONE", MASTER_NONE); }

void pair_do(struct pair *p, int side, const char *text) {
    struct lockstep *ls = p->side[side];
    struct arg argv[ARGC_MAX];
    const struct command *command;
    char message[256];
    int argc = resp_parse_line(text, ls->names, ls->texts, argv, &command, message, sizeof message);
    ck_assert_msg(argc > 0, "%s: %s", text, message);
    lockstep_command(ls, &p->line[side], argv, (uint32_t)argc);
    settle(p);
}

void pair_write(struct pair *p, uint32_t key, uint32_t value_bytes) {
    struct lockstep *ls = p->side[PAIR_MASTER];
    char name[16];
    int length = snprintf(name, sizeof name, "w%07u", key);
    key_id id = names_intern(ls->names, name, (size_t)length);
    struct arg set[] = {lockstep_word(ls, "SET"), arg_key(names_keys(ls->names), id),
                        arg_fill(value_bytes)};
    lockstep_command(ls, &p->line[PAIR_MASTER], set, 3);
    settle(p);
}

void pair_pass(struct pair *p, ms_t ms) {
    for (; ms > 0; ms -= STEP_MS) {
        for (int i = 0; i < 2; i++) {
            lockstep_grant(p->side[i], STEP_MS * US_PER_MS);
            settle(p);
        }
    }
    pair_compare(p);
}

void pair_cut(struct pair *p) {
    pair_proxy_cut(&p->proxy);
    pair_wire_cut(&p->wire);
    settle(p);
}

void pair_freeze(struct pair *p) {
    pair_proxy_freeze(&p->proxy);
    pair_wire_freeze(&p->wire);
}

void pair_mend(struct pair *p) {
    pair_proxy_mend(&p->proxy);
    pair_wire_mend(&p->wire);
}
