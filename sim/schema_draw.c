/* Distributions as a scenario writes them: a plain value, or a map of one key that names the kind.
 * All values are of the row's kind and within its range. */
#include <string.h>

#include "fixed_point.h"
#include "heap.h"
#include "schema.h"

#define SIGMA_MAX_MILLI 3000
#define P99_MAX         1000 /* medians: a sigma of 2.97 */

const struct schema_row schema_weight = {SECTION_ROOT, SCHEMA_INTEGER, "weight", .low = 1,
                                         .high = 1000000000};

static bool read_mix(struct draft *draft, const struct schema_row *row,
                     const struct tree_node *node, struct distribution *d) {
    if (node->kind != TREE_MAP || node->count == 0)
        return draft_refuse(draft, node,
                            "%s: mix is %s; expected a map of values and weights such as "
                            "{32B: 90, 1KiB: 10}",
                            row->key, node->kind == TREE_MAP ? "empty" : tree_kind_name(node));
    d->kind = DISTRIBUTION_MIX;
    d->mix = heap_zero(node->count, sizeof *d->mix);
    for (uint32_t i = 0; i < node->count; i++, d->mix_count++) {
        int64_t weight;
        if (!schema_read_integer(draft, row, node->items[i].key, &d->mix[i].value)) return false;
        if (!schema_read_integer(draft, &schema_weight, node->items[i].value, &weight))
            return false;
        d->mix[i].weight = (uint32_t)weight;
        d->mix_weight += (uint64_t)weight;
    }
    return true;
}

static bool read_uniform(struct draft *draft, const struct schema_row *row,
                         const struct tree_node *node, struct distribution *d) {
    if (node->kind != TREE_LIST || node->count != 2)
        return draft_refuse(draft, node, "%s: uniform is not a pair; expected [low, high]",
                            row->key);
    d->kind = DISTRIBUTION_UNIFORM;
    if (!schema_read_integer(draft, row, node->items[0].value, &d->low)) return false;
    if (!schema_read_integer(draft, row, node->items[1].value, &d->high)) return false;
    if (d->low <= d->high) return true;
    return draft_refuse(draft, node->items[0].value,
                        "%s: the low end is above the high end; expected [low, high]", row->key);
}

/* Draws beyond what could be written here are cut off there. */
static void set_bounds(const struct schema_row *row, struct distribution *d) {
    d->low = row->low / schema_base(row);
    d->high = row->high / schema_base(row);
}

/* The median or the mean: what all draws are multiples of. */
static bool read_middle(struct draft *draft, const struct schema_row *row,
                        const struct tree_node *node, const char *what, struct distribution *d) {
    set_bounds(row, d);
    if (!schema_read_integer(draft, row, node, &d->middle)) return false;
    return d->middle > 0 ||
           draft_refuse(draft, node, "%s: the %s is 0; expected more, or a plain 0", row->key,
                        what);
}

bool schema_read_thousandths(const struct tree_node *node, int64_t most, int64_t *thousandths) {
    char text[64];
    struct phrase ignored = {0};
    if (node->kind != TREE_WORD || node->length == 0 || node->length > 60) return false;
    /* A pure number: read as a percentage it comes in thousandths. */
    int wrote = snprintf(text, sizeof text, "%.60s%%", node->text);
    return units_parse(UNIT_PERCENT, text, (size_t)wrote, thousandths, &ignored) &&
           *thousandths >= 0 && *thousandths <= most;
}

static bool read_sigma(struct draft *draft, const struct schema_row *row,
                       const struct tree_node *node, struct distribution *d) {
    int64_t milli;
    if (!schema_read_thousandths(node, SIGMA_MAX_MILLI, &milli))
        return draft_refuse(draft, node,
                            "%s: sigma is %s; expected that of the logarithm such as 0.5, 0 to 3, "
                            "at most three decimals",
                            row->key,
                            node->kind == TREE_WORD ? quote(node->text, node->length).text
                                                    : tree_kind_name(node));
    d->sigma = FIXED_ONE / 1000 * (uint64_t)milli;
    return true;
}

static bool read_p99(struct draft *draft, const struct schema_row *row,
                     const struct tree_node *node, struct distribution *d) {
    int64_t p99;
    if (!schema_read_integer(draft, row, node, &p99)) return false;
    if (p99 < d->middle || p99 / P99_MAX > d->middle ||
        (p99 / P99_MAX == d->middle && p99 % P99_MAX))
        return draft_refuse(draft, node, "%s: p99 is %s; expected 1 to %d times the median",
                            row->key, quote(node->text, node->length).text, P99_MAX);
    d->sigma = lognormal_sigma(d->middle, p99);
    return true;
}

/* {median: 10ms, p99: 80ms} or {median: 10ms, sigma: 0.5} */
static bool read_lognormal(struct draft *draft, const struct schema_row *row,
                           const struct tree_node *node, struct distribution *d) {
    static const char *const known[] = {"median", "p99", "sigma", NULL};
    const struct tree_node *median = tree_get(node, "median"), *p99 = tree_get(node, "p99");
    const struct tree_node *sigma = tree_get(node, "sigma");
    for (uint32_t i = 0; node->kind == TREE_MAP && i < node->count; i++) {
        const struct tree_node *key = node->items[i].key;
        if (strcmp(key->text, "median") && strcmp(key->text, "p99") && strcmp(key->text, "sigma"))
            return draft_refuse_word(draft, key, "key in lognormal", known);
    }
    if (!median || !p99 == !sigma)
        return draft_refuse(draft, node,
                            "%s: lognormal has %s; expected {median: VALUE, p99: VALUE} or "
                            "{median: VALUE, sigma: 0.5}",
                            row->key,
                            !median ? "no median"
                            : p99   ? "both p99 and sigma"
                                    : "neither p99 nor sigma");
    d->kind = DISTRIBUTION_LOGNORMAL;
    if (!read_middle(draft, row, median, "median", d)) return false;
    return sigma ? read_sigma(draft, row, sigma, d) : read_p99(draft, row, p99, d);
}

static bool read_exponential(struct draft *draft, const struct schema_row *row,
                             const struct tree_node *node, struct distribution *d) {
    d->kind = DISTRIBUTION_EXPONENTIAL;
    return read_middle(draft, row, node, "mean", d);
}

/* {csv: FILE} or {csv: FILE, unit: ms} */
static bool read_csv(struct draft *draft, const struct schema_row *row, const struct tree_node *map,
                     struct distribution *d) {
    const struct tree_node *unit = tree_get(map, "unit");
    struct phrase phrase = {0};
    char one[40] = "1";
    int64_t ignored;
    phrase_add(&phrase, "%s: ", row->key);
    if (!unit) return schema_read_samples(draft, row, tree_get(map, "csv"), "", d);
    if (unit->kind != TREE_WORD || unit->length == 0 || unit->length > 30)
        return draft_refuse(
            draft, unit, "%s: unit is %s; expected that of the file's bare numbers", row->key,
            unit->kind == TREE_WORD ? quote(unit->text, unit->length).text : tree_kind_name(unit));
    snprintf(one + 1, sizeof one - 1, "%s", unit->text);
    if (!units_parse(schema_unit(row), one, unit->length + 1, &ignored, &phrase))
        return draft_refuse_phrase(draft, unit, &phrase);
    return schema_read_samples(draft, row, tree_get(map, "csv"), unit->text, d);
}

typedef bool draw_reader(struct draft *, const struct schema_row *, const struct tree_node *,
                         struct distribution *);

static const struct draw_kind {
    const char *word;
    draw_reader *read;
} draw_kinds[] = {
    {"uniform", read_uniform},
    {"mix", read_mix},
    {"lognormal", read_lognormal},
    {"exponential", read_exponential},
};

#define DRAW_KINDS (sizeof draw_kinds / sizeof *draw_kinds)

static bool read_map(struct draft *draft, const struct schema_row *row, const struct tree_node *map,
                     struct distribution *d) {
    const char *known[DRAW_KINDS + 2] = {0};
    if (tree_get(map, "csv") && map->count == (tree_get(map, "unit") ? 2 : 1))
        return read_csv(draft, row, map, d);
    if (map->count != 1)
        return draft_refuse(draft, map,
                            "%s: %u keys; expected one, {uniform: [low, high]}, "
                            "{mix: {value: weight}}, {lognormal: {median: value, p99: value}}, "
                            "{exponential: mean} or {csv: file}",
                            row->key, map->count);
    const struct tree_item *item = &map->items[0];
    for (size_t i = 0; i < DRAW_KINDS; i++) {
        known[i] = draw_kinds[i].word;
        if (strcmp(item->key->text, known[i]) == 0)
            return draw_kinds[i].read(draft, row, item->value, d);
    }
    known[DRAW_KINDS] = "csv";
    struct phrase what = {0};
    phrase_add(&what, "distribution in %s", row->key);
    return draft_refuse_word(draft, item->key, what.text, known);
}

bool schema_read_draw(struct draft *draft, const struct schema_row *row,
                      const struct tree_node *node, struct distribution *d) {
    bool none = row->literal && node->kind == TREE_WORD && strcmp(node->text, row->literal) == 0;
    if (none) return true; /* DISTRIBUTION_NONE */
    if (node->kind == TREE_MAP) return read_map(draft, row, node, d);
    d->kind = DISTRIBUTION_CONSTANT;
    return schema_read_integer(draft, row, node, &d->low);
}
