#include "profile.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "complain.h"
#include "heap.h"
#include "manifest.h"

/* An operation that takes longer than this is a mistake of units, and sums stay far from 2^64. */
#define PRICE_PS_MAX INT64_C(1000000000000)

/* One reading of a file: the first thing that is wrong ends it. */
struct reading {
    const char *path, *text;
    const char *map; /* of prices that is being read, or NULL */
    char *message;
    size_t size;
};

/* ---- places --------------------------------------------------------------------------------- */

struct place {
    int line, column;
};

/* jansson keeps no places. A key is found by its text: the first time it stands in quotes with a
 * colon after it. */
static const char *find_key(const char *from, const char *key) {
    size_t length = strlen(key);
    for (const char *at = from; key[0] && *at; at++) {
        if (*at != '"' || strncmp(at + 1, key, length) != 0 || at[length + 1] != '"') continue;
        const char *after = at + length + 2;
        if (after[strspn(after, " \t\r\n")] == ':') return at;
    }
    return NULL;
}

/* In the map that is being read, where one is: the maps of few and of many keys have the same keys
 * in them. */
static struct place place_of(const struct reading *r, const char *key) {
    const char *from = r->map ? find_key(r->text, r->map) : NULL;
    const char *found = find_key(from ? from : r->text, key);
    struct place place = {1, 1};
    for (const char *at = r->text; found && at < found; at++) {
        place.column++;
        if (*at == '\n') place = (struct place){place.line + 1, 1};
    }
    return place;
}

static bool refuse(struct reading *r, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);

static bool refuse(struct reading *r, const char *key, const char *format, ...) {
    char text[768];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct place place = place_of(r, key);
    snprintf(r->message, r->size, "%s:%d:%d: %s", r->path, place.line, place.column, text);
    return false;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *known) {
    for (; *known; known++)
        if (strcmp(*known, word) == 0) return true;
    return false;
}

static bool check_keys(struct reading *r, json_t *object, const char *what,
                       const char *const *known) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (is_one_of(key, known)) continue;
        struct phrase phrase = {0};
        phrase_add(&phrase, "unknown %s %s", what, quote(key, strlen(key)).text);
        phrase_add_choice(&phrase, key, strlen(key), known);
        return refuse(r, key, "%s", phrase.text);
    }
    return true;
}

static const char *kind_of(const json_t *value) {
    static const char *const names[] = {"a map",           "a list", "a text", "a number",
                                        "a broken number", "true",   "false",  "null"};
    return names[json_typeof(value)];
}

static bool take_price(struct reading *r, const json_t *prices, int op, uint64_t *ps) {
    const char *name = cost_names[op];
    const json_t *value = json_object_get(prices, name);
    if (!value)
        return refuse(r, r->map, "no price for '%s' (%s); `lapse calibrate` writes them all", name,
                      cost_helps[op]);
    if (!json_is_integer(value))
        return refuse(r, name, "%s is %s; expected a whole number of picoseconds", name,
                      json_is_real(value) ? "a broken number" : kind_of(value));
    json_int_t number = json_integer_value(value);
    if (number < 0 || number > PRICE_PS_MAX)
        return refuse(r, name, "%s is %" JSON_INTEGER_FORMAT "; expected 0 to %" PRId64 " (1 s)",
                      name, number, PRICE_PS_MAX);
    *ps = (uint64_t)number;
    return true;
}

static bool take_prices(struct reading *r, const json_t *root, const char *map,
                        uint64_t ps[COST_COUNT]) {
    json_t *prices = json_object_get(root, map);
    const char *known[COST_COUNT + 1] = {0};
    for (int i = 0; i < COST_COUNT; i++) known[i] = cost_names[i];
    if (!json_is_object(prices))
        return refuse(r, map, "%s is %s; expected a map of operations and prices", map,
                      prices ? kind_of(prices) : "missing");
    r->map = map;
    if (!check_keys(r, prices, "operation", known)) return false;
    for (int i = 0; i < COST_COUNT; i++)
        if (!take_price(r, prices, i, &ps[i])) return false;
    r->map = NULL;
    return true;
}

/* Of how many keys the prices were taken; a full table has as many buckets. */
static bool take_keys(struct reading *r, const json_t *root, const char *name, uint8_t *exponent) {
    const json_t *value = json_object_get(root, name);
    if (!json_is_integer(value))
        return refuse(r, name, "%s is %s; expected a number of keys", name,
                      value ? kind_of(value) : "missing");
    json_int_t keys = json_integer_value(value);
    if (keys < 1 || keys > (json_int_t)KEY_ID_MAX)
        return refuse(r, name, "%s is %" JSON_INTEGER_FORMAT "; expected 1 to %" PRIu32, name, keys,
                      KEY_ID_MAX);
    *exponent = (uint8_t)log2_floor((uint64_t)keys);
    return true;
}

/* Prices for many keys may stand beside those for few. */
static bool take_many(struct reading *r, const json_t *root, struct price_table *table) {
    if (!json_object_get(root, "many_prices_ps") && !json_object_get(root, "many_keys"))
        return true;
    if (!take_keys(r, root, "few_keys", &table->few_exponent) ||
        !take_keys(r, root, "many_keys", &table->many_exponent))
        return false;
    if (table->few_exponent >= table->many_exponent)
        return refuse(r, "many_keys", "many_keys is not twice few_keys or more");
    return take_prices(r, root, "many_prices_ps", table->many_ps);
}

/* What only people read has any shape. */
static bool take_root(struct reading *r, json_t *root, struct price_table *table) {
    static const char *const known[] = {
        "profile",  "measured",  "prices_ps",      "spread_percent",
        "few_keys", "many_keys", "many_prices_ps", "many_spread_percent",
        NULL};
    if (!json_is_object(root))
        return refuse(r, "", "the file is %s; expected a map with prices_ps", kind_of(root));
    return check_keys(r, root, "key", known) && take_prices(r, root, "prices_ps", table->ps) &&
           take_many(r, root, table);
}

bool profile_parse(struct profile *p, const char *name, const char *json, size_t length,
                   const char *path, char *message, size_t size) {
    *p = (struct profile){.name = heap_text(name, strlen(name))};
    p->prices.name = p->name;
    manifest_hash(json, length, p->hash);
    json_error_t error;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root) {
        snprintf(message, size, "%s:%d:%d: %s", path, error.line > 0 ? error.line : 1,
                 error.column > 0 ? error.column : 1, error.text);
        return false;
    }
    struct reading reading = {.path = path, .text = json, .message = message, .size = size};
    bool fine = take_root(&reading, root, &p->prices);
    json_decref(root);
    return fine;
}

void profile_release(struct profile *p) {
    free(p->name);
    *p = (struct profile){0};
}

bool profile_is_file_name(const char *word) {
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".json") == 0);
}

/* ---- writing -------------------------------------------------------------------------------- */

static json_t *prices_json(const uint64_t ps[COST_COUNT]) {
    json_t *object = json_object();
    for (int i = 0; i < COST_COUNT; i++)
        json_object_set_new(object, cost_names[i], json_integer((json_int_t)ps[i]));
    return object;
}

/* Text, so that no float is ever written: "4.2", or "inferred". */
static json_t *spread_json(uint32_t per_mille) {
    if (per_mille == PROFILE_SPREAD_UNKNOWN) return json_string("inferred");
    char text[24];
    snprintf(text, sizeof text, "%" PRIu32 ".%" PRIu32, per_mille / 10, per_mille % 10);
    return json_string(text);
}

static json_t *spreads_json(const uint32_t per_mille[COST_COUNT]) {
    json_t *object = json_object();
    for (int i = 0; i < COST_COUNT; i++)
        json_object_set_new(object, cost_names[i], spread_json(per_mille[i]));
    return object;
}

static json_t *origin_json(const struct profile_origin *o) {
    char error[24];
    snprintf(error, sizeof error, "%" PRId64 ".%" PRId64, o->error_per_mille / 10,
             o->error_per_mille % 10);
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s, s:s?}", "date", o->date, "server", o->server,
                     "allocator", o->allocator, "cpu", o->cpu, "error_percent", error, "note",
                     o->note);
}

static void add_many(json_t *root, const struct price_table *prices,
                     const struct profile_origin *origin) {
    json_object_set_new(root, "few_keys", json_integer(INT64_C(1) << prices->few_exponent));
    json_object_set_new(root, "many_keys", json_integer(INT64_C(1) << prices->many_exponent));
    json_object_set_new(root, "many_prices_ps", prices_json(prices->many_ps));
    json_object_set_new(root, "many_spread_percent", spreads_json(origin->many_spread_per_mille));
}

char *profile_print(const char *name, const struct price_table *prices,
                    const struct profile_origin *origin) {
    json_t *root = json_pack("{s:s, s:o, s:o, s:o}", "profile", name, "measured",
                             origin_json(origin), "prices_ps", prices_json(prices->ps),
                             "spread_percent", spreads_json(origin->spread_per_mille));
    ASSERT(root);
    if (prices->few_exponent < prices->many_exponent) add_many(root, prices, origin);
    char *text = json_dumps(root, JSON_INDENT(2)); /* in the order of insertion */
    json_decref(root);
    ASSERT(text);
    size_t length = strlen(text);
    text = heap_resize(text, length + 2, 1);
    memcpy(text + length, "\n", 2);
    return text;
}
