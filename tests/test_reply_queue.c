#include "reply_queue.h"

#include "support.h"

#define MIB (1024 * 1024)

/* 16,384 + 16 falls into the class of 20,480, which leaves 20,464; a list node of 24 takes 32 of
 * Debian's allocator. */
#define BLOCK_BYTES  20464
#define BOOKED_BYTES (20480 + 32)

static struct memory memory;
static struct reply_queue q;

static void start(void) {
    memory_init(&memory, allocator_find("debian"), 0);
    q = (struct reply_queue){0};
}

static void put(uint64_t bytes) {
    reply_queue_put(&q, &memory, bytes);
    reply_queue_check(&q);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], (int64_t)q.booked_bytes);
}

static void take(uint64_t bytes) {
    reply_queue_take(&q, &memory, bytes);
    reply_queue_check(&q);
    ck_assert_int_eq(memory.bytes[MEMORY_REPLICA_BUFFERS], (int64_t)q.booked_bytes);
}

static void stop(void) {
    reply_queue_drop(&q, &memory);
    ck_assert_int_eq(memory.used_bytes, 0);
}

START_TEST(the_first_16_kib_weigh_nothing) {
    start();
    for (int i = 0; i < 16384; i++) put(1);
    ck_assert_uint_eq(reply_queue_memory(&q), 0);
    ck_assert_int_eq(memory.used_bytes, 0);
    put(1);
    ck_assert_uint_eq(q.block_count, 1);
    ck_assert_uint_eq(reply_queue_memory(&q), BLOCK_BYTES + 24 + 16);
    ck_assert_int_eq(memory.used_bytes, BOOKED_BYTES);
    ck_assert_uint_eq(q.pending_bytes, 16385);
    stop();
}
END_TEST

/* What the buffer has no room for goes to the list whole, and all after it, though there were room.
 */
START_TEST(a_token_is_not_parted_between_buffer_and_list) {
    start();
    put(16000);
    put(385);
    ck_assert_uint_eq(q.buffer_bytes, 16000);
    ck_assert_uint_eq(q.blocks[0].used_bytes, 385);
    put(1);
    ck_assert_uint_eq(q.buffer_bytes, 16000);
    ck_assert_uint_eq(q.blocks[0].used_bytes, 386);
    stop();
}
END_TEST

/* But between two blocks it is: the tail is filled, the rest gets a block. */
START_TEST(a_token_fills_the_last_block_first) {
    start();
    put(20000);
    put(1000);
    ck_assert_uint_eq(q.block_count, 2);
    ck_assert_uint_eq(q.blocks[0].used_bytes, BLOCK_BYTES);
    ck_assert_uint_eq(q.blocks[1].used_bytes, 21000 - BLOCK_BYTES);
    stop();
}
END_TEST

/* 3 MiB and 16: the class of 3,670,016. */
START_TEST(a_long_token_gets_one_block_to_its_measure) {
    start();
    put(3 * MIB);
    ck_assert_uint_eq(q.block_count, 1);
    ck_assert_uint_eq(q.blocks[0].size_bytes, 3670016 - 16);
    ck_assert_uint_eq(reply_queue_memory(&q), 3670016 - 16 + 40);
    stop();
}
END_TEST

/* A block is given back with its last byte; the buffer is used again only once it is empty. */
START_TEST(blocks_leave_with_their_last_byte) {
    start();
    put(16384);
    put(20464);
    put(1);
    take(16383);
    put(1);
    ck_assert_uint_eq(q.block_count, 2);
    take(1 + 20463);
    ck_assert_uint_eq(q.block_count, 2);
    take(1);
    ck_assert_uint_eq(q.block_count, 1);
    take(2);
    ck_assert_uint_eq(q.block_count, 0);
    ck_assert_uint_eq(reply_queue_memory(&q), 0);
    put(100);
    ck_assert_uint_eq(q.buffer_bytes, 100);
    stop();
}
END_TEST

/* Drawn tokens and portions: nothing is lost, and with all sent nothing weighs any more. */
START_TEST(what_goes_in_comes_out) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    uint64_t in = 0, out = 0;
    start();
    for (int i = 0; i < 5000; i++) {
        uint64_t bytes = 1 + rng_below(&rng, 1 + rng_below(&rng, 60000));
        put(bytes);
        in += bytes;
        if (rng_chance(&rng, 1, 2)) continue;
        uint64_t portion = rng_below(&rng, q.pending_bytes + 1);
        take(portion);
        out += portion;
        ck_assert_uint_eq(q.pending_bytes, in - out);
    }
    take(q.pending_bytes);
    ck_assert_int_eq(memory.used_bytes, 0);
    put(7);
    stop();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reply queue");
    TCase *tcase = tcase_create("reply queue");
    tcase_add_test(tcase, the_first_16_kib_weigh_nothing);
    tcase_add_test(tcase, a_token_is_not_parted_between_buffer_and_list);
    tcase_add_test(tcase, a_token_fills_the_last_block_first);
    tcase_add_test(tcase, a_long_token_gets_one_block_to_its_measure);
    tcase_add_test(tcase, blocks_leave_with_their_last_byte);
    tcase_add_loop_test(tcase, what_goes_in_comes_out, 0, (int)test_rounds(10));
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
