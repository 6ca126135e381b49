/* While a child saves a snapshot the server leaves its tables alone: no shrinking, no cron that
 * rehashes, no growth up to five keys a bucket, and a rehash to twice the size stands still (7.0.8
 * and later). The engine does the same, figure by figure, with clients that write meanwhile, and
 * afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define NAMES       40000
#define LARGE_KEYS  8
#define LARGE_BYTES (2 * 1024 * 1024)
#define REST        1000 /* tenths of a millisecond without a turn */
#define PATIENCE    1000 /* hundredths of a second until the child has ended */

struct trial {
    const char *about;
    uint32_t before;    /* keys when the child is born */
    uint32_t deleted;   /* of these, before that */
    uint32_t meanwhile; /* keys added while it lives */
    uint32_t gone;      /* keys deleted while it lives */
};

static const struct trial trials[] = {
    {"at rest", 3000, 0, 500, 100},
    {"full tables", 4096, 0, 3000, 0},
    {"growing tables", 4200, 0, 6000, 2000},
    {"beyond five keys a bucket", 64, 0, 2000, 0},
    {"growing, then beyond", 70, 0, 3000, 50},
    {"tables that want to shrink", 20000, 19500, 200, 100},
    {"tables that come to want it", 9000, 0, 0, 8900},
    {"from nothing", 1, 0, 5000, 0},
};

struct run {
    const struct trial *trial;
    struct lockstep *ls;
    struct oracle_link *replica;
    key_id first;
};

static ms_t deadline(uint32_t index, ms_t now_ms, const void *context) {
    (void)context;
    return index % 2 ? -1 : now_ms + 100000000;
}

static void delete_keys(struct run *run, key_id first, uint32_t count) {
    struct lockstep_line line = lockstep_connect(run->ls);
    for (uint32_t i = 0; i < count; i++) {
        struct arg argv[] = {lockstep_word(run->ls, "DEL"),
                             arg_key(names_keys(run->ls->names), first + i)};
        lockstep_queue(run->ls, &line, argv, 2);
    }
    lockstep_flush(run->ls, &line);
    lockstep_disconnect(run->ls, &line);
}

static bool has_child(struct run *run) {
    static const char *const info[] = {"INFO", "persistence"};
    const char *text = oracle_ask(run->ls->oracle, run->ls->asker.link, 2, info);
    return strstr(text, "rdb_bgsave_in_progress:1") != NULL;
}

/* Until the sockets are full: then nothing turns the server any more. */
static void wait_for_rest(const struct run *run) {
    int64_t turns = -1;
    while (turns != oracle_turns(run->ls->oracle)) {
        turns = oracle_turns(run->ls->oracle);
        for (int pause = 0; pause < REST; pause++) oracle_pause();
    }
}

/* A full sync forks at once. As nobody reads at the other end, and the sockets' buffers hold less
 * than what lies in database 1, the child waits. */
static void child_begins(struct run *run) {
    static const char psync[] = "PSYNC ? -1\r\n", *const capa[] = {"REPLCONF", "capa", "eof"};
    struct oracle *oracle = run->ls->oracle;
    run->replica = oracle_connect(oracle);
    oracle_ask(oracle, run->replica, 3, capa);
    oracle_tell(oracle, run->replica, psync, strlen(psync));
    wait_for_rest(run);
    ck_assert(has_child(run));
    run->ls->engine->host.has_child = true;
}

/* All is read, the child ends, and a later cron notices it, after its databases' turn. */
static void child_ends(struct run *run) {
    struct oracle_bytes file = {0};
    for (int i = 0; i < PATIENCE && has_child(run); i++) {
        for (int pause = 0; pause < 100; pause++) {
            oracle_pause();
            oracle_drain(run->ls->oracle, run->replica, &file);
        }
        lockstep_grant(run->ls, 100 * US_PER_MS);
    }
    ck_assert(!has_child(run));
    ck_assert_uint_gt(file.length, (uint64_t)LARGE_KEYS * LARGE_BYTES);
    run->ls->engine->host.has_child = false;
    oracle_bytes_release(&file);
    oracle_disconnect(run->ls->oracle, run->replica);
}

/* Sizes and fill of both tables of both dicts. What else the two count is not alike: only the
 * server has a replica. */
static void compare_tables(struct run *run) {
    static const char *const htstats[] = {"DEBUG", "HTSTATS", "0"};
    struct figures server = {0}, engine = {0};
    figures_read_htstats(&server, 0, oracle_ask(run->ls->oracle, run->ls->asker.link, 3, htstats));
    figures_of_tables(&engine, 0, run->ls->engine);
    for (int i = 0; i < DB_FIGURE_COUNT; i++) {
        ck_assert_msg(server.db[0][i] == engine.db[0][i], "%s: %s: server %lld, engine %lld",
                      run->trial->about, db_figure_names[i], (long long)server.db[0][i],
                      (long long)engine.db[0][i]);
        tally_add(TALLY_FIGURES, 1);
    }
}

static void steps(struct run *run, int count) {
    for (int i = 0; i < count; i++) {
        lockstep_grant(run->ls, 100 * US_PER_MS);
        compare_tables(run);
        tally_add(TALLY_STEPS, 1);
    }
}

static void load_large_keys(struct run *run) {
    static const char *const plain[] = {"CONFIG", "SET", "rdbcompression", "no"};
    key_id large = names_add_range(run->ls->names, "large:", "", 1, 0, LARGE_KEYS);
    oracle_ask(run->ls->oracle, run->ls->asker.link, 4, plain);
    lockstep_load(run->ls, 1, large, LARGE_KEYS, LARGE_BYTES, deadline, NULL);
}

static void play(struct run *run) {
    const struct trial *t = run->trial;
    load_large_keys(run);
    lockstep_load(run->ls, 0, run->first, t->before, 10, deadline, NULL);
    delete_keys(run, run->first, t->deleted);
    child_begins(run);
    compare_tables(run);
    lockstep_load(run->ls, 0, run->first + t->before, t->meanwhile, 10, deadline, NULL);
    compare_tables(run);
    steps(run, 5);
    delete_keys(run, run->first + t->deleted, t->gone);
    steps(run, 5);
}

START_TEST(tables_are_left_alone_as_the_server_leaves_them) {
    struct lockstep_config config = {.tick_us = 0, .restless = true};
    struct run run = {.trial = &trials[_i], .ls = lockstep_start(trials[_i].about, &config)};
    run.first = names_add_range(run.ls->names, "key:", "", 8, 0, NAMES);
    play(&run);
    child_ends(&run);
    steps(&run, 20);
    lockstep_stop(run.ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle child");
    TCase *tcase = tcase_create("child");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, tables_are_left_alone_as_the_server_leaves_them, 0,
                        (int)(sizeof trials / sizeof *trials));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "child");
}
