/* scenario_malformed: each mistake is told with its place, what was expected and the nearest word,
 * in one line. A case is a whole file, or the lines that follow a good beginning of six lines. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "support.h"

/* Lines 1 to 6; what a case adds begins in line 7. */
#define GOOD                                                                                       \
    "name: x\n"                                                                                    \
    "servers:\n"                                                                                   \
    "  main: {config: {hz: 10}}\n"                                                                 \
    "  far: {replica-of: main, link: {latency: 1ms}}\n"                                            \
    "populations:\n"                                                                               \
    "  p: {keys: \"k{n}\", count: 5, ttl: 10s}\n"

#define ONE(name) "  " name ": {replica-of: a}\n"
#define EIGHT(name)                                                                                \
    ONE(name "1")                                                                                  \
    ONE(name "2")                                                                                  \
    ONE(name "3") ONE(name "4") ONE(name "5") ONE(name "6") ONE(name "7") ONE(name "8")

/* In line 4, where its value begins in column 30. */
#define LINK(text)     "name: x\nservers:\n  a: {}\n  b: {replica-of: a, link: {" text "}}\n"
#define LATENCY(text)  LINK("latency: " text)
#define SERVER(text)   "name: x\nservers:\n  a: {" text "}\n"
#define LIMIT(text)    SERVER("config: {client-output-buffer-limit: " text "}")
#define RANDOM(text)   LINK("random-outages: {" text "}")
#define FAILOVER(text) GOOD "failover: {" text "}\n"

#define CLIENTS GOOD "clients:\n  c: "

static const struct malformed {
    const char *text;
    const char *place;      /* ":LINE:COLUMN: " */
    const char *wrong;      /* a piece of the message */
    const char *suggestion; /* after "did you mean", or NULL when there must be none */
} cases[] = {
    /* not a file of the right kind */
    {"", ":1:1: ", "the file is empty; expected a scenario", NULL},
    {"# only a comment\n", ":1:1: ", "the file is empty", NULL},
    {"just a word\n", ":1:1: ", "the scenario is a word; expected a map", NULL},
    {"- a\n- b\n", ":1:1: ", "the scenario is a list; expected a map", NULL},
    {"name: \xff\xfe\n", ":1:7: ", "not text: invalid leading UTF-8 octet; expected UTF-8", NULL},
    {"name: a\x01 b\n", ":1:8: ", "not text: control characters", NULL},
    {"name: \"a\\0b\"\nservers: {a: {}}\n", ":1:7: ", "a NUL byte", NULL},
    {"name: x\n\tservers: {}\n", ":2:1: ", "(a tab: YAML is indented by spaces)", NULL},
    {"name: [a, b\n", ":2:1: ", "not YAML: while parsing a flow sequence", NULL},
    {"name: x\nname: y\n", ":2:1: ", "duplicate key 'name', first seen in line 1", NULL},
    {"name: &a x\n", ":1:7: ", "anchors (&name) are not read; expected the value written", NULL},
    {"name: *a\n", ":1:7: ", "aliases (*name) are not read", NULL},
    {"name: !!str x\n", ":1:7: ", "tags (!name) are not read", NULL},
    {"name: x\n---\nname: y\n", ":2:1: ", "a second document; expected one scenario", NULL},
    {"? [a]\n: b\n", ":1:3: ", "a map or a list stands as a key; expected a word", NULL},
    {"a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", ":1:35: ", "nested more than 32 deep", NULL},
    /* the root */
    {"servers: {a: {}}\n", ":1:1: ", "the scenario has no 'name'; expected name: a name", NULL},
    {"name: x\n", ":1:1: ", "the scenario has no 'servers'; expected servers: a map", NULL},
    {"name: Big One\nservers: {a: {}}\n", ":1:7: ", "'Big One'; expected a name of a-z", NULL},
    {"name:\nservers: {a: {}}\n", ":1:6: ", "name is empty; expected a name", NULL},
    {GOOD "sevrers: {}\n", ":7:1: ", "unknown key 'sevrers' in the scenario; expected one of name",
     "servers"},
    {GOOD "seed: -1\n", ":7:7: ", "seed: '-1' is out of range; expected a whole number", NULL},
    {GOOD "seed: 1.5\n", ":7:7: ", "seed: '1.5' is finer than 1", NULL},
    {GOOD "seed: 99999999999999999999\n", ":7:7: ", "is too large", NULL},
    {GOOD "duration: 30\n", ":7:11: ", "duration: '30' has no unit; expected a duration such as",
     "30s"},
    {GOOD "duration: 30 seconds\n", ":7:11: ", "unknown unit 'seconds'; expected a duration",
     "30 s"},
    {GOOD "duration: 5KiB\n", ":7:11: ", "unknown unit 'KiB'; expected a duration", NULL},
    {GOOD "duration: soon\n", ":7:11: ", "'soon' is not a number; expected a duration", NULL},
    {GOOD "duration: 0s\n", ":7:11: ", "duration: '0s' is out of range; expected a duration", NULL},
    {GOOD "duration: 1.5ns\n", ":7:11: ", "'1.5ns' is finer than 1ns", NULL},
    {GOOD "duration: [30s]\n", ":7:11: ", "duration is a list; expected a duration", NULL},
    {GOOD "start: 2026-02-30T00:00:00Z\n", ":7:8: ", "is not a time; expected one in UTC", NULL},
    {GOOD "start: 2026-01-01 00:00:00\n", ":7:8: ", "such as 2026-01-01T00:00:00Z", NULL},
    {GOOD "engine: redis-7\n", ":7:9: ", "unknown engine 'redis-7'; expected one of redis-7.0",
     "redis-7.0"},
    {GOOD "allocator: debain\n", ":7:12: ", "unknown allocator 'debain'; expected one of bundled",
     "debian"},
    {GOOD "costs: ./nosuch.json\n",
     ":7:8: ", "cannot read './nosuch.json'; expected a price profile", NULL},
    {GOOD "costs: zeros\n", ":7:8: ", "unknown costs 'zeros'; expected one of default", "zero"},
    {GOOD "trace: cylce\n", ":7:8: ", "'cylce' is not a number; expected a duration", NULL},
    /* servers */
    {"name: x\nservers: {}\n", ":2:10: ", "0 servers; expected 1 to 64", NULL},
    {"name: x\nservers: [a]\n", ":2:10: ", "servers is a list; expected a map", NULL},
    {"name: x\nservers: {Main: {}}\n", ":2:11: ", "'Main' is no name of a server; expected", NULL},
    {"name: x\nservers: {a: 5}\n", ":2:14: ", "servers.a is a word; expected a map", NULL},
    {"name: x\nservers: {a: {config: {hertz: 10}}}\n",
     ":2:24: ", "unknown key 'hertz' in servers.a.config; expected one of hz, dynamic-hz", "hz"},
    {"name: x\nservers: {a: {config: {hz: 1000}}}\n",
     ":2:28: ", "hz: '1000' is out of range; expected a whole number, 1 to 500", NULL},
    {"name: x\nservers: {a: {config: {hz: fast}}}\n", ":2:28: ", "'fast' is not a number", NULL},
    {"name: x\nservers: {a: {config: {hz: }}}\n", ":2:28: ", "hz is empty; expected", NULL},
    {"name: x\nservers: {a: {config: {active-expire-effort: 11}}}\n", ":2:46: ", "1 to 10", NULL},
    {"name: x\nservers: {a: {config: {databases: 32}}}\n", ":2:35: ", "1 to 16", NULL},
    {"name: x\nservers: {a: {config: {dynamic-hz: nope}}}\n",
     ":2:36: ", "dynamic-hz is 'nope'; expected one of yes, no", "no"},
    {"name: x\nservers: {a: {config: {repl-backlog-size: 1Mi}}}\n",
     ":2:43: ", "unknown unit 'Mi'; expected a size as in redis.conf", "1m"},
    {"name: x\nservers: {a: {config-file: nosuch.conf}}\n",
     ":2:28: ", "cannot read 'nosuch.conf'; expected a redis.conf", NULL},
    {"name: x\nservers: {a: {replica-off: b}}\n", ":2:15: ", "unknown key 'replica-off'",
     "replica-of"},
    {"name: x\nservers: {main: {}, b: {replica-of: mian}}\n",
     ":2:37: ", "unknown server 'mian'; expected one of main, b", "main"},
    {"name: x\nservers: {a: {replica-of: a}}\n", ":2:27: ", "replica-of goes round: a -> a", NULL},
    {"name: x\nservers: {a: {replica-of: c}, b: {replica-of: a}, c: {replica-of: b}}\n",
     ":2:27: ", "replica-of goes round: a -> c -> b -> a; expected a master", NULL},
    {"name: x\nservers: {a: {clock-offset: 1ns}}\n", ":2:29: ", "'1ns' is finer than 1us", NULL},
    {"name: x\nservers:\n  a: {}\n" EIGHT("b") EIGHT("c") "  d: {replica-of: a}\n",
     ":20:19: ", "'a' has more than 16 replicas; expected at most that", NULL},
    {"name: x\nservers:\n  a: {}\n  b: {replica-of: a, link: {bandwidth: 100mbps}}\n",
     ":4:40: ", "unknown unit 'mbps'; expected a bandwidth", "100mbit/s"},
    {"name: x\nservers:\n  a: {}\n  b: {replica-of: a, link: {latency: -1ms}}\n",
     ":4:38: ", "latency: '-1ms' is out of range", NULL},
    {"name: x\nservers:\n  a: {}\n  b: {replica-of: a, link: {outages: [{at: 1s}]}}\n",
     ":4:39: ", "servers.b.link has no 'for'; expected for: a duration", NULL},
    {"name: x\nservers:\n  a: {}\n"
     "  b: {replica-of: a, link: {outages: [{at: 1s, for: 5s}, {at: 2s, for: 1s}]}}\n",
     ":4:38: ", "two outages of servers.b.link overlap", NULL},
    {"name: x\nservers:\n  a: {}\n  b: {replica-of: a, config: {databases: 4}}\n",
     ":4:19: ", "'b' has 4 databases and its master 'a' has 16; expected at least as many", NULL},
    {"name: x\nservers:\n  a: {}\n  b: {replica-of: a, engine: redis-5.0}\n", ":4:19: ",
     "'b' is redis-5.0 and would not know every command of its master 'a', which is redis-7.0",
     NULL},
    /* links, clocks, limits, failover */
    {LATENCY("{lognormal: {median: 10ms}}"), ":4:50: ",
     "latency: lognormal has neither p99 nor sigma; expected {median: VALUE, p99:", NULL},
    {LATENCY("{lognormal: {p99: 10ms}}"), ":4:50: ", "lognormal has no median; expected", NULL},
    {LATENCY("{lognormal: 10ms}"), ":4:50: ", "lognormal has no median; expected", NULL},
    {LATENCY("{lognormal: {median: 10ms, p99: 20ms, sigma: 1}}"),
     ":4:50: ", "lognormal has both p99 and sigma", NULL},
    {LATENCY("{lognormal: {median: 10ms, p90: 20ms}}"),
     ":4:65: ", "unknown key in lognormal 'p90'; expected one of median, p99, sigma", "p99"},
    {LATENCY("{lognormal: {median: 0ms, p99: 20ms}}"),
     ":4:59: ", "latency: the median is 0; expected more", NULL},
    {LATENCY("{lognormal: {median: 10ms, p99: 5ms}}"),
     ":4:70: ", "latency: p99 is '5ms'; expected 1 to 1000 times the median", NULL},
    {LATENCY("{lognormal: {median: 1ms, p99: 1001ms}}"), ":4:69: ", "1 to 1000 times", NULL},
    {LATENCY("{lognormal: {median: 10ms, sigma: 3.001}}"),
     ":4:72: ", "sigma is '3.001'; expected that of the logarithm such as 0.5, 0 to 3", NULL},
    {LATENCY("{lognormal: {median: 10ms, sigma: 0.0001}}"), ":4:72: ", "three decimals", NULL},
    {LATENCY("{lognormal: {median: 10, p99: 20ms}}"),
     ":4:59: ", "latency: '10' has no unit; expected a duration", "10s"},
    {LATENCY("{exponential: 0s}"), ":4:52: ", "latency: the mean is 0; expected more", NULL},
    {LATENCY("{exponential: [1s]}"), ":4:52: ", "latency is a list; expected a duration", NULL},
    {LATENCY("{expnential: 1s}"), ":4:39: ", "unknown distribution in latency 'expnential'",
     "exponential"},
    {LATENCY("{normal: 1s}"), ":4:39: ", "uniform, mix, lognormal, exponential, csv", "lognormal"},
    {LATENCY("{uniform: [1s, 2s], csv: x}"), ":4:38: ", "latency: 2 keys; expected one", NULL},
    {LATENCY("{csv: nosuch.csv}"), ":4:44: ", "cannot read 'nosuch.csv'; expected a CSV of", NULL},
    {LATENCY("{csv: [a]}"), ":4:44: ", "csv is a list; expected the name of a file", NULL},
    {LATENCY("{csv: sessions.csv, unit: msec}"),
     ":4:64: ", "unknown unit 'msec'; expected a duration", "1ms"},
    {LATENCY("{csv: sessions.csv, unit: []}"), ":4:64: ", "latency: unit is a list", NULL},
    {LATENCY("25h"), ":4:38: ", "latency: '25h' is out of range; expected a duration", NULL},
    {LINK("jitter: {uniform: [1ms, 25h]}"), ":4:53: ", "jitter: '25h' is out of range", NULL},
    {LINK("up: {latancy: 1ms}"), ":4:34: ",
     "unknown key 'latancy' in servers.b.link.up; expected one of latency, jitter, bandwidth",
     "latency"},
    {LINK("up: {outages: []}"), ":4:34: ", "unknown key 'outages' in servers.b.link.up", NULL},
    {LINK("up: 5ms"), ":4:33: ", "up is a word; expected a map", NULL},
    {LINK("up: {bandwidth: 0bit/s}"), ":4:45: ", "bandwidth: '0bit/s' is out of range", NULL},
    {LINK("outages: [{at: 1s, for: 1s, way: upp}]"),
     ":4:62: ", "unknown way 'upp'; expected one of both, down, up", "up"},
    {LINK("outages: [{at: 1s, for: 5s, way: up}, {at: 2s, for: 1s}]"),
     ":4:38: ", "two outages of servers.b.link overlap", NULL},
    {RANDOM("every: 60s"),
     ":4:45: ", "servers.b.link.random-outages has no 'for'; expected for: a duration", NULL},
    {RANDOM("for: 60s"), ":4:45: ", "has no 'every'; expected every: a duration", NULL},
    {RANDOM("every: 0s, for: 1s"), ":4:53: ", "every: '0s' is out of range", NULL},
    {RANDOM("every: 1ms, for: 1ms"), ":4:45: ",
     "more than 10000 outages in a run; expected a longer time from one to the next", NULL},
    {RANDOM("evry: 1s, for: 1s"), ":4:46: ", "unknown key 'evry'", "every"},
    {SERVER("clock: {drift: 20}"), ":3:22: ", "drift: '20' has no unit; expected a drift such as",
     "20ppm"},
    {SERVER("clock: {drift: 20%}"), ":3:22: ", "unknown unit '%'; expected a drift", NULL},
    {SERVER("clock: {drift: 200000ppm}"), ":3:22: ", "-100000ppm to 100000ppm", NULL},
    {SERVER("clock: {drift: 0.0001ppm}"), ":3:22: ", "'0.0001ppm' is finer than 1ppb", NULL},
    {SERVER("clock: {ofset: 1s}"), ":3:15: ", "unknown key 'ofset' in servers.a.clock", "offset"},
    {SERVER("clock: {offset: 1s}, clock-offset: 1s"),
     ":3:42: ", "servers.a has both clock and clock-offset; expected one", NULL},
    {SERVER("clock: 5s"), ":3:14: ", "clock is a word; expected a map", NULL},
    {LIMIT("replica 1mb 1mb"), ":3:44: ",
     "client-output-buffer-limit: 3 values; expected a class, two sizes and seconds such as", NULL},
    {LIMIT("\"\""), ":3:44: ", "0 values; expected a class", NULL},
    {LIMIT("replcia 1mb 1mb 60"),
     ":3:44: ", "unknown class 'replcia'; expected one of replica, normal, pubsub", "replica"},
    {LIMIT("replica 1mi 1mb 60"), ":3:44: ", "unknown unit 'mi'; expected a size as in", "1m"},
    {LIMIT("replica 1mb -1 60"), ":3:44: ", "'-1' is out of range; expected a size", NULL},
    {LIMIT("replica 1mb 1mb 1min"), ":3:44: ", "unknown unit 'min'; expected a whole", NULL},
    {LIMIT("normal 0 0 x"), ":3:44: ", "'x' is not a number; expected a whole number", NULL},
    {LIMIT("[replica, 1mb]"), ":3:44: ", "client-output-buffer-limit is a list; expected", NULL},
    {FAILOVER("watch: main"), ":7:11: ", "failover has no 'promote'; expected promote: the name",
     NULL},
    {FAILOVER("promote: far"), ":7:11: ", "failover has no 'watch'", NULL},
    {FAILOVER("watch: mian, promote: far"), ":7:19: ", "unknown server 'mian'", "main"},
    {FAILOVER("watch: far, promote: far"),
     ":7:33: ", "'far' takes its own place; expected a replica of it", NULL},
    {FAILOVER("watch: far, promote: main"),
     ":7:33: ", "'main' is a master already; expected a replica of 'far'", NULL},
    {FAILOVER("watch: main, promote: far, down-after: 0s"), ":7:51: ", "'0s' is out of range",
     NULL},
    {FAILOVER("watch: main, promote: far, down-afer: 1s"), ":7:39: ",
     "unknown key 'down-afer' in failover; expected one of watch, down-after", "down-after"},
    {GOOD "failover: [main, far]\n", ":7:11: ", "failover is a list; expected a map", NULL},
    {GOOD "events: [{at: 5s, freeze: mian}]\n", ":7:27: ", "unknown server 'mian'", "main"},
    {GOOD "events: [{at: 5s, freez: main}]\n", ":7:19: ", "unknown key 'freez' in events",
     "freeze"},
    {GOOD "events: [{at: 5s, thaw: main, server: main}]\n",
     ":7:39: ", "this event names its server already; expected no 'server'", NULL},
    {GOOD "events: [{at: 5s, reset: main}]\n", ":7:26: ",
     "'main' is a master; expected the replica at a link's end, or a server whose link the file "
     "describes",
     NULL},
    {GOOD "events: [{at: 5s, reset: far, freeze: far}]\n", ":7:39: ",
     "an event of two kinds; expected one of command, cut, heal, clock-step, reset, freeze, thaw",
     NULL},
    /* populations */
    {GOOD "  q: {count: 5}\n", ":7:6: ", "populations.q has no 'keys'; expected keys and count",
     NULL},
    {GOOD "  q: {keys: \"q{n}\"}\n", ":7:6: ", "populations.q has no 'count'", NULL},
    {GOOD "  q: {keys: \"q\", count: 5}\n", ":7:13: ", "'q' has no {n}; expected a pattern", NULL},
    {GOOD "  q: {keys: \"{m}\", count: 5}\n", ":7:13: ", "unknown placeholder; expected a pattern",
     NULL},
    {GOOD "  q: {keys: \"{n:}\", count: 5}\n", ":7:13: ", "has no width", NULL},
    {GOOD "  q: {keys: \"{n:99}\", count: 5}\n", ":7:13: ", "has a width above 20", NULL},
    {GOOD "  q: {keys: \"{n}{n}\", count: 5}\n", ":7:13: ", "has more than one {n}", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 0}\n", ":7:28: ", "count: '0' is out of range", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 1M}\n", ":7:28: ", "unknown unit 'M'; expected a whole",
     NULL},
    {GOOD "  q: {keys: \"k1{n}\", count: 5}\n", ":7:13: ", "names of 'q' could be names of 'p'",
     NULL},
    {GOOD "  q: {keys: \"k{n}\", count: 5, db: 1}\n", ":7:13: ", "could be names of 'p'", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, server: far}\n",
     ":7:39: ", "populations.q is on 'far', a replica; expected a master such as 'main'", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, db: 16}\n", ":7:35: ", "0 to 15", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, ttl: 500us}\n", ":7:36: ", "'500us' is finer than 1ms",
     NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, ttl: 5s, deadline: 9s}\n",
     ":7:50: ", "both ttl and deadline; expected one", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, ttl: {unifrom: [1s, 2s]}}\n",
     ":7:37: ", "unknown distribution in ttl 'unifrom'; expected one of uniform, mix", "uniform"},
    {GOOD "  q: {keys: \"q{n}\", count: 5, ttl: {uniform: 5s}}\n",
     ":7:46: ", "uniform is not a pair; expected [low, high]", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, ttl: {uniform: [9s, 5s]}}\n",
     ":7:47: ", "the low end is above the high end", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, value: {mix: {1B: 0}}}\n",
     ":7:49: ", "weight: '0' is out of range", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, value: 1GiB}\n", ":7:38: ", "out of range", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, value: 32kb}\n", ":7:38: ", "unknown unit 'kb'", "32KB"},
    {GOOD "  q: {keys: \"q{n}\", count: 5, jitter: unifrom}\n",
     ":7:39: ", "unknown strategy 'unifrom'; expected one of none, uniform", "uniform"},
    {GOOD "  q: {keys: \"q{n}\", count: 5, jitter: uniform}\n",
     ":7:39: ", "has no span; expected a map such as {strategy: uniform, span: 10s}", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, jitter: {spam: 1s}}\n", ":7:40: ", "unknown key 'spam'",
     "span"},
    {GOOD "  q: {keys: \"q{n}\", count: 5, jitter: {strategy: round}}\n",
     ":7:39: ", "rounds to a span of 0", NULL},
    {GOOD "  q: {keys: \"q{n}\", count: 5, load: preload}\n",
     ":7:37: ", "load is 'preload'; expected preloaded or a map", "preloaded"},
    {GOOD "  q: {from: nosuch.csv}\n",
     ":7:13: ", "cannot read 'nosuch.csv'; expected a memory report of rdb-tools", NULL},
    {GOOD "  q: {from: sessions.csv, count: 5}\n", ":7:34: ", "both from and count", NULL},
    /* clients */
    {CLIENTS "{rate: 1/s}\n", ":8:6: ", "clients.c has no 'mix'", NULL},
    {CLIENTS "{mix: {PING: 1}}\n", ":8:6: ", "clients.c has no rate; expected a rate such as",
     NULL},
    {CLIENTS "{rate: 100, mix: {PING: 1}}\n", ":8:13: ", "'100' has no unit; expected a rate",
     "100/s"},
    {CLIENTS "{rate: 100rps, mix: {PING: 1}}\n", ":8:13: ", "unknown unit 'rps'", "100/s"},
    {CLIENTS "{rate: 0.0001/h, mix: {PING: 1}}\n",
     ":8:13: ", "'0.0001/h' is finer than one request per 1000 h", NULL},
    {CLIENTS "{rate: 1/s, mix: {}}\n", ":8:23: ", "mix has 0 commands; expected", NULL},
    {CLIENTS "{rate: 1/s, mix: {GET {key}: 1}}\n",
     ":8:28: ", "did not find expected ',' or '}' (a word with braces needs quotes)", NULL},
    {CLIENTS "{rate: 1/s, mix: {\"GTE {key}\": 1}}\n",
     ":8:24: ", "unknown command 'GTE'; expected one", "get"},
    {CLIENTS "{rate: 1/s, mix: {\"GET {keys}\": 1}}\n",
     ":8:24: ", "unknown placeholder '{keys}'; expected one of {key}", "{key}"},
    {CLIENTS "{rate: 1/s, mix: {\"GET {value}\": 1}}\n",
     ":8:24: ", "argument 1 of get is {value}; expected {key} or a key's name", NULL},
    {CLIENTS "{rate: 1/s, mix: {\"SET {key} {key}\": 1}}\n",
     ":8:24: ", "argument 2 of set is {key}; expected {key} where the command takes a key", NULL},
    {CLIENTS "{rate: 1/s, mix: {GET: 1}}\n", ":8:24: ", "get has 0 arguments; expected 1", NULL},
    {CLIENTS "{rate: 1/s, mix: {'GET \"a': 1}}\n", ":8:24: ", "unbalanced quotes", NULL},
    {CLIENTS "{rate: 1/s, mix: {PING: x}}\n", ":8:30: ", "weight: 'x' is not a number", NULL},
    {CLIENTS "{rate: 1/s, think: 1ms, mix: {PING: 1}}\n", ":8:25: ", "both rate and think", NULL},
    {CLIENTS "{rate: 1/s, population: pp, mix: {\"GET {key}\": 1}}\n",
     ":8:30: ", "unknown population 'pp'; expected p", "p"},
    {CLIENTS "{rate: 1/s, popularity: zipfian, mix: {PING: 1}}\n",
     ":8:30: ", "unknown popularity 'zipfian'; expected one of uniform, zipf", "zipf"},
    {CLIENTS "{rate: 1/s, popularity: {zipf: 99}, mix: {PING: 1}}\n",
     ":8:37: ", "zipf is '99'; expected an exponent such as 0.99, 0 to 10", NULL},
    {CLIENTS "{rate: 1/s, arrivals: evenly, mix: {PING: 1}}\n",
     ":8:28: ", "unknown arrivals 'evenly'; expected one of poisson, even", "even"},
    {CLIENTS "{rate: 1/s, server: fra, mix: {PING: 1}}\n", ":8:26: ", "unknown server 'fra'",
     "far"},
    {CLIENTS "{rate: 1/s, from: 9s, until: 5s, mix: {PING: 1}}\n",
     ":8:24: ", "ends before it begins", NULL},
    /* events, expectations, variants */
    {GOOD "events: {at: 5s}\n", ":7:9: ", "events is a map; expected a list", NULL},
    {GOOD "events: [{command: PING}]\n", ":7:10: ", "events has no 'at'; expected at:", NULL},
    {GOOD "events: [{at: 5s}]\n", ":7:10: ", "an event of no kind; expected one of command", NULL},
    {GOOD "events: [{at: 5s, cut: far, heal: far}]\n", ":7:35: ", "an event of two kinds", NULL},
    {GOOD "events: [{at: 5s, cut: main}]\n", ":7:24: ", "'main' is a master; expected the replica",
     NULL},
    {GOOD "events: [{at: 50s, command: PING}]\n", ":7:15: ", "after the end of the run", NULL},
    {GOOD "events: [{at: 30s, command: PING}]\n", ":7:15: ", "at or after the end of the run",
     NULL},
    {GOOD "events: [{at: 5s, command: PNIG}]\n", ":7:28: ", "unknown command 'PNIG'", "ping"},
    {GOOD "events: [{at: 5s, command: \"\"}]\n", ":7:28: ", "an empty command", NULL},
    {GOOD "events: [{at: 5s, server: far, command: REPLICAOF mian 6379}]\n",
     ":7:41: ", "unknown server 'mian'; expected one of main, far", "main"},
    {GOOD "events: [{at: 5s, server: far, command: slaveof far 6379}]\n",
     ":7:41: ", "'far' would follow itself; expected another server", NULL},
    {GOOD "events: [{at: 5s, command: FAILOVER TO fra 6379 TIMEOUT 100}]\n",
     ":7:28: ", "unknown server 'fra'; expected one of main, far", "far"},
    {GOOD "events: [{at: 5s, command: 'SET \"a b'}]\n", ":7:28: ", "unbalanced quotes", NULL},
    {GOOD "expect: [[a]]\n", ":7:10: ", "an expectation is a list; expected text", NULL},
    {GOOD "variants: {v: 5}\n", ":7:15: ", "variant 'v' is a word; expected a map", NULL},
    {GOOD "variants: [v]\n", ":7:11: ", "variants is a list; expected a map", NULL},
    {GOOD "variants: {v_1: {}, V: {}}\n", ":7:21: ", "'V' is no name of a variant", NULL},
};

/* The same, with the variant `v` laid over. */
static const struct malformed varied[] = {
    {GOOD "variants: {w: {}}\n", ":7:11: ", "no variant 'v'; expected w", NULL},
    {GOOD, ":1:1: ", "no variant 'v'; expected none, as the file has no variants", NULL},
    {GOOD "variants:\n  v: {servers.main.config.hz: 9999}\n",
     ":8:31: ", "hz: '9999' is out of range", NULL},
    {GOOD "variants:\n  v: {servers.main.confg.hz: 9}\n",
     ":8:7: ", "unknown key 'confg' in servers.main", "config"},
    {GOOD "variants:\n  v: {servers.main.config.hertz: 9}\n", ":8:7: ", "unknown key 'hertz'",
     "hz"},
    {GOOD "variants:\n  v: {name.first: 9}\n",
     ":8:7: ", "'name' is a word in line 1; expected a map to lay this over", NULL},
    {GOOD "variants:\n  v: {.a: 9}\n", ":8:7: ", "an empty word in the path '.a'", NULL},
    {GOOD "variants:\n  v: {a.: 9}\n", ":8:7: ", "unknown key 'a' in the scenario", NULL},
    {GOOD "variants:\n  v: {variants.v.x: 9}\n", ":8:7: ", "a variant changes variants", NULL},
};

/* The latency of a link from a CSV: what is wrong there is told there. */
static const struct {
    const char *unit;
    struct malformed told; /* its text is that of d.csv */
} files[] = {
    {"", {"", ":1:1: ", "no values in this file; expected a value a line such as 12ms", NULL}},
    {"", {"delay\n# none\n\n", ":1:1: ", "no values in this file", NULL}},
    {"", {"1ms\n5\n", ":2:1: ", "latency: '5' has no unit; expected a duration", "5s"}},
    {"", {"1ms\nsoon\n", ":2:1: ", "latency: 'soon' is not a number; expected a duration", NULL}},
    {"", {"delay\nother\n", ":2:1: ", "latency: 'other' is not a number", NULL}},
    {"", {"1ms\n\n# 2\n25h\n", ":4:1: ", "latency: '25h' is out of range", NULL}},
    {"", {"1ms,1\n2ms\n", ":2:1: ", "1 columns below lines of 2; expected a value a line", NULL}},
    {"", {"1ms\n2ms,1\n", ":2:1: ", "2 columns below lines of 1", NULL}},
    {"", {"1ms,1,1\n", ":1:1: ", "3 columns; expected a value a line", NULL}},
    {"", {"1ms,0\n", ":1:5: ", "weight: '0' is out of range; expected a whole number", NULL}},
    {"", {"delay,weight\n1ms,1\n\"2ms\",x\n", ":3:7: ", "weight: 'x' is not a number", NULL}},
    {"", {"1ms,\n", ":1:5: ", "weight is empty; expected a whole number", NULL}},
    {"", {"\"1ms\n", ":1:1: ", "not CSV: ", NULL}},
    {"ms", {"5\n5s2\n", ":2:1: ", "unknown unit 's2ms'", NULL}},
    {"ms", {"-5\n", ":1:1: ", "latency: '-5ms' is out of range", NULL}},
    {"ns", {"1.5\n", ":1:1: ", "'1.5ns' is finer than 1ns", NULL}},
};

static void check_message(const struct malformed *c, const char *file, const char *message) {
    char place[64];
    snprintf(place, sizeof place, "%s%s", file, c->place);
    ck_assert_msg(strncmp(message, place, strlen(place)) == 0, "%s\n  wants %s", message, place);
    ck_assert_msg(strstr(message, c->wrong) != NULL, "%s\n  wants %s", message, c->wrong);
    ck_assert_msg(strchr(message, '\n') == NULL, "%s", message);
    const char *guess = strstr(message, "; did you mean '");
    ck_assert_msg(!guess == !c->suggestion, "%s\n  wants %s", message,
                  c->suggestion ? c->suggestion : "no suggestion");
    if (!guess) return;
    guess += strlen("; did you mean '");
    size_t length = strlen(c->suggestion);
    ck_assert_msg(strncmp(guess, c->suggestion, length) == 0 && strcmp(guess + length, "'?") == 0,
                  "%s\n  wants %s", message, c->suggestion);
}

static void check_case(const struct malformed *c, const char *variant) {
    struct scenario_error error;
    struct scenario *s = scenario_parse(c->text, strlen(c->text), "bad.yaml",
                                        LAPSE_SOURCE_DIR "/scenarios", variant, &error);
    ck_assert_msg(s == NULL, "loaded:\n%s", c->text);
    if (getenv("LAPSE_TEST_SHOW")) puts(error.message);
    check_message(c, "bad.yaml", error.message);
}

START_TEST(a_mistake_is_told_with_place_and_nearest_word) { check_case(&cases[_i], NULL); }
END_TEST

START_TEST(a_mistake_in_a_variant_is_told_there) { check_case(&varied[_i], "v"); }
END_TEST

START_TEST(a_mistake_in_a_file_of_delays_is_told_there) {
    char directory[] = "/tmp/lapse-test-XXXXXX", path[64], text[256];
    const char *csv = files[_i].told.text;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/d.csv", directory);
    snprintf(text, sizeof text, LATENCY("{csv: d.csv%s%s}"), *files[_i].unit ? ", unit: " : "",
             files[_i].unit);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(csv, 1, strlen(csv), file), strlen(csv));
    fclose(file);
    struct scenario_error error;
    struct scenario *s = scenario_parse(text, strlen(text), "bad.yaml", directory, NULL, &error);
    remove(path);
    remove(directory);
    ck_assert_msg(s == NULL, "loaded:\n%s", csv);
    ck_assert(strncmp(error.message, directory, strlen(directory)) == 0);
    char *message = error.message + strlen(directory) + 1;
    if (getenv("LAPSE_TEST_SHOW")) puts(message);
    check_message(&files[_i].told, "d.csv", message);
}
END_TEST

START_TEST(a_missing_file_is_told) {
    struct scenario_error error;
    ck_assert_ptr_null(scenario_load("/nosuch/file.yaml", NULL, &error));
    ck_assert_str_eq(error.message, "/nosuch/file.yaml:1:1: cannot read this file; expected a "
                                    "scenario (at most 16 MiB)");
    ck_assert_ptr_null(scenario_load(LAPSE_SOURCE_DIR, NULL, &error));
}
END_TEST

/* Good files with bytes cut off, changed and doubled: any answer, but no crash, and a message when
 * there is no scenario. */
START_TEST(mangled_files_never_crash) {
    static const char good[] = CLIENTS
        "{rate: 1/s, mix: {\"SET {key} {value} PX {ttl}\": 1}}\n"
        "events: [{at: 5s, cut: far}, {at: 6s, command: 'SET a b'}, {at: 7s, freeze: far}]\n"
        "failover: {watch: main, promote: far, down-after: 3s}\n"
        "variants: {v: {servers.main.config: {hz: 100}}}\nexpect: [a < b]\n";
    struct rng rng = rng_seed(test_seed());
    char text[sizeof good];
    struct scenario_error fault;
    struct scenario *whole =
        scenario_parse(good, sizeof good - 1, "bad.yaml", LAPSE_SOURCE_DIR, NULL, &fault);
    ck_assert_msg(whole != NULL, "%s", fault.message);
    scenario_destroy(whole);
    for (uint32_t round = 0; round < test_rounds(20000); round++) {
        memcpy(text, good, sizeof good);
        size_t length = sizeof good - 1;
        if (rng_chance(&rng, 1, 4)) length = rng_below(&rng, length);
        for (uint64_t n = rng_below(&rng, 4); n > 0 && length; n--)
            text[rng_below(&rng, length)] = rng_chance(&rng, 1, 2)
                                                ? good[rng_below(&rng, sizeof good - 1)]
                                                : (char)rng_below(&rng, 256);
        struct scenario_error error;
        struct scenario *s =
            scenario_parse(text, length, "bad.yaml", LAPSE_SOURCE_DIR, NULL, &error);
        if (!s) ck_assert(strncmp(error.message, "bad.yaml:", 9) == 0);
        scenario_destroy(s);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("scenario_malformed");
    TCase *tcase = tcase_create("scenario_malformed");
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, a_mistake_is_told_with_place_and_nearest_word, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tcase, a_mistake_in_a_variant_is_told_there, 0,
                        (int)(sizeof varied / sizeof *varied));
    tcase_add_loop_test(tcase, a_mistake_in_a_file_of_delays_is_told_there, 0,
                        (int)(sizeof files / sizeof *files));
    tcase_add_test(tcase, a_missing_file_is_told);
    tcase_add_test(tcase, mangled_files_never_crash);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
