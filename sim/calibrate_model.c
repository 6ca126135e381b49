#include "calibrate_model.h"

#include <stdio.h>

#include "command.h"
#include "engine.h"
#include "heap.h"

#define EXTRA_KEYS  4096 /* beyond the scaled ranges: large values */
#define START_US    INT64_C(1700000000000000)
#define STORM_CRONS 40 /* until the tables have shrunk */
#define CRONS       50 /* one period of the jobs that come every 100 ms at hz 500 */

struct model {
    struct keys *keys;
    struct texts *texts;
    struct sink sink;
    struct engine *engine;
    struct price_table prices; /* one operation at a time costs 1 ns, so that time counts it */
    uint32_t client, scale;
    uint64_t sent[WORK_SCAN + 1]; /* by kind */
    ns_t now_ns;
    int replica;
};

static void on_reply(void *context, uint32_t client, const struct reply *reply) {
    (void)context, (void)client, (void)reply;
}
static void on_stream(void *context, const struct stream_command *command) {
    struct model *model = context;
    if (model->replica >= 0)
        engine_replica_written(model->engine, model->replica, command->end_offset);
}
static void on_deadline(void *context, ms_t deadline_ms, uint64_t bytes) {
    (void)context, (void)deadline_ms, (void)bytes;
}
static void on_expired(void *context, ms_t late_ms, enum expiry_cause cause) {
    (void)context, (void)late_ms, (void)cause;
}
static void on_cycle(void *context, const struct cycle_report *report) {
    (void)context, (void)report;
}
static void on_acknowledge(void *context, int64_t offset) { (void)context, (void)offset; }

static void add_keys(struct model *model) {
    char name[WORK_KEY_BYTES + 1];
    keys_reserve(model->keys, MODEL_KEYS + EXTRA_KEYS);
    for (uint32_t i = 0; i < MODEL_KEYS + EXTRA_KEYS; i++) {
        work_key_name(i, name);
        keys_add(model->keys, name, WORK_KEY_BYTES);
    }
}

struct model *model_create(const struct generation *generation, uint32_t scale, bool has_replica) {
    static const uint8_t seed[SIPHASH_SEED_BYTES] = {3, 1, 4, 1, 5, 9, 2, 6};
    struct model *model = heap_zero(1, sizeof *model);
    model->keys = keys_create(seed);
    model->texts = texts_create();
    model->scale = scale;
    model->replica = -1;
    model->prices.name = "counting";
    model->sink = (struct sink){.context = model,
                                .reply = on_reply,
                                .stream = on_stream,
                                .deadline_added = on_deadline,
                                .deadline_removed = on_deadline,
                                .key_expired = on_expired,
                                .cycle_ended = on_cycle,
                                .acknowledge = on_acknowledge};
    struct engine_env env = {.generation = generation,
                             .allocator = allocator_at(0),
                             .prices = &model->prices,
                             .keys = model->keys,
                             .texts = model->texts,
                             .sink = &model->sink,
                             .rng = rng_seed(1)};
    struct engine_config config = engine_config_default();
    config.hz = 500;
    add_keys(model);
    model->engine = engine_create(&env, &config);
    model->client = engine_connect(model->engine);
    if (has_replica) model->replica = engine_replica_attach(model->engine);
    return model;
}

void model_destroy(struct model *model) {
    engine_destroy(model->engine);
    keys_destroy(model->keys);
    texts_destroy(model->texts);
    free(model);
}

/* Ids begin at 1. Ranges beyond the scaled ones lie behind those of the model. */
static key_id key_of(const struct model *model, uint32_t key) {
    uint32_t scaled = model->scale * MODEL_KEYS;
    uint32_t index = key < scaled ? key / model->scale : MODEL_KEYS + (key - scaled) % EXTRA_KEYS;
    return index + 1;
}

static struct work shrunk(const struct model *model, const struct work *work) {
    struct work small = *work;
    if (work->first < model->scale * MODEL_KEYS) small.keys = work->keys / model->scale;
    if (small.keys == 0) small.keys = 1;
    small.first = 0;
    return small;
}

/* Number i of a work that was made small. */
static key_id pick(const struct model *model, const struct work *work, uint64_t i) {
    struct work small = shrunk(model, work);
    return key_of(model, work->first) + work_key(&small, i);
}

static ms_t wall_ms(const struct model *model) {
    return wall_ms_of(START_US + model->now_ns / NS_PER_US);
}

void model_preload(struct model *model, const struct work *work) {
    struct object value = object_from_fill(work->value_bytes);
    struct work small = shrunk(model, work);
    ms_t deadline_ms = work->kind == WORK_SET_PX ? wall_ms(model) + WORK_FAR_MS : -1;
    for (uint32_t i = 0; i < small.keys; i++)
        engine_preload(model->engine, 0, pick(model, work, i), &value, deadline_ms);
}

static text_id word(struct model *model, const char *text) {
    return texts_intern(model->texts, text, strlen(text));
}

static uint32_t request_fill(struct model *model, const struct work *work, uint64_t i,
                             struct arg *argv) {
    static const char *const names[] = {"PING", "INFO", "GET", "SET", "SET", "SET", "DEL", "SCAN"};
    uint32_t argc = 1;
    argv[0] = arg_word(model->texts, word(model, names[work->kind]));
    if (work->kind >= WORK_GET && work->kind != WORK_SCAN)
        argv[argc++] = arg_key(model->keys, pick(model, work, i));
    if (work->kind >= WORK_SET && work->kind <= WORK_SET_PXAT)
        argv[argc++] = arg_fill(work->value_bytes);
    if (work->kind == WORK_SET_PX) {
        argv[argc++] = arg_word(model->texts, WORD_PX);
        argv[argc++] = arg_number(WORK_FAR_MS);
    }
    if (work->kind == WORK_SCAN) {
        argv[argc++] = arg_number((int64_t)work_cursor(i));
        argv[argc++] = arg_word(model->texts, WORD_COUNT);
        argv[argc++] = arg_number(100);
    }
    return argc;
}

static void wake(struct model *model) {
    engine_wake(model->engine,
                (struct instant){model->now_ns, START_US + model->now_ns / NS_PER_US});
}

/* One turn with a pipeline of this work; what it took. */
static ns_t turn(struct model *model, const struct work *work) {
    wake(model);
    for (uint32_t i = 0; i < work->pipeline; i++) {
        struct arg argv[8];
        uint32_t argc = request_fill(model, work, model->sent[work->kind]++, argv);
        const char *name = texts_bytes(model->texts, argv[0].id);
        struct request request = {command_find(name, strlen(name)), argv, argc};
        engine_request(model->engine, model->client, &request);
    }
    ns_t spent = engine_sleep(model->engine);
    model->now_ns += spent;
    return spent;
}

/* Of large values there are too few to delete some for each operation: they are put back. */
void model_count(struct model *model, const struct work *work, double counts[COST_COUNT]) {
    model->sent[work->kind] = 0;
    for (int op = 0; op < COST_COUNT; op++) {
        if (work->kind == WORK_DEL && work->value_bytes > 4096) model_preload(model, work);
        model->prices.ps[op] = PS_PER_NS;
        counts[op] = (double)turn(model, work) / work->pipeline;
        model->prices.ps[op] = 0;
    }
}

static ns_t cron(struct model *model) {
    model->now_ns = engine_next_cron(model->engine);
    wake(model);
    engine_cron(model->engine);
    return engine_sleep(model->engine);
}

void model_count_cron(struct model *model, double counts[COST_COUNT]) {
    for (int op = 0; op < COST_COUNT; op++) {
        ns_t sum = 0;
        model->prices.ps[op] = PS_PER_NS;
        for (int i = 0; i < CRONS; i++) sum += cron(model);
        counts[op] = (double)sum / CRONS;
        model->prices.ps[op] = 0;
    }
}

static double storm_of(const struct generation *generation, uint32_t one_of, uint32_t value_bytes,
                       enum cost_op op) {
    struct model *model = model_create(generation, 1, false);
    struct object value = object_from_fill(value_bytes);
    ms_t soon = wall_ms(model) + 100, far = wall_ms(model) + WORK_FAR_MS;
    uint32_t dying = 0;
    for (uint32_t i = 0; i <= MODEL_KEYS; i++) { /* one more than fits, so that the tables double */
        bool dies = i % one_of == 0;
        engine_preload(model->engine, 0, i + 1, &value, dies ? soon : far);
        dying += dies;
    }
    for (int i = 0; i < STORM_CRONS; i++) cron(model); /* the tables settle */
    model->prices.ps[op] = PS_PER_NS;
    ns_t sum = 0;
    for (int i = 0; i < 100 + STORM_CRONS; i++) sum += cron(model);
    struct engine_stats stats = engine_stats(model->engine);
    ASSERT(stats.expired_keys >= dying * 99 / 100);
    model_destroy(model);
    return (double)sum / (double)stats.expired_keys;
}

void model_count_storm(const struct generation *generation, uint32_t one_of, uint32_t value_bytes,
                       double counts[COST_COUNT]) {
    for (int op = 0; op < COST_COUNT; op++) {
        bool fixed = op == COST_TURN || op == COST_CRON || op == COST_CYCLE || op == COST_CYCLE_DB;
        counts[op] = fixed ? 0 : storm_of(generation, one_of, value_bytes, (enum cost_op)op);
    }
}
