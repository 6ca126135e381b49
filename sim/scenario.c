/* Loading, from bytes to a scenario: tree, variant, then each part in its own file. */
#include "scenario.h"

#include <stdarg.h>

#include "heap.h"
#include "profile.h"
#include "scenario_load.h"

bool draft_refuse(struct draft *draft, const struct tree_node *place, const char *format, ...) {
    char text[900];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return complain(draft->error, draft->path, place->line, place->column, "%s", text);
}

bool draft_refuse_phrase(struct draft *draft, const struct tree_node *place,
                         const struct phrase *phrase) {
    return complain(draft->error, draft->path, place->line, place->column, "%s", phrase->text);
}

bool draft_refuse_word(struct draft *draft, const struct tree_node *place, const char *what,
                       const char *const *known) {
    struct phrase phrase = {0};
    if (place->kind == TREE_WORD)
        phrase_add(&phrase, "unknown %s %s", what, quote(place->text, place->length).text);
    else
        phrase_add(&phrase, "%s is %s", what, tree_kind_name(place));
    phrase_add_choice(&phrase, place->text, place->length, known);
    return draft_refuse_phrase(draft, place, &phrase);
}

void draft_note(struct draft *draft, const struct phrase *phrase) {
    struct scenario *s = draft->scenario;
    s->notes = heap_resize(s->notes, s->note_count + 1, sizeof *s->notes);
    s->notes[s->note_count++] = heap_text(phrase->text, phrase->length);
}

char *draft_file(const struct draft *draft, const char *name) {
    bool whole = name[0] == '/' || !draft->directory || !draft->directory[0];
    size_t length = (whole ? 0 : strlen(draft->directory) + 1) + strlen(name) + 1;
    char *path = heap_zero(length, 1);
    if (whole)
        snprintf(path, length, "%s", name);
    else
        snprintf(path, length, "%s/%s", draft->directory, name);
    return path;
}

const char **draft_server_names(const struct draft *draft) {
    const struct scenario *s = draft->scenario;
    const char **names = heap_zero(s->server_count + 1, sizeof *names);
    for (uint32_t i = 0; i < s->server_count; i++) names[i] = s->servers[i].name;
    return names;
}

static bool is_name(const struct tree_node *node) {
    if (node->length == 0 || node->length > 60) return false;
    for (size_t i = 0; i < node->length; i++) {
        char c = node->text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

bool draft_check_names(struct draft *draft, const struct tree_node *map, const char *what) {
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_node *key = map->items[i].key;
        if (is_name(key)) continue;
        return draft_refuse(draft, key,
                            "%s is no name of a %s; expected up to 60 of a-z, 0-9, _ and -",
                            quote(key->text, key->length).text, what);
    }
    return true;
}

char *draft_read_file(const char *path, size_t limit, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t capacity = 4096;
    char *bytes = heap_zero(capacity + 1, 1);
    *length = 0;
    for (size_t got; (got = fread(bytes + *length, 1, capacity - *length, file)) > 0;) {
        *length += got;
        if (*length > limit) break;
        if (*length < capacity) continue;
        capacity *= 2;
        bytes = heap_resize(bytes, capacity + 1, 1);
    }
    bool fine = !ferror(file) && *length <= limit;
    fclose(file);
    if (!fine) {
        free(bytes);
        return NULL;
    }
    bytes[*length] = 0;
    return bytes;
}

static bool load_parts(struct draft *draft, struct tree *tree, const char *variant) {
    const struct tree_node *root = tree->root;
    if (!load_variants(draft, tree, variant)) return false;
    if (!load_root(draft, root)) return false;
    return load_populations(draft, root) && load_clients(draft, root) && load_events(draft, root) &&
           load_failover(draft, root) && load_expectations(draft, root);
}

struct scenario *scenario_parse(const char *bytes, size_t length, const char *path,
                                const char *directory, const char *variant,
                                struct scenario_error *error) {
    struct scenario *scenario = heap_zero(1, sizeof *scenario);
    scenario->path = heap_text(path, strlen(path));
    scenario->texts = texts_create();
    struct draft draft = {
        .scenario = scenario, .path = path, .directory = directory, .error = error};
    error->message[0] = 0;
    struct tree tree;
    bool fine = tree_parse(&tree, bytes, length, path, error);
    fine = fine && load_parts(&draft, &tree, variant);
    tree_release(&tree);
    if (fine) return scenario;
    scenario_destroy(scenario);
    return NULL;
}

struct scenario *scenario_load(const char *path, const char *variant,
                               struct scenario_error *error) {
    size_t length;
    char *bytes = draft_read_file(path, TREE_BYTES_MAX, &length);
    if (!bytes) {
        complain(error, path, 1, 1, "cannot read this file; expected a scenario (at most 16 MiB)");
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    char *directory = heap_text(path, slash ? (size_t)(slash - path) : 0);
    if (slash == path) { /* a file of the root folder */
        free(directory);
        directory = heap_text("/", 1);
    }
    struct scenario *scenario = scenario_parse(bytes, length, path, directory, variant, error);
    free(directory);
    free(bytes);
    return scenario;
}

static void link_release_config(struct link_config *link) {
    free(link->outages);
    distribution_release(&link->latency);
    distribution_release(&link->jitter);
}

static void servers_release(struct scenario *s) {
    for (uint32_t i = 0; i < s->server_count; i++) {
        struct server_config *server = &s->servers[i];
        free(server->name);
        link_release_config(&server->link);
        link_release_config(&server->link_up);
        free(server->outage_plan.planned);
        distribution_release(&server->outage_plan.every_ns);
        distribution_release(&server->outage_plan.for_ns);
    }
    free(s->servers);
}

static void populations_release(struct scenario *s) {
    for (uint32_t i = 0; i < s->population_count; i++) {
        struct population_config *p = &s->populations[i];
        free(p->name);
        free(p->pattern_prefix);
        free(p->pattern_suffix);
        distribution_release(&p->value_bytes);
        distribution_release(&p->ttl_ms);
        free(p->from);
    }
    free(s->populations);
}

static void clients_release(struct scenario *s) {
    for (uint32_t i = 0; i < s->client_count; i++) {
        free(s->clients[i].name);
        free(s->clients[i].mix);
        distribution_release(&s->clients[i].think_ns);
    }
    free(s->clients);
}

static void texts_release(char **list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) free(list[i]);
    free(list);
}

static void profiles_release(struct scenario *s) {
    for (uint32_t i = 0; i < s->profile_count; i++) {
        profile_release(s->profiles[i]);
        free(s->profiles[i]);
    }
    free(s->profiles);
}

void scenario_destroy(struct scenario *s) {
    if (!s) return;
    servers_release(s);
    populations_release(s);
    clients_release(s);
    for (uint32_t i = 0; i < s->event_count; i++) free(s->events[i].text);
    free(s->events);
    for (uint32_t i = 0; i < s->expectation_count; i++) free(s->expectations[i].text);
    free(s->expectations);
    texts_release(s->variants, s->variant_count);
    texts_release(s->notes, s->note_count);
    profiles_release(s);
    texts_destroy(s->texts);
    free(s->path);
    free(s->name);
    free(s->about);
    free(s->variant);
    free(s);
}
