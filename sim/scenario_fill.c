/* The root of a scenario and its servers. */
#include "backlog.h"
#include "heap.h"
#include "profile.h"
#include "redis_conf.h"
#include "schema.h"

#define SERVERS_MAX       64
#define CONF_BYTES_MAX    (4 << 20)
#define PROFILE_BYTES_MAX (1 << 20)

/* As many notes as it takes, each a line of a length that one can read. */
static void note_ignored(struct draft *draft, const char *file, const char *where,
                         const struct redis_conf_ignored *ignored) {
    struct phrase phrase = {0};
    for (uint32_t i = 0; i < ignored->count; i++) {
        if (phrase.length == 0)
            phrase_add(&phrase, "%s: of %s not modelled and ignored: ", where, file);
        phrase_add(&phrase, "%s", ignored->names[i]);
        bool full = phrase.length > 500 || i + 1 == ignored->count;
        if (!full) phrase_add(&phrase, ", ");
        if (full) draft_note(draft, &phrase), phrase = (struct phrase){0};
    }
}

static bool load_directives(struct draft *draft, const struct tree_node *map, const char *where,
                            struct engine_config *config) {
    const char *known[64] = {0};
    for (size_t i = 0; redis_conf_at(i); i++) known[i] = redis_conf_at(i)->name;
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_node *key = map->items[i].key, *value = map->items[i].value;
        const struct directive *directive = redis_conf_find(key->text, key->length);
        struct phrase phrase = {0};
        if (!directive) {
            phrase_add(&phrase, "unknown key %s in %s.config", quote(key->text, key->length).text,
                       where);
            phrase_add_choice(&phrase, key->text, key->length, known);
            return draft_refuse_phrase(draft, key, &phrase);
        }
        if (value->kind != TREE_WORD || tree_is_blank(value)) {
            phrase_add(&phrase, "%s is %s; expected ", directive->name, tree_kind_name(value));
            redis_conf_expected(directive, &phrase);
            return draft_refuse_phrase(draft, value, &phrase);
        }
        struct redis_conf_ignored ignored = {0};
        bool fine =
            redis_conf_set(config, directive, value->text, value->length, &ignored, &phrase) ||
            draft_refuse_phrase(draft, value, &phrase);
        note_ignored(draft, "config", where, &ignored);
        redis_conf_release(&ignored);
        if (!fine) return false;
    }
    return true;
}

/* Who has a limit relies on it: memory that grows past it is no finding. */
static void note_maxmemory(struct draft *draft, const char *file, const char *where,
                           const struct redis_conf_ignored *ignored) {
    for (uint32_t i = 0; i < ignored->count; i++) {
        if (strncmp(ignored->names[i], "maxmemory", 9) != 0) continue;
        struct phrase phrase = {0};
        phrase_add(&phrase,
                   "%s: %s sets %s, but eviction is not modelled: memory has no limit here", where,
                   file, ignored->names[i]);
        draft_note(draft, &phrase);
        return;
    }
}

static bool load_conf_file(struct draft *draft, const struct tree_node *node, const char *where,
                           struct engine_config *config) {
    if (node->kind != TREE_WORD || tree_is_blank(node))
        return draft_refuse(draft, node, "config-file is %s; expected the name of a redis.conf",
                            tree_kind_name(node));
    char *path = draft_file(draft, node->text);
    size_t length;
    char *bytes = draft_read_file(path, CONF_BYTES_MAX, &length);
    struct redis_conf_ignored ignored = {0};
    bool fine;
    if (bytes) {
        fine = redis_conf_parse(bytes, length, path, config, &ignored, draft->error);
        note_ignored(draft, quote(node->text, node->length).text, where, &ignored);
        note_maxmemory(draft, quote(node->text, node->length).text, where, &ignored);
    } else {
        fine = draft_refuse(draft, node, "cannot read %s; expected a redis.conf",
                            quote(node->text, node->length).text);
    }
    redis_conf_release(&ignored);
    free(bytes);
    free(path);
    return fine;
}

/* A file that several servers name is read once. */
static const struct price_table *prices_known(const struct scenario *s, const char *name) {
    for (uint32_t i = 0; i < s->profile_count; i++)
        if (strcmp(s->profiles[i]->name, name) == 0) return &s->profiles[i]->prices;
    return NULL;
}

static struct profile *profile_add(struct scenario *s) {
    struct profile *profile = heap_zero(1, sizeof *profile);
    s->profiles = heap_resize(s->profiles, s->profile_count + 1, sizeof(struct profile *));
    s->profiles[s->profile_count++] = profile;
    return profile;
}

bool draft_load_prices(struct draft *draft, const struct tree_node *node,
                       const struct price_table **prices) {
    *prices = prices_known(draft->scenario, node->text);
    if (*prices) return true;
    char *path = draft_file(draft, node->text);
    size_t length;
    char *bytes = draft_read_file(path, PROFILE_BYTES_MAX, &length);
    bool fine;
    if (bytes) {
        struct profile *profile = profile_add(draft->scenario);
        *prices = &profile->prices;
        fine = profile_parse(profile, node->text, bytes, length, path, draft->error->message,
                             sizeof draft->error->message);
    } else {
        fine = draft_refuse(draft, node,
                            "cannot read %s; expected a price profile, as `lapse calibrate` writes",
                            quote(node->text, node->length).text);
    }
    free(bytes);
    free(path);
    return fine;
}

static bool load_config(struct draft *draft, const struct tree_node *map, const char *where,
                        struct server_config *server) {
    server->engine = engine_config_default();
    const struct tree_node *file = tree_get(map, "config-file"), *config = tree_get(map, "config");
    if (file && !load_conf_file(draft, file, where, &server->engine)) return false;
    if (config && !load_directives(draft, config, where, &server->engine)) return false;
    if (server->engine.active_expire_effort != 1 && !server->generation->expire.has_effort) {
        struct phrase phrase = {0};
        phrase_add(&phrase, "%s: %s has no active-expire-effort; it is ignored", where,
                   server->generation->name);
        draft_note(draft, &phrase);
        server->engine.active_expire_effort = 1;
    }
    return true;
}

static bool load_master(struct draft *draft, const struct tree_node *map,
                        struct server_config *server) {
    const struct scenario *s = draft->scenario;
    const struct tree_node *node = tree_get(map, "replica-of");
    if (!node) return true;
    for (uint32_t i = 0; i < s->server_count && node->kind == TREE_WORD; i++)
        if (strcmp(s->servers[i].name, node->text) == 0) server->master = (int)i;
    server->engine.is_replica = true;
    if (server->master >= 0) return true;
    const char **known = draft_server_names(draft);
    draft_refuse_word(draft, node, "server", known);
    free(known);
    return false;
}

/* `clock-offset` is `clock: {offset: }` by another name. */
static bool check_clock(struct draft *draft, const struct tree_node *map, const char *where,
                        struct server_config *server) {
    const struct tree_node *clock = tree_get(map, "clock"), *offset = tree_get(map, "clock-offset");
    char inside[96];
    if (!clock || tree_is_blank(clock)) return true;
    if (offset)
        return draft_refuse(draft, offset, "%s has both clock and clock-offset; expected one",
                            where);
    snprintf(inside, sizeof inside, "%s.clock", where);
    return schema_fill(draft, SECTION_CLOCK, clock, inside, server);
}

static bool load_server(struct draft *draft, const struct tree_node *map,
                        struct server_config *server) {
    char where[80];
    snprintf(where, sizeof where, "servers.%s", server->name);
    server->master = -1;
    if (!schema_fill(draft, SECTION_SERVER, map, where, server)) return false;
    if (!load_config(draft, map, where, server) || !load_master(draft, map, server)) return false;
    if (!check_clock(draft, map, where, server)) return false;
    const struct tree_node *link = tree_get(map, "link");
    static const struct tree_node blank = {.kind = TREE_MAP};
    struct tree_node silent = blank; /* defaults, told at the server's place */
    silent.line = map->line, silent.column = map->column;
    server->has_link = link != NULL;
    return load_link(draft, link && !tree_is_blank(link) ? link : &silent, where, server);
}

/* Prints a -> b -> a and says so when following masters from here comes back. */
static bool check_cycle(struct draft *draft, const struct tree_node *place, uint32_t start) {
    const struct scenario *s = draft->scenario;
    struct phrase chain = {0};
    phrase_add(&chain, "%s", s->servers[start].name);
    int at = s->servers[start].master;
    for (uint32_t steps = 0; at >= 0 && steps < s->server_count; steps++) {
        phrase_add(&chain, " -> %s", s->servers[at].name);
        if (at == (int)start)
            return draft_refuse(draft, place, "replica-of goes round: %.500s; expected a master",
                                chain.text);
        at = s->servers[at].master;
    }
    return true;
}

/* The engine's array of replicas is fixed. */
static bool check_replica_count(struct draft *draft, const struct tree_node *servers) {
    const struct scenario *s = draft->scenario;
    uint32_t replicas[SERVERS_MAX] = {0};
    for (uint32_t i = 0; i < s->server_count; i++) {
        int master = s->servers[i].master;
        if (master < 0 || ++replicas[master] <= REPLICAS_MAX) continue;
        return draft_refuse(draft, tree_get(servers->items[i].value, "replica-of"),
                            "'%s' has more than %d replicas; expected at most that",
                            s->servers[master].name, REPLICAS_MAX);
    }
    return true;
}

/* A replica that cannot do what its master does would go its own way in silence. */
static bool check_replica_follows(struct draft *draft, const struct tree_node *place,
                                  const struct server_config *replica,
                                  const struct server_config *master) {
    if (replica->engine.databases < master->engine.databases)
        return draft_refuse(
            draft, place,
            "'%s' has %d databases and its master '%s' has %d; expected at least as "
            "many",
            replica->name, (int)replica->engine.databases, master->name,
            (int)master->engine.databases);
    if (master->generation->features & ~replica->generation->features)
        return draft_refuse(draft, place,
                            "'%s' is %s and would not know every command of its master '%s', which "
                            "is %s; expected the same generation or a later one",
                            replica->name, replica->generation->name, master->name,
                            master->generation->name);
    return true;
}

static bool check_masters(struct draft *draft, const struct tree_node *servers) {
    const struct scenario *s = draft->scenario;
    for (uint32_t i = 0; i < s->server_count; i++) {
        const struct tree_node *place = tree_get(servers->items[i].value, "replica-of");
        if (place && !check_cycle(draft, place, i)) return false;
    }
    for (uint32_t i = 0; i < s->server_count; i++) {
        const struct tree_node *place = tree_get(servers->items[i].value, "replica-of");
        int master = s->servers[i].master;
        if (master >= 0 &&
            !check_replica_follows(draft, place, &s->servers[i], &s->servers[master]))
            return false;
    }
    return check_replica_count(draft, servers);
}

bool load_servers(struct draft *draft, const struct tree_node *root,
                  const struct scenario_root *defaults) {
    struct scenario *s = draft->scenario;
    const struct tree_node *servers = tree_get(root, "servers");
    if (servers->count == 0 || servers->count > SERVERS_MAX)
        return draft_refuse(draft, servers, "%u servers; expected 1 to %d", servers->count,
                            SERVERS_MAX);
    if (!draft_check_names(draft, servers, "server")) return false;
    s->servers = heap_zero(servers->count, sizeof *s->servers);
    for (uint32_t i = 0; i < servers->count; i++) {
        const struct tree_node *key = servers->items[i].key;
        s->servers[s->server_count++] =
            (struct server_config){.name = heap_text(key->text, key->length),
                                   .generation = defaults->generation,
                                   .allocator = defaults->allocator,
                                   .prices = defaults->prices};
    }
    for (uint32_t i = 0; i < servers->count; i++)
        if (!load_server(draft, servers->items[i].value, &s->servers[i])) return false;
    return check_masters(draft, servers);
}

bool load_root(struct draft *draft, const struct tree_node *root) {
    struct scenario_root values = {0};
    struct scenario *s = draft->scenario;
    bool fine = schema_fill(draft, SECTION_ROOT, root, "the scenario", &values);
    s->name = values.name;
    s->about = values.about;
    s->seed = values.seed;
    s->start_wall_us = values.start_wall_us;
    s->duration_ns = values.duration_ns;
    s->trace_interval_ns = values.trace_interval_ns;
    return fine && load_servers(draft, root, &values);
}
