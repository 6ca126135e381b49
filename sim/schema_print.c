/* The reference scenario: the schema table as a commented file that loads. */
#include <string.h>

#include "redis_conf.h"
#include "schema.h"

enum shape { SHAPE_MAP, SHAPE_NAMED, SHAPE_LIST, SHAPE_LINES };

/* What stands below a key that has no field of its own. */
static const struct nested {
    enum schema_section section; /* where the key is */
    const char *key;
    enum shape shape;
    enum schema_section inside;
    const char *text; /* NAMED: the name; LINES: the lines themselves, parted by newlines */
} nested[] = {
    {SECTION_ROOT, "servers", SHAPE_NAMED, SECTION_SERVER, "master"},
    {SECTION_ROOT, "populations", SHAPE_NAMED, SECTION_POPULATION, "sessions"},
    {SECTION_ROOT, "clients", SHAPE_NAMED, SECTION_CLIENT, "reader"},
    {SECTION_ROOT, "events", SHAPE_LIST, SECTION_EVENT, NULL},
    {SECTION_ROOT, "variants", SHAPE_LINES, SECTIONS,
     "base: {}\n"
     "spread: {populations.sessions.jitter: {strategy: uniform, span: 10s}}\n"
     "busy: {servers.master.config.hz: 100}"},
    {SECTION_ROOT, "expect", SHAPE_LINES, SECTIONS,
     "- \"max(master.stale_percent) <= 100\"\n"
     "- \"p99(master.request_us) < 10s\""},
    {SECTION_ROOT, "failover", SHAPE_MAP, SECTION_FAILOVER, NULL},
    {SECTION_SERVER, "link", SHAPE_MAP, SECTION_LINK, NULL},
    {SECTION_SERVER, "clock", SHAPE_MAP, SECTION_CLOCK, NULL},
    {SECTION_LINK, "up", SHAPE_MAP, SECTION_UP, NULL},
    {SECTION_LINK, "random-outages", SHAPE_MAP, SECTION_RANDOM, NULL},
    {SECTION_LINK, "outages", SHAPE_LIST, SECTION_OUTAGE, NULL},
    {SECTION_POPULATION, "jitter", SHAPE_MAP, SECTION_JITTER, NULL},
    {SECTION_POPULATION, "load", SHAPE_MAP, SECTION_LOAD, NULL},
    {SECTION_CLIENT, "mix", SHAPE_LINES, SECTIONS,
     "\"GET {key}\": 90\n"
     "\"SET {key} {value}\": 10"},
};

static const struct nested *nested_find(const struct schema_row *row) {
    if (row->size) return NULL;
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        if (nested[i].section == row->section && strcmp(nested[i].key, row->key) == 0)
            return &nested[i];
    return NULL;
}

static const char *short_type(const struct schema_row *row) {
    switch (row->kind) {
    case SCHEMA_TEXT:
    case SCHEMA_NAME:
        return "text";
    case SCHEMA_INTEGER:
        return "number";
    case SCHEMA_NS:
    case SCHEMA_US:
    case SCHEMA_MS:
        return "duration";
    case SCHEMA_MS_DRAW:
    case SCHEMA_NS_DRAW:
        return "duration or distribution";
    case SCHEMA_BYTES:
        return "size";
    case SCHEMA_BYTES_DRAW:
        return "size or distribution";
    case SCHEMA_BANDWIDTH:
        return "bandwidth";
    case SCHEMA_RATE:
        return "rate";
    case SCHEMA_DRIFT:
        return "drift";
    case SCHEMA_TIME:
        return "time in UTC";
    case SCHEMA_SERVER:
        return "a server";
    case SCHEMA_MAP:
        return "map";
    case SCHEMA_LIST:
        return "list";
    default:
        return NULL; /* a choice, which lists its words, or told by its help */
    }
}

/* "# HELP (TYPE, RANGE, default)" */
static void print_help(FILE *file, const struct schema_row *row, int indent) {
    struct phrase about = {0};
    const char *type = short_type(row), *words[SCHEMA_WORDS_MAX];
    schema_words(row, words);
    if (row->literal) phrase_add(&about, "%s or ", row->literal);
    if (type) phrase_add(&about, "%s", type);
    for (size_t i = 0; words[i]; i++) phrase_add(&about, "%s%s", i ? ", " : "", words[i]);
    schema_range(row, &about);
    if (row->flags & SCHEMA_REQUIRED) phrase_add(&about, "; required");
    if (row->initial) phrase_add(&about, "; default %s", row->initial[0] ? row->initial : "empty");
    fprintf(file, "%*s# %s", indent, "", row->help);
    fprintf(file, about.length ? " (%s)\n" : "\n", about.text);
}

static void print_lines(FILE *file, const char *text, int indent) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(file, "%*s%.*s\n", indent, "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void print_directives(FILE *file, int indent) {
    for (size_t i = 0; redis_conf_at(i); i++) {
        const struct directive *d = redis_conf_at(i);
        struct phrase type = {0};
        redis_conf_expected(d, &type);
        fprintf(file, "%*s# %s (%s)\n", indent, "", d->help, type.text);
        if (d->kind == DIRECTIVE_BOOL)
            fprintf(file, "%*s%s: %s\n", indent, "", d->name, d->initial ? "yes" : "no");
        else if (d->kind == DIRECTIVE_LIMIT)
            fprintf(file, "%*s%s: %s\n", indent, "", d->name, REDIS_CONF_LIMIT_EXAMPLE);
        else
            fprintf(file, "%*s%s: %lld\n", indent, "", d->name, (long long)d->initial);
    }
}

static void print_section(FILE *, enum schema_section, int indent, bool replica, bool list);

static void print_nested(FILE *file, const struct nested *n, int indent) {
    switch (n->shape) {
    case SHAPE_MAP:
        print_section(file, n->inside, indent, false, false);
        return;
    case SHAPE_LIST:
        print_section(file, n->inside, indent, false, true);
        return;
    case SHAPE_LINES:
        print_lines(file, n->text, indent);
        return;
    case SHAPE_NAMED:
        break;
    }
    fprintf(file, "%*s%s:\n", indent, "", n->text);
    print_section(file, n->inside, indent + 2, false, false);
    if (n->inside != SECTION_SERVER) return;
    fprintf(file, "%*sreplica:\n", indent, "");
    print_section(file, n->inside, indent + 2, true, false);
}

static void print_row(FILE *file, const struct schema_row *row, int indent, const char *dash) {
    const struct nested *n = nested_find(row);
    bool config = row->section == SECTION_SERVER && strcmp(row->key, "config") == 0;
    print_help(file, row, indent + (int)strlen(dash));
    fprintf(file, "%*s%s%s%s:", indent, "", dash, row->flags & SCHEMA_ASIDE ? "# " : "", row->key);
    if (n || config)
        fprintf(file, "\n");
    else if (row->initial && !row->initial[0])
        fprintf(file, " \"\"\n");
    else
        fprintf(file, " %s\n", row->initial ? row->initial : row->example);
    if (n) print_nested(file, n, indent + 2);
    if (config) print_directives(file, indent + 2);
}

/* Of a server the reference has two, as a master has no link. In a list the first key has a dash
 * and the others stand below it. */
static void print_section(FILE *file, enum schema_section section, int indent, bool replica,
                          bool list) {
    const char *dash = list ? "- " : "";
    for (const struct schema_row *row = NULL; (row = schema_next(section, row));) {
        if (!!(row->flags & SCHEMA_REPLICA) != replica) continue;
        print_row(file, row, indent, dash);
        if (list) list = false, dash = "", indent += 2;
    }
}

void scenario_print_reference(FILE *file) {
    fprintf(file, "# Every key of a scenario: what it is for, what it may be, its default.\n"
                  "# This file is a scenario too. A key behind '# ' excludes one that is shown.\n");
    static const enum unit_kind kinds[] = {UNIT_DURATION, UNIT_SIZE, UNIT_BANDWIDTH, UNIT_RATE,
                                           UNIT_DRIFT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(file, "# %s\n", units_expected(kinds[i]));
    fprintf(
        file,
        "# A distribution is {uniform: [1s, 5s]}, {mix: {1s: 90, 5s: 10}}, {exponential: 1s} of\n"
        "# that mean, {lognormal: {median: 1s, p99: 5s}} (or median and sigma, that of the\n"
        "# logarithm, 0 to 3), or {csv: FILE} of measured values, one a line, a weight behind\n"
        "# each if need be (with unit: ms for bare numbers).\n");
    print_section(file, SECTION_ROOT, 0, false, false);
}
