#include "schema.h"

#include "bounds.h"
#include "clock.h"

#define FIELD(type, member)                                                                        \
    .offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)

#define DAY_NS INT64_C(86400000000000)
#define DURATION_MAX                                                                               \
    (36500 * DAY_NS)       /* a hundred years; all sums of times stay far from overflow */
#define KEYS_MAX 200000000 /* of one population: what host memory could hold */
#define TERA     INT64_C(1000000000000)

static const struct schema_choice arrivals[] = {{"poisson", 1}, {"even", 0}, {NULL, 0}};
static const struct schema_choice resolutions[] = {{"ms", 1}, {"s", 1000}, {NULL, 0}};
static const struct schema_choice ways[] = {
    {"both", WAY_BOTH}, {"down", WAY_DOWN}, {"up", WAY_UP}, {NULL, 0}};
static const struct schema_choice strategies[] = {
#define X(id, name, help) {name, JITTER_##id},
    JITTER_LIST(X)
#undef X
        {NULL, 0}};

/* clang-format off: a table reads best with one row a paragraph. */
const struct schema_row schema_rows[] = {
    {SECTION_ROOT, SCHEMA_NAME, "name", FIELD(scenario_root, name), .example = "reference",
     .flags = SCHEMA_REQUIRED, .help = "names the folder of results"},
    {SECTION_ROOT, SCHEMA_TEXT, "about", FIELD(scenario_root, about), .initial = "",
     .help = "one line on what it shows"},
    {SECTION_ROOT, SCHEMA_INTEGER, "seed", FIELD(scenario_root, seed), .high = INT64_MAX,
     .initial = "1", .help = "of every draw; another seed is another run"},
    {SECTION_ROOT, SCHEMA_TIME, "start", FIELD(scenario_root, start_wall_us),
     .initial = "2026-01-01T00:00:00Z", .help = "wall clock of all servers at the start"},
    {SECTION_ROOT, SCHEMA_NS, "duration", FIELD(scenario_root, duration_ns), .low = 1,
     .high = DURATION_MAX, .initial = "30s", .help = "virtual time from start to end"},
    {SECTION_ROOT, SCHEMA_NS, "trace", FIELD(scenario_root, trace_interval_ns), .literal = "cycle",
     .low = 1000000, .high = DURATION_MAX, .initial = "cycle",
     .help = "a row of the trace for each cron cycle, or for each such interval"},
    {SECTION_ROOT, SCHEMA_ENGINE, "engine", FIELD(scenario_root, generation),
     .initial = "redis-7.0", .help = "generation of all servers that name no other"},
    {SECTION_ROOT, SCHEMA_ALLOCATOR, "allocator", FIELD(scenario_root, allocator),
     .initial = "bundled", .help = "whose size classes weigh the memory"},
    {SECTION_ROOT, SCHEMA_PRICES, "costs", FIELD(scenario_root, prices), .initial = "default",
     .help = "what each operation takes, or a file of prices such as ./my-box.json"},
    {SECTION_ROOT, SCHEMA_MAP, "servers", .flags = SCHEMA_REQUIRED,
     .help = "masters and replicas by name"},
    {SECTION_ROOT, SCHEMA_MAP, "populations", .help = "keys by name of the group"},
    {SECTION_ROOT, SCHEMA_MAP, "clients", .help = "who sends requests"},
    {SECTION_ROOT, SCHEMA_LIST, "events", .help = "what happens once, at a moment"},
    {SECTION_ROOT, SCHEMA_MAP, "failover",
     .help = "a watcher that promotes a replica when its master falls silent"},
    {SECTION_ROOT, SCHEMA_MAP, "variants",
     .help = "named sets of overrides: dotted paths or nested maps laid over this file"},
    {SECTION_ROOT, SCHEMA_LIST, "expect",
     .help = "what must hold at the end: AGGREGATE(SERVER.COLUMN) < VALUE, or SERVER.COLUMN of the "
             "summary"},

    {SECTION_FAILOVER, SCHEMA_SERVER, "watch", FIELD(failover_config, watch), .example = "master",
     .flags = SCHEMA_REQUIRED, .help = "the master"},
    {SECTION_FAILOVER, SCHEMA_NS, "down-after", FIELD(failover_config, down_after_ns), .low = 1,
     .high = DURATION_MAX, .initial = "5s", .help = "silent for so long, it counts as down"},
    {SECTION_FAILOVER, SCHEMA_SERVER, "promote", FIELD(failover_config, promote),
     .example = "replica", .flags = SCHEMA_REQUIRED, .help = "the replica that takes its place"},
    {SECTION_FAILOVER, SCHEMA_NS, "clients-after", FIELD(failover_config, clients_after_ns),
     .high = DURATION_MAX, .initial = "1s",
     .help = "from then on until its clients go to the new master"},

    {SECTION_SERVER, SCHEMA_ANY, "replica-of", .example = "master", .flags = SCHEMA_REPLICA,
     .help = "the server it replicates, a master or a replica"},
    {SECTION_SERVER, SCHEMA_MAP, "link", .flags = SCHEMA_REPLICA,
     .help = "the network to its master; of a master for when it becomes a replica"},
    {SECTION_SERVER, SCHEMA_ENGINE, "engine", FIELD(server_config, generation),
     .example = "redis-7.0", .flags = SCHEMA_INHERITED, .help = "instead of the scenario's"},
    {SECTION_SERVER, SCHEMA_ALLOCATOR, "allocator", FIELD(server_config, allocator),
     .example = "bundled", .flags = SCHEMA_INHERITED, .help = "instead of the scenario's"},
    {SECTION_SERVER, SCHEMA_PRICES, "costs", FIELD(server_config, prices), .example = "default",
     .flags = SCHEMA_INHERITED, .help = "instead of the scenario's"},
    {SECTION_SERVER, SCHEMA_ANY, "config-file", .example = "redis.conf", .flags = SCHEMA_ASIDE,
     .help = "a real redis.conf: the directives below are read, the rest is listed as ignored"},
    {SECTION_SERVER, SCHEMA_MAP, "config",
     .help = "directives as in redis.conf, over those of the file"},
    {SECTION_SERVER, SCHEMA_US, "clock-offset", FIELD(server_config, clock_offset_us),
     .low = -DURATION_MAX, .high = DURATION_MAX, .example = "0ms",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE, .help = "instead of clock: its offset"},
    {SECTION_SERVER, SCHEMA_MAP, "clock", .help = "its wall clock; monotonic time is the run's"},

    {SECTION_CLOCK, SCHEMA_US, "offset", FIELD(server_config, clock_offset_us),
     .low = -DURATION_MAX, .high = DURATION_MAX, .initial = "0ms",
     .help = "ahead of the run's at the start, or behind it with a minus"},
    {SECTION_CLOCK, SCHEMA_DRIFT, "drift", FIELD(server_config, clock_drift_ppb),
     .low = -CLOCK_DRIFT_MAX_PPB, .high = CLOCK_DRIFT_MAX_PPB, .initial = "0ppm",
     .help = "what it gains from then on: 20ppm are 20us in each second"},

    {SECTION_LINK, SCHEMA_NS_DRAW, "latency", FIELD(link_config, latency), .high = DAY_NS,
     .initial = "1ms", .help = "one way; drawn for each piece sent when it is a distribution"},
    {SECTION_LINK, SCHEMA_NS_DRAW, "jitter", FIELD(link_config, jitter), .high = DAY_NS,
     .initial = "0ms", .help = "later by up to that much, uniform, or as drawn; order is kept"},
    {SECTION_LINK, SCHEMA_BANDWIDTH, "bandwidth", FIELD(link_config, bandwidth_bits_per_s),
     .literal = "unlimited", .low = 1, .high = 1000 * TERA, .initial = "1gbit/s",
     .help = "of the stream to the replica"},
    {SECTION_LINK, SCHEMA_BYTES, "socket-buffer", FIELD(link_config, socket_buffer_bytes), .low = 1,
     .high = TERA, .initial = "2560KiB",
     .help = "what the master's socket takes beyond what has arrived"},
    {SECTION_LINK, SCHEMA_LIST, "outages", .help = "when the link is down"},
    {SECTION_LINK, SCHEMA_MAP, "random-outages",
     .help = "and when it is at random, by the scenario's seed"},
    {SECTION_LINK, SCHEMA_MAP, "up", .help = "the way to its master, where it is not the same"},

    {SECTION_UP, SCHEMA_NS_DRAW, "latency", FIELD(link_config, latency), .high = DAY_NS,
     .example = "1ms", .flags = SCHEMA_INHERITED, .help = "default the link's"},
    {SECTION_UP, SCHEMA_NS_DRAW, "jitter", FIELD(link_config, jitter), .high = DAY_NS,
     .example = "0ms", .flags = SCHEMA_INHERITED, .help = "default the link's"},
    {SECTION_UP, SCHEMA_BANDWIDTH, "bandwidth", FIELD(link_config, bandwidth_bits_per_s),
     .literal = "unlimited", .low = 1, .high = 1000 * TERA, .initial = "unlimited",
     .help = "of acknowledgements"},

    {SECTION_OUTAGE, SCHEMA_NS, "at", FIELD(planned_outage, span.at_ns), .high = DURATION_MAX, .example = "12s",
     .flags = SCHEMA_REQUIRED, .help = "after the start"},
    {SECTION_OUTAGE, SCHEMA_NS, "for", FIELD(planned_outage, span.for_ns), .low = 1,
     .high = DURATION_MAX, .example = "8s", .flags = SCHEMA_REQUIRED, .help = "how long"},
    {SECTION_OUTAGE, SCHEMA_CHOICE, "way", FIELD(planned_outage, way), .choices = ways,
     .initial = "both", .help = "down is to the replica, up from it"},

    {SECTION_RANDOM, SCHEMA_NS_DRAW, "every", FIELD(outage_plan, every_ns), .low = 1,
     .high = DURATION_MAX, .example = "{exponential: 60s}", .flags = SCHEMA_REQUIRED,
     .help = "from the start, or the end of one, to the next"},
    {SECTION_RANDOM, SCHEMA_NS_DRAW, "for", FIELD(outage_plan, for_ns), .low = 1,
     .high = DURATION_MAX, .example = "{uniform: [1s, 5s]}", .flags = SCHEMA_REQUIRED,
     .help = "how long each is"},
    {SECTION_RANDOM, SCHEMA_CHOICE, "way", FIELD(outage_plan, way), .choices = ways,
     .initial = "both", .help = "down is to the replica, up from it"},

    {SECTION_POPULATION, SCHEMA_SERVER, "server", FIELD(population_config, server),
     .example = "master", .flags = SCHEMA_INHERITED, .help = "a master; default the first server"},
    {SECTION_POPULATION, SCHEMA_INTEGER, "db", FIELD(population_config, db),
     .high = DATABASES_MAX - 1, .initial = "0", .help = "database"},
    {SECTION_POPULATION, SCHEMA_ANY, "keys", .example = "\"session:{n:08}\"",
     .help = "names: {n} is the key's number, {n:08} padded to 8 digits"},
    {SECTION_POPULATION, SCHEMA_INTEGER, "first", FIELD(population_config, pattern_first),
     .high = INT64_MAX / 2, .initial = "0", .help = "number of the first key"},
    {SECTION_POPULATION, SCHEMA_INTEGER, "count", FIELD(population_config, count), .low = 1,
     .high = KEYS_MAX, .example = "1_000_000", .flags = SCHEMA_INHERITED, .help = "how many keys"},
    {SECTION_POPULATION, SCHEMA_BYTES_DRAW, "value", FIELD(population_config, value_bytes),
     .high = VALUE_LENGTH_MAX, .initial = "32B",
     .help = "bytes: one size, {uniform: [10B, 1KiB]} or {mix: {32B: 90, 1KiB: 10}}"},
    {SECTION_POPULATION, SCHEMA_MS_DRAW, "ttl", FIELD(population_config, ttl_ms), .low = 1000000,
     .high = DURATION_MAX, .literal = "none", .initial = "none",
     .help = "time to live from the moment of writing, one or drawn as the value is"},
    {SECTION_POPULATION, SCHEMA_MS, "deadline", FIELD(population_config, deadline_ms),
     .high = DURATION_MAX, .example = "10s", .flags = SCHEMA_INHERITED | SCHEMA_ASIDE,
     .help = "instead of ttl: one moment for all keys, after the start"},
    {SECTION_POPULATION, SCHEMA_ANY, "jitter", .help = "how deadlines are spread"},
    {SECTION_POPULATION, SCHEMA_ANY, "load",
     .help = "default preloaded: there before the run; or written during it by SET ... PX"},
    {SECTION_POPULATION, SCHEMA_ANY, "from", .example = "sessions.csv", .flags = SCHEMA_ASIDE,
     .help = "instead of keys, count, value and ttl: a memory report of rdb-tools"},

    {SECTION_JITTER, SCHEMA_CHOICE, "strategy", FIELD(jitter, kind), .choices = strategies,
     .initial = "none", .help = "see lapse list strategies"},
    {SECTION_JITTER, SCHEMA_MS, "span", FIELD(jitter, span_ms), .high = DURATION_MAX,
     .initial = "0ms", .help = "how far"},
    {SECTION_JITTER, SCHEMA_CHOICE, "resolution", FIELD(jitter, resolution_ms),
     .choices = resolutions, .initial = "ms",
     .help = "s: whole seconds, as a client that writes EX"},

    {SECTION_LOAD, SCHEMA_NS, "at", FIELD(population_config, load_at_ns), .high = DURATION_MAX,
     .initial = "0s", .help = "when the writing begins"},
    {SECTION_LOAD, SCHEMA_NS, "over", FIELD(population_config, load_over_ns), .high = DURATION_MAX,
     .initial = "0s", .help = "how long it takes, evenly; 0s: as fast as one client can"},

    {SECTION_CLIENT, SCHEMA_SERVER, "server", FIELD(client_config, server), .example = "master",
     .flags = SCHEMA_INHERITED, .help = "default the first server"},
    {SECTION_CLIENT, SCHEMA_INTEGER, "connections", FIELD(client_config, connections), .low = 1,
     .high = 100000, .initial = "1",
     .help = "without a rate each sends, waits, thinks; with one requests go round them"},
    {SECTION_CLIENT, SCHEMA_RATE, "rate", FIELD(client_config, rate_per_1000_h), .low = 1,
     .high = 3600 * TERA, .example = "1k/s", .flags = SCHEMA_INHERITED,
     .help = "open loop: requests leave at this rate, answered or not"},
    {SECTION_CLIENT, SCHEMA_CHOICE, "arrivals", FIELD(client_config, poisson), .choices = arrivals,
     .initial = "poisson", .help = "of an open loop"},
    {SECTION_CLIENT, SCHEMA_NS_DRAW, "think", FIELD(client_config, think_ns), .high = DURATION_MAX,
     .example = "10ms", .initial = "0ms", .flags = SCHEMA_ASIDE,
     .help = "closed loop, instead of a rate: from a reply to the next request"},
    {SECTION_CLIENT, SCHEMA_MAP, "mix", .flags = SCHEMA_REQUIRED,
     .help = "commands and weights; {key} {value} {ttl} (ms) {ttl_s} come from the population"},
    {SECTION_CLIENT, SCHEMA_ANY, "population", .example = "sessions",
     .help = "whose keys; default the only one"},
    {SECTION_CLIENT, SCHEMA_ANY, "popularity", .example = "uniform",
     .help = "which keys: uniform, or {zipf: 0.99}"},
    {SECTION_CLIENT, SCHEMA_NS, "from", FIELD(client_config, from_ns), .high = DURATION_MAX,
     .initial = "0s", .help = "first request, after the start"},
    {SECTION_CLIENT, SCHEMA_NS, "until", FIELD(client_config, until_ns), .high = DURATION_MAX,
     .example = "30s", .flags = SCHEMA_INHERITED,
     .help = "no request from then on; default the end of the run"},
    {SECTION_CLIENT, SCHEMA_INTEGER, "db", FIELD(client_config, db), .high = DATABASES_MAX - 1,
     .example = "0", .flags = SCHEMA_INHERITED, .help = "database; default its population's"},

    {SECTION_EVENT, SCHEMA_NS, "at", FIELD(event_config, at_ns), .high = DURATION_MAX,
     .example = "5s", .flags = SCHEMA_REQUIRED, .help = "after the start"},
    {SECTION_EVENT, SCHEMA_SERVER, "server", FIELD(event_config, server), .example = "master",
     .flags = SCHEMA_INHERITED, .help = "of a command or a clock step; default the first"},
    {SECTION_EVENT, SCHEMA_TEXT, "command", FIELD(event_config, text),
     .example = "\"SET foo bar PX 5000\"", .flags = SCHEMA_INHERITED,
     .help = "sent to that server"},
    {SECTION_EVENT, SCHEMA_INTEGER, "db", FIELD(event_config, db), .high = DATABASES_MAX - 1,
     .initial = "0", .help = "of the command"},
    {SECTION_EVENT, SCHEMA_SERVER, "cut", FIELD(event_config, server), .example = "replica",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE,
     .help = "instead of a command: the link to this replica goes down"},
    {SECTION_EVENT, SCHEMA_SERVER, "heal", FIELD(event_config, server), .example = "replica",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE, .help = "and comes back"},
    {SECTION_EVENT, SCHEMA_SERVER, "reset", FIELD(event_config, server), .example = "replica",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE,
     .help = "the connection of this replica to its master breaks; it may connect again at once"},
    {SECTION_EVENT, SCHEMA_SERVER, "freeze", FIELD(event_config, server), .example = "master",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE,
     .help = "this server stops where it is, as by SIGSTOP"},
    {SECTION_EVENT, SCHEMA_SERVER, "thaw", FIELD(event_config, server), .example = "master",
     .flags = SCHEMA_INHERITED | SCHEMA_ASIDE, .help = "and goes on"},
    {SECTION_EVENT, SCHEMA_US, "clock-step", FIELD(event_config, step_us), .low = -DURATION_MAX,
     .high = DURATION_MAX, .example = "+30s", .flags = SCHEMA_INHERITED | SCHEMA_ASIDE,
     .help = "the server's wall clock jumps"},
};
/* clang-format on */

const size_t schema_row_count = sizeof schema_rows / sizeof *schema_rows;

const struct schema_row *schema_next(enum schema_section section, const struct schema_row *row) {
    for (row = row ? row + 1 : schema_rows; row < schema_rows + schema_row_count; row++)
        if (row->section == section) return row;
    return NULL;
}
