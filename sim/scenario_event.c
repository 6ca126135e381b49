/* What happens at a moment: timed events, the watcher of a failover, and what must hold at the end.
 */
#include <strings.h>

#include "heap.h"
#include "schema.h"
#include "words.h"

#define EVENTS_MAX 10000

static const struct event_key {
    const char *key;
    enum event_kind kind;
} event_keys[] = {
    {"command", EVENT_COMMAND}, {"cut", EVENT_CUT},
    {"heal", EVENT_HEAL},       {"clock-step", EVENT_CLOCK_STEP},
    {"reset", EVENT_RESET},     {"freeze", EVENT_FREEZE},
    {"thaw", EVENT_THAW},
};

#define EVENT_KEYS (sizeof event_keys / sizeof *event_keys)

static bool refuse_kind(struct draft *draft, const struct tree_node *place, const char *what) {
    struct phrase phrase = {0};
    phrase_add(&phrase, "an event of %s; expected one of ", what);
    for (size_t i = 0; i < EVENT_KEYS; i++)
        phrase_add(&phrase, "%s%s", i ? ", " : "", event_keys[i].key);
    return draft_refuse_phrase(draft, place, &phrase);
}

/* Exactly one key says what the event is. */
static bool find_kind(struct draft *draft, const struct tree_node *map, struct event_config *event,
                      const struct tree_node **value) {
    *value = NULL;
    for (size_t i = 0; i < EVENT_KEYS; i++) {
        const struct tree_node *node = tree_get(map, event_keys[i].key);
        if (!node) continue;
        if (*value) return refuse_kind(draft, node, "two kinds");
        event->kind = event_keys[i].kind;
        *value = node;
    }
    return *value || refuse_kind(draft, map, "no kind");
}

static bool is_link_event(enum event_kind kind) {
    return kind == EVENT_CUT || kind == EVENT_HEAL || kind == EVENT_RESET;
}

/* Those that name their server as their value: a link's by the replica at its end. */
static bool check_named(struct draft *draft, const struct tree_node *map,
                        const struct tree_node *value, const struct event_config *event) {
    bool link = is_link_event(event->kind);
    if (!link && event->kind != EVENT_FREEZE && event->kind != EVENT_THAW) return true;
    if (tree_get(map, "server"))
        return draft_refuse(draft, tree_get(map, "server"),
                            "this event names its server already; expected no 'server'");
    const struct server_config *server = &draft->scenario->servers[event->server];
    if (!link || server->master >= 0 || server->has_link) return true;
    return draft_refuse(draft, value,
                        "'%s' is a master; expected the replica at a link's end, or a server whose "
                        "link the file describes",
                        server->name);
}

/* Which word of a command names a server of the scenario, or 0: REPLICAOF SERVER PORT (NO ONE names
 * none), FAILOVER TO SERVER PORT. */
static uint32_t find_server_word(const struct words *words) {
    const char *name = words->count ? word_at(words, 0) : "";
    bool replicaof = strcasecmp(name, "replicaof") == 0 || strcasecmp(name, "slaveof") == 0;
    if (replicaof && words->count == 3)
        return strcasecmp(word_at(words, 1), "no") || strcasecmp(word_at(words, 2), "one");
    if (strcasecmp(name, "failover") != 0) return 0;
    for (uint32_t i = 1; i + 1 < words->count; i++)
        if (strcasecmp(word_at(words, i), "to") == 0) return i + 1;
    return 0;
}

/* A server would answer with an error in the middle of the run; a slip is told before it. */
static bool check_server_word(struct draft *draft, const struct tree_node *value,
                              const struct event_config *event, const struct words *words) {
    const struct scenario *s = draft->scenario;
    uint32_t at = find_server_word(words);
    struct phrase phrase = {0};
    if (at == 0) return true;
    const char *name = word_at(words, at);
    if (strcmp(name, s->servers[event->server].name) == 0)
        return draft_refuse(draft, value, "'%s' would follow itself; expected another server",
                            name);
    for (uint32_t i = 0; i < s->server_count; i++)
        if (strcmp(name, s->servers[i].name) == 0) return true;
    const char **known = draft_server_names(draft);
    phrase_add(&phrase, "unknown server %s", quote(name, word_length(words, at)).text);
    phrase_add_choice(&phrase, name, word_length(words, at), known);
    free(known);
    return draft_refuse_phrase(draft, value, &phrase);
}

static bool check_command(struct draft *draft, const struct tree_node *value,
                          const struct event_config *event) {
    struct words words;
    struct phrase phrase = {0};
    bool fine = words_split(&words, value->text, value->length, &phrase)
                    ? check_server_word(draft, value, event, &words)
                    : draft_refuse_phrase(draft, value, &phrase);
    words_release(&words);
    phrase = (struct phrase){0};
    return fine && (template_check_line(value->text, value->length, &phrase) ||
                    draft_refuse_phrase(draft, value, &phrase));
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
    if (event->kind != EVENT_COMMAND) return check_named(draft, map, value, event);
    if (event->db >= draft->scenario->servers[event->server].engine.databases)
        return draft_refuse(draft, tree_get(map, "db"),
                            "a database that the server has not; expected a smaller number");
    return check_command(draft, value, event);
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

bool load_failover(struct draft *draft, const struct tree_node *root) {
    struct scenario *s = draft->scenario;
    const struct tree_node *map = tree_get(root, "failover");
    if (!map || tree_is_blank(map)) return true;
    if (!schema_fill(draft, SECTION_FAILOVER, map, "failover", &s->failover)) return false;
    s->failover.present = true;
    const struct server_config *promote = &s->servers[s->failover.promote];
    const struct server_config *watch = &s->servers[s->failover.watch];
    const struct tree_node *place = tree_get(map, "promote");
    if (promote == watch)
        return draft_refuse(draft, place, "'%s' takes its own place; expected a replica of it",
                            watch->name);
    return promote->master >= 0 ||
           draft_refuse(draft, place, "'%s' is a master already; expected a replica of '%s'",
                        promote->name, watch->name);
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
