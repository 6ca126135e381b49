#include "db.h"

#include <string.h>

#include "generation.h"
#include "propagate.h"
#include "support.h"

/* One database by itself: host, ledger and a sink that keeps the onlooker's books. */
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
    struct db db;
    int64_t volatile_keys, volatile_bytes;
    uint64_t expired;
};

static void on_added(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct bench *b = context;
    (void)deadline_ms;
    b->volatile_keys++;
    b->volatile_bytes += (int64_t)bytes;
}
static void on_removed(void *context, ms_t deadline_ms, uint64_t bytes) {
    struct bench *b = context;
    (void)deadline_ms;
    b->volatile_keys--;
    b->volatile_bytes -= (int64_t)bytes;
}
static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    struct bench *b = context;
    ck_assert_int_ge(late_ms, 1);
    ck_assert_int_eq(cause, EXPIRY_LAZY);
    b->expired++;
}

static const struct price_table no_prices = {.name = "zero"};

static void start(struct bench *b, const char *generation) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {7};
    const struct generation *g = generation_find(generation);
    memset(b, 0, sizeof *b);
    b->keys = keys_create(seed);
    b->texts = texts_create();
    b->cpu.prices = &no_prices;
    b->rng = rng_seed(test_seed());
    b->sink = (struct sink){.context = b,
                            .deadline_added = on_added,
                            .deadline_removed = on_removed,
                            .key_expired = on_expired};
    memory_init(&b->memory, allocator_find("debian"), 0);
    backlog_init(&b->backlog, &b->memory, 1 << 20);
    propagate_init(&b->propagate, &g->stream, &b->backlog, &b->sink, b->texts, b->keys, &b->cpu);
    b->host = (struct db_host){.cpu = &b->cpu,
                               .memory = &b->memory,
                               .keys = b->keys,
                               .sink = &b->sink,
                               .propagate = &b->propagate,
                               .lazy = &g->lazy,
                               .rng = &b->rng,
                               .in_command = true,
                               .command_now_ms = 1000};
    db_init(&b->db, 0, &b->host, &g->dict);
}

static void stop(struct bench *b) {
    db_release(&b->db);
    ck_assert_int_eq(b->memory.used_bytes, 0);
    ck_assert_int_eq(b->volatile_keys, 0);
    ck_assert_int_eq(b->volatile_bytes, 0);
    propagate_release(&b->propagate);
    keys_destroy(b->keys);
    texts_destroy(b->texts);
}

static void put(struct bench *b, key_id id, ms_t deadline_ms) {
    struct object value = object_from_fill(32);
    db_set(&b->db, id, &value, dict_has(&b->db.main, id), false);
    if (deadline_ms >= 0) db_set_deadline(&b->db, id, deadline_ms);
}

/* Facts 10.4, first row per shape, 16-byte classes: entry 32 + key + value (+ 32 with a TTL). */
START_TEST(a_key_weighs_what_the_real_server_measured) {
    static const struct {
        size_t key, value;
        uint64_t with_ttl;
    } rows[] = {{31, 44, 176}, {32, 45, 192}, {40, 100, 240}, {40, 1000, 1152}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        char name[64];
        start(&b, "redis-7.0");
        memset(name, 'k', sizeof name);
        key_id id = keys_add(b.keys, name, rows[i].key);
        struct object value = object_from_fill((uint32_t)rows[i].value);
        db_add(&b.db, id, &value);
        int64_t tables = b.memory.bytes[MEMORY_MAIN_TABLES];
        ck_assert_int_eq(b.memory.used_bytes - tables, (int64_t)rows[i].with_ttl - 32);
        db_set_deadline(&b.db, id, 5000);
        tables += b.memory.bytes[MEMORY_EXPIRES_TABLES];
        ck_assert_int_eq(b.memory.used_bytes - tables, (int64_t)rows[i].with_ttl);
        ck_assert_uint_eq(db_key_bytes(&b.db, id), rows[i].with_ttl);
        ck_assert_int_eq(b.volatile_bytes, (int64_t)rows[i].with_ttl);
        stop(&b);
    }
}
END_TEST

START_TEST(key_is_alive_at_its_deadline_and_dead_one_ms_later) {
    struct bench b;
    start(&b, "redis-7.0");
    key_id id = keys_add(b.keys, "k", 1);
    put(&b, id, 1000);
    ck_assert_ptr_nonnull(db_lookup(&b.db, id, LOOKUP_READ));
    b.host.command_now_ms = 1001;
    ck_assert_ptr_null(db_lookup(&b.db, id, LOOKUP_READ));
    ck_assert_uint_eq(b.expired, 1);
    ck_assert_uint_eq(dict_used(&b.db.main), 0);
    ck_assert_uint_eq(b.host.keyspace_hits, 1);
    ck_assert_uint_eq(b.host.keyspace_misses, 1);
    stop(&b);
}
END_TEST

/* Facts 3.6: the key stays, and who may see it depends on who asks and on the generation (3.6.8).
 */
START_TEST(replica_hides_a_dead_key_from_clients_and_shows_it_to_its_master) {
    static const struct {
        const char *generation;
        enum db_client client;
        bool readonly, seen;
    } rows[] = {{"redis-7.0", DB_CLIENT_NORMAL, true, false},
                {"redis-7.0", DB_CLIENT_NORMAL, false, false},
                {"redis-7.0", DB_CLIENT_MASTER_LINK, false, true},
                {"redis-5.0", DB_CLIENT_NORMAL, true, false},
                {"redis-5.0", DB_CLIENT_NORMAL, false, true},
                {"redis-5.0", DB_CLIENT_MASTER_LINK, true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start(&b, rows[i].generation);
        b.host.is_replica = true;
        b.host.client = rows[i].client;
        b.host.command_is_readonly = rows[i].readonly;
        key_id id = keys_add(b.keys, "k", 1);
        put(&b, id, 10);
        ck_assert_int_eq(db_lookup(&b.db, id, LOOKUP_READ) != NULL, rows[i].seen);
        ck_assert_uint_eq(dict_used(&b.db.main), 1);
        ck_assert_uint_eq(b.expired, 0);
        stop(&b);
    }
}
END_TEST

START_TEST(random_key_never_is_a_dead_one_on_a_master) {
    struct bench b;
    start(&b, "redis-7.0");
    char name[8] = "k0";
    for (int i = 0; i < 64; i++) {
        name[1] = (char)('0' + i);
        put(&b, keys_add(b.keys, name, 2), i % 4 ? 10 : -1);
    }
    for (int i = 0; i < 200; i++) ck_assert_int_eq(db_deadline_ms(&b.db, db_random_key(&b.db)), -1);
    ck_assert_uint_le(dict_used(&b.db.main), 64);
    ck_assert_uint_gt(b.expired, 0);
    db_flush(&b.db);
    ck_assert_uint_eq(db_random_key(&b.db), KEY_NONE);
    stop(&b);
}
END_TEST

/* The naive model: an array of deadlines; -2 missing, -1 no TTL. */
#define MODEL_KEYS 40
#define MISSING    (-2)

static void model_expire(ms_t *model, int i, ms_t now_ms) {
    if (model[i] >= 0 && now_ms > model[i]) model[i] = MISSING;
}

static void random_operation(struct bench *b, struct rng *rng, ms_t *model, key_id first) {
    int i = (int)rng_below(rng, MODEL_KEYS);
    key_id id = first + (key_id)i;
    ms_t deadline_ms = b->host.command_now_ms + (ms_t)rng_below(rng, 60) - 5;
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
        model_expire(model, i, b->host.command_now_ms);
        ck_assert_int_eq(db_lookup(&b->db, id, LOOKUP_WRITE) != NULL, model[i] != MISSING);
        put(b, id, deadline_ms < 0 ? -1 : deadline_ms);
        model[i] = deadline_ms < 0 ? -1 : deadline_ms;
        break;
    case 2:
        ck_assert_int_eq(db_delete(&b->db, id), model[i] != MISSING);
        model[i] = MISSING;
        break;
    case 3:
        if (model[i] == MISSING) break;
        ck_assert_int_eq(db_remove_deadline(&b->db, id), model[i] >= 0);
        model[i] = -1;
        break;
    case 4:
        ck_assert_int_eq(db_deadline_ms(&b->db, id), model[i] < 0 ? -1 : model[i]);
        break;
    case 5:
        b->host.command_now_ms += (ms_t)rng_below(rng, 10);
        break;
    default:
        model_expire(model, i, b->host.command_now_ms);
        ck_assert_int_eq(db_lookup(&b->db, id, LOOKUP_READ) != NULL, model[i] != MISSING);
    }
}

START_TEST(random_operations_agree_with_an_array_of_deadlines) {
    struct rng rng = rng_seed(test_seed());
    for (uint32_t round = 0; round < test_rounds(40); round++) {
        struct bench b;
        ms_t model[MODEL_KEYS];
        char name[8] = "k";
        start(&b, round % 2 ? "redis-7.0" : "redis-5.0");
        key_id first = keys_add(b.keys, "k0", 2);
        for (int i = 1; i < MODEL_KEYS; i++) {
            name[1] = (char)('0' + i);
            keys_add(b.keys, name, 2);
        }
        for (int i = 0; i < MODEL_KEYS; i++) model[i] = MISSING;
        for (int i = 0; i < 500; i++) {
            random_operation(&b, &rng, model, first);
            db_check(&b.db);
            int64_t volatile_keys = 0;
            uint64_t keys = 0;
            for (int k = 0; k < MODEL_KEYS; k++)
                volatile_keys += model[k] >= 0, keys += model[k] != MISSING;
            ck_assert_int_eq(b.volatile_keys, volatile_keys);
            ck_assert_uint_eq(dict_used(&b.db.main), keys);
        }
        stop(&b);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("db");
    TCase *tcase = tcase_create("db");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_key_weighs_what_the_real_server_measured);
    tcase_add_test(tcase, key_is_alive_at_its_deadline_and_dead_one_ms_later);
    tcase_add_test(tcase, replica_hides_a_dead_key_from_clients_and_shows_it_to_its_master);
    tcase_add_test(tcase, random_key_never_is_a_dead_one_on_a_master);
    tcase_add_test(tcase, random_operations_agree_with_an_array_of_deadlines);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
