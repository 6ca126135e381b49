#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "generation.h"
#include "propagate.h"
#include "support.h"

#define DATABASES 4
#define NOW_MS    INT64_C(1700000000000)

/* Four databases of one server. Host memory is counted: what a snapshot took it must give back. */
struct bench {
    struct keys *keys;
    struct texts *texts;
    struct cpu cpu;
    struct memory memory;
    struct sink sink;
    struct backlog backlog;
    struct propagate propagate;
    struct rng rng;
    struct db_host host;
    struct db dbs[DATABASES];
};

static size_t pages_held, pages_taken;

static void *counted_take(size_t bytes) {
    void *taken = calloc(1, bytes);
    ASSERT(taken);
    pages_held += bytes;
    pages_taken++;
    return taken;
}
static void counted_give(void *taken, size_t bytes) {
    pages_held -= bytes;
    free(taken);
}
static const struct pages counted = {counted_take, counted_give};

static void on_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)context, (void)deadline_ms, (void)bytes;
}

static const struct price_table no_prices = {.name = "zero"};

static void start(struct bench *b) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {7};
    const struct generation *g = generation_find("redis-7.0");
    memset(b, 0, sizeof *b);
    b->keys = keys_create(seed);
    b->texts = texts_create();
    b->cpu.prices = &no_prices;
    b->rng = rng_seed(test_seed());
    b->sink = (struct sink){.deadline_added = on_deadline, .deadline_removed = on_deadline};
    memory_init(&b->memory, allocator_find("debian"), 876192);
    backlog_init(&b->backlog, &b->memory, 1 << 20);
    propagate_init(&b->propagate, &g->stream, &b->backlog, &b->sink, b->texts, b->keys, &b->cpu);
    b->host = (struct db_host){.cpu = &b->cpu,
                               .memory = &b->memory,
                               .keys = b->keys,
                               .sink = &b->sink,
                               .propagate = &b->propagate,
                               .lazy = &g->lazy,
                               .rng = &b->rng,
                               .pages = &counted};
    for (uint8_t i = 0; i < DATABASES; i++) db_init(&b->dbs[i], i, &b->host, &g->dict);
}

static void stop(struct bench *b) {
    for (int i = 0; i < DATABASES; i++) db_release(&b->dbs[i]);
    propagate_release(&b->propagate);
    keys_destroy(b->keys);
    texts_destroy(b->texts);
    ck_assert_uint_eq(pages_held, 0);
}

static key_id add_name(struct bench *b, size_t length) {
    static const char letters[20000];
    return keys_add(b->keys, letters, length);
}

static key_id add_names(struct bench *b, uint32_t count) {
    keys_reserve(b->keys, count);
    key_id first = b->keys->count + 1;
    for (uint32_t i = 0; i < count; i++) keys_add(b->keys, (const char *)&i, sizeof i);
    return first;
}

static void put(struct bench *b, int db, key_id id, struct object value, ms_t deadline_ms) {
    db_set(&b->dbs[db], id, &value, false, false);
    if (deadline_ms != -1) db_set_deadline(&b->dbs[db], id, deadline_ms);
}

static const struct persist_policy *policy_of(const char *generation) {
    return &generation_find(generation)->persist;
}

static struct snapshot *take(const struct bench *b, const struct persist_policy *policy) {
    return snapshot_take(b->dbs, DATABASES, policy, NOW_MS);
}

/* The server was seen to write 182 bytes for one key and value of a letter each, with replication
 * info (facts 12.2): header 9; AUX redis-ver 18, redis-bits 14, ctime 12, used-mem 15,
 * repl-stream-db 18, repl-id 50, repl-offset 15, aof-base 12; SELECTDB 2, RESIZEDB 3, key 5, EOF
 * and CRC 9. */
START_TEST(one_letter_takes_the_182_bytes_seen) {
    struct bench b;
    start(&b);
    put(&b, 0, add_name(&b, 1), object_from_fill(1), -1);
    struct snapshot *s = take(&b, policy_of("redis-7.0"));
    ck_assert_uint_eq(s->rdb_bytes, 182 - 18 - 50 - 15);
    snapshot_describe(s, 1, 14, -1);
    ck_assert_uint_eq(s->rdb_bytes, 182);
    ck_assert_int_eq(s->stream_db, -1);
    snapshot_release(s);
    stop(&b);
}
END_TEST

/* An offset is written as the narrowest integer that holds it, and beyond 32 bits as text: 2, 3, 5,
 * or 1 and the digits. */
START_TEST(the_offset_is_written_in_its_width) {
    static const struct {
        int64_t offset;
        uint64_t bytes;
    } rows[] = {{0, 2},     {127, 2},        {128, 3},         {32767, 3},
                {32768, 5}, {2147483647, 5}, {2147483648, 11}, {INT64_MAX, 20}};
    struct bench b;
    start(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct snapshot *s = take(&b, policy_of("redis-7.0"));
        uint64_t before = s->rdb_bytes;
        snapshot_describe(s, 1, rows[i].offset, 9);
        ck_assert_uint_eq(s->rdb_bytes - before, 18 + 50 + (1 + 12) + rows[i].bytes);
        snapshot_release(s);
    }
    stop(&b);
}
END_TEST

/* Before 7.0 the last field is aof-preamble, four letters longer than aof-base. */
START_TEST(the_last_aux_field_is_the_generations) {
    struct bench b;
    start(&b);
    struct snapshot *new = take(&b, policy_of("redis-7.0"));
    struct snapshot *old = take(&b, policy_of("redis-5.0"));
    ck_assert_uint_eq(old->rdb_bytes, new->rdb_bytes + 4);
    snapshot_release(new);
    snapshot_release(old);
    stop(&b);
}
END_TEST

static uint64_t item_bytes(struct bench *b, size_t name, struct object value, ms_t deadline_ms) {
    struct snapshot_item item = {add_name(b, name), value, deadline_ms};
    return snapshot_item_bytes(b->keys, &item);
}

/* Lengths take 1 byte up to 63, 2 up to 16383, then 5 (facts 12.2); the type takes 1. */
START_TEST(strings_grow_a_byte_with_their_length_s_width) {
    static const struct {
        uint32_t length, width;
    } rows[] = {{0, 1},  {1, 1},     {20, 1},    {21, 1},    {63, 1},
                {64, 2}, {16382, 2}, {16383, 2}, {16384, 5}, {19999, 5}};
    struct bench b;
    start(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i].length, with = n + rows[i].width;
        ck_assert_uint_eq(item_bytes(&b, n, object_from_fill(0), -1), 1 + with + 1);
        ck_assert_uint_eq(item_bytes(&b, 3, object_from_fill(n), -1), 1 + 4 + with);
    }
    ck_assert_uint_eq(item_bytes(&b, 3, object_from_fill(VALUE_LENGTH_MAX), -1),
                      1 + 4 + 5 + (UINT64_C(1) << 29));
    stop(&b);
}
END_TEST

/* C0 and 8 bits, C1 and 16, C2 and 32 (facts 12.1), else the decimal digits after their number. */
START_TEST(integers_take_the_narrowest_form) {
    static const struct {
        int64_t number;
        uint64_t bytes;
    } rows[] = {{0, 2},           {127, 2},          {128, 3},        {-128, 2},
                {-129, 3},        {9999, 3},         {32767, 3},      {32768, 5},
                {-32768, 3},      {-32769, 5},       {2147483647, 5}, {2147483648, 1 + 10},
                {-2147483648, 5}, {-2147483649, 12}, {INT64_MAX, 20}, {INT64_MIN, 21}};
    struct bench b;
    start(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_uint_eq(item_bytes(&b, 3, object_from_number(rows[i].number), -1),
                          1 + 4 + rows[i].bytes);
    stop(&b);
}
END_TEST

/* Opcode and 64 bits. -1 is how the server says "none", so that deadline is lost. */
START_TEST(a_deadline_takes_nine_bytes_unless_it_is_minus_one) {
    struct bench b;
    start(&b);
    uint64_t bare = item_bytes(&b, 3, object_from_fill(10), -1);
    ck_assert_uint_eq(item_bytes(&b, 3, object_from_fill(10), 0), bare + 9);
    ck_assert_uint_eq(item_bytes(&b, 3, object_from_fill(10), NOW_MS), bare + 9);
    ck_assert_uint_eq(item_bytes(&b, 3, object_from_fill(10), -2), bare + 9);
    stop(&b);
}
END_TEST

/* Databases 1 and 3 hold something. 70 keys of 4 letters and 10, each 1 + 5 + 11, ten of them with
 * a deadline of 9 more; SELECTDB 2 each, RESIZEDB 1 + 1 + 1, or 1 + 2 + 1 from 64 keys on. */
START_TEST(each_database_adds_its_header_and_keys) {
    struct bench b;
    start(&b);
    struct snapshot *empty = take(&b, policy_of("redis-7.0"));
    ck_assert_uint_eq(empty->count, 0);
    ck_assert_uint_eq(empty->db_count, 0);
    key_id first = add_names(&b, 70);
    for (uint32_t i = 0; i < 70; i++) {
        put(&b, 3, first + i, object_from_fill(10), i < 10 ? NOW_MS + i : -1);
        if (i < 3) put(&b, 1, first + i, object_from_fill(10), -1);
    }
    struct snapshot *s = take(&b, policy_of("redis-7.0"));
    ck_assert_uint_eq(s->rdb_bytes - empty->rdb_bytes,
                      (2 + 3 + 3 * 17) + (2 + 4 + 70 * 17 + 10 * 9));
    ck_assert_uint_eq(s->db_count, 2);
    const struct snapshot_db *one = &s->dbs[0], *three = &s->dbs[1];
    ck_assert(one->id == 1 && one->first == 0 && one->count == 3 && one->expires == 0);
    ck_assert(three->id == 3 && three->first == 3 && three->count == 70 && three->expires == 10);
    ck_assert(three->main_hint == 70 && three->expires_hint == 10);
    snapshot_release(s);
    snapshot_release(empty);
    stop(&b);
}
END_TEST

/* The walk once more: table 0 then table 1, bucket by bucket, chains from the head. */
static void check_order(const struct bench *b, const struct snapshot *s) {
    uint64_t at = 0;
    for (int i = 0; i < DATABASES; i++) {
        const struct dict *d = &b->dbs[i].main;
        for (int table = 0; table < 2; table++)
            for (uint64_t bucket = 0; bucket < dict_size(d, table); bucket++)
                for (key_id id = dict_bucket(d, table, bucket); id; id = dict_next(d, id))
                    ck_assert_uint_eq(s->items[at++].key, id);
    }
    ck_assert_uint_eq(at, s->count);
}

/* At every fill from empty to 700 keys, which crosses eight growths with their rehashes under way.
 */
START_TEST(keys_stand_in_the_order_of_the_walk_at_every_fill) {
    struct bench b;
    uint32_t rehashing = 0;
    start(&b);
    key_id first = add_names(&b, 700);
    for (uint32_t i = 0; i < 700; i++) {
        put(&b, i % 3 == 0, first + i, object_from_fill(i), i % 5 ? -1 : NOW_MS + i);
        rehashing += dict_rehashing(&b.dbs[0].main);
        struct snapshot *s = take(&b, policy_of("redis-7.0"));
        check_order(&b, s);
        snapshot_release(s);
    }
    ck_assert_uint_gt(rehashing, 100);
    stop(&b);
}
END_TEST

/* In a table of four keys all of which is full, the fifth key starts a growth and goes to table 1,
 * so it comes last whatever its bucket. */
START_TEST(the_key_that_starts_a_growth_comes_last) {
    struct bench b;
    start(&b);
    key_id first = add_names(&b, 5);
    struct object value = object_from_fill(1);
    for (uint32_t i = 0; i < 5; i++) db_add(&b.dbs[0], first + i, &value);
    ck_assert(dict_rehashing(&b.dbs[0].main));
    ck_assert_uint_eq(b.dbs[0].main.used[1], 1);
    struct snapshot *s = take(&b, policy_of("redis-7.0"));
    ck_assert_uint_eq(s->items[4].key, first + 4);
    snapshot_release(s);
    stop(&b);
}
END_TEST

START_TEST(each_item_is_what_the_key_was_when_it_was_taken) {
    struct bench b;
    start(&b);
    key_id first = add_names(&b, 3);
    put(&b, 0, first, object_from_number(42), -1);
    put(&b, 0, first + 1, object_from_fill(100), NOW_MS + 5);
    struct snapshot *s = take(&b, policy_of("redis-7.0"));
    db_set_deadline(&b.dbs[0], first, NOW_MS);
    db_delete(&b.dbs[0], first + 1);
    ck_assert_uint_eq(s->count, 2);
    for (uint64_t i = 0; i < 2; i++) {
        const struct snapshot_item *item = &s->items[i];
        bool is_first = item->key == first;
        ck_assert_int_eq(item->deadline_ms, is_first ? -1 : NOW_MS + 5);
        struct object expected = is_first ? object_from_number(42) : object_from_fill(100);
        ck_assert(object_equal(&item->value, &expected));
    }
    ck_assert_uint_ne(s->items[0].key, s->items[1].key);
    snapshot_release(s);
    stop(&b);
}
END_TEST

/* 30 keys, ten each a millisecond before now, now and after. Only those before it are past (facts
 * 7.11.1: strictly less). Whichever way, RESIZEDB says 30. */
static void check_left_out(const struct persist_policy *policy, uint64_t left_out) {
    struct bench b;
    start(&b);
    key_id first = add_names(&b, 30);
    for (uint32_t i = 0; i < 30; i++)
        put(&b, 2, first + i, object_from_fill(1), NOW_MS - 1 + i % 3);
    struct snapshot *s = take(&b, policy);
    ck_assert_uint_eq(s->left_out, left_out);
    ck_assert_uint_eq(s->count, 30 - left_out);
    ck_assert_uint_eq(s->dbs[0].count, 30 - left_out);
    ck_assert_uint_eq(s->dbs[0].expires, 30 - left_out);
    ck_assert_uint_eq(s->dbs[0].main_hint, 30);
    ck_assert_uint_eq(s->dbs[0].expires_hint, 30);
    for (uint64_t i = 0; left_out && i < s->count; i++)
        ck_assert_int_ge(s->items[i].deadline_ms, NOW_MS);
    snapshot_release(s);
    stop(&b);
}

START_TEST(keys_past_their_deadline_are_left_out_where_the_generation_does) {
    check_left_out(policy_of("redis-7.0"), 0);
    check_left_out(policy_of("redis-5.0"), 0);
    check_left_out(policy_of("redis-4.0"), 10);
}
END_TEST

/* SELECTDB and RESIZEDB are written before anyone looks at the keys: 2 + 3. */
START_TEST(a_database_of_dead_keys_alone_still_has_its_header) {
    struct bench b;
    start(&b);
    uint64_t frame = 0;
    for (int round = 0; round < 2; round++) {
        struct snapshot *s = take(&b, policy_of("redis-4.0"));
        ck_assert_uint_eq(s->count, 0);
        ck_assert_uint_eq(s->db_count, (uint32_t)round);
        if (round == 0) frame = s->rdb_bytes;
        ck_assert_uint_eq(s->rdb_bytes, frame + (round ? 5 : 0));
        snapshot_release(s);
        if (round == 0) put(&b, 1, add_name(&b, 1), object_from_fill(1), NOW_MS - 1000);
    }
    stop(&b);
}
END_TEST

START_TEST(it_lives_until_the_last_reference_is_dropped) {
    struct bench b;
    start(&b);
    put(&b, 0, add_name(&b, 1), object_from_fill(1), -1);
    size_t before = pages_held;
    struct snapshot *s = take(&b, policy_of("redis-7.0"));
    snapshot_hold(s);
    snapshot_hold(s);
    ck_assert_uint_eq(s->references, 3);
    snapshot_release(s);
    snapshot_release(s);
    ck_assert_uint_gt(pages_held, before);
    ck_assert_uint_eq(s->items[0].key, 1);
    snapshot_release(s);
    ck_assert_uint_eq(pages_held, before);
    snapshot_release(NULL);
    stop(&b);
}
END_TEST

/* Twenty snapshots of a million keys, each dropped before the next: nothing is left over, and the
 * engine's own ledger is not touched. */
START_TEST(a_million_keys_do_not_leak) {
    struct bench b;
    start(&b);
    key_id first = add_names(&b, 1000000);
    for (uint32_t i = 0; i < 1000000; i++) put(&b, 0, first + i, object_from_fill(32), -1);
    size_t before = pages_held, taken = pages_taken;
    int64_t used = b.memory.used_bytes;
    for (int i = 0; i < 20; i++) {
        struct snapshot *s = take(&b, policy_of("redis-7.0"));
        ck_assert_uint_eq(s->count, 1000000);
        ck_assert_uint_eq(pages_held - before, 1000000 * sizeof(struct snapshot_item));
        snapshot_release(s);
        ck_assert_uint_eq(pages_held, before);
    }
    ck_assert_uint_eq(pages_taken - taken, 20);
    ck_assert_int_eq(b.memory.used_bytes, used);
    stop(&b);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("snapshot");
    TCase *tcase = tcase_create("snapshot");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, one_letter_takes_the_182_bytes_seen);
    tcase_add_test(tcase, the_offset_is_written_in_its_width);
    tcase_add_test(tcase, the_last_aux_field_is_the_generations);
    tcase_add_test(tcase, strings_grow_a_byte_with_their_length_s_width);
    tcase_add_test(tcase, integers_take_the_narrowest_form);
    tcase_add_test(tcase, a_deadline_takes_nine_bytes_unless_it_is_minus_one);
    tcase_add_test(tcase, each_database_adds_its_header_and_keys);
    tcase_add_test(tcase, keys_stand_in_the_order_of_the_walk_at_every_fill);
    tcase_add_test(tcase, the_key_that_starts_a_growth_comes_last);
    tcase_add_test(tcase, each_item_is_what_the_key_was_when_it_was_taken);
    tcase_add_test(tcase, keys_past_their_deadline_are_left_out_where_the_generation_does);
    tcase_add_test(tcase, a_database_of_dead_keys_alone_still_has_its_header);
    tcase_add_test(tcase, it_lives_until_the_last_reference_is_dropped);
    tcase_add_test(tcase, a_million_keys_do_not_leak);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
