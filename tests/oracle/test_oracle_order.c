/* Order: SCAN returns the same keys in the same order with the same cursors, on tables at rest, in
 * the middle of growing and of shrinking, and while they change under the scan. Compared byte for
 * byte by lockstep_flush. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "support.h"
#include "tally.h"

enum state {
    AT_REST,
    GROWING, /* no cron moves buckets, and the last insertions have begun a table twice as large */
    SHRINKING, /* nearly all keys are gone and the cron has begun a small table */
    EXPIRING,  /* half of the keys are dead and still there: a scan deletes what it meets */
};

struct trial {
    const char *about;
    enum state state;
    uint32_t keys;
    uint32_t count;      /* SCAN's COUNT */
    bool changes;        /* between two calls keys are read, set and deleted */
    const char *options; /* further words, or NULL */
};

static const struct trial trials[] = {
    {"nothing to scan", AT_REST, 0, 10, false, NULL},
    {"three keys, one by one", AT_REST, 3, 1, false, NULL},
    {"5,000 at rest, COUNT 1", AT_REST, 5000, 1, false, NULL},
    {"20,000 at rest, COUNT 10", AT_REST, 20000, 10, false, NULL},
    {"200,000 at rest, COUNT 1000", AT_REST, 200000, 1000, false, NULL},
    {"5,000 growing, COUNT 1", GROWING, 4150, 1, false, NULL},
    {"growing, COUNT 10", GROWING, 16500, 10, false, NULL},
    {"growing, COUNT 1000", GROWING, 66000, 1000, false, NULL},
    {"shrinking, COUNT 1", SHRINKING, 60000, 1, false, NULL},
    {"shrinking, COUNT 10", SHRINKING, 60000, 10, false, NULL},
    {"shrinking, COUNT 1000", SHRINKING, 200000, 1000, false, NULL},
    {"expiring, COUNT 1", EXPIRING, 2000, 1, false, NULL},
    {"expiring, COUNT 10", EXPIRING, 20000, 10, false, NULL},
    {"expiring, COUNT 1000", EXPIRING, 50000, 1000, false, NULL},
    {"expiring, TYPE string", EXPIRING, 5000, 10, false, "string"},
    {"expiring, TYPE none", EXPIRING, 5000, 10, false, "none"},
    {"expiring, TYPE hash", EXPIRING, 5000, 10, false, "hash"},
    {"at rest, changes, COUNT 10", AT_REST, 20000, 10, true, NULL},
    {"growing, changes, COUNT 1", GROWING, 4100, 1, true, NULL},
    {"growing, changes, COUNT 10", GROWING, 16400, 10, true, NULL},
    {"shrinking, changes, COUNT 1", SHRINKING, 60000, 1, true, NULL},
    {"expiring, changes, COUNT 10", EXPIRING, 16400, 10, true, NULL},
};

/* Past the trial's own steps, for all but those of EXPIRING. */
#define DEAD_AFTER_MS 5

struct run {
    const struct trial *trial;
    struct lockstep *ls;
    struct lockstep_line line;
    key_id first;
    struct rng rng;
    uint32_t added;
};

static ms_t deadline(uint32_t index, ms_t now_ms, const void *context) {
    const struct trial *t = context;
    return t->state == EXPIRING && index % 2 ? now_ms + DEAD_AFTER_MS : -1;
}

static void on_key(struct run *run, const char *name, key_id key, uint32_t argc) {
    struct arg argv[] = {lockstep_word(run->ls, name), arg_key(names_keys(run->ls->names), key),
                         arg_number(1)};
    lockstep_queue(run->ls, &run->line, argv, argc);
}

/* All but one in fifty go; the next cron sees a table below a tenth full. */
static void shrink(struct run *run) {
    run->line = lockstep_connect(run->ls);
    for (uint32_t i = 0; i < run->trial->keys; i++)
        if (i % 50) on_key(run, "DEL", run->first + i, 2);
    lockstep_flush(run->ls, &run->line);
    lockstep_disconnect(run->ls, &run->line);
    lockstep_grant(run->ls, 100 * US_PER_MS);
}

static void prepare(struct run *run) {
    const struct trial *t = run->trial;
    run->first = names_add_range(run->ls->names, "key:", "", 8, 0, t->keys);
    if (t->keys) lockstep_load(run->ls, 0, run->first, t->keys, 10, deadline, t);
    if (t->state == SHRINKING) shrink(run);
    if (t->state == EXPIRING) lockstep_grant(run->ls, 2 * DEAD_AFTER_MS * US_PER_MS);
    lockstep_compare(run->ls);
    struct engine_db_stats db = engine_db_stats(run->ls->engine, 0);
    if (t->state == GROWING || t->state == SHRINKING) ck_assert_int_ge(db.main_rehash_index, 0);
}

static key_id drawn_key(struct run *run) {
    return run->first + (key_id)rng_below(&run->rng, run->trial->keys);
}

static void change(struct run *run) {
    char name[32];
    int length = snprintf(name, sizeof name, "added:%u", run->added++);
    on_key(run, "GET", drawn_key(run), 2);
    on_key(run, "SET", names_intern(run->ls->names, name, (size_t)length), 3);
    if (run->added % 3 == 0) on_key(run, "DEL", drawn_key(run), 2);
    lockstep_flush(run->ls, &run->line);
}

/* "*2 $2 12 *3 ..." on lines of their own: the cursor is the third line, the fourth counts keys. */
static uint64_t read_cursor(const struct oracle_bytes *reply) {
    const char *at = strchr(reply->bytes, '\n');
    at = strchr(at + 1, '\n');
    uint64_t cursor = strtoull(at + 1, NULL, 10);
    at = strchr(at + 1, '\n');
    tally_add(TALLY_KEYS, (int64_t)strtoull(at + 2, NULL, 10));
    return cursor;
}

static uint64_t scan_once(struct run *run, uint64_t cursor) {
    char digits[24];
    const char *options = run->trial->options;
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)cursor);
    struct arg argv[6] = {lockstep_word(run->ls, "SCAN"), lockstep_word(run->ls, digits),
                          lockstep_word(run->ls, "COUNT"), arg_number(run->trial->count)};
    if (options) {
        argv[4] = lockstep_word(run->ls, "TYPE");
        argv[5] = lockstep_word(run->ls, options);
    }
    lockstep_command(run->ls, &run->line, argv, options ? 6 : 4);
    return read_cursor(&run->ls->server_replies);
}

START_TEST(scan_returns_the_same_keys_in_the_same_order_with_the_same_cursors) {
    const struct trial *t = &trials[_i];
    struct lockstep_config config = {.tick_us = 10, .no_rehashing = t->state != AT_REST};
    struct run run = {
        .trial = t, .rng = rng_seed(test_seed()), .ls = lockstep_start(t->about, &config)};
    prepare(&run);
    run.line = lockstep_connect(run.ls);
    uint64_t cursor = 0;
    do {
        cursor = scan_once(&run, cursor);
        if (t->changes) change(&run);
    } while (cursor != 0);
    lockstep_disconnect(run.ls, &run.line);
    lockstep_compare(run.ls);
    lockstep_stop(run.ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle order");
    TCase *tcase = tcase_create("scan");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, scan_returns_the_same_keys_in_the_same_order_with_the_same_cursors,
                        0, (int)(sizeof trials / sizeof *trials));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "order");
}
