/* A writable replica, its link down, beside the engine as one: replies byte for byte, what is
 * deleted and counted, and how many names are remembered. Which of them the cron picks is chance on
 * both sides, so all deadlines of a round fall together: at any cron all are dead, or none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define NOBODY   "7919" /* no master listens there */
#define ROUNDS   6
#define COMMANDS 300 /* a round */
#define NAMES    120
#define ROUND_MS 2000
#define LATE_MS  1050 /* past the deadlines, before the crons are looked at */
#define DRAWN    6

static struct lockstep *begin(const char *about) {
    static const char *const arguments[] = {
        "--replicaof",  "127.0.0.1", NOBODY, "--replica-read-only", "no", "--hz", "10",
        "--dynamic-hz", "no",        NULL};
    struct lockstep *ls = calloc(1, sizeof *ls);
    struct engine_config config = engine_config_default();
    ASSERT(ls);
    config.is_replica = true;
    config.replica_read_only = false;
    config.dynamic_hz = false;
    ls->about = about;
    ls->oracle = oracle_start(0, arguments);
    lockstep_make_engine(ls, 0, &config);
    ls->asker = lockstep_connect(ls);
    return ls;
}

static uint64_t server_says(struct lockstep *ls, const char *field) {
    static const char *const info[] = {"INFO", "everything"};
    const char *at = strstr(oracle_ask(ls->oracle, ls->asker.link, 2, info), field);
    ck_assert_msg(at, "no %s", field);
    tally_add(TALLY_FIGURES, 1);
    return strtoull(at + strlen(field), NULL, 10);
}

static void compare_counts(struct lockstep *ls) {
    ck_assert_uint_eq(engine_stats(ls->engine).expired_keys, server_says(ls, "expired_keys:"));
    ck_assert_uint_eq(expire_replica_count(&ls->engine->remembered),
                      server_says(ls, "slave_expires_tracked_keys:"));
}

static struct arg key_arg(struct lockstep *ls, uint32_t number) {
    char name[24];
    int length = snprintf(name, sizeof name, "key:%u", number);
    return arg_key(names_keys(ls->names), names_intern(ls->names, name, (size_t)length));
}

static void command(struct lockstep *ls, const char *name, struct arg key, const char *third,
                    int64_t number) {
    struct arg argv[5] = {lockstep_word(ls, name), key};
    uint32_t argc = 2;
    if (third) argv[argc++] = lockstep_word(ls, third);
    if (number) argv[argc++] = arg_number(number);
    lockstep_command(ls, &ls->asker, argv, argc);
}

static void set_until(struct lockstep *ls, struct arg key, int64_t deadline_ms) {
    struct arg argv[5] = {lockstep_word(ls, "SET"), key, arg_number(41), lockstep_word(ls, "PXAT"),
                          arg_number(deadline_ms)};
    lockstep_command(ls, &ls->asker, argv, 5);
}

static void look(struct lockstep *ls, struct arg key) {
    command(ls, "GET", key, NULL, 0);
    command(ls, "PTTL", key, NULL, 0);
    command(ls, "EXISTS", key, NULL, 0);
    struct arg dbsize = lockstep_word(ls, "DBSIZE");
    lockstep_command(ls, &ls->asker, &dbsize, 1);
}

/* One of the writes that meet living and dead keys. */
static void draw_write(struct lockstep *ls, struct rng *rng, struct arg key, int64_t deadline_ms) {
    static const char *const plain[] = {"INCR", "DEL", "UNLINK", "PERSIST", "GETDEL"};
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
        set_until(ls, key, deadline_ms);
        return;
    case 2:
        command(ls, "PEXPIREAT", key, NULL, deadline_ms);
        return;
    case 3:
        command(ls, "GETEX", key, "PXAT", deadline_ms);
        return;
    case 4:
        command(ls, "SET", key, "1", 0);
        return;
    default:
        command(ls, plain[rng_below(rng, 5)], key, NULL, 0);
    }
}

/* The cron is stopped while dead keys are met by commands: DEBUG SET-ACTIVE-EXPIRE 0. */
static void set_active(struct lockstep *ls, bool active) {
    struct arg argv[] = {lockstep_word(ls, "DEBUG"), lockstep_word(ls, "SET-ACTIVE-EXPIRE"),
                         lockstep_word(ls, active ? "1" : "0")};
    lockstep_command(ls, &ls->asker, argv, 3);
}

static void draw_commands(struct lockstep *ls, struct rng *rng, int64_t deadline_ms) {
    for (int i = 0; i < COMMANDS; i++) {
        struct arg key = key_arg(ls, (uint32_t)rng_below(rng, NAMES));
        if (rng_chance(rng, 1, 4))
            look(ls, key);
        else
            draw_write(ls, rng, key, deadline_ms);
    }
}

/* Living keys, then the same names dead, with the cron at rest, then the cron. */
static void play_round(struct lockstep *ls, struct rng *rng) {
    int64_t deadline_ms = lockstep_now_ms(ls) + ROUND_MS;
    set_active(ls, false);
    draw_commands(ls, rng, deadline_ms);
    compare_counts(ls);
    lockstep_grant(ls, (ROUND_MS + LATE_MS) * US_PER_MS);
    draw_commands(ls, rng, deadline_ms);
    compare_counts(ls);
    set_active(ls, true);
    lockstep_grant(ls, 1000 * US_PER_MS);
    compare_counts(ls);
    ck_assert_uint_eq(expire_replica_count(&ls->engine->remembered), 0);
    look(ls, key_arg(ls, 0));
}

START_TEST(its_own_clients_keys_go_as_the_server_s_do) {
    struct rng rng = rng_seed(test_seed() + (uint64_t)_i);
    struct lockstep *ls = begin("a writable replica");
    for (int i = 0; i < ROUNDS; i++) play_round(ls, &rng);
    ck_assert_uint_gt(engine_stats(ls->engine).expired_keys, 100);
    lockstep_stop(ls);
}
END_TEST

/* Four living names end a cron's visit, so of 3,000 that live for ever none goes. */
START_TEST(living_keys_stay_and_stay_remembered) {
    struct lockstep *ls = begin("a writable replica's living keys");
    for (uint32_t i = 0; i < 3000; i++)
        set_until(ls, key_arg(ls, i), lockstep_now_ms(ls) + 100000000);
    lockstep_grant(ls, 10000 * US_PER_MS);
    compare_counts(ls);
    ck_assert_uint_eq(expire_replica_count(&ls->engine->remembered), 3000);
    struct arg flushall = lockstep_word(ls, "FLUSHALL");
    lockstep_command(ls, &ls->asker, &flushall, 1);
    compare_counts(ls);
    lockstep_stop(ls);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle writable");
    TCase *tcase = tcase_create("writable");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, its_own_clients_keys_go_as_the_server_s_do, 0,
                        (int)test_rounds(DRAWN));
    tcase_add_test(tcase, living_keys_stay_and_stay_remembered);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "writable");
}
