/* Clients: what they send, whose keys, how often. */
#include "heap.h"
#include "schema.h"

#define CLIENTS_MAX 1000
#define MIX_MAX     256

static bool load_mix(struct draft *draft, const struct tree_node *map,
                     struct client_config *client) {
    if (map->count == 0 || map->count > MIX_MAX)
        return draft_refuse(draft, map,
                            "mix has %u commands; expected 1 to %d such as {GET {key}: 90}",
                            map->count, MIX_MAX);
    client->mix = heap_zero(map->count, sizeof *client->mix);
    for (uint32_t i = 0; i < map->count; i++, client->mix_count++) {
        const struct tree_item *item = &map->items[i];
        char message[700];
        if (!template_parse(draft->scenario->texts, item->key->text, &client->mix[i], message,
                            sizeof message))
            return draft_refuse(draft, item->key, "%s", message);
        int64_t weight;
        if (!schema_read_integer(draft, &schema_weight, item->value, &weight)) return false;
        client->mix[i].weight = (uint32_t)weight;
        client->mix_weight += (uint64_t)weight;
    }
    return true;
}

/* Which of the population's figures the templates use, as bits by template_kind. */
static unsigned kinds_used(const struct client_config *client) {
    unsigned used = 0;
    for (uint32_t i = 0; i < client->mix_count; i++)
        for (uint32_t j = 0; j < client->mix[i].argc; j++)
            used |= 1u << client->mix[i].args[j].kind;
    return used;
}

static bool population_named(struct draft *draft, const struct tree_node *node,
                             struct client_config *client) {
    const struct scenario *s = draft->scenario;
    const char **known = heap_zero(s->population_count + 1, sizeof *known);
    for (uint32_t i = 0; i < s->population_count; i++) {
        known[i] = s->populations[i].name;
        if (node->kind == TREE_WORD && strcmp(known[i], node->text) == 0)
            client->population = (int)i;
    }
    bool fine = client->population >= 0 || draft_refuse_word(draft, node, "population", known);
    free(known);
    return fine;
}

static bool load_keys(struct draft *draft, const struct tree_node *map, const char *where,
                      struct client_config *client) {
    const struct scenario *s = draft->scenario;
    const struct tree_node *named = tree_get(map, "population");
    unsigned used = kinds_used(client), keyed = used & ~(1u << TEMPLATE_WORD | 1u << TEMPLATE_NAME);
    client->population = -1;
    if (named && !population_named(draft, named, client)) return false;
    if (!keyed) {
        client->population = -1;
        return true;
    }
    if (!named && s->population_count != 1)
        return draft_refuse(draft, map,
                            "%s uses {key}, {value} or {ttl} and there are %u populations; "
                            "expected population: NAME",
                            where, s->population_count);
    if (!named) client->population = 0;
    const struct population_config *p = &s->populations[client->population];
    bool needs_ttl = used & (1u << TEMPLATE_TTL_MS | 1u << TEMPLATE_TTL_S);
    if (needs_ttl && p->ttl_ms.kind == DISTRIBUTION_NONE)
        return draft_refuse(draft, tree_get(map, "mix"),
                            "%s uses {ttl} and population '%s' has none; expected a ttl there",
                            where, p->name);
    return true;
}

static bool read_zipf(struct draft *draft, const struct tree_node *node,
                      struct client_config *client) {
    int64_t thousandths = 0;
    if (!schema_read_thousandths(node, 10000, &thousandths))
        return draft_refuse(draft, node,
                            "zipf is %s; expected an exponent such as 0.99, 0 to 10, at most three "
                            "decimals",
                            node->kind == TREE_WORD ? quote(node->text, node->length).text
                                                    : tree_kind_name(node));
    client->zipf_exponent_milli = (uint32_t)thousandths;
    return true;
}

static bool load_popularity(struct draft *draft, const struct tree_node *node,
                            struct client_config *client) {
    static const char *const known[] = {"uniform", "zipf", NULL};
    if (!node || (node->kind == TREE_WORD && strcmp(node->text, "uniform") == 0)) return true;
    if (node->kind == TREE_MAP && node->count == 1) {
        const struct tree_item *item = &node->items[0];
        if (strcmp(item->key->text, "zipf") == 0) return read_zipf(draft, item->value, client);
        return draft_refuse_word(draft, item->key, "popularity", known);
    }
    if (node->kind == TREE_WORD && strcmp(node->text, "zipf") == 0)
        return draft_refuse(draft, node, "zipf has no exponent; expected {zipf: 0.99}");
    return draft_refuse_word(draft, node, "popularity", known);
}

/* Open or closed loop; when; in which database. */
static bool check_client(struct draft *draft, const struct tree_node *map, const char *where,
                         struct client_config *client) {
    const struct scenario *s = draft->scenario;
    const struct tree_node *think = tree_get(map, "think"), *arrivals = tree_get(map, "arrivals");
    if (think && client->rate_per_1000_h)
        return draft_refuse(
            draft, think,
            "%s has both rate and think; expected a rate (open loop) or connections "
            "and think (closed loop)",
            where);
    if (!client->rate_per_1000_h && !think && !tree_get(map, "connections"))
        return draft_refuse(
            draft, map, "%s has no rate; expected a rate such as 1k/s, or connections and think",
            where);
    if (arrivals && !client->rate_per_1000_h)
        return draft_refuse(draft, arrivals, "%s has arrivals and no rate; expected a rate", where);
    if (!tree_get(map, "until")) client->until_ns = s->duration_ns;
    if (client->from_ns > client->until_ns)
        return draft_refuse(draft, tree_get(map, "from"),
                            "%s ends before it begins; expected "
                            "from before until",
                            where);
    if (!tree_get(map, "db") && client->population >= 0)
        client->db = s->populations[client->population].db;
    int64_t databases = s->servers[client->server].engine.databases;
    return client->db < databases ||
           draft_refuse(draft, tree_get(map, "db") ? tree_get(map, "db") : map,
                        "database %u of a server with %d; expected a smaller number", client->db,
                        (int)databases);
}

static bool load_client(struct draft *draft, const struct tree_node *map,
                        struct client_config *client) {
    char where[80];
    snprintf(where, sizeof where, "clients.%s", client->name);
    return schema_fill(draft, SECTION_CLIENT, map, where, client) &&
           load_mix(draft, tree_get(map, "mix"), client) && load_keys(draft, map, where, client) &&
           load_popularity(draft, tree_get(map, "popularity"), client) &&
           check_client(draft, map, where, client);
}

bool load_clients(struct draft *draft, const struct tree_node *root) {
    struct scenario *s = draft->scenario;
    const struct tree_node *map = tree_get(root, "clients");
    if (!map) return true;
    if (map->count > CLIENTS_MAX)
        return draft_refuse(draft, map, "%u clients; expected at most %d", map->count, CLIENTS_MAX);
    if (!draft_check_names(draft, map, "client")) return false;
    s->clients = heap_zero(map->count, sizeof *s->clients);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tree_item *item = &map->items[i];
        s->clients[s->client_count++].name = heap_text(item->key->text, item->key->length);
        if (!load_client(draft, item->value, &s->clients[i])) return false;
    }
    return true;
}
