/* Variants: named sets of overrides, laid over the tree before anything is validated, so that a
 * mistake in one is found by the same checks and told at its own place. */
#include "heap.h"
#include "scenario_load.h"

static struct tree_node *child_map(struct draft *draft, struct tree *tree, struct tree_node *map,
                                   const struct tree_node *place, const char *key, size_t length) {
    struct tree_item *item = tree_find(map, key, length);
    if (!item) {
        struct tree_node *made = tree_new(tree, TREE_MAP, place, "", 0);
        tree_append(map, tree_new(tree, TREE_WORD, place, key, length), made);
        return made;
    }
    if (tree_is_blank(item->value)) item->value = tree_new(tree, TREE_MAP, place, "", 0);
    if (item->value->kind == TREE_MAP) return item->value;
    draft_refuse(draft, place, "%s is %s in line %d; expected a map to lay this over",
                 quote(key, length).text, tree_kind_name(item->value), item->value->line);
    return NULL;
}

static bool lay(struct draft *, struct tree *, struct tree_node *over,
                const struct tree_node *under, bool nested);

static bool is_word(const char *word, const char *key, size_t length) {
    return strlen(word) == length && memcmp(word, key, length) == 0;
}

/* A distribution or a mix of commands is one value: a variant's takes its place whole. The jitter
 * of a link may be one; that of a population is a map of keys. */
static bool is_whole(const char *key, size_t length, const struct tree_node *value) {
    static const char *const whole[] = {"ttl",        "value",   "think", "mix",
                                        "popularity", "latency", "every", "for"};
    static const char *const kinds[] = {"uniform", "mix", "lognormal", "exponential", "csv"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (is_word(whole[i], key, length)) return true;
    if (!is_word("jitter", key, length)) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tree_get(value, kinds[i])) return true;
    return false;
}

/* Puts a value at the last word of a path; a map is laid over the map that is there. */
static bool put(struct draft *draft, struct tree *tree, struct tree_node *map,
                const struct tree_item *from, const char *key, size_t length) {
    struct tree_item *item = tree_find(map, key, length);
    bool merge = item && item->value->kind == TREE_MAP && from->value->kind == TREE_MAP &&
                 !is_whole(key, length, from->value);
    if (merge) return lay(draft, tree, item->value, from->value, true);
    if (item) {
        item->key = tree_new(tree, TREE_WORD, from->key, key, length);
        item->value = from->value;
    } else {
        tree_append(map, tree_new(tree, TREE_WORD, from->key, key, length), from->value);
    }
    return true;
}

/* Below the variant's own keys a dot may belong to a word: a value (0.5KiB) or a command (SET k
 * 1.5). A path is of words, names and directives: no space, and no number in front. */
static bool is_path(const char *word) {
    return !strchr(word, ' ') && !(word[0] >= '0' && word[0] <= '9');
}

static bool lay_item(struct draft *draft, struct tree *tree, struct tree_node *map,
                     const struct tree_item *from, bool nested) {
    const char *word = from->key->text;
    bool path = !nested || is_path(word);
    for (const char *dot; path && (dot = strchr(word, '.')); word = dot + 1) {
        if (dot == word)
            return draft_refuse(draft, from->key,
                                "an empty word in the path %s; expected words and dots such as "
                                "servers.master.config.hz",
                                quote(from->key->text, from->key->length).text);
        map = child_map(draft, tree, map, from->key, word, (size_t)(dot - word));
        if (!map) return false;
    }
    return put(draft, tree, map, from, word, strlen(word));
}

static bool lay(struct draft *draft, struct tree *tree, struct tree_node *over,
                const struct tree_node *from, bool nested) {
    for (uint32_t i = 0; i < from->count; i++)
        if (!lay_item(draft, tree, over, &from->items[i], nested)) return false;
    return true;
}

static bool list_names(struct draft *draft, const struct tree_node *variants) {
    struct scenario *s = draft->scenario;
    s->variants = heap_zero(variants->count, sizeof *s->variants);
    for (uint32_t i = 0; i < variants->count; i++) {
        const struct tree_item *item = &variants->items[i];
        if (item->value->kind != TREE_MAP && !tree_is_blank(item->value))
            return draft_refuse(draft, item->value, "variant %s is %s; expected a map of overrides",
                                quote(item->key->text, item->key->length).text,
                                tree_kind_name(item->value));
        bool changes = item->value->kind == TREE_MAP && item->value->count > 0;
        if (!changes || strcmp(item->key->text, "base") == 0) s->base_is_a_variant = true;
        s->variants[s->variant_count++] = heap_text(item->key->text, item->key->length);
    }
    return true;
}

static bool refuse_variant(struct draft *draft, const struct tree_node *place,
                           const char *variant) {
    const struct scenario *s = draft->scenario;
    struct phrase phrase = {0};
    phrase_add(&phrase, "no variant %s", quote(variant, strlen(variant)).text);
    if (s->variant_count == 0) phrase_add(&phrase, "; expected none, as the file has no variants");
    const char **known = heap_zero(s->variant_count + 1, sizeof *known);
    for (uint32_t i = 0; i < s->variant_count; i++) known[i] = s->variants[i];
    phrase_add_choice(&phrase, variant, strlen(variant), known);
    free(known);
    return draft_refuse_phrase(draft, place, &phrase);
}

bool load_variants(struct draft *draft, struct tree *tree, const char *variant) {
    struct tree_node *root = tree->root;
    const struct tree_node *variants = tree_get(root, "variants");
    if (variants && variants->kind == TREE_MAP) { /* else the schema complains */
        if (!draft_check_names(draft, variants, "variant")) return false;
        if (!list_names(draft, variants)) return false;
    }
    if (!variant) return true;
    const struct tree_node *overrides = variants ? tree_get(variants, variant) : NULL;
    if (!overrides) return refuse_variant(draft, variants ? variants : root, variant);
    draft->scenario->variant = heap_text(variant, strlen(variant));
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct tree_node *key = overrides->items[i].key;
        if (strncmp(key->text, "variants", 8) == 0 && (!key->text[8] || key->text[8] == '.'))
            return draft_refuse(draft, key, "a variant changes variants; expected other keys");
    }
    return lay(draft, tree, root, overrides, false);
}
