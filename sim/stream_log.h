/* stream_log: a server's replication stream as records: what a master feeds, or what a replica
 * hands on as it got it. Kept as long as a reader or the server's backlog needs them. One writer,
 * several readers that each remember a serial number. Arguments are copied in, so a record outlives
 * the call that made it. Offsets grow within a history; another one begins when its owner says so
 * (the server took over another's data set), and offsets are sought in the present one alone. */
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
/* What is appended from now on is another history: offsets may go back. */
void stream_log_begin_history(struct stream_log *);
/* The first record of the present history that ends behind this offset: where a reader goes on that
 * has everything up to there. The end if there is none yet. */
uint64_t stream_log_find(const struct stream_log *, int64_t offset);
const struct stream_record *stream_log_at(const struct stream_log *, uint64_t serial);
/* The record as the command the engine takes; argv points into the log, valid until the next append
 * or trim. */
struct stream_command stream_log_command(const struct stream_log *, uint64_t serial);
void stream_log_trim(struct stream_log *, uint64_t serial); /* forget records below */
void stream_log_check(const struct stream_log *);

#endif
