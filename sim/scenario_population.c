/* Populations: patterns of names, what excludes what, and that no two patterns could meet. */
#include "heap.h"
#include "bounds.h"
#include "nearest.h"
#include "schema.h"

#define POPULATIONS_MAX 1000

static const char pattern_expected[] = "expected a pattern such as session:{n} or session:{n:08}";

static bool refuse_pattern(struct draft *draft, const struct tree_node *node, const char *what) {
    return draft_refuse(draft, node, "%s %s; %s", quote(node->text, node->length).text, what,
                        pattern_expected);
}

/* PREFIX {n} SUFFIX or PREFIX {n:WIDTH} SUFFIX */
static bool read_pattern(struct draft *draft, const struct tree_node *node,
                         struct population_config *p) {
    if (node->kind != TREE_WORD || tree_is_blank(node))
        return draft_refuse(draft, node, "keys is %s; %s", tree_kind_name(node), pattern_expected);
    const char *open = strchr(node->text, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!open || !close) return refuse_pattern(draft, node, "has no {n}");
    if (strpbrk(close + 1, "{}")) return refuse_pattern(draft, node, "has more than one {n}");
    if (open[1] != 'n' || (open[2] != ':' && open[2] != '}'))
        return refuse_pattern(draft, node, "has an unknown placeholder");
    for (const char *digit = open + 3; open[2] == ':' && digit < close; digit++) {
        if (*digit < '0' || *digit > '9')
            return refuse_pattern(draft, node, "has a width that is no number");
        p->pattern_width = p->pattern_width * 10 + (uint32_t)(*digit - '0');
        if (p->pattern_width > 20) return refuse_pattern(draft, node, "has a width above 20");
    }
    if (open[2] == ':' && (p->pattern_width == 0))
        return refuse_pattern(draft, node, "has no width");
    if (node->length > KEY_LENGTH_MAX - 64) return refuse_pattern(draft, node, "is too long");
    p->pattern_prefix = heap_text(node->text, (size_t)(open - node->text));
    p->pattern_suffix = heap_text(close + 1, strlen(close + 1));
    return true;
}

static bool load_jitter(struct draft *draft, const struct tree_node *node, const char *where,
                        struct jitter *jitter) {
    const char *names[JITTER_KINDS + 1] = {0};
    char inside[96];
    snprintf(inside, sizeof inside, "%s.jitter", where);
    if (node && node->kind == TREE_WORD && !tree_is_blank(node)) {
        for (int i = 0; i < JITTER_KINDS; i++) names[i] = jitter_names[i];
        if (strcmp(node->text, "none") != 0) {
            bool known = false;
            for (int i = 0; i < JITTER_KINDS; i++) known |= strcmp(names[i], node->text) == 0;
            if (!known) return draft_refuse_word(draft, node, "strategy", names);
            return draft_refuse(draft, node,
                                "jitter %s has no span; expected a map such as "
                                "{strategy: %s, span: 10s}",
                                node->text, node->text);
        }
        node = NULL;
    }
    static const struct tree_node silent = {.kind = TREE_MAP, .line = 1, .column = 1};
    if (!schema_fill(draft, SECTION_JITTER, node ? node : &silent, inside, jitter)) return false;
    if (!node || jitter->kind != JITTER_ROUND || jitter->span_ms > 0) return true;
    return draft_refuse(draft, node, "%s rounds to a span of 0; expected span: 10s or so", inside);
}

static bool load_load(struct draft *draft, const struct tree_node *node, const char *where,
                      struct population_config *p) {
    static const char *const words[] = {"preloaded", NULL};
    p->preloaded = !node || (node->kind == TREE_WORD && strcmp(node->text, "preloaded") == 0);
    if (p->preloaded) return true;
    if (node->kind != TREE_MAP) {
        struct phrase phrase = {0};
        phrase_add(&phrase, "load is %s",
                   node->kind == TREE_WORD ? quote(node->text, node->length).text : "a list");
        phrase_add(&phrase, "; expected preloaded or a map such as {at: 0s, over: 10s}");
        if (nearest_of(node->text, node->length, words))
            phrase_add(&phrase, "; did you mean 'preloaded'?");
        return draft_refuse_phrase(draft, node, &phrase);
    }
    char inside[96];
    snprintf(inside, sizeof inside, "%s.load", where);
    return schema_fill(draft, SECTION_LOAD, node, inside, p);
}

static bool load_from(struct draft *draft, const struct tree_node *map, const char *where,
                      struct population_config *p) {
    static const char *const others[] = {"keys", "first",    "count", "value",
                                         "ttl",  "deadline", "db"};
    const struct tree_node *from = tree_get(map, "from");
    if (from->kind != TREE_WORD || tree_is_blank(from))
        return draft_refuse(draft, from, "from is %s; expected the name of a CSV file",
                            tree_kind_name(from));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tree_get(map, others[i]))
            return draft_refuse(draft, tree_get(map, others[i]),
                                "%s has both from and %s; expected one of them, as the file says "
                                "which keys there are",
                                where, others[i]);
    p->from = draft_file(draft, from->text);
    FILE *file = fopen(p->from, "rb");
    int first = file ? fgetc(file) : EOF; /* a folder opens, and does not read */
    if (file) fclose(file);
    if (first == EOF)
        return draft_refuse(draft, from, "cannot read %s; expected a memory report of rdb-tools",
                            quote(from->text, from->length).text);
    struct phrase note = {0};
    phrase_add(&note, "%s: keys of every type in %s are placed as strings of the same weight",
               where, quote(from->text, from->length).text);
    draft_note(draft, &note);
    return true;
}

static bool load_keys(struct draft *draft, const struct tree_node *map, const char *where,
                      struct population_config *p) {
    const struct tree_node *keys = tree_get(map, "keys");
    if (!keys || !tree_get(map, "count"))
        return draft_refuse(draft, map, "%s has no '%s'; expected keys and count, or from", where,
                            keys ? "count" : "keys");
    if (!read_pattern(draft, keys, p)) return false;
    const struct tree_node *deadline = tree_get(map, "deadline");
    if (deadline && tree_get(map, "ttl"))
        return draft_refuse(draft, deadline, "%s has both ttl and deadline; expected one", where);
    return true;
}

static bool load_population(struct draft *draft, const struct tree_node *map,
                            struct population_config *p) {
    char where[80];
    snprintf(where, sizeof where, "populations.%s", p->name);
    p->deadline_ms = -1;
    if (!schema_fill(draft, SECTION_POPULATION, map, where, p)) return false;
    const struct server_config *server = &draft->scenario->servers[p->server];
    const struct tree_node *named = tree_get(map, "server");
    if (server->master >= 0)
        return draft_refuse(draft, named ? named : map,
                            "%s is on '%s', a replica; expected a master such as '%s'", where,
                            server->name, draft->scenario->servers[server->master].name);
    p->databases = (uint32_t)server->engine.databases;
    if (p->db >= server->engine.databases)
        return draft_refuse(draft, tree_get(map, "db"),
                            "database %u of a server with %d; expected a smaller number", p->db,
                            (int)server->engine.databases);
    if (!load_jitter(draft, tree_get(map, "jitter"), where, &p->jitter)) return false;
    if (!load_load(draft, tree_get(map, "load"), where, p)) return false;
    return tree_get(map, "from") ? load_from(draft, map, where, p)
                                 : load_keys(draft, map, where, p);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Could the longer text be the shorter one and then a digit (or a digit and then it)? Names can
 * only meet where the rest of a fixed part can be read as digits of the other's number. */
static bool prefixes_meet(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (!*a || !*b) && (!*a || is_digit(*a)) && (!*b || is_digit(*b));
}

static bool suffixes_meet(const char *a, const char *b) {
    size_t i = strlen(a), j = strlen(b);
    while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) i--, j--;
    return (i == 0 || j == 0) && (i == 0 || is_digit(a[i - 1])) && (j == 0 || is_digit(b[j - 1]));
}

static bool patterns_meet(const struct population_config *a, const struct population_config *b) {
    if (!prefixes_meet(a->pattern_prefix, b->pattern_prefix) ||
        !suffixes_meet(a->pattern_suffix, b->pattern_suffix))
        return false;
    bool same = strcmp(a->pattern_prefix, b->pattern_prefix) == 0 &&
                strcmp(a->pattern_suffix, b->pattern_suffix) == 0;
    return !same || (a->pattern_first < b->pattern_first + b->count &&
                     b->pattern_first < a->pattern_first + a->count);
}

/* In different databases too: a name stands for one key in all of them. */
static bool check_overlap(struct draft *draft, const struct tree_node *map, uint32_t index) {
    const struct population_config *all = draft->scenario->populations, *p = &all[index];
    for (uint32_t i = 0; i < index; i++) {
        if (p->from || all[i].from || !patterns_meet(&all[i], p)) continue;
        return draft_refuse(draft, tree_get(map, "keys"),
                            "names of '%s' could be names of '%s'; expected another pattern, or "
                            "another first",
                            p->name, all[i].name);
    }
    return true;
}

static bool check_sum(struct draft *draft, const struct tree_node *map) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < draft->scenario->population_count; i++)
        sum += draft->scenario->populations[i].count;
    return sum <= KEY_ID_MAX / 4 ||
           draft_refuse(draft, tree_get(map, "count"),
                        "more than 1,000,000,000 keys in all; expected fewer");
}

bool load_populations(struct draft *draft, const struct tree_node *root) {
    struct scenario *s = draft->scenario;
    const struct tree_node *map = tree_get(root, "populations");
    if (!map) return true;
    if (map->count > POPULATIONS_MAX)
        return draft_refuse(draft, map, "%u populations; expected at most %d", map->count,
                            POPULATIONS_MAX);
    if (!draft_check_names(draft, map, "population")) return false;
    s->populations = heap_zero(map->count, sizeof *s->populations);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_item *item = &map->items[i];
        s->populations[s->population_count++].name = heap_text(item->key->text, item->key->length);
        if (!load_population(draft, item->value, &s->populations[i])) return false;
        if (!check_overlap(draft, item->value, i) || !check_sum(draft, item->value)) return false;
    }
    return true;
}
