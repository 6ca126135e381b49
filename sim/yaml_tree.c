#include "yaml_tree.h"

#include <yaml.h>

#include "complain.h"
#include "heap.h"

struct level {
    struct tree_node *node;
    struct tree_node *key; /* of a map: seen, its value is next */
};

struct builder {
    struct tree *tree;
    const char *path;
    struct scenario_error *error;
    struct level stack[TREE_DEPTH_MAX];
    uint32_t depth;
    bool done; /* the first document has ended */
};

static struct tree_node *node_make(struct tree *tree, enum tree_kind kind, int line, int column,
                                   const char *text, size_t length) {
    struct tree_node *node = heap_zero(1, sizeof *node);
    *node = (struct tree_node){.kind = kind,
                               .line = line,
                               .column = column,
                               .text = heap_text(text, length),
                               .length = length};
    tree->nodes = heap_grow(tree->nodes, &tree->capacity, tree->count, sizeof *tree->nodes);
    tree->nodes[tree->count++] = node;
    return node;
}

struct tree_node *tree_new(struct tree *tree, enum tree_kind kind, const struct tree_node *place,
                           const char *text, size_t length) {
    return node_make(tree, kind, place->line, place->column, text, length);
}

void tree_append(struct tree_node *node, struct tree_node *key, struct tree_node *value) {
    node->items = heap_grow(node->items, &node->capacity, node->count, sizeof *node->items);
    node->items[node->count++] = (struct tree_item){.key = key, .value = value};
}

struct tree_item *tree_find(const struct tree_node *map, const char *key, size_t length) {
    if (map->kind != TREE_MAP) return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_node *have = map->items[i].key;
        if (have->length == length && memcmp(have->text, key, length) == 0) return &map->items[i];
    }
    return NULL;
}

const struct tree_node *tree_get(const struct tree_node *map, const char *key) {
    const struct tree_item *item = tree_find(map, key, strlen(key));
    return item ? item->value : NULL;
}

const char *tree_kind_name(const struct tree_node *node) {
    if (tree_is_blank(node)) return "empty";
    return node->kind == TREE_MAP ? "a map" : node->kind == TREE_LIST ? "a list" : "a word";
}

static bool refuse(const struct builder *b, const yaml_event_t *event, const char *what) {
    return complain(b->error, b->path, (int)event->start_mark.line + 1,
                    (int)event->start_mark.column + 1, "%s", what);
}

static bool take_key(struct builder *b, struct level *top, struct tree_node *node,
                     const yaml_event_t *event) {
    if (node->kind != TREE_WORD)
        return refuse(b, event, "a map or a list stands as a key; expected a word and a colon");
    const struct tree_item *twice = tree_find(top->node, node->text, node->length);
    if (twice)
        return complain(b->error, b->path, node->line, node->column,
                        "duplicate key %s, first seen in line %d; expected each key once",
                        quote(node->text, node->length).text, twice->key->line);
    if (top->node->count == TREE_ITEMS_MAX)
        return refuse(b, event, "more than 10,000 keys in a map; expected fewer");
    top->key = node;
    return true;
}

/* Hangs a new node where the stack says it belongs. */
static bool place(struct builder *b, struct tree_node *node, const yaml_event_t *event) {
    if (b->depth == 0) {
        b->tree->root = node;
        return true;
    }
    struct level *top = &b->stack[b->depth - 1];
    if (top->node->kind == TREE_MAP && !top->key) return take_key(b, top, node, event);
    tree_append(top->node, top->key, node);
    top->key = NULL;
    return true;
}

static bool push(struct builder *b, struct tree_node *node, const yaml_event_t *event) {
    if (b->depth == TREE_DEPTH_MAX)
        return refuse(b, event, "nested more than 32 deep; expected a scenario");
    b->stack[b->depth++] = (struct level){.node = node};
    return true;
}

static bool check_plain(const struct builder *b, const yaml_event_t *event,
                        const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (anchor)
        return refuse(b, event, "anchors (&name) are not read; expected the value written out");
    if (tag) return refuse(b, event, "tags (!name) are not read; expected the value alone");
    return true;
}

static bool on_word(struct builder *b, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (!check_plain(b, event, event->data.scalar.anchor, event->data.scalar.tag)) return false;
    if (memchr(text, 0, length)) return refuse(b, event, "a NUL byte; expected text");
    struct tree_node *node = node_make(b->tree, TREE_WORD, (int)event->start_mark.line + 1,
                                       (int)event->start_mark.column + 1, text, length);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return place(b, node, event);
}

static bool on_start(struct builder *b, const yaml_event_t *event) {
    bool map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor =
        map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (!check_plain(b, event, anchor, tag)) return false;
    struct tree_node *node =
        node_make(b->tree, map ? TREE_MAP : TREE_LIST, (int)event->start_mark.line + 1,
                  (int)event->start_mark.column + 1, "", 0);
    return place(b, node, event) && push(b, node, event);
}

static bool on_event(struct builder *b, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_word(b, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return on_start(b, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        b->depth--;
        return true;
    case YAML_ALIAS_EVENT:
        return refuse(b, event, "aliases (*name) are not read; expected the value written out");
    case YAML_DOCUMENT_START_EVENT:
        return !b->done || refuse(b, event, "a second document; expected one scenario in a file");
    case YAML_DOCUMENT_END_EVENT:
        b->done = true;
        return true;
    default:
        return true;
    }
}

/* The reader's errors tell an offset in bytes and no place. */
static bool refuse_bytes(const struct builder *b, const yaml_parser_t *parser, const char *bytes,
                         size_t length) {
    int line = 1, column = 1;
    for (size_t i = 0; i < length && i < parser->problem_offset; i++)
        if (bytes[i] == '\n')
            line++, column = 1;
        else
            column++;
    return complain(b->error, b->path, line, column, "not text: %s; expected UTF-8",
                    parser->problem ? parser->problem : "unreadable bytes");
}

static bool refuse_syntax(const struct builder *b, const yaml_parser_t *parser, const char *bytes,
                          size_t length) {
    if (parser->error == YAML_READER_ERROR) return refuse_bytes(b, parser, bytes, length);
    const yaml_mark_t *mark = &parser->problem_mark;
    char at = mark->index < length ? bytes[mark->index] : 0; /* where all before is ASCII */
    const char *hint = at == '\t'  ? " (a tab: YAML is indented by spaces)"
                       : at == '{' ? " (a word with braces needs quotes)"
                                   : "";
    return complain(b->error, b->path, (int)mark->line + 1, (int)mark->column + 1,
                    "not YAML: %s%s%s%s; expected 'key: value'",
                    parser->context ? parser->context : "",
                    parser->context && parser->problem ? ", " : "",
                    parser->problem ? parser->problem : "unreadable", hint);
}

static bool build(struct builder *b, yaml_parser_t *parser, const char *bytes, size_t length) {
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) return refuse_syntax(b, parser, bytes, length);
        more = event.type != YAML_STREAM_END_EVENT;
        bool fine = on_event(b, &event);
        yaml_event_delete(&event);
        if (!fine) return false;
    }
    if (b->tree->root) return true;
    return complain(b->error, b->path, 1, 1,
                    "the file is empty; expected a scenario: name, servers, populations ...");
}

bool tree_parse(struct tree *tree, const char *bytes, size_t length, const char *path,
                struct scenario_error *error) {
    *tree = (struct tree){0};
    if (length > TREE_BYTES_MAX)
        return complain(error, path, 1, 1, "more than 16 MiB; expected a scenario");
    yaml_parser_t parser;
    ASSERT(yaml_parser_initialize(&parser));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    struct builder b = {.tree = tree, .path = path, .error = error};
    bool fine = build(&b, &parser, bytes, length);
    yaml_parser_delete(&parser);
    return fine;
}

void tree_release(struct tree *tree) {
    for (uint32_t i = 0; i < tree->count; i++) {
        free(tree->nodes[i]->text);
        free(tree->nodes[i]->items);
        free(tree->nodes[i]);
    }
    free(tree->nodes);
    *tree = (struct tree){0};
}
