/* The link of a replica, and timed events. */
#include "heap.h"
#include "schema.h"

#define OUTAGES_MAX 1000
#define EVENTS_MAX  10000

static int compare_outages(const void *a, const void *b) {
    ns_t x = ((const struct outage *)a)->at_ns, y = ((const struct outage *)b)->at_ns;
    return (x > y) - (x < y);
}

static bool load_outages(struct draft *draft, const struct tree_node *list, const char *where,
                         struct link_config *link) {
    if (list->count > OUTAGES_MAX)
        return draft_refuse(draft, list, "%u outages; expected at most %d", list->count,
                            OUTAGES_MAX);
    link->outages = heap_zero(list->count, sizeof *link->outages);
    for (uint32_t i = 0; i < list->count; i++, link->outage_count++)
        if (!schema_fill(draft, SECTION_OUTAGE, list->items[i].value, where, &link->outages[i]))
            return false;
    qsort(link->outages, link->outage_count, sizeof *link->outages, compare_outages);
    for (uint32_t i = 1; i < link->outage_count; i++)
        if (link->outages[i - 1].at_ns + link->outages[i - 1].for_ns > link->outages[i].at_ns)
            return draft_refuse(draft, list,
                                "two outages of %s overlap; expected each to end before the next",
                                where);
    return true;
}

bool load_link(struct draft *draft, const struct tree_node *map, const char *server,
               struct link_config *link) {
    char where[96];
    snprintf(where, sizeof where, "%s.link", server);
    if (!schema_fill(draft, SECTION_LINK, map, where, link)) return false;
    const struct tree_node *outages = tree_get(map, "outages");
    return !outages || load_outages(draft, outages, where, link);
}

static const struct event_key {
    const char *key;
    enum event_kind kind;
} event_keys[] = {
    {"command", EVENT_COMMAND},
    {"cut", EVENT_CUT},
    {"heal", EVENT_HEAL},
    {"clock-step", EVENT_CLOCK_STEP},
};

#define EVENT_KEYS (sizeof event_keys / sizeof *event_keys)

/* Exactly one of the four says what the event is. */
static bool find_kind(struct draft *draft, const struct tree_node *map, struct event_config *event,
                      const struct tree_node **value) {
    *value = NULL;
    for (size_t i = 0; i < EVENT_KEYS; i++) {
        const struct tree_node *node = tree_get(map, event_keys[i].key);
        if (!node) continue;
        if (*value)
            return draft_refuse(draft, node,
                                "an event of two kinds; expected one of command, "
                                "cut, heal, clock-step");
        event->kind = event_keys[i].kind;
        *value = node;
    }
    return *value || draft_refuse(draft, map,
                                  "an event of no kind; expected one of command, "
                                  "cut, heal, clock-step");
}

static bool check_link_event(struct draft *draft, const struct tree_node *map,
                             const struct tree_node *value, const struct event_config *event) {
    if (tree_get(map, "server"))
        return draft_refuse(draft, tree_get(map, "server"),
                            "a cut or a heal has a server; expected the replica alone");
    const struct server_config *server = &draft->scenario->servers[event->server];
    return server->master >= 0 ||
           draft_refuse(draft, value, "'%s' is a master; expected the replica at a link's end",
                        server->name);
}

static bool load_event(struct draft *draft, const struct tree_node *map,
                       struct event_config *event) {
    const struct tree_node *value;
    if (!schema_fill(draft, SECTION_EVENT, map, "events", event)) return false;
    if (!find_kind(draft, map, event, &value)) return false;
    if (event->at_ns >= draft->scenario->duration_ns)
        return draft_refuse(draft, tree_get(map, "at"),
                            "an event at or after the end of the run; expected less than its "
                            "duration");
    if (event->kind == EVENT_CUT || event->kind == EVENT_HEAL)
        return check_link_event(draft, map, value, event);
    if (event->kind != EVENT_COMMAND) return true;
    if (event->db >= draft->scenario->servers[event->server].engine.databases)
        return draft_refuse(draft, tree_get(map, "db"),
                            "a database that the server has not; expected a smaller number");
    struct phrase phrase = {0};
    return template_check_line(value->text, value->length, &phrase) ||
           draft_refuse_phrase(draft, value, &phrase);
}

/* Insertion keeps file order among equals; event lists are short and mostly sorted. */
static void sort_events(struct event_config *events, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        struct event_config moved = events[i];
        uint32_t at = i;
        for (; at > 0 && events[at - 1].at_ns > moved.at_ns; at--) events[at] = events[at - 1];
        events[at] = moved;
    }
}

bool load_events(struct draft *draft, const struct tree_node *root) {
    struct scenario *s = draft->scenario;
    const struct tree_node *list = tree_get(root, "events");
    if (!list) return true;
    if (list->count > EVENTS_MAX)
        return draft_refuse(draft, list, "%u events; expected at most %d", list->count, EVENTS_MAX);
    s->events = heap_zero(list->count, sizeof *s->events);
    for (uint32_t i = 0; i < list->count; i++, s->event_count++)
        if (!load_event(draft, list->items[i].value, &s->events[i])) {
            s->event_count++;
            return false;
        }
    sort_events(s->events, s->event_count);
    return true;
}

bool load_expectations(struct draft *draft, const struct tree_node *root) {
    struct scenario *s = draft->scenario;
    const struct tree_node *list = tree_get(root, "expect");
    if (!list) return true;
    s->expectations = heap_zero(list->count, sizeof *s->expectations);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tree_node *line = list->items[i].value;
        if (line->kind != TREE_WORD || line->length == 0)
            return draft_refuse(draft, line,
                                "an expectation is %s; expected text such as "
                                "'max(master.stale_percent) < 60'",
                                tree_kind_name(line));
        s->expectations[s->expectation_count++] =
            (struct expectation_config){.text = heap_text(line->text, line->length),
                                        .line = line->line,
                                        .column = line->column};
    }
    return true;
}
