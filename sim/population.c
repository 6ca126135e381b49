#include "population.h"

#include <string.h>

#include "complain.h"
#include "heap.h"

bool population_init(struct population *p, const struct population_config *config,
                     struct names *names, const struct rng *root, us_t start_wall_us,
                     struct scenario_error *error) {
    (void)start_wall_us; /* deadlines are absolute in files, and relative to it when drawn */
    char label[96];
    snprintf(label, sizeof label, "populations.%s", config->name);
    *p = (struct population){.config = config, .names = names, .rng = rng_fork(root, label)};
    if (config->from) {
        p->rows = csv_rows_read(config->from, names, config->databases, error);
        if (!p->rows) return false;
        p->count = p->rows->count;
        if (p->count == 0) {
            complain(error, config->from, 1, 1, "no row that can be placed; expected keys%s%s",
                     p->rows->refused ? "; " : "", p->rows->refused_lines);
            population_release(p);
            return false;
        }
        p->first_key = p->rows->rows[0].key;
        return true;
    }
    p->count = config->count;
    p->first_key = names_add_range(names, config->pattern_prefix, config->pattern_suffix,
                                   config->pattern_width, config->pattern_first, config->count);
    return true;
}

void population_release(struct population *p) {
    csv_rows_destroy(p->rows);
    p->rows = NULL;
}

static uint32_t hash_of(const struct population *p, key_id key) {
    return keys_hash(names_keys(p->names), key);
}

/* A moment that jitter may move: by what it does to the time left until then. One that has passed
 * stays. */
static ms_t spread_deadline(const struct population *p, key_id key, ms_t deadline, ms_t now,
                            struct rng *rng) {
    bool plain = p->config->jitter.kind == JITTER_NONE && p->config->jitter.resolution_ms <= 1;
    if (plain || deadline <= now) return deadline;
    return now + jitter_apply(&p->config->jitter, deadline - now, now, hash_of(p, key), rng);
}

static struct population_item item_of_row(struct population *p, uint32_t i, ms_t now) {
    const struct csv_row *row = &p->rows->rows[i];
    return (struct population_item){
        .key = row->key,
        .db = row->db,
        .value = object_from_fill(row->value_bytes),
        .ttl_ms = -1,
        .deadline_ms = row->deadline_ms < 0
                           ? -1
                           : spread_deadline(p, row->key, row->deadline_ms, now, &p->rng)};
}

key_id population_key(const struct population *p, uint32_t i) {
    ASSERT(i < p->count);
    return p->rows ? p->rows->rows[i].key : p->first_key + i;
}

uint8_t population_db(const struct population *p, uint32_t i) {
    ASSERT(i < p->count);
    return p->rows ? p->rows->rows[i].db : p->config->db;
}

struct population_item population_next(struct population *p, uint32_t i, ms_t now_ms,
                                       us_t start_wall_us) {
    ASSERT(i < p->count);
    if (p->rows) return item_of_row(p, i, now_ms);
    struct population_item item = {.key = p->first_key + i,
                                   .db = p->config->db,
                                   .value = population_draw_value(p, &p->rng),
                                   .ttl_ms = -1,
                                   .deadline_ms = -1};
    if (p->config->deadline_ms >= 0) {
        ms_t deadline = wall_ms_of(start_wall_us) + p->config->deadline_ms;
        item.deadline_ms = spread_deadline(p, item.key, deadline, now_ms, &p->rng);
        return item;
    }
    item.ttl_ms = population_draw_ttl(p, item.key, now_ms, &p->rng);
    if (p->config->preloaded && item.ttl_ms >= 0) item.deadline_ms = now_ms + item.ttl_ms;
    return item;
}

ms_t population_draw_ttl(const struct population *p, key_id key, ms_t now_ms, struct rng *rng) {
    if (p->config->ttl_ms.kind == DISTRIBUTION_NONE) return -1;
    ms_t ttl = distribution_draw(&p->config->ttl_ms, rng);
    return jitter_apply(&p->config->jitter, ttl, now_ms, hash_of(p, key), rng);
}

struct object population_draw_value(const struct population *p, struct rng *rng) {
    if (p->rows) { /* the weight of any of its rows */
        return object_from_fill(p->rows->rows[rng_below(rng, p->count)].value_bytes);
    }
    return object_from_fill((uint32_t)distribution_draw(&p->config->value_bytes, rng));
}
