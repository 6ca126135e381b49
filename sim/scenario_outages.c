/* Outages of both directions of a link, from what is planned and what is drawn. */
#include "heap.h"
#include "scenario_load.h"

/* A run with another seed may draw somewhat more than the file was checked for; beyond this many
 * there are none. */
#define DRAWN_MAX (10 * RANDOM_OUTAGES_MAX)

struct span_list {
    struct outage *spans;
    uint32_t count, capacity;
};

static void span_add(struct span_list *list, struct outage span) {
    list->spans = heap_grow(list->spans, &list->capacity, list->count, sizeof *list->spans);
    list->spans[list->count++] = span;
}

/* One after another until the run is over, by a stream of their own: nothing else's draws move. */
static struct span_list draw_spans(const struct scenario *s, const struct server_config *server) {
    const struct outage_plan *plan = &server->outage_plan;
    struct span_list list = {0};
    struct rng root = rng_seed(s->seed);
    char label[256];
    snprintf(label, sizeof label, "links.%s.outages", server->name);
    struct rng rng = rng_fork(&root, label);
    if (plan->every_ns.kind == DISTRIBUTION_NONE) return list;
    for (ns_t at = 0; list.count < DRAWN_MAX;) {
        at += distribution_draw(&plan->every_ns, &rng);
        if (at >= s->duration_ns) break;
        span_add(&list, (struct outage){at, distribution_draw(&plan->for_ns, &rng)});
        at += list.spans[list.count - 1].for_ns;
    }
    return list;
}

static int compare_spans(const void *a, const void *b) {
    ns_t x = ((const struct outage *)a)->at_ns, y = ((const struct outage *)b)->at_ns;
    return (x > y) - (x < y);
}

/* Those that meet become one. */
static uint32_t merge_spans(struct outage *spans, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct outage *last = kept ? &spans[kept - 1] : NULL;
        if (!last || spans[i].at_ns >= last->at_ns + last->for_ns) {
            spans[kept++] = spans[i];
            continue;
        }
        ns_t end = spans[i].at_ns + spans[i].for_ns;
        if (end > last->at_ns + last->for_ns) last->for_ns = end - last->at_ns;
    }
    return kept;
}

static void lay_spans(struct link_config *link, enum link_way way, const struct outage_plan *plan,
                      const struct span_list *drawn) {
    struct span_list list = {0};
    for (uint32_t i = 0; i < plan->planned_count; i++)
        if (plan->planned[i].way & way) span_add(&list, plan->planned[i].span);
    for (uint32_t i = 0; i < drawn->count && plan->way & way; i++) span_add(&list, drawn->spans[i]);
    if (list.count) qsort(list.spans, list.count, sizeof *list.spans, compare_spans);
    free(link->outages);
    link->outages = list.spans;
    link->outage_count = merge_spans(list.spans, list.count);
}

bool scenario_draw_outages(const struct scenario *s, struct server_config *server) {
    struct span_list drawn = draw_spans(s, server);
    lay_spans(&server->link, WAY_DOWN, &server->outage_plan, &drawn);
    lay_spans(&server->link_up, WAY_UP, &server->outage_plan, &drawn);
    free(drawn.spans);
    return drawn.count <= RANDOM_OUTAGES_MAX;
}

void scenario_set_seed(struct scenario *s, uint64_t seed) {
    s->seed = seed;
    for (uint32_t i = 0; i < s->server_count; i++) scenario_draw_outages(s, &s->servers[i]);
}
