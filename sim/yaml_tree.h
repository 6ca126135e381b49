/* yaml_tree: a YAML file as maps, lists and words, each with its place. Built from libyaml's
 * events, because a scenario wants places in its messages and none of YAML's types: every scalar is
 * a word here, and the schema says what it means. Anchors, aliases, tags, second documents and
 * duplicate keys are refused. The tree owns all its nodes. */
#ifndef LAPSE_SIM_YAML_TREE_H
#define LAPSE_SIM_YAML_TREE_H

#include "scenario.h"

#define TREE_DEPTH_MAX 32
#define TREE_BYTES_MAX (16 << 20) /* a scenario is written by a person */
#define TREE_ITEMS_MAX 10000      /* in one map: looking for duplicates compares all pairs */

enum tree_kind { TREE_WORD, TREE_MAP, TREE_LIST };

struct tree_item {
    struct tree_node *key; /* NULL in a list */
    struct tree_node *value;
};

struct tree_node {
    enum tree_kind kind;
    int line, column; /* from 1 */
    char *text;       /* of a word; NUL-terminated, no NUL inside */
    size_t length;
    bool quoted;
    struct tree_item *items;
    uint32_t count, capacity;
};

struct tree {
    struct tree_node *root;
    struct tree_node **nodes;
    uint32_t count, capacity;
};

/* False with a message on anything but one document of maps, lists and words. Release in any case.
 */
bool tree_parse(struct tree *, const char *bytes, size_t length, const char *path,
                struct scenario_error *);
void tree_release(struct tree *);

/* The item of a map with that key, or NULL. Works on words too: they have no items. */
struct tree_item *tree_find(const struct tree_node *map, const char *key, size_t length);
const struct tree_node *tree_get(const struct tree_node *map, const char *key); /* its value */

/* A new node at the place of another, for a map that an override makes. */
struct tree_node *tree_new(struct tree *, enum tree_kind, const struct tree_node *place,
                           const char *text, size_t length);
void tree_append(struct tree_node *, struct tree_node *key, struct tree_node *value);

/* `key:` with nothing after it: stands for an empty map or list. */
static inline bool tree_is_blank(const struct tree_node *node) {
    return node->kind == TREE_WORD && node->length == 0 && !node->quoted;
}

/* "a word", "a map", "a list", "empty" */
const char *tree_kind_name(const struct tree_node *);

#endif
