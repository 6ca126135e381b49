/* How many incremental rehash steps each command makes in the keyspace dict and in the expires dict
 * (engine facts 1.7, observed on redis-server 7.0.15): the order of buckets, and with it what the
 * expire cycle meets, hangs on them. A step moves one bucket that is not empty, so they are counted
 * by the buckets of a snapshot that have gone. */
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "requests.h"

static struct rig rig;

#define KEYS 4300 /* both tables have grown from 4096 slots and are in the middle of moving */

static void setup(void) {
    rig_init(&rig, "redis-7.0");
    rig_start(&rig);
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16] = "k";
        for (uint32_t rest = i, d = 4; d > 0; rest /= 10, d--) name[d] = (char)('0' + rest % 10);
        key_id id = keys_add(rig.keys, name, 5);
        rig.key_names[id] = strdup(name);
        struct object value = object_from_number(i == 1 ? 12345 : i == 3 ? -1 : 5);
        engine_preload(rig.engine, 0, id, &value, i == 2 ? RIG_WALL_MS - 1 : RIG_WALL_MS + 100000);
    }
    struct object value = object_from_number(5);
    engine_preload(rig.engine, 0, rig_key(&rig, "plain"), &value, -1);
}

static void teardown(void) { rig_stop(&rig); }

struct moving {
    int64_t at;
    uint64_t size;
    bool *filled; /* by bucket of T0 */
};

static struct moving snapshot(const struct dict *d) {
    struct moving m = {.at = d->rehash_index, .size = dict_size(d, 0)};
    ck_assert(dict_rehashing(d));
    m.filled = calloc(m.size, sizeof *m.filled);
    for (uint64_t i = 0; i < m.size; i++) m.filled[i] = dict_bucket(d, 0, i) != KEY_NONE;
    return m;
}

static uint32_t steps_since(struct moving *m, const struct dict *d) {
    uint32_t steps = 0;
    ck_assert(dict_rehashing(d) && dict_size(d, 0) == m->size);
    for (int64_t i = m->at; i < d->rehash_index; i++) steps += m->filled[i];
    free(m->filled);
    return steps;
}

/* k0000, k0001 and k0003 live and have a TTL, k0002 is expired, plain has no TTL, nope is missing.
 */
static const struct row {
    const char *line, *reply;
    uint32_t main, expires;
} rows[] = {
    {"PING", "+PONG", 0, 0},
    {"GET nope", "(nil)", 1, 0},
    {"GET plain", "$5", 1, 1},
    {"GET k0000", "$5", 2, 1},
    {"GET k0002", "(nil)", 3, 2},
    {"EXISTS k0000", ":1", 2, 1},
    {"EXISTS k0000 nope plain", ":2", 4, 2},
    {"TOUCH k0000", ":1", 2, 1},
    {"TTL k0000", ":100", 3, 2},
    {"PEXPIRETIME plain", ":-1", 1, 2},
    {"TTL nope", ":-2", 1, 0},
    {"SET nope v", "+OK", 3, 1},
    {"SET k0000 v", "+OK", 4, 2},
    {"SET k0002 v", "+OK", 5, 3},
    {"SET k0000 v KEEPTTL", "+OK", 3, 1},
    {"SET k0000 v NX", "(nil)", 2, 1},
    {"SET k0000 v EX 10", "+OK", 5, 3},
    {"SET nope v PXAT 1700000000001", "+OK", 4, 2},
    {"SETEX k0000 10 v", "+OK", 5, 3},
    {"PSETEX nope 10 v", "+OK", 4, 2},
    {"SET k0000 v GET", "$5", 6, 3},
    {"GETEX k0000", "$5", 2, 1},
    {"GETEX k0000 EX 10", "$5", 3, 2},
    {"GETEX k0000 PXAT 1", "$5", 3, 2},
    {"GETEX k0000 PERSIST", "$5", 3, 2},
    {"GETDEL k0000", "$5", 3, 2},
    {"GETDEL nope", "(nil)", 2, 1}, /* the deletion is tried all the same */
    {"DEL k0000", ":1", 2, 2},      /* no look-up */
    {"DEL nope", ":0", 1, 2},
    {"DEL plain", ":1", 1, 2},
    {"UNLINK k0002", ":0", 3, 3}, /* expired, then deleted again */
    {"EXPIRE k0000 10", ":1", 3, 2},
    {"EXPIRE k0000 0", ":1", 3, 2},
    {"EXPIRE k0000 10 XX", ":1", 4, 3},
    {"EXPIRE k0000 10 NX", ":0", 3, 2},
    {"EXPIRE nope 10 NX", ":0", 1, 0},
    {"PERSIST k0000", ":1", 3, 2},
    {"PERSIST plain", ":0", 2, 2},
    {"INCR k0001", ":12346", 2, 1}, /* in place */
    {"INCR k0000", ":6", 3, 1},     /* a shared integer is replaced */
    {"INCR k0003", ":0", 3, 1},     /* an unshared one whose successor is shared, too */
    {"INCR nope", ":1", 2, 0},
    {"INCR k0002", ":1", 4, 2},
    {"DBSIZE", ":4301", 0, 0},
    {"RANDOMKEY", NULL, 2, 2},
};

START_TEST(steps_of_a_command) {
    const struct row *row = &rows[_i];
    const struct db *db = &rig.engine->dbs[0];
    struct moving main_before = snapshot(&db->main), expires_before = snapshot(&db->expires);
    struct exchange exchange = {row->line, row->reply};
    rig_converse(&rig, &exchange, 1);
    uint32_t main_steps = steps_since(&main_before, &db->main);
    uint32_t expires_steps = steps_since(&expires_before, &db->expires);
    ck_assert_msg(main_steps == row->main && expires_steps == row->expires,
                  "%s: %u and %u steps, expected %u and %u", row->line, main_steps, expires_steps,
                  row->main, row->expires);
}
END_TEST

static Suite *steps_suite(void) {
    Suite *suite = suite_create("command_steps");
    TCase *tcase = tcase_create("steps");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, steps_of_a_command, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void) { return test_run(steps_suite()); }
