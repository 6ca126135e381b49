/* Stream: what the server feeds to a replica is, byte for byte, what the engine feeds, PINGs on the
 * same grid, and master_repl_offset is equal at every step. */
#include <stdio.h>

#include "sequence.h"
#include "support.h"
#include "tally.h"

#define SEQUENCES 60
#define COMMANDS  1000

/* Writes in all their forms, and reads that delete what has expired. */
static const char *const templates[] = {
    "SET %k %v",
    "SET %k %v",
    "SET %k %v EX %s",
    "SET %k %v PX %m",
    "SET %k %v PX %m",
    "SET %k %v EXAT %S",
    "SET %k %v PXAT %M",
    "SET %k %v KEEPTTL",
    "SET %k %v NX",
    "SET %k %v XX",
    "SET %k %v GET",
    "SET %k %v NX GET",
    "SET %k %v XX GET PX %m",
    "SET %k %v NX PX %m",
    "SET %k %v GET KEEPTTL",
    "SETEX %k %s %v",
    "PSETEX %k %m %v",
    "GET %k",
    "GETEX %k EX %s",
    "GETEX %k PX %m",
    "GETEX %k EXAT %S",
    "GETEX %k PXAT %M",
    "GETEX %k PERSIST",
    "GETDEL %k",
    "INCR %k",
    "DEL %k",
    "DEL %k %k %k",
    "UNLINK %k %k",
    "EXISTS %k %k %k",
    "TOUCH %k %k",
    "EXPIRE %k %s",
    "EXPIRE %k %s NX",
    "EXPIRE %k %s XX",
    "EXPIRE %k %s GT",
    "PEXPIRE %k %m",
    "PEXPIRE %k %m LT",
    "EXPIREAT %k %S",
    "PEXPIREAT %k %M",
    "PEXPIREAT %k %M GT",
    "PERSIST %k",
    "PTTL %k",
    "SCAN %c",
    "SCAN %c TYPE string",
    "SELECT %d",
    "FLUSHDB",
    "FLUSHALL",
    "FLUSHALL ASYNC",
    "CONFIG SET lazyfree-lazy-expire %b",
    "CONFIG SET lazyfree-lazy-user-del %b",
    "CONFIG SET hz %h",
    "CONFIG SET repl-ping-replica-period %n",
    "CONFIG SET repl-backlog-size 16384",
    NULL,
};

static const struct vocabulary vocabulary = {.templates = templates, .may_spoil = true};

START_TEST(every_byte_of_a_random_sequence_is_the_servers) {
    struct sequence s;
    uint64_t seed = test_seed() + (uint64_t)_i;
    sequence_generate(&s, seed, COMMANDS, &vocabulary);
    s.with_replica = true;
    sequence_check(&s, seed);
    sequence_release(&s);
}
END_TEST

struct storm {
    const char *about;
    struct lockstep_config config;
    uint32_t keys, value_bytes;
    ms_t spread_ms;
    uint32_t steps;
    ms_t step_ms;
};

static const struct storm storms[] = {
    {"only PINGs", {.tick_us = 10}, 0, 0, 0, 400, 100},
    {"10,000 expire", {.tick_us = 100}, 10000, 32, 1500, 60, 100},
    {"10,000 expire, as UNLINK", {.tick_us = 200, .lazyfree = true}, 10000, 32, 1500, 60, 100},
    {"10,000 expire at hz 100", {.tick_us = 100, .hz = 100}, 10000, 32, 700, 150, 10},
    {"three databases expire", {.tick_us = 100, .databases_seen = 3}, 3000, 32, 700, 40, 100},
    {"the backlog overflows", {.tick_us = 100}, 3000, 1000, 900, 60, 100},
    {"values beyond a block", {.tick_us = 100}, 100, 20000, 900, 60, 100},
    {"values far beyond a block", {.tick_us = 100}, 30, 60000, 900, 60, 100},
};

static ms_t uniform(uint32_t index, ms_t now_ms, const void *context) {
    uint64_t scattered = index * UINT32_C(2654435761);
    return now_ms + 1 + (ms_t)(scattered * (uint64_t) * (const ms_t *)context >> 32);
}

START_TEST(every_byte_of_a_storm_is_the_servers_and_every_figure_besides) {
    const struct storm *t = &storms[_i];
    struct lockstep *ls = lockstep_start(t->about, &t->config);
    lockstep_attach_replica(ls);
    for (uint8_t db = 0; t->keys && db < ls->databases_seen; db++) {
        key_id first =
            names_add_range(ls->names, db ? "other:" : "key:", "", 8, db * t->keys, t->keys);
        lockstep_load(ls, db, first, t->keys, t->value_bytes, uniform, &t->spread_ms);
        lockstep_compare_stream(ls);
    }
    for (uint32_t i = 0; i < t->steps; i++) {
        lockstep_steps(ls, 1, t->step_ms * US_PER_MS);
        lockstep_compare_stream(ls);
    }
    lockstep_stop(ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle stream");
    TCase *tcase = tcase_create("stream");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_byte_of_a_storm_is_the_servers_and_every_figure_besides, 0,
                        (int)(sizeof storms / sizeof *storms));
    tcase_add_loop_test(tcase, every_byte_of_a_random_sequence_is_the_servers, 0,
                        (int)test_rounds(SEQUENCES));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "stream");
}
