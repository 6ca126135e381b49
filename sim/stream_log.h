/* stream_log: the master's replication stream as records, kept until every link has taken them. One
 * writer, several readers that each remember a serial number. Arguments are copied in, so a record
 * outlives the call that made it. */
#ifndef LAPSE_SIM_STREAM_LOG_H
#define LAPSE_SIM_STREAM_LOG_H

#include "observe.h"

struct stream_record {
    const struct command *command;
    uint64_t first_arg; /* serial number of its first argument */
    int64_t end_offset;
    ns_t fed_ns; /* when it left the engine: the end of its turn */
    uint32_t resp_bytes;
    uint16_t argc;
    uint8_t db;
    bool expiry; /* deletes a key as expired */
};

struct stream_log;

struct stream_log *stream_log_create(void);
void stream_log_destroy(struct stream_log *);
void stream_log_append(struct stream_log *, const struct stream_command *, ns_t fed_ns);
/* The records from `serial` on left at fed_ns: for a writer that is called during a turn and learns
 * only afterwards when it ends. */
void stream_log_stamp(struct stream_log *, uint64_t serial, ns_t fed_ns);
uint64_t stream_log_end(const struct stream_log *);   /* serial number one past the last record */
uint64_t stream_log_begin(const struct stream_log *); /* of the oldest kept record */
const struct stream_record *stream_log_at(const struct stream_log *, uint64_t serial);
/* The record as the command the engine takes; argv points into the log, valid until the next append
 * or trim. */
struct stream_command stream_log_command(const struct stream_log *, uint64_t serial);
void stream_log_trim(struct stream_log *, uint64_t serial); /* forget records below */
void stream_log_check(const struct stream_log *);

#endif
