/* Snapshots: what the real server sends for a full sync holds the same keys in the same order, each
 * in as many bytes, as the engine's snapshot of the same moment says; and the file is as long. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "lockstep.h"
#include "rdb_reader.h"
#include "snapshot.h"
#include "support.h"
#include "tally.h"

#define EOF_MARK     40     /* "$EOF:" and so many characters begin the file, and end it */
#define PATIENCE     300000 /* tenths of a millisecond until the file is there */
#define DRAWN_RUNS   12
#define TEXT_LETTERS 64

struct pulled {
    struct oracle_bytes all;
    const char *file;
    size_t length;
};

/* True once the mark that began the file ends it too. */
static bool is_whole(struct pulled *p) {
    char *begin = p->all.length ? memmem(p->all.bytes, p->all.length, "$EOF:", 5) : NULL;
    if (!begin) return false;
    size_t left = p->all.length - (size_t)(begin - p->all.bytes);
    size_t frame = 5 + EOF_MARK + 2 + EOF_MARK;
    if (left <= frame) return false;
    p->file = begin + 5 + EOF_MARK + 2;
    p->length = left - frame;
    return memcmp(p->file + p->length, begin + 5, EOF_MARK) == 0;
}

/* The server forks as it reads PSYNC; its clock stands still until the file is there. */
static void pull(struct lockstep *ls, struct pulled *p) {
    static const char psync[] = "PSYNC ? -1\r\n", *const capa[] = {"REPLCONF", "capa", "eof"};
    struct oracle_link *link = oracle_connect(ls->oracle);
    oracle_ask(ls->oracle, link, 3, capa);
    oracle_tell(ls->oracle, link, psync, strlen(psync));
    for (int i = 0; i < PATIENCE && !is_whole(p); i++) {
        oracle_pause();
        oracle_drain(ls->oracle, link, &p->all);
    }
    ck_assert_msg(is_whole(p), "no snapshot comes");
    ck_assert_uint_eq((uint64_t)SNAPSHOT_EOF_MARK_BYTES, 5 + EOF_MARK + 2 + EOF_MARK);
    oracle_disconnect(ls->oracle, link);
}

/* --- what the engine says --- */

static void append_value(struct lockstep *ls, struct oracle_bytes *out,
                         const struct object *value) {
    char digits[24];
    if (value->encoding == ENCODING_INT || value->encoding == ENCODING_SHARED_INT) {
        int length = snprintf(digits, sizeof digits, "%lld", (long long)value->number);
        oracle_bytes_append(out, digits, (size_t)length);
    } else if (value->text != TEXT_NONE) {
        oracle_bytes_append(out, texts_bytes(ls->texts, value->text), value->length);
    } else {
        for (uint32_t i = 0; i < value->length; i++) oracle_bytes_append(out, "x", 1);
    }
}

static void check_string(const struct rdb_string *s, const char *bytes, size_t length) {
    ck_assert_msg(s->length == length && memcmp(s->bytes, bytes, length) == 0,
                  "the file has %.*s, the engine %.*s", (int)s->length, s->bytes, (int)length,
                  bytes);
}

static void check_key(struct lockstep *ls, const struct rdb_reader *r,
                      const struct snapshot_item *item) {
    static char name[KEY_LENGTH_MAX];
    struct oracle_bytes value = {0};
    check_string(&r->name, name, names_print(ls->names, item->key, name, sizeof name));
    append_value(ls, &value, &item->value);
    check_string(&r->value, value.length ? value.bytes : "", value.length);
    ck_assert_int_eq(r->deadline_ms, item->deadline_ms);
    ck_assert_uint_eq(r->part_bytes, snapshot_item_bytes(names_keys(ls->names), item));
    oracle_bytes_release(&value);
    tally_add(TALLY_SNAPSHOT_KEYS, 1);
}

static void check_hints(const struct rdb_reader *r, const struct snapshot_db *db) {
    ck_assert_uint_eq(r->numbers[0], db->main_hint);
    ck_assert_uint_eq(r->numbers[1], db->expires_hint);
}

/* What only the server knows: where its stream stands. */
static void read_aux(const struct rdb_reader *r, struct snapshot *s) {
    if (r->name.length == 11 && memcmp(r->name.bytes, "repl-offset", 11) == 0)
        snapshot_describe(s, 1, strtoll(r->value.bytes, NULL, 10), -1);
    if (r->name.length == 14 && memcmp(r->name.bytes, "repl-stream-db", 14) == 0)
        check_string(&r->value, "0", 1);
}

static void compare(struct lockstep *ls, const struct pulled *p, struct snapshot *s) {
    struct rdb_reader r = rdb_reader_open(p->file, p->length);
    uint64_t item = 0;
    uint32_t db = 0;
    while (rdb_reader_next(&r)) {
        if (r.part == RDB_AUX) read_aux(&r, s);
        if (r.part == RDB_SELECTDB) ck_assert_uint_eq(r.numbers[0], s->dbs[db++].id);
        if (r.part == RDB_RESIZEDB) check_hints(&r, &s->dbs[db - 1]);
        if (r.part == RDB_KEY) {
            ck_assert_uint_lt(item, s->count);
            ck_assert_uint_ge(item, s->dbs[db - 1].first);
            check_key(ls, &r, &s->items[item++]);
        }
    }
    ck_assert_uint_eq(item, s->count);
    ck_assert_uint_eq(db, s->db_count);
    ck_assert_uint_eq(p->length, s->rdb_bytes);
}

/* The engine's snapshot first: its clock and tables stand as the server's do when it forks. */
static void snapshot_and_compare(struct lockstep *ls) {
    struct pulled p = {0};
    struct snapshot *s = snapshot_take(ls->engine->dbs, DATABASES_MAX,
                                       &generation_find("redis-7.0")->persist, lockstep_now_ms(ls));
    pull(ls, &p);
    compare(ls, &p, s);
    snapshot_release(s);
    oracle_bytes_release(&p.all);
}

/* --- data sets --- */

static struct lockstep *begin(const char *about, bool compresses) {
    static const char *const rest[] = {"DEBUG", "SET-ACTIVE-EXPIRE", "0"};
    const char *compression[] = {"CONFIG", "SET", "rdbcompression", compresses ? "yes" : "no"};
    struct lockstep_config config = {.tick_us = 10, .no_rehashing = true, .restless = true};
    struct lockstep *ls = lockstep_start(about, &config);
    struct arg argv[3];
    for (int i = 0; i < 3; i++) argv[i] = lockstep_word(ls, rest[i]);
    lockstep_command(ls, &ls->asker, argv, 3);
    oracle_ask(ls->oracle, ls->asker.link, 4, compression);
    return ls;
}

/* Every third has none, every third has a near one and every third a far one. */
static ms_t mixed_deadline(uint32_t index, ms_t now_ms, const void *context) {
    (void)context;
    if (index % 3 == 0) return -1;
    return now_ms + (index % 3 == 1 ? 50 : 100000000);
}

START_TEST(an_empty_server_s_file_is_as_long) {
    struct lockstep *ls = begin("nothing", true);
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

/* A few keys past 4,096 the table of database 0 grows, and with no cron to help most keys still lie
 * in table 0. */
START_TEST(keys_of_growing_tables_stand_in_both_tables_order) {
    struct lockstep *ls = begin("growing", false);
    key_id first = names_add_range(ls->names, "key:", "", 8, 0, 20000);
    lockstep_load(ls, 0, first, 4150, 10, mixed_deadline, NULL);
    lockstep_load(ls, 3, first, 70, 100, mixed_deadline, NULL);
    lockstep_load(ls, 15, first, 20000, 32, mixed_deadline, NULL);
    ck_assert_int_ge(engine_db_stats(ls->engine, 0).main_rehash_index, 0);
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

/* A third of the keys is dead by then and still there. */
START_TEST(keys_past_their_deadline_are_in_the_file) {
    struct lockstep *ls = begin("dead keys", false);
    key_id first = names_add_range(ls->names, "key:", "", 8, 0, 3000);
    lockstep_load(ls, 0, first, 3000, 10, mixed_deadline, NULL);
    lockstep_grant(ls, 1000 * US_PER_MS);
    struct engine_db_stats db = engine_db_stats(ls->engine, 0);
    ck_assert_uint_eq(db.keys, 3000);
    ck_assert_uint_eq(db.expires, 2000);
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

static void set_text(struct lockstep *ls, struct lockstep_line *line, const char *name,
                     const char *value) {
    struct arg argv[] = {
        lockstep_word(ls, "SET"),
        arg_key(names_keys(ls->names), names_intern(ls->names, name, strlen(name))),
        lockstep_word(ls, value)};
    lockstep_queue(ls, line, argv, 3);
}

START_TEST(integers_are_as_long_as_the_server_writes_them) {
    static const char *const values[] = {"0",
                                         "127",
                                         "128",
                                         "-128",
                                         "-129",
                                         "32767",
                                         "32768",
                                         "-32768",
                                         "-32769",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "-2147483649",
                                         "9999999999",
                                         "-999999999",
                                         "99999999999",
                                         "007",
                                         "-0",
                                         "",
                                         "1.5",
                                         "9223372036854775807",
                                         "-9223372036854775808"};
    struct lockstep *ls = begin("integers", true);
    struct lockstep_line line = lockstep_connect(ls);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[16];
        snprintf(name, sizeof name, "k:%zu", i);
        set_text(ls, &line, name, values[i]);
    }
    lockstep_flush(ls, &line);
    lockstep_disconnect(ls, &line);
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

/* At each length where the width of a length changes, of names and of values. */
START_TEST(strings_of_every_width_are_as_long_as_the_server_writes_them) {
    static const uint32_t lengths[] = {1, 20, 21, 62, 63, 64, 65, 16382, 16383, 16384, 16385};
    static char prefix[16385];
    struct lockstep *ls = begin("lengths", false);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(prefix, 'k', lengths[i]);
        prefix[lengths[i] - 1] = '\0';
        key_id name = names_add_range(ls->names, prefix, "", 1, i % 10, 1);
        lockstep_load(ls, (uint8_t)i, name, 1, 10, mixed_deadline, NULL);
        key_id value = names_add_range(ls->names, "value", "", 2, i, 1);
        lockstep_load(ls, 14, value, 1, lengths[i], mixed_deadline, NULL);
    }
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

static void draw_text(struct rng *rng, char *text, uint32_t length) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < length; i++) text[i] = letters[rng_below(rng, TEXT_LETTERS)];
    text[length] = '\0';
}

/* SET, DEL or PEXPIRE of one of 300 names. */
static void draw_command(struct lockstep *ls, struct lockstep_line *line, struct rng *rng) {
    char name[24], value[4096];
    snprintf(name, sizeof name, "key:%u", (unsigned)rng_below(rng, 300));
    draw_text(rng, value, (uint32_t)rng_below(rng, 1 + rng_below(rng, 3000)));
    if (rng_chance(rng, 7, 10)) {
        set_text(ls, line, name, value);
        return;
    }
    struct arg key = arg_key(names_keys(ls->names), names_intern(ls->names, name, strlen(name)));
    bool deletes = rng_chance(rng, 1, 3);
    struct arg argv[] = {lockstep_word(ls, deletes ? "DEL" : "PEXPIRE"), key,
                         arg_number(1 + (int64_t)rng_below(rng, 1000000))};
    lockstep_queue(ls, line, argv, deletes ? 2 : 3);
}

/* Drawn letters of 64 kinds: LZF, which the server tries on every string over 20 bytes, finds next
 * to nothing that repeats. */
START_TEST(drawn_values_are_as_long_although_the_server_compresses) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    struct lockstep *ls = begin("drawn", true);
    struct lockstep_line line = lockstep_connect(ls);
    uint32_t commands = (uint32_t)rng_below(&rng, 1500);
    for (uint32_t i = 0; i < commands; i++) draw_command(ls, &line, &rng);
    lockstep_flush(ls, &line);
    lockstep_disconnect(ls, &line);
    snapshot_and_compare(ls);
    lockstep_stop(ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle snapshot");
    TCase *tcase = tcase_create("snapshot");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, an_empty_server_s_file_is_as_long);
    tcase_add_test(tcase, keys_of_growing_tables_stand_in_both_tables_order);
    tcase_add_test(tcase, keys_past_their_deadline_are_in_the_file);
    tcase_add_test(tcase, integers_are_as_long_as_the_server_writes_them);
    tcase_add_test(tcase, strings_of_every_width_are_as_long_as_the_server_writes_them);
    tcase_add_loop_test(tcase, drawn_values_are_as_long_although_the_server_compresses, 0,
                        (int)test_rounds(DRAWN_RUNS));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "snapshot");
}
