#include "backlog.h"
#include "support.h"

#define BLOCK_BYTES                                                                                \
    20440 /* request 16384 + 40, class 20480 with 16-byte quanta, less the header (facts 7.2.3) */
#define MIB (1024 * 1024)

static void start(struct backlog *b, struct memory *memory, uint64_t size_bytes) {
    memory_init(memory, allocator_find("debian"), 0);
    backlog_init(b, memory, size_bytes);
    backlog_activate(b);
}

static void stop(struct backlog *b, struct memory *memory) {
    backlog_check(b);
    backlog_release(b);
    ck_assert_int_eq(memory->used_bytes, 0);
}

/* Facts 7.2.4 and 7.2.8: one standard block shows 20504 = 20480 + 24; the allocator gives the list
 * node 32. */
START_TEST(first_byte_takes_a_block_of_20504_bytes) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    backlog_feed(&b, 1);
    ck_assert_uint_eq(b.repl_buffer_bytes, 20504);
    ck_assert_int_eq(memory.used_bytes, 20480 + 32);
    ck_assert_int_eq(b.master_repl_offset, 1);
    ck_assert_uint_eq(b.histlen_bytes, 1);
    backlog_feed(&b, BLOCK_BYTES - 1);
    ck_assert_uint_eq(b.block_count, 1);
    backlog_feed(&b, 1);
    ck_assert_uint_eq(b.block_count, 2);
    stop(&b, &memory);
}
END_TEST

/* Facts 7.2.4: 60,000 bytes at once: 60,040 falls in the class of 65,536, so 65,496 of payload. */
START_TEST(one_long_token_gets_a_block_to_its_measure) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    backlog_feed(&b, 60000);
    ck_assert_uint_eq(b.block_count, 1);
    ck_assert_uint_eq(b.blocks[0].size_bytes, 65496);
    stop(&b, &memory);
}
END_TEST

/* A block is at most a sixteenth of the backlog: 200,000 bytes take 65,536 + 40 (class 81,920)
 * three times: 81,880 each. */
START_TEST(blocks_are_at_most_a_sixteenth_of_the_backlog) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    backlog_feed(&b, 200000);
    ck_assert_uint_eq(b.block_count, 3);
    ck_assert_uint_eq(b.blocks[0].size_bytes, 81880);
    ck_assert_uint_eq(b.blocks[2].used_bytes, 200000 - 2 * 81880);
    stop(&b, &memory);
}
END_TEST

START_TEST(nothing_moves_without_a_backlog) {
    struct backlog b;
    struct memory memory;
    memory_init(&memory, allocator_find("debian"), 0);
    backlog_init(&b, &memory, MIB);
    backlog_feed(&b, 1000);
    ck_assert_int_eq(b.master_repl_offset, 0);
    ck_assert_int_eq(memory.used_bytes, 0);
    backlog_release(&b);
}
END_TEST

/* Facts 7.2.7: history stays above the size and within one block of it. */
START_TEST(history_is_at_least_the_backlogs_size_and_at_most_a_block_more) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    for (int i = 0; i < 5000; i++) {
        backlog_feed(&b, 1000);
        backlog_trim(&b, 640); /* as beforeSleep does */
        backlog_check(&b);
        if (b.master_repl_offset <= MIB + BLOCK_BYTES) continue;
        ck_assert_uint_gt(b.histlen_bytes, MIB);
        ck_assert_uint_le(b.histlen_bytes, MIB + BLOCK_BYTES);
        ck_assert_int_eq(backlog_first_offset(&b),
                         b.master_repl_offset - (int64_t)b.histlen_bytes + 1);
    }
    stop(&b, &memory);
}
END_TEST

START_TEST(slow_replica_holds_the_history_and_its_share_is_booked_as_its_buffer) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    int reader = backlog_attach(&b);
    backlog_feed(&b, 5 * MIB);
    ck_assert_uint_eq(b.histlen_bytes, 5 * MIB);
    ck_assert_uint_eq(backlog_pending_bytes(&b, reader), 5 * MIB);
    ck_assert_int_eq(memory.bytes[MEMORY_BACKLOG], MIB);
    ck_assert_int_gt(memory.bytes[MEMORY_REPLICA_BUFFERS], 4 * MIB);
    backlog_sent(&b, reader, b.master_repl_offset);
    backlog_trim(&b, 640);
    ck_assert_uint_le(b.histlen_bytes, MIB + 81880);
    ck_assert_uint_eq(backlog_pending_bytes(&b, reader), 0);
    stop(&b, &memory);
}
END_TEST

START_TEST(random_feeds_and_readers_keep_every_invariant) {
    struct rng rng = rng_seed(test_seed());
    struct backlog b;
    struct memory memory;
    start(&b, &memory, 64 * 1024);
    int64_t sent[REPLICAS_MAX];
    int readers = 0;
    for (uint32_t i = 0; i < test_rounds(20000); i++) {
        uint64_t what = rng_below(&rng, 20);
        if (what == 0 && readers < 4) {
            int slot = backlog_attach(&b);
            ck_assert_int_eq(slot, readers++);
            sent[slot] = b.master_repl_offset;
        } else if (what < 10) {
            int64_t before = b.master_repl_offset;
            uint64_t bytes = 1 + rng_below(&rng, what == 1 ? 200000 : 3000);
            backlog_feed(&b, bytes);
            ck_assert_int_eq(b.master_repl_offset, before + (int64_t)bytes);
        } else if (what < 19 && readers > 0) {
            int slot = (int)rng_below(&rng, (uint64_t)readers);
            sent[slot] +=
                (int64_t)rng_below(&rng, (uint64_t)(b.master_repl_offset - sent[slot]) + 1);
            backlog_sent(&b, slot, sent[slot]);
            ck_assert_uint_eq(backlog_pending_bytes(&b, slot),
                              (uint64_t)(b.master_repl_offset - sent[slot]));
        } else {
            backlog_trim(&b, 640);
        }
        for (int r = 0; r < readers; r++) /* what a replica has not got is still there */
            ck_assert(sent[r] == b.master_repl_offset || backlog_first_offset(&b) <= sent[r] + 1);
        backlog_check(&b);
    }
    for (int r = 0; r < readers; r++) backlog_detach(&b, r);
    stop(&b, &memory);
}
END_TEST

/* Three blocks of 20,440: a reader that wants byte 20,441 starts in the first one, which ends right
 * before it; one that wants the next in the second. */
START_TEST(reader_attaches_at_the_block_that_holds_its_byte) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    for (int i = 0; i < 5; i++) backlog_feed(&b, BLOCK_BYTES / 2);
    ck_assert_uint_eq(b.block_count, 3);
    static const int64_t offsets[] = {1, BLOCK_BYTES, BLOCK_BYTES + 1, BLOCK_BYTES + 2, 51101};
    static const uint64_t blocks[] = {0, 0, 0, 1, 2};
    for (int i = 0; i < 5; i++) {
        backlog_attach_at(&b, i, offsets[i]);
        ck_assert_uint_eq(b.readers[i].block - b.first_block, blocks[i]);
        ck_assert_uint_eq(backlog_pending_bytes(&b, i), (uint64_t)(51101 - offsets[i]));
        backlog_check(&b);
    }
    backlog_sent(&b, 0, 51100);
    ck_assert_uint_eq(b.readers[0].block - b.first_block, 2);
    stop(&b, &memory);
}
END_TEST

/* Facts 7.8 and 7.2.8: 20,440 + 64 for a reader of the last block, whatever is unsent in it; three
 * blocks' sizes and 3 x 64 from the first. */
START_TEST(reader_is_charged_with_whole_blocks) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    ck_assert_int_eq(backlog_attach(&b), 0);
    ck_assert_uint_eq(backlog_reader_memory(&b, 0), 0);
    backlog_feed(&b, 1);
    ck_assert_uint_eq(backlog_reader_memory(&b, 0), 20504);
    backlog_sent(&b, 0, 1);
    ck_assert_uint_eq(backlog_reader_memory(&b, 0), 20504);
    backlog_feed(&b, BLOCK_BYTES - 1);
    for (int i = 0; i < 3; i++) backlog_feed(&b, BLOCK_BYTES / 2);
    ck_assert_uint_eq(backlog_reader_memory(&b, 0), 3 * 20504);
    stop(&b, &memory);
}
END_TEST

START_TEST(forgotten_history_starts_again_where_it_is_told) {
    struct backlog b;
    struct memory memory;
    start(&b, &memory, MIB);
    for (int i = 0; i < 200; i++) backlog_feed(&b, 7000);
    backlog_forget(&b, 77);
    ck_assert_int_eq(memory.used_bytes, 0);
    backlog_activate(&b);
    ck_assert_int_eq(backlog_first_offset(&b), 78);
    backlog_feed(&b, 10);
    ck_assert_int_eq(b.master_repl_offset, 87);
    ck_assert_uint_eq(b.histlen_bytes, 10);
    backlog_attach_at(&b, 3, 88);
    ck_assert_uint_eq(backlog_pending_bytes(&b, 3), 0);
    stop(&b, &memory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("backlog");
    TCase *tcase = tcase_create("backlog");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, first_byte_takes_a_block_of_20504_bytes);
    tcase_add_test(tcase, one_long_token_gets_a_block_to_its_measure);
    tcase_add_test(tcase, blocks_are_at_most_a_sixteenth_of_the_backlog);
    tcase_add_test(tcase, nothing_moves_without_a_backlog);
    tcase_add_test(tcase, reader_attaches_at_the_block_that_holds_its_byte);
    tcase_add_test(tcase, reader_is_charged_with_whole_blocks);
    tcase_add_test(tcase, forgotten_history_starts_again_where_it_is_told);
    tcase_add_test(tcase, history_is_at_least_the_backlogs_size_and_at_most_a_block_more);
    tcase_add_test(tcase, slow_replica_holds_the_history_and_its_share_is_booked_as_its_buffer);
    tcase_add_test(tcase, random_feeds_and_readers_keep_every_invariant);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
