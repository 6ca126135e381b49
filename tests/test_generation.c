#include "generation.h"

#include <string.h>

#include "fixture.h"

/* What a row decides, seen in an engine of that generation. */

static struct price_table prices; /* all 0 until a test sets one */

static void start(struct fixture *f, const char *generation) {
    fixture_init(f, generation, &prices);
    fixture_start(f);
}

/* "redis-7.0" is of a release 7.0.x, "redis-7.0.5" of 7.0.5. */
START_TEST(a_row_s_name_is_the_beginning_of_its_release) {
    for (size_t i = 0; generation_at(i); i++) {
        const struct generation *g = generation_at(i);
        ck_assert_str_eq(g->persist.version, g->version);
        ck_assert(strncmp(g->name, "redis-", 6) == 0);
        ck_assert(strncmp(g->version, g->name + 6, strlen(g->name) - 6) == 0);
        ck_assert_ptr_eq(generation_find(g->name), g);
        for (size_t j = 0; j < i; j++) ck_assert_str_ne(generation_at(j)->version, g->version);
    }
    ck_assert_ptr_null(generation_find("redis-7"));
}
END_TEST

static void feed(struct fixture *f, const char *generation, struct backlog *b,
                 struct memory *memory) {
    fixture_init(f, generation, &prices);
    memory_init(memory, f->env.allocator, 0);
    backlog_init(b, memory, 1 << 20);
    b->policy = &f->env.generation->backlog;
    backlog_activate(b);
    backlog_feed(b, 3 << 20);
}

static void drop(struct fixture *f, struct backlog *b) {
    backlog_check(b);
    backlog_release(b);
    keys_destroy(f->keys);
    texts_destroy(f->texts);
}

/* 3 MiB at once, backlog of 1 MiB. To 7.0.9: 3,145,728 + 40 falls into the class of 3,670,016, in
 * one block. Since 7.0.10: 65,536 + 40 into that of 81,920, which leaves 81,880: 39 blocks. */
START_TEST(a_block_grows_as_large_as_the_write_only_up_to_7_0_9) {
    static const struct {
        const char *generation;
        uint64_t blocks, size_bytes;
    } rows[] = {{"redis-7.0.5", 1, 3670016 - 40}, {"redis-7.0", 39, 81880}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct backlog b;
        struct memory memory;
        feed(&f, rows[i].generation, &b, &memory);
        ck_assert_uint_eq(b.first_block + b.block_count, rows[i].blocks);
        ck_assert_uint_eq(b.blocks[b.first_block % b.block_capacity].size_bytes,
                          rows[i].size_bytes);
        drop(&f, &b);
    }
}
END_TEST

/* A small write takes 16 KiB and the header all the same. */
START_TEST(a_small_write_takes_16_kib_in_every_7_0) {
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        fixture_init(&f, i ? "redis-7.0" : "redis-7.0.5", &prices);
        fixture_start(&f);
        engine_replica_attach(f.engine);
        struct arg argv[] = {arg_word(f.texts, WORD_SET), arg_key(f.keys, fixture_keys(&f, "k", 1)),
                             arg_number(1)};
        fixture_command(&f, argv, 3);
        ck_assert_uint_eq(engine_stats(f.engine).repl_buffer_bytes, 20480 + 24);
        fixture_stop(&f);
    }
}
END_TEST

/* --- the backlog before 7.0 --- */

static void start_private(struct fixture *f, struct backlog *b, struct memory *memory,
                          uint64_t size_bytes) {
    fixture_init(f, "redis-5.0", &prices);
    memory_init(memory, f->env.allocator, 0);
    backlog_init(b, memory, size_bytes);
    b->policy = &f->env.generation->backlog;
}

/* Exactly its size, there whole from the first replica on, and its history never longer. */
START_TEST(before_7_0_the_backlog_is_a_ring_of_its_size) {
    struct fixture f;
    struct backlog b;
    struct memory memory;
    start_private(&f, &b, &memory, 1 << 20);
    ck_assert_int_eq(memory.used_bytes, 0);
    backlog_activate(&b);
    backlog_activate(&b);
    ck_assert_int_eq(memory.bytes[MEMORY_BACKLOG], 1 << 20);
    for (int i = 0; i < 30; i++) {
        backlog_feed(&b, 100000);
        backlog_check(&b);
        uint64_t fed = 100000 * (uint64_t)(i + 1);
        ck_assert_uint_eq(b.histlen_bytes, fed < 1 << 20 ? fed : 1 << 20);
        ck_assert_int_eq(b.master_repl_offset, (int64_t)fed);
    }
    ck_assert_int_eq(backlog_first_offset(&b), 3000000 - (1 << 20) + 1);
    ck_assert_int_eq(memory.used_bytes, 1 << 20);
    drop(&f, &b);
    ck_assert_int_eq(memory.used_bytes, 0);
}
END_TEST

/* Two replicas that take nothing weigh twice what one does. 160,000 tokens of a byte each: 16,384
 * in the client, 143,616 in eight blocks of 20,464. */
START_TEST(before_7_0_each_replica_has_its_own_copy) {
    struct fixture f;
    struct backlog b;
    struct memory memory;
    start_private(&f, &b, &memory, 1 << 20);
    backlog_activate(&b);
    int one = backlog_attach(&b), two = backlog_attach(&b);
    for (int i = 0; i < 160000; i++) backlog_feed(&b, 1);
    int64_t each = 8 * (20480 + 32);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], 2 * each);
    ck_assert_uint_eq(b.repl_buffer_bytes, (1 << 20) + 2 * (uint64_t)each);
    backlog_sent(&b, one, 160000);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], each);
    ck_assert_uint_eq(backlog_pending_bytes(&b, two), 160000);
    backlog_check(&b);
    backlog_detach(&b, two);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], 0);
    drop(&f, &b);
}
END_TEST

/* 5.0 resizeReplicationBacklog drops what was there, unless the size is the same. */
START_TEST(before_7_0_a_resized_backlog_forgets_its_history) {
    struct fixture f;
    struct backlog b;
    struct memory memory;
    start_private(&f, &b, &memory, 1 << 20);
    backlog_activate(&b);
    backlog_feed(&b, 5000);
    backlog_resize(&b, 1 << 20);
    ck_assert_uint_eq(b.histlen_bytes, 5000);
    backlog_resize(&b, 1 << 21);
    ck_assert_uint_eq(b.histlen_bytes, 0);
    ck_assert_int_eq(backlog_first_offset(&b), 5001);
    ck_assert_int_eq(memory.bytes[MEMORY_BACKLOG], 1 << 21);
    drop(&f, &b);
}
END_TEST

/* EXISTS names one key ten times; a reading of the clock takes 1 ms, and the key dies 5 ms after
 * the command has begun. Since 5.0 the command's time is that of its beginning, so the key lives
 * through it. Before, a look finds it dead once the clock has moved on by 5 ms. */
static int64_t looks_that_found_it(const char *generation) {
    struct fixture f;
    prices.ps[COST_CLOCK_READ] = PS_PER_US * 1000;
    start(&f, generation);
    key_id key = fixture_keys(&f, "k", 1);
    fixture_preload(&f, 0, key, 1, fixture_wall_ms(&f) + 5);
    struct arg argv[11] = {arg_word(f.texts, texts_intern(f.texts, "EXISTS", 6))};
    for (int i = 1; i <= 10; i++) argv[i] = arg_key(f.keys, key);
    fixture_command(&f, argv, 11);
    prices.ps[COST_CLOCK_READ] = 0;
    int64_t found = f.reply[0].integer;
    ck_assert_uint_eq(f.expired_lazily, found < 10);
    if (found < 10) ck_assert_int_ge(f.late_min_ms, 1);
    fixture_stop(&f);
    return found;
}

START_TEST(a_key_may_die_within_a_command_up_to_4_0) {
    ck_assert_int_eq(looks_that_found_it("redis-7.0"), 10);
    ck_assert_int_eq(looks_that_found_it("redis-5.0"), 10);
    int64_t found = looks_that_found_it("redis-4.0");
    ck_assert_int_gt(found, 0);
    ck_assert_int_lt(found, 6);
}
END_TEST

/* One reading a look at a key with a TTL, none without. */
START_TEST(each_look_reads_the_clock_up_to_4_0) {
    static const char *const names[] = {"redis-5.0", "redis-4.0"};
    uint64_t reads[2][2];
    for (int i = 0; i < 2; i++) {
        for (int ttl = 0; ttl < 2; ttl++) {
            struct fixture f;
            start(&f, names[i]);
            key_id key = fixture_keys(&f, "k", 1);
            fixture_preload(&f, 0, key, 1, ttl ? fixture_wall_ms(&f) + 5000 : -1);
            struct arg argv[] = {arg_word(f.texts, WORD_GET), arg_key(f.keys, key)};
            uint64_t before = engine_stats(f.engine).clock_reads;
            fixture_command(&f, argv, 2);
            reads[i][ttl] = engine_stats(f.engine).clock_reads - before;
            fixture_stop(&f);
        }
    }
    ck_assert_uint_eq(reads[0][0], reads[0][1]);
    ck_assert_uint_eq(reads[1][0], reads[0][0]);
    ck_assert_uint_eq(reads[1][1], reads[0][1] + 1);
}
END_TEST

/* hz 1 doubles while there are more than 200 clients a call (facts 5.1.1): 450, 225, 112. */
static uint32_t hz_with_450_clients(const char *generation) {
    struct fixture f;
    fixture_init(&f, generation, &prices);
    f.config.hz = 1;
    fixture_start(&f);
    for (int i = 0; i < 449; i++) engine_connect(f.engine);
    fixture_cron_turn(&f);
    uint32_t hz = engine_stats(f.engine).hz;
    fixture_stop(&f);
    return hz;
}

START_TEST(hz_follows_the_clients_since_5_0) {
    ck_assert_uint_eq(hz_with_450_clients("redis-7.0"), 4);
    ck_assert_uint_eq(hz_with_450_clients("redis-5.0"), 4);
    ck_assert_uint_eq(hz_with_450_clients("redis-4.0"), 1);
}
END_TEST

/* What SETEX sends after SELECT: its own words, or SET ... PXAT. */
static uint64_t setex_stream_bytes(const char *generation) {
    struct fixture f;
    start(&f, generation);
    engine_replica_attach(f.engine);
    struct arg argv[] = {arg_word(f.texts, WORD_SETEX), arg_key(f.keys, fixture_keys(&f, "k", 1)),
                         arg_number(100), arg_number(7)};
    fixture_command(&f, argv, 4);
    uint64_t bytes = f.stream_bytes;
    fixture_stop(&f);
    return bytes;
}

/* *2 $6 SELECT $1 0: 23. *4 $5 SETEX $2 k0 $3 100 $1 7: 4 + 11 + 8 + 9 + 7. *5 $3 SET $2 k0 $1 7 $4
 * PXAT $13 and 13 digits: 4 + 9 + 8 + 7 + 10 + 20 (facts 6.2). */
START_TEST(relative_deadlines_leave_as_they_came_before_7_0) {
    ck_assert_uint_eq(setex_stream_bytes("redis-4.0"), 23 + 39);
    ck_assert_uint_eq(setex_stream_bytes("redis-5.0"), 23 + 39);
    ck_assert_uint_eq(setex_stream_bytes("redis-7.0.5"), 23 + 58);
    ck_assert_uint_eq(setex_stream_bytes("redis-7.0"), 23 + 58);
}
END_TEST

/* On a replica, a key past its deadline: GET finds nothing from 3.2 on; the look of EXPIRE, which
 * writes, still finds it up to 6.2 (facts 3.6.8). On a writable replica, as a read-only one would
 * refuse EXPIRE. */
static int64_t replica_finds(const char *generation, bool writes) {
    struct fixture f;
    fixture_init(&f, generation, &prices);
    f.config.is_replica = true;
    f.config.replica_read_only = false;
    fixture_start(&f);
    key_id key = fixture_keys(&f, "k", 1);
    fixture_preload(&f, 0, key, 1, fixture_wall_ms(&f) - 5);
    struct arg read[] = {arg_word(f.texts, texts_intern(f.texts, "EXISTS", 6)),
                         arg_key(f.keys, key)};
    struct arg write[] = {arg_word(f.texts, WORD_EXPIRE), arg_key(f.keys, key), arg_number(100)};
    fixture_command(&f, writes ? write : read, writes ? 3 : 2);
    int64_t found = f.reply[0].integer;
    fixture_stop(&f);
    return found;
}

START_TEST(a_replica_hides_dead_keys_from_reads_and_since_7_0_from_writes) {
    for (size_t i = 0; generation_at(i); i++) {
        const struct generation *g = generation_at(i);
        ck_assert_int_eq(replica_finds(g->name, false), 0);
        ck_assert_int_eq(replica_finds(g->name, true), strncmp(g->version, "7.", 2) != 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("generation");
    TCase *tcase = tcase_create("generation");
    tcase_add_test(tcase, a_row_s_name_is_the_beginning_of_its_release);
    tcase_add_test(tcase, a_block_grows_as_large_as_the_write_only_up_to_7_0_9);
    tcase_add_test(tcase, a_small_write_takes_16_kib_in_every_7_0);
    tcase_add_test(tcase, before_7_0_the_backlog_is_a_ring_of_its_size);
    tcase_add_test(tcase, before_7_0_each_replica_has_its_own_copy);
    tcase_add_test(tcase, before_7_0_a_resized_backlog_forgets_its_history);
    tcase_add_test(tcase, a_key_may_die_within_a_command_up_to_4_0);
    tcase_add_test(tcase, each_look_reads_the_clock_up_to_4_0);
    tcase_add_test(tcase, hz_follows_the_clients_since_5_0);
    tcase_add_test(tcase, relative_deadlines_leave_as_they_came_before_7_0);
    tcase_add_test(tcase, a_replica_hides_dead_keys_from_reads_and_since_7_0_from_writes);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
