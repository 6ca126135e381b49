/* A scenario's keys in a real server: written before the start, with the deadlines that the
 * simulation gives them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "resp.h"
#include "validate.h"

#define BATCH_BYTES   (256 << 10)
#define BATCH_COUNT   256
#define CLEAR_BATCH   512
#define SYNC_LIMIT_NS (120 * NS_PER_S)
#define SYNC_POLL_NS  (100 * NS_PER_MS)
#define MARGIN_MS     500 /* nothing of ours may be going on shortly before the start */

bool validate_names(struct validation *v) {
    static const uint8_t seed[SIPHASH_SEED_BYTES];
    v->names = names_create(seed);
    v->root = rng_seed(v->scenario->seed);
    v->populations = heap_zero(v->scenario->population_count, sizeof *v->populations);
    struct scenario_error error;
    for (uint32_t i = 0; i < v->scenario->population_count; i++)
        if (!population_init(&v->populations[i], &v->scenario->populations[i], v->names, &v->root,
                             v->scenario->start_wall_us, &error))
            return validate_fail(v, "%s", error.message);
    return true;
}

void validate_names_release(struct validation *v) {
    for (uint32_t i = 0; v->populations && i < v->scenario->population_count; i++)
        population_release(&v->populations[i]);
    if (v->names) names_destroy(v->names);
    free(v->populations);
    v->populations = NULL, v->names = NULL;
}

/* ---- loading -------------------------------------------------------------------------------- */

struct batch {
    struct resp_buffer buffer;
    uint32_t count;
    uint8_t db;
};

static bool batch_send(struct validation *v, struct batch *batch) {
    bool fine = batch->count == 0 ||
                live_exchange(&v->live, batch->buffer.bytes, batch->buffer.length, batch->count);
    batch->buffer.length = batch->count = 0;
    return fine || validate_fail(v, "%s", v->live.message);
}

static bool batch_add(struct validation *v, struct batch *batch, const struct arg *argv,
                      uint32_t argc) {
    resp_print_command(&batch->buffer, argv, argc, v->names, v->scenario->texts);
    batch->count++;
    if (batch->count < BATCH_COUNT && batch->buffer.length < BATCH_BYTES) return true;
    return batch_send(v, batch);
}

static bool batch_select(struct validation *v, struct batch *batch, uint8_t db) {
    struct arg argv[2] = {arg_word(v->scenario->texts, WORD_SELECT), arg_number(db)};
    if (batch->db == db) return true;
    batch->db = db;
    return batch_add(v, batch, argv, 2);
}

/* How long after the start it dies is noted. */
static bool load_item(struct validation *v, struct batch *batch, const struct population_item *item,
                      ms_t start_ms) {
    const struct texts *texts = v->scenario->texts;
    ms_t deadline_ms = item->deadline_ms;
    if (deadline_ms < 0 && item->ttl_ms >= 0) deadline_ms = start_ms + item->ttl_ms;
    struct arg argv[5] = {arg_word(texts, WORD_SET), arg_key(names_keys(v->names), item->key),
                          object_to_arg(&item->value), arg_word(texts, WORD_PXAT),
                          arg_number(deadline_ms)};
    if (!batch_select(v, batch, item->db)) return false;
    if (!batch_add(v, batch, argv, deadline_ms < 0 ? 3 : 5)) return false;
    ns_t after_ns = (deadline_ms - start_ms) * NS_PER_MS;
    if (deadline_ms < 0 || after_ns >= v->scenario->duration_ns) return true;
    if (v->due_keys++ == 0 || after_ns < v->storm_ns) v->storm_ns = after_ns;
    return true;
}

static bool load_population(struct validation *v, struct batch *batch,
                            struct population *population, us_t start_wall_us) {
    ms_t start_ms = wall_ms_of(start_wall_us);
    bool fine = true;
    for (uint32_t i = 0; fine && i < population->count; i++) {
        struct population_item item = population_next(population, i, start_ms, start_wall_us);
        fine = load_item(v, batch, &item, start_ms);
        if (i % BATCH_COUNT == 0 && v->interrupted()) fine = validate_fail(v, "interrupted");
    }
    return fine;
}

/* ---- replicas ------------------------------------------------------------------------------- */

static bool is_up(struct live *replica) {
    char status[16] = "";
    redisReply *reply = live_info(replica);
    if (reply) live_field(reply->str, "master_link_status", status, sizeof(status));
    if (reply) freeReplyObject(reply);
    return strcmp(status, "up") == 0;
}

static bool attach(struct validation *v, struct live *replica) {
    struct live_order order = {.start = v->order.start, .db = -1};
    if (!live_open(replica, &order) ||
        !live_do(replica, "REPLICAOF %s %d", v->live.host, v->live.port))
        return validate_fail(v, "replica: %.400s", replica->message);
    for (ns_t end = live_now_ns() + SYNC_LIMIT_NS; live_now_ns() < end;) {
        if (is_up(replica)) return true;
        if (v->interrupted()) return validate_fail(v, "interrupted");
        live_pause_ns(SYNC_POLL_NS);
    }
    return validate_fail(v, "the replica was not in sync within 120 s");
}

static bool attach_all(struct validation *v) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->scenario->server_count; i++)
        if (v->scenario->servers[i].master >= 0 && !attach(v, &v->replicas[count++])) return false;
    return true;
}

bool validate_load(struct validation *v, us_t start_wall_us, bool *late) {
    struct batch batch = {0};
    bool fine = true;
    v->due_keys = 0;
    for (uint32_t i = 0; fine && i < v->scenario->population_count; i++)
        fine = load_population(v, &batch, &v->populations[i], start_wall_us);
    fine = fine && batch_send(v, &batch) && batch_select(v, &batch, 0) && batch_send(v, &batch);
    resp_buffer_release(&batch.buffer);
    fine = fine && attach_all(v);
    *late = live_wall_ms() + MARGIN_MS > wall_ms_of(start_wall_us);
    return fine;
}

/* ---- cleaning up ---------------------------------------------------------------------------- */

/* Every name that is known: populations' keys and those that commands name. */
static bool clear_database(struct validation *v, uint8_t db, uint32_t keys) {
    struct batch batch = {0};
    struct arg argv[CLEAR_BATCH + 1] = {arg_word(v->scenario->texts, WORD_UNLINK)};
    bool fine = live_do(&v->live, "SELECT %d", (int)db);
    for (uint32_t id = 1; fine && id <= keys;) {
        uint32_t argc = 1;
        for (; argc <= CLEAR_BATCH && id <= keys; id++)
            argv[argc++] = arg_key(names_keys(v->names), id);
        fine = batch_add(v, &batch, argv, argc) && batch_send(v, &batch);
    }
    resp_buffer_release(&batch.buffer);
    return fine && live_do(&v->live, "SELECT 0");
}

static bool clear_all(struct validation *v, const bool used[16]) {
    uint32_t keys = names_keys(v->names)->count;
    bool fine = true;
    for (int db = 0; db < 16; db++)
        if (used[db]) fine = clear_database(v, (uint8_t)db, keys) && fine;
    return fine;
}

/* Says INFO of no database that it has keys? */
static bool is_empty(struct validation *v) {
    redisReply *reply = live_info(&v->live);
    bool empty = reply && !strstr(reply->str, "\ndb");
    if (reply) freeReplyObject(reply);
    return empty;
}

/* The server had no data at all. */
bool validate_clear(struct validation *v) {
    bool used[16] = {0};
    for (uint32_t i = 0; i < v->scenario->population_count; i++)
        used[v->scenario->populations[i].db] = true;
    for (uint32_t i = 0; i < v->scenario->client_count; i++)
        used[v->scenario->clients[i].db] = true;
    for (int i = 0; i < LIVE_CLEAR_TRIES; i++) {
        if (!clear_all(v, used)) return false;
        live_pause_ns(LIVE_CLEAR_PAUSE_NS);
        if (is_empty(v)) return true;
    }
    return live_fail(&v->live, "keys are left");
}
