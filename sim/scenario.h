/* scenario: a validated scenario file as structs. The loader (scenario_load) reads YAML through
 * libyaml events into a tree with places, lays a variant's overrides over it, validates it against
 * one schema table and fills this in. Every default is in the schema table. All times are from the
 * start of the run, in ns. The scenario owns all it points to. */
#ifndef LAPSE_SIM_SCENARIO_H
#define LAPSE_SIM_SCENARIO_H

#include <stdio.h>

#include "distribution.h"
#include "engine.h"
#include "jitter.h"
#include "names.h"
#include "texts.h"

struct outage {
    ns_t at_ns, for_ns;
};

/* One direction of a connection. What flies takes its latency, and its jitter more; order is kept.
 */
struct link_config {
    ns_t latency_ns;
    ns_t jitter_ns;                /* uniform [0, jitter] */
    struct distribution latency;   /* NONE: latency_ns; else drawn for each segment instead */
    struct distribution jitter;    /* NONE: jitter_ns; else drawn instead */
    uint64_t bandwidth_bits_per_s; /* 0: unlimited */
    uint64_t socket_buffer_bytes;  /* what the sender's socket takes beyond what has arrived */
    struct outage *outages;        /* sorted, disjoint; scheduled and random ones alike */
    uint32_t outage_count;
};

enum link_way { WAY_DOWN = 1, WAY_UP = 2, WAY_BOTH = WAY_DOWN | WAY_UP };

struct planned_outage {
    struct outage span;
    enum link_way way;
};

/* Where the outages of both directions come from. Random ones: so long after the end of the last,
 * for so long, drawn with the scenario's seed and the server's name (scenario_set_seed). */
struct outage_plan {
    struct planned_outage *planned;
    uint32_t planned_count;
    struct distribution every_ns, for_ns; /* NONE: no random ones */
    enum link_way way;                    /* of the random ones */
};

struct server_config {
    char *name;
    const struct generation *generation;
    const struct allocator *allocator;
    const struct price_table *prices;
    struct engine_config engine; /* is_replica set from replica-of */
    us_t clock_offset_us;        /* its wall clock minus the run's, at the start */
    int64_t clock_drift_ppb;     /* ns that its wall clock gains in each second of the run */
    int master;                  /* index of the server it replicates, or -1; it may be a replica */
    bool has_link;               /* the file says what its link is like: it may become a replica */
    struct link_config link;     /* from its master; a master's is for when it follows another */
    struct link_config link_up;  /* to its master: acknowledgements. Same outages unless planned
                                    one-way */
    struct outage_plan outage_plan;
};

struct population_config {
    char *name;
    uint8_t db;
    uint32_t server;    /* index; a master */
    uint32_t databases; /* that it has */
    char *pattern_prefix, *pattern_suffix;
    uint32_t pattern_width;
    uint64_t pattern_first; /* number of the first key */
    uint32_t count;
    struct distribution value_bytes;
    struct distribution ttl_ms; /* NONE: no TTL */
    ms_t deadline_ms; /* >= 0: an absolute deadline, this long after the start, instead of a TTL */
    struct jitter jitter;
    bool preloaded;                /* there before the run, on the master and its replicas */
    ns_t load_at_ns, load_over_ns; /* written by SET commands, evenly over that time; 0: as fast as
                                      one client can */
    char *from;                    /* CSV of rdb-tools' memory report, or NULL */
};

/* NAME is a literal key: a word where the command takes a key. Whoever builds requests interns it.
 */
enum template_kind {
    TEMPLATE_WORD,
    TEMPLATE_NAME,
    TEMPLATE_KEY,
    TEMPLATE_VALUE,
    TEMPLATE_TTL_MS,
    TEMPLATE_TTL_S
};

struct arg_template {
    enum template_kind kind;
    text_id word;
};

struct mix_config { /* "SET {key} {value} PX {ttl}", weight 10 */
    const struct command *command;
    struct arg_template args[12];
    uint32_t argc;
    uint32_t weight;
};

struct client_config {
    char *name;
    uint32_t server;
    uint32_t
        connections; /* closed loop: each sends, waits, thinks. Open loop: requests go round them */
    uint64_t
        rate_per_1000_h; /* open loop (5k/s = 18,000,000,000; 1/min = 60,000); 0: closed loop */
    bool poisson;        /* open loop: else evenly spaced */
    struct distribution think_ns;
    struct mix_config *mix;
    uint32_t mix_count;
    uint64_t mix_weight;
    int population;               /* whose keys; -1 when no template names {key} */
    uint32_t zipf_exponent_milli; /* 0: uniform */
    ns_t from_ns, until_ns;
    uint8_t db;
};

enum event_kind {
    EVENT_COMMAND,
    EVENT_CUT, /* the link of `server` is down, both ways, until it is healed */
    EVENT_HEAL,
    EVENT_CLOCK_STEP, /* the wall clock of `server` jumps by step_us */
    EVENT_RESET,      /* the connection of `server` to its master breaks: both ends notice */
    EVENT_FREEZE,     /* `server` stops where it is, as by SIGSTOP, until it is thawed */
    EVENT_THAW
};

struct event_config {
    ns_t at_ns;
    enum event_kind kind;
    uint32_t server; /* of a link: the replica at its end */
    uint8_t db;
    char *text; /* the command as written */
    us_t step_us;
};

struct expectation_config { /* parsed by expect.h */
    char *text;
    int line, column;
};

/* A watcher outside of all servers: when `watch` has been silent for down_after_ns, `promote`
 * becomes a master, and after clients_after_ns more clients go to it. */
struct failover_config {
    bool present;
    uint32_t watch, promote; /* servers */
    ns_t down_after_ns, clients_after_ns;
};

struct profile; /* profile.h */

struct scenario {
    char *path, *name, *about;
    uint64_t seed;
    us_t start_wall_us; /* unix time of the run's start */
    ns_t duration_ns;
    ns_t trace_interval_ns; /* 0: a row each cron cycle */
    struct server_config *servers;
    uint32_t server_count;
    struct population_config *populations;
    uint32_t population_count;
    struct client_config *clients;
    uint32_t client_count;
    struct event_config *events; /* sorted by time, file order among equals */
    uint32_t event_count;
    struct failover_config failover;
    struct expectation_config *expectations;
    uint32_t expectation_count;
    char **variants; /* names, in file order */
    uint32_t variant_count;
    bool base_is_a_variant;    /* one of them has no overrides, or is called `base` */
    char *variant;             /* the one laid over, or NULL */
    struct profile **profiles; /* price tables from files, each named once */
    uint32_t profile_count;
    struct texts *texts; /* shared by all requests of the run; created by the loader */
    char **notes; /* things the user should be told: directives of redis.conf that were ignored,
                     rows of a CSV */
    uint32_t note_count;
};

/* Where and what a user got wrong: "storm.yaml:12:5: unknown key 'hertz' in servers.master.config;
 * expected one of ...; did you mean 'hz'?" One line, no newline. */
struct scenario_error {
    char message[1024];
};

/* Loads and validates. `variant` may be NULL. NULL on error, with the message filled. Reads files,
 * writes none. */
struct scenario *scenario_load(const char *path, const char *variant, struct scenario_error *);

/* Same from bytes in memory, for tests and the fuzz target; relative files are sought in
 * `directory`. */
struct scenario *scenario_parse(const char *bytes, size_t length, const char *path,
                                const char *directory, const char *variant,
                                struct scenario_error *);
void scenario_destroy(struct scenario *);

/* Another seed than the file's: random outages are drawn again. */
void scenario_set_seed(struct scenario *, uint64_t seed);

/* `lapse list scenario-keys`: every key with type, unit, default, range and one line of help, as a
 * commented YAML reference scenario that loads. */
void scenario_print_reference(FILE *);

/* Words of one line to a request's template: {key}, {value}, {ttl} (ms), {ttl_s}; quotes as in
 * redis-cli. False with a message (no place in it) if it does not parse or the command is unknown.
 */
bool template_parse(struct texts *, const char *line, struct mix_config *, char *message,
                    size_t size);

#endif
