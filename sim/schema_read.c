#include <string.h>

#include "heap.h"
#include "profile.h"
#include "schema.h"

void schema_words(const struct schema_row *row, const char *words[SCHEMA_WORDS_MAX]) {
    size_t count = 0;
    switch (row->kind) {
    case SCHEMA_CHOICE:
        for (; row->choices[count].word; count++) words[count] = row->choices[count].word;
        break;
    case SCHEMA_ENGINE:
        for (; generation_at(count); count++) words[count] = generation_at(count)->name;
        break;
    case SCHEMA_ALLOCATOR:
        for (; allocator_at(count); count++) words[count] = allocator_at(count)->name;
        break;
    case SCHEMA_PRICES:
        for (; price_table_at(count); count++) words[count] = price_table_at(count)->name;
        break;
    default:
        break;
    }
    ASSERT(count < SCHEMA_WORDS_MAX);
    words[count] = NULL;
}

enum unit_kind schema_unit(const struct schema_row *row) {
    switch (row->kind) {
    case SCHEMA_NS:
    case SCHEMA_US:
    case SCHEMA_MS:
    case SCHEMA_MS_DRAW:
    case SCHEMA_NS_DRAW:
        return UNIT_DURATION;
    case SCHEMA_BYTES:
    case SCHEMA_BYTES_DRAW:
        return UNIT_SIZE;
    case SCHEMA_BANDWIDTH:
        return UNIT_BANDWIDTH;
    case SCHEMA_RATE:
        return UNIT_RATE;
    case SCHEMA_DRIFT:
        return UNIT_DRIFT;
    default:
        return UNIT_COUNT;
    }
}

/* Fields in us and ms are written as durations, which are read in ns. */
int64_t schema_base(const struct schema_row *row) {
    if (row->kind == SCHEMA_US) return NS_PER_US;
    return row->kind == SCHEMA_MS || row->kind == SCHEMA_MS_DRAW ? NS_PER_MS : 1;
}

void schema_range(const struct schema_row *row, struct phrase *phrase) {
    char low[48], high[48];
    if (row->low == 0 && row->high == 0) return;
    units_print(schema_unit(row), row->low, low, sizeof low);
    units_print(schema_unit(row), row->high, high, sizeof high);
    phrase_add(phrase, row->high == INT64_MAX ? ", at least %s" : ", %s to %s", low, high);
}

static void expect_words(const struct schema_row *row, struct phrase *phrase) {
    const char *words[SCHEMA_WORDS_MAX];
    schema_words(row, words);
    phrase_add(phrase, "one of ");
    for (size_t i = 0; words[i]; i++) phrase_add(phrase, "%s%s", i ? ", " : "", words[i]);
}

void schema_expected(const struct schema_row *row, struct phrase *phrase) {
    switch (row->kind) {
    case SCHEMA_TEXT:
        phrase_add(phrase, "text");
        return;
    case SCHEMA_NAME:
        phrase_add(phrase, "a name of a-z, 0-9, _ and -");
        return;
    case SCHEMA_FLAG:
        phrase_add(phrase, "yes or no");
        return;
    case SCHEMA_TIME:
        phrase_add(phrase, "a time in UTC such as 2026-01-01T00:00:00Z");
        return;
    case SCHEMA_CHOICE:
    case SCHEMA_ENGINE:
    case SCHEMA_ALLOCATOR:
    case SCHEMA_PRICES:
        expect_words(row, phrase);
        return;
    case SCHEMA_SERVER:
        phrase_add(phrase, "the name of a server");
        return;
    case SCHEMA_MAP:
        phrase_add(phrase, "a map");
        return;
    case SCHEMA_LIST:
        phrase_add(phrase, "a list");
        return;
    case SCHEMA_ANY:
        phrase_add(phrase, "a word or a map");
        return;
    default:
        if (row->literal) phrase_add(phrase, "%s or ", row->literal);
        phrase_add(phrase, "%s", units_expected(schema_unit(row)));
        schema_range(row, phrase);
    }
}

static bool refuse_kind(struct draft *draft, const struct schema_row *row,
                        const struct tree_node *node) {
    struct phrase phrase = {0};
    phrase_add(&phrase, "%s is %s; expected ", row->key, tree_kind_name(node));
    schema_expected(row, &phrase);
    return draft_refuse_phrase(draft, node, &phrase);
}

static void store(const struct schema_row *row, void *field, int64_t value) {
    switch (row->size) {
    case 1:
        *(uint8_t *)field = (uint8_t)value;
        return;
    case 4:
        *(uint32_t *)field = (uint32_t)value;
        return;
    default:
        ASSERT(row->size == 8);
        *(int64_t *)field = value;
    }
}

/* A number with its unit, in the range and whole in the field's unit. */
bool schema_read_integer(struct draft *draft, const struct schema_row *row,
                         const struct tree_node *node, int64_t *value) {
    struct phrase phrase = {0};
    phrase_add(&phrase, "%s: ", row->key);
    int64_t number;
    if (node->kind != TREE_WORD || tree_is_blank(node)) return refuse_kind(draft, row, node);
    if (!units_parse(schema_unit(row), node->text, node->length, &number, &phrase))
        return draft_refuse_phrase(draft, node, &phrase);
    bool whole = number % schema_base(row) == 0;
    if (whole && number >= row->low && number <= row->high) {
        *value = number / schema_base(row);
        return true;
    }
    phrase_add(&phrase, "%s is %s; expected ", quote(node->text, node->length).text,
               whole                           ? "out of range"
               : schema_base(row) == NS_PER_MS ? "finer than 1ms"
                                               : "finer than 1us");
    schema_expected(row, &phrase);
    return draft_refuse_phrase(draft, node, &phrase);
}

static bool is_word(const struct tree_node *node, const char *word) {
    return node->kind == TREE_WORD && word && strcmp(node->text, word) == 0;
}

static bool read_name(struct draft *draft, const struct schema_row *row,
                      const struct tree_node *node, char **field) {
    if (row->kind == SCHEMA_NAME && node->length == 0) return refuse_kind(draft, row, node);
    for (size_t i = 0; i < node->length; i++) {
        char c = node->text[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (row->kind == SCHEMA_NAME && !fine)
            return draft_refuse(draft, node, "%s is %s; expected a name of a-z, 0-9, _ and -",
                                row->key, quote(node->text, node->length).text);
    }
    free(*field);
    *field = heap_text(node->text, node->length);
    return true;
}

static bool read_choice(struct draft *draft, const struct schema_row *row,
                        const struct tree_node *node, void *field) {
    const char *words[SCHEMA_WORDS_MAX];
    schema_words(row, words);
    size_t at = 0;
    while (words[at] && !is_word(node, words[at])) at++;
    if (!words[at] && row->kind == SCHEMA_PRICES && profile_is_file_name(node->text))
        return draft_load_prices(draft, node, field);
    if (!words[at]) return draft_refuse_word(draft, node, row->key, words);
    if (row->kind == SCHEMA_ENGINE)
        *(const struct generation **)field = generation_at(at);
    else if (row->kind == SCHEMA_ALLOCATOR)
        *(const struct allocator **)field = allocator_at(at);
    else if (row->kind == SCHEMA_PRICES)
        *(const struct price_table **)field = price_table_at(at);
    else
        store(row, field, row->choices[at].value);
    return true;
}

static bool read_server(struct draft *draft, const struct tree_node *node, uint32_t *server) {
    for (uint32_t i = 0; i < draft->scenario->server_count; i++)
        if (is_word(node, draft->scenario->servers[i].name)) {
            *server = i;
            return true;
        }
    const char **known = draft_server_names(draft);
    draft_refuse_word(draft, node, "server", known);
    free(known);
    return false;
}

static bool read_flag(struct draft *draft, const struct schema_row *row,
                      const struct tree_node *node, void *field) {
    static const char *const words[] = {"yes", "no", "true", "false", NULL};
    for (int i = 0; words[i]; i++)
        if (is_word(node, words[i])) {
            store(row, field, i % 2 == 0);
            return true;
        }
    return draft_refuse_word(draft, node, row->key, words);
}

static bool read_time(struct draft *draft, const struct schema_row *row,
                      const struct tree_node *node, us_t *field) {
    if (units_parse_time(node->text, node->length, true, field)) return true;
    return draft_refuse(draft, node,
                        "%s: %s is not a time; expected one in UTC such as 2026-01-01T00:00:00Z",
                        row->key, quote(node->text, node->length).text);
}

static bool read_value(struct draft *draft, const struct schema_row *row,
                       const struct tree_node *node, void *field) {
    switch (row->kind) {
    case SCHEMA_BYTES_DRAW:
    case SCHEMA_MS_DRAW:
    case SCHEMA_NS_DRAW:
        return schema_read_draw(draft, row, node, field);
    default:
        break;
    }
    if (node->kind != TREE_WORD || (tree_is_blank(node) && row->kind != SCHEMA_TEXT))
        return refuse_kind(draft, row, node);
    switch (row->kind) {
    case SCHEMA_TEXT:
    case SCHEMA_NAME:
        return read_name(draft, row, node, field);
    case SCHEMA_FLAG:
        return read_flag(draft, row, node, field);
    case SCHEMA_TIME:
        return read_time(draft, row, node, field);
    case SCHEMA_CHOICE:
    case SCHEMA_ENGINE:
    case SCHEMA_ALLOCATOR:
    case SCHEMA_PRICES:
        return read_choice(draft, row, node, field);
    case SCHEMA_SERVER:
        return read_server(draft, node, field);
    default:
        break;
    }
    int64_t value = 0;
    if (!is_word(node, row->literal) && !schema_read_integer(draft, row, node, &value))
        return false;
    store(row, field, value);
    return true;
}

static bool read_default(struct draft *draft, const struct schema_row *row,
                         const struct tree_node *map, void *field) {
    struct tree_node word = {.kind = TREE_WORD, .line = map->line, .column = map->column};
    word.text = heap_text(row->initial, strlen(row->initial));
    word.length = strlen(row->initial);
    bool fine = read_value(draft, row, &word, field);
    free(word.text);
    return fine;
}

bool schema_check_keys(struct draft *draft, enum schema_section section,
                       const struct tree_node *map, const char *where) {
    if (map->kind != TREE_MAP && !tree_is_blank(map))
        return draft_refuse(draft, map, "%s is %s; expected a map of keys and values", where,
                            tree_kind_name(map));
    const char *known[SCHEMA_WORDS_MAX];
    size_t count = 0;
    for (const struct schema_row *row = NULL; (row = schema_next(section, row));)
        known[count++] = row->key;
    ASSERT(count < SCHEMA_WORDS_MAX);
    known[count] = NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_node *key = map->items[i].key;
        size_t at = 0;
        while (known[at] && !is_word(key, known[at])) at++;
        if (known[at]) continue;
        struct phrase phrase = {0};
        phrase_add(&phrase, "unknown key %s in %s", quote(key->text, key->length).text, where);
        phrase_add_choice(&phrase, key->text, key->length, known);
        return draft_refuse_phrase(draft, key, &phrase);
    }
    return true;
}

static bool fill_row(struct draft *draft, const struct schema_row *row, const struct tree_node *map,
                     const char *where, void *base) {
    const struct tree_node *node = tree_get(map, row->key);
    if (!node && row->flags & SCHEMA_REQUIRED) {
        struct phrase phrase = {0};
        phrase_add(&phrase, "%s has no '%s'; expected %s: ", where, row->key, row->key);
        schema_expected(row, &phrase);
        return draft_refuse_phrase(draft, map, &phrase);
    }
    void *field = (char *)base + row->offset;
    if (!node && row->initial && row->size) return read_default(draft, row, map, field);
    if (!node) return true;
    if (row->size) return read_value(draft, row, node, field);
    if (tree_is_blank(node)) return row->kind != SCHEMA_ANY || refuse_kind(draft, row, node);
    if (row->kind == SCHEMA_MAP && node->kind != TREE_MAP) return refuse_kind(draft, row, node);
    if (row->kind == SCHEMA_LIST && node->kind != TREE_LIST) return refuse_kind(draft, row, node);
    return true;
}

bool schema_fill(struct draft *draft, enum schema_section section, const struct tree_node *map,
                 const char *where, void *base) {
    if (!schema_check_keys(draft, section, map, where)) return false;
    for (const struct schema_row *row = NULL; (row = schema_next(section, row));)
        if (!fill_row(draft, row, map, where, base)) return false;
    return true;
}
