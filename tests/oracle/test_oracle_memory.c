/* Memory: used_memory per key equals what real servers take, for both allocators by figures once
 * measured, and to the byte beside the live server, for shapes of keys and values that are drawn.
 */
#include <stdio.h>
#include <string.h>

#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define KEYS         131072 /* exactly a table's size, so nothing is half full */
#define DRAWN_SHAPES 20
#define DRAWN_KEYS   3000
#define WIDTH        8

static ms_t far_or_none(uint32_t index, ms_t now_ms, const void *context) {
    (void)index;
    return *(const bool *)context ? now_ms + 100000000 : -1;
}

/* Measured on real servers, 131,072 keys of 13 bytes; tenths of a byte a key. Without TTL the first
 * measurement also held some 50 kB of the server's own; 120.0 and 104.0 is what the keys take. */
static const struct measured {
    uint32_t value_bytes;
    bool has_ttl;
    int64_t debian_tenths, bundled_tenths;
} measured[] = {
    {5, true, 1280, 1120},      {32, true, 1600, 1360},  {100, true, 2240, 2080},
    {1000, true, 11360, 11200}, {32, false, 1200, 1040},
};

/* The engine alone, under an allocator that the live server may not have. */
static int64_t engine_bytes(const char *allocator, const struct measured *m) {
    struct lockstep ls = {0};
    struct engine_config config = engine_config_default();
    struct object value = object_from_fill(m->value_bytes);
    lockstep_make_engine(&ls, 0, &config);
    ls.env.allocator = allocator_find(allocator);
    engine_destroy(ls.engine);
    ls.engine = engine_create(&ls.env, &config);
    key_id first = names_add_range(ls.names, "key:", "", 9, 0, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        engine_preload(ls.engine, 0, first + i, &value, m->has_ttl ? INT64_C(9000000000000) : -1);
    int64_t bytes = engine_stats(ls.engine).used_memory_bytes - (int64_t)config.startup_bytes;
    lockstep_drop_engine(&ls);
    return bytes;
}

static void check_tenths(const char *allocator, const struct measured *m, int64_t tenths) {
    int64_t bytes = engine_bytes(allocator, m), expected = tenths * KEYS / 10;
    int64_t off = bytes > expected ? bytes - expected : expected - bytes;
    ck_assert_msg(off * 1000 <= expected, "%s, %u bytes: %lld instead of %lld", allocator,
                  m->value_bytes, (long long)bytes, (long long)expected);
}

START_TEST(bytes_per_key_are_those_measured_within_a_thousandth) {
    check_tenths("debian", &measured[_i], measured[_i].debian_tenths);
    check_tenths("bundled", &measured[_i], measured[_i].bundled_tenths);
}
END_TEST

START_TEST(the_live_server_takes_the_same_to_the_byte) {
    const struct measured *m = &measured[_i];
    struct lockstep_config config = {.tick_us = 0};
    struct lockstep *ls = lockstep_start("131,072 keys of 13 bytes", &config);
    key_id first = names_add_range(ls->names, "key:", "", 9, 0, KEYS);
    lockstep_load(ls, 0, first, KEYS, m->value_bytes, far_or_none, &m->has_ttl);
    lockstep_steps(ls, 30, 100 * US_PER_MS);
    lockstep_stop(ls);
}
END_TEST

/* A prefix that makes names of that length. */
static key_id add_names(struct lockstep *ls, uint32_t key_bytes) {
    char prefix[256];
    uint32_t length = key_bytes - WIDTH;
    ASSERT(length < sizeof prefix);
    memset(prefix, 'k', length);
    prefix[length] = '\0';
    return names_add_range(ls->names, prefix, "", WIDTH, 0, DRAWN_KEYS);
}

START_TEST(a_drawn_shape_takes_the_same_to_the_byte) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    uint32_t key_bytes = WIDTH + (uint32_t)rng_below(&rng, 1 + rng_below(&rng, 200));
    uint32_t value_bytes = (uint32_t)rng_below(&rng, 1 + rng_below(&rng, _i % 5 ? 2000 : 60000));
    bool has_ttl = rng_chance(&rng, 1, 2);
    char about[96];
    struct lockstep_config config = {.tick_us = 10};
    snprintf(about, sizeof about, "keys of %u bytes, values of %u%s", key_bytes, value_bytes,
             has_ttl ? ", with TTL" : "");
    struct lockstep *ls = lockstep_start(about, &config);
    key_id first = add_names(ls, key_bytes);
    lockstep_load(ls, 0, first, value_bytes > 5000 ? DRAWN_KEYS / 10 : DRAWN_KEYS, value_bytes,
                  far_or_none, &has_ttl);
    lockstep_steps(ls, 30, 100 * US_PER_MS);
    lockstep_stop(ls);
}
END_TEST

static void set_text(struct lockstep *ls, struct lockstep_line *line, key_id key,
                     const char *text) {
    struct arg argv[] = {lockstep_word(ls, "SET"), arg_key(names_keys(ls->names), key),
                         lockstep_word(ls, text)};
    lockstep_queue(ls, line, argv, 3);
}

/* Shared integers weigh nothing, others live in the object; INCR moves between the two; a value
 * that is overwritten gives back what it took. */
START_TEST(integers_and_overwritten_values_take_the_same_to_the_byte) {
    static const char *const values[] = {"0",
                                         "9999",
                                         "10000",
                                         "-1",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "007",
                                         "1.5",
                                         "",
                                         "12345678901234567890123456789012345678901234",
                                         "123456789012345678901234567890123456789012345"};
    struct lockstep_config config = {.tick_us = 10};
    struct lockstep *ls = lockstep_start("integers", &config);
    key_id first = names_add_range(ls->names, "key:", "", 9, 0, 100);
    for (uint32_t round = 0; round < 40; round++) {
        struct lockstep_line line = lockstep_connect(ls);
        for (uint32_t i = 0; i < 100; i++) {
            struct arg incr[] = {lockstep_word(ls, "INCR"),
                                 arg_key(names_keys(ls->names), first + i)};
            set_text(ls, &line, first + i, values[(i * 7 + round * 3) % 11]);
            if ((i + round) % 3 == 0) lockstep_queue(ls, &line, incr, 2);
        }
        lockstep_flush(ls, &line);
        lockstep_disconnect(ls, &line);
        lockstep_steps(ls, 1, 100 * US_PER_MS);
    }
    lockstep_stop(ls);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

int main(void) {
    Suite *suite = suite_create("oracle memory");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, bytes_per_key_are_those_measured_within_a_thousandth, 0,
                        COUNT(measured));
    tcase_add_loop_test(tcase, the_live_server_takes_the_same_to_the_byte, 0, COUNT(measured));
    tcase_add_loop_test(tcase, a_drawn_shape_takes_the_same_to_the_byte, 0, DRAWN_SHAPES);
    tcase_add_test(tcase, integers_and_overwritten_values_take_the_same_to_the_byte);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "memory");
}
