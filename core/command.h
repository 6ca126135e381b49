/* command: the command table, and how a command is executed (7.0 server.c processCommand, call;
 * engine facts 6 and 13). One family a file: cmd_string, cmd_key, cmd_ttl, cmd_scan, cmd_server,
 * cmd_config, cmd_repl.
 * Each command's function gets a `struct call`, replies through it, and raises `dirty` when it
 * changed data; what is propagated is its argv, or what it was rewritten to. */
#ifndef LAPSE_CORE_COMMAND_H
#define LAPSE_CORE_COMMAND_H

#include "engine_state.h"

enum command_flags {
    COMMAND_WRITE = 1 << 0, /* refused on a read-only replica; propagated when it raised dirty */
    COMMAND_READONLY = 1 << 1,
    COMMAND_ADMIN = 1 << 2,
    COMMAND_NO_WRAP = 1 << 3, /* touches arbitrary keys: its expiry DELs are never wrapped in MULTI
                                 (SCAN, RANDOMKEY) */
    COMMAND_STREAM_ONLY =
        1 << 4, /* known inside the replication stream alone (MULTI, EXEC, REPLCONF, PING) */
    COMMAND_LOADING = 1 << 5, /* executed while a snapshot is loaded; others: -LOADING */
    COMMAND_STALE = 1 << 6,   /* executed by a replica that is cut off and has
                                 replica-serve-stale-data no; others: -MASTERDOWN */
};

struct call {
    struct engine *engine;
    struct client *client;
    struct db *db; /* the client's selected database */
    const struct command *command;
    const struct arg *argv;
    uint32_t argc;
    bool propagate_always; /* even though dirty did not rise (FLUSHALL) */
    const struct command *rewritten_command;
    uint32_t rewritten_argc;
    struct arg rewritten[ARGC_MAX]; /* used when rewritten_argc > 0: propagated instead of argv */
};

struct command {
    const char *name; /* lower case */
    int arity;        /* argc, the command's word included; negative: at least that many */
    unsigned flags;
    int first_key, last_key,
        key_step;   /* as COMMAND INFO: positions of keys; last_key -1: to the end; 0: none */
    unsigned needs; /* bits of enum feature */
    void (*run)(struct call *);
};

/* By name, any case; NULL if there is none. Needs no engine, so that whoever builds requests can
 * find keys' positions. */
const struct command *command_find(const char *name, size_t length);
const struct command *command_at(size_t index); /* or NULL past the last */

/* Executes one request as the client's: checks (unknown, arity, read-only replica), cached time,
 * the command itself, propagation, reply to the sink. `client` may be the master link: then nothing
 * is replied and nothing propagated. A command that a pause stops is kept for later instead. */
void command_execute(struct engine *, uint32_t client, const struct request *);

/* The same for one that had to wait: its reply goes out without a request. */
void command_execute_late(struct engine *, uint32_t client, const struct request *);

/* Reply builders for command functions; texts are static. */
void reply_status(struct call *, const char *text);
void reply_ok(struct call *);
void reply_integer(struct call *, int64_t);
void reply_nil(struct call *);
void reply_value(struct call *, const struct object *);
void reply_key(struct call *, key_id);
void reply_text(struct call *, const char *text);
void reply_number_text(struct call *, uint64_t);
void reply_array(struct call *, int64_t length);
void reply_item(struct call *, struct reply_item);
void reply_error(struct call *, const char *text);
void reply_syntax_error(struct call *);
/* "ERR wrong number of arguments for 'getex' command": before, a static name, after. */
void reply_error_about(struct call *, const char *before, const char *name, const char *after);
void reply_arity_error(struct call *);
void reply_invalid_expire(struct call *);
/* Quotes argument `index` as it was typed; a payload without content is left out. */
void reply_error_typed(struct call *, const char *before, uint32_t index, const char *after);

/* Where the next item of this reply will stand; its `integer` may be set later, by then as an
 * array's length. */
uint32_t reply_position(const struct call *);
void reply_set_length(struct call *, uint32_t position, int64_t length);

/* Argument readers for command functions. */
bool call_number(struct call *, uint32_t index,
                 int64_t *number); /* replies the server's error when it is none */
bool call_is(const struct call *, uint32_t index, enum word); /* that option, any case */
/* The same for a word without a fixed id, given in lower case. */
bool word_is(const char *bytes, size_t length, const char *lower);
bool call_spells(const struct call *, uint32_t index, const char *word);
/* The bytes of a text argument and their number, or NULL; NUL-terminated besides. */
const char *call_text(const struct call *, uint32_t index, uint32_t *length);
bool call_has_feature(const struct call *, enum feature);

/* Propagates these words instead of argv. The word is upper case, as the server's shared command
 * names are. */
void call_rewrite(struct call *, enum word, uint32_t argc, const struct arg *argv);
void call_rewrite_key(struct call *, enum word); /* the word and the key at argv[1] */

/* Has CONFIG a subcommand that is known, with enough words? If not, replies what is wrong. */
bool config_accepts(struct call *);
bool client_accepts(struct call *);

/* A number of bytes as redis.conf writes it, with a unit or without (7.0 util.c memtoull). */
bool config_read_bytes(const char *text, int64_t *bytes);

/* The families. */
void cmd_set(struct call *), cmd_setex(struct call *), cmd_psetex(struct call *),
    cmd_get(struct call *);
void cmd_getex(struct call *), cmd_getdel(struct call *), cmd_incr(struct call *);
void cmd_del(struct call *), cmd_unlink(struct call *), cmd_exists(struct call *),
    cmd_touch(struct call *);
void cmd_expire(struct call *), cmd_pexpire(struct call *), cmd_expireat(struct call *),
    cmd_pexpireat(struct call *);
void cmd_persist(struct call *), cmd_ttl(struct call *), cmd_pttl(struct call *),
    cmd_expiretime(struct call *);
void cmd_pexpiretime(struct call *);
void cmd_scan(struct call *), cmd_randomkey(struct call *), cmd_dbsize(struct call *);
void cmd_select(struct call *), cmd_flushdb(struct call *), cmd_flushall(struct call *),
    cmd_config(struct call *);
void cmd_debug(struct call *), cmd_info(struct call *), cmd_ping(struct call *);
void cmd_replicaof(struct call *), cmd_failover(struct call *), cmd_client(struct call *),
    cmd_wait(struct call *);
void cmd_multi(struct call *), cmd_exec(struct call *), cmd_replconf(struct call *);

#endif
