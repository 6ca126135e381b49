/* The link of a server: both directions, and when they are down (scenario_outages.c). */
#include "heap.h"
#include "schema.h"

#define OUTAGES_MAX 1000

static int compare_planned(const void *a, const void *b) {
    ns_t x = ((const struct planned_outage *)a)->span.at_ns;
    ns_t y = ((const struct planned_outage *)b)->span.at_ns;
    return (x > y) - (x < y);
}

/* In each direction an outage ends before the next begins. */
static bool check_overlaps(struct draft *draft, const struct tree_node *list, const char *where,
                           const struct outage_plan *plan, enum link_way way) {
    ns_t end_ns = 0;
    for (uint32_t i = 0; i < plan->planned_count; i++) {
        const struct planned_outage *outage = &plan->planned[i];
        if (!(outage->way & way)) continue;
        if (outage->span.at_ns < end_ns)
            return draft_refuse(draft, list,
                                "two outages of %s overlap; expected each to end before the next",
                                where);
        end_ns = outage->span.at_ns + outage->span.for_ns;
    }
    return true;
}

static bool load_outages(struct draft *draft, const struct tree_node *list, const char *where,
                         struct outage_plan *plan) {
    if (list->count > OUTAGES_MAX)
        return draft_refuse(draft, list, "%u outages; expected at most %d", list->count,
                            OUTAGES_MAX);
    plan->planned = heap_zero(list->count, sizeof *plan->planned);
    for (uint32_t i = 0; i < list->count; i++, plan->planned_count++)
        if (!schema_fill(draft, SECTION_OUTAGE, list->items[i].value, where, &plan->planned[i]))
            return false;
    qsort(plan->planned, plan->planned_count, sizeof *plan->planned, compare_planned);
    return check_overlaps(draft, list, where, plan, WAY_DOWN) &&
           check_overlaps(draft, list, where, plan, WAY_UP);
}

static bool load_random(struct draft *draft, const struct tree_node *map, const char *where,
                        struct server_config *server) {
    char inside[128];
    snprintf(inside, sizeof inside, "%s.random-outages", where);
    if (!schema_fill(draft, SECTION_RANDOM, map, inside, &server->outage_plan)) return false;
    return scenario_draw_outages(draft->scenario, server) ||
           draft_refuse(draft, map,
                        "%s: more than %d outages in a run; expected a longer time from one to the "
                        "next",
                        inside, RANDOM_OUTAGES_MAX);
}

/* A plain latency or jitter needs no draw of its own. */
static void settle_delays(struct link_config *link) {
    if (link->latency.kind == DISTRIBUTION_CONSTANT) {
        link->latency_ns = link->latency.low;
        link->latency = (struct distribution){0};
    }
    if (link->jitter.kind == DISTRIBUTION_CONSTANT) {
        link->jitter_ns = link->jitter.low;
        link->jitter = (struct distribution){0};
    }
}

/* The way up is as the way down where the file does not say otherwise, and not limited. */
static bool load_up(struct draft *draft, const struct tree_node *map, const char *where,
                    const struct link_config *down, struct link_config *up) {
    static const struct tree_node silent = {.kind = TREE_MAP, .line = 1, .column = 1};
    char inside[128];
    snprintf(inside, sizeof inside, "%s.up", where);
    if (!schema_fill(draft, SECTION_UP, map ? map : &silent, inside, up)) return false;
    settle_delays(up);
    up->socket_buffer_bytes = down->socket_buffer_bytes;
    if (!tree_get(map ? map : &silent, "latency")) {
        up->latency_ns = down->latency_ns;
        up->latency = distribution_copy(&down->latency);
    }
    if (!tree_get(map ? map : &silent, "jitter")) {
        up->jitter_ns = down->jitter_ns;
        up->jitter = distribution_copy(&down->jitter);
    }
    return true;
}

bool load_link(struct draft *draft, const struct tree_node *map, const char *name,
               struct server_config *server) {
    char where[96];
    snprintf(where, sizeof where, "%s.link", name);
    if (!schema_fill(draft, SECTION_LINK, map, where, &server->link)) return false;
    settle_delays(&server->link);
    if (!load_up(draft, tree_get(map, "up"), where, &server->link, &server->link_up)) return false;
    const struct tree_node *outages = tree_get(map, "outages");
    const struct tree_node *random = tree_get(map, "random-outages");
    if (outages && !load_outages(draft, outages, where, &server->outage_plan)) return false;
    if (random) return load_random(draft, random, where, server);
    return scenario_draw_outages(draft->scenario, server);
}
