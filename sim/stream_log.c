/* Two rings with sizes of a power of two: records and arguments, both indexed by serial number. A
 * record's arguments are contiguous, so that they can be handed out as an argv: where they would
 * cross the ring's end, they begin at its start and the serial numbers before it stay unused. A
 * ring twice as large still has them in one piece. */
#include "stream_log.h"

#include <stdlib.h>

enum { RECORDS_INITIAL = 64, ARGS_INITIAL = 256 };

struct stream_log {
    struct stream_record *records;
    uint64_t record_size, record_begin, record_end;
    uint64_t history_begin; /* the first record of the present history; it may be gone */
    struct arg *args;
    uint64_t arg_size, arg_begin, arg_end;
};

static struct stream_record *record_at(const struct stream_log *log, uint64_t serial) {
    return &log->records[serial & (log->record_size - 1)];
}

static struct arg *arg_at(const struct stream_log *log, uint64_t serial) {
    return &log->args[serial & (log->arg_size - 1)];
}

struct stream_log *stream_log_create(void) {
    struct stream_log *log = calloc(1, sizeof *log);
    ASSERT(log != NULL);
    log->record_size = RECORDS_INITIAL;
    log->arg_size = ARGS_INITIAL;
    log->records = calloc(log->record_size, sizeof *log->records);
    log->args = calloc(log->arg_size, sizeof *log->args);
    ASSERT(log->records != NULL && log->args != NULL);
    return log;
}

void stream_log_destroy(struct stream_log *log) {
    if (!log) return;
    free(log->records);
    free(log->args);
    free(log);
}

static void records_grow(struct stream_log *log) {
    struct stream_log old = *log;
    log->record_size *= 2;
    log->records = calloc(log->record_size, sizeof *log->records);
    ASSERT(log->records != NULL);
    for (uint64_t i = old.record_begin; i < old.record_end; i++)
        *record_at(log, i) = *record_at(&old, i);
    free(old.records);
}

static void args_grow(struct stream_log *log) {
    struct stream_log old = *log;
    log->arg_size *= 2;
    log->args = calloc(log->arg_size, sizeof *log->args);
    ASSERT(log->args != NULL);
    for (uint64_t i = old.arg_begin; i < old.arg_end; i++) *arg_at(log, i) = *arg_at(&old, i);
    free(old.args);
}

/* The first serial number from which `argc` arguments stand in one piece. */
static uint64_t args_place(const struct stream_log *log, uint64_t argc) {
    uint64_t left = log->arg_size - (log->arg_end & (log->arg_size - 1));
    return argc <= left ? log->arg_end : log->arg_end + left;
}

static uint64_t args_append(struct stream_log *log, const struct arg *argv, uint32_t argc) {
    while (args_place(log, argc) + argc - log->arg_begin > log->arg_size) args_grow(log);
    uint64_t first = args_place(log, argc);
    for (uint32_t i = 0; i < argc; i++) *arg_at(log, first + i) = argv[i];
    log->arg_end = first + argc;
    return first;
}

void stream_log_append(struct stream_log *log, const struct stream_command *command, ns_t fed_ns) {
    const struct request *request = &command->request;
    ASSERT(request->argc > 0 && request->argc <= UINT16_MAX);
    if (log->record_end - log->record_begin == log->record_size) records_grow(log);
    *record_at(log, log->record_end) = (struct stream_record){
        .command = request->command,
        .first_arg = args_append(log, request->argv, request->argc),
        .end_offset = command->end_offset,
        .fed_ns = fed_ns,
        .resp_bytes = command->resp_bytes,
        .argc = (uint16_t)request->argc,
        .db = command->db,
        .expiry = command->expiry,
    };
    log->record_end++;
}

uint64_t stream_log_end(const struct stream_log *log) { return log->record_end; }
uint64_t stream_log_begin(const struct stream_log *log) { return log->record_begin; }

const struct stream_record *stream_log_at(const struct stream_log *log, uint64_t serial) {
    ASSERT(log->record_begin <= serial && serial < log->record_end);
    return record_at(log, serial);
}

void stream_log_begin_history(struct stream_log *log) { log->history_begin = log->record_end; }

uint64_t stream_log_find(const struct stream_log *log, int64_t offset) {
    uint64_t low = log->record_begin, high = log->record_end;
    if (low < log->history_begin) low = log->history_begin;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (record_at(log, middle)->end_offset > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void stream_log_stamp(struct stream_log *log, uint64_t serial, ns_t fed_ns) {
    ASSERT(serial >= log->record_begin);
    for (; serial < log->record_end; serial++) record_at(log, serial)->fed_ns = fed_ns;
}

struct stream_command stream_log_command(const struct stream_log *log, uint64_t serial) {
    const struct stream_record *record = stream_log_at(log, serial);
    return (struct stream_command){
        .request = {.command = record->command,
                    .argv = arg_at(log, record->first_arg),
                    .argc = record->argc},
        .db = record->db,
        .expiry = record->expiry,
        .resp_bytes = record->resp_bytes,
        .end_offset = record->end_offset,
    };
}

void stream_log_trim(struct stream_log *log, uint64_t serial) {
    ASSERT(serial <= log->record_end);
    if (serial <= log->record_begin) return;
    log->record_begin = serial;
    log->arg_begin = serial < log->record_end ? record_at(log, serial)->first_arg : log->arg_end;
}

void stream_log_check(const struct stream_log *log) {
    ASSERT(log->record_begin <= log->record_end && log->history_begin <= log->record_end);
    ASSERT(log->record_end - log->record_begin <= log->record_size);
    ASSERT(log->arg_end - log->arg_begin <= log->arg_size);
    uint64_t arg = log->arg_begin;
    for (uint64_t serial = log->record_begin; serial < log->record_end; serial++) {
        const struct stream_record *record = record_at(log, serial);
        ASSERT(record->first_arg >= arg && record->argc > 0);
        arg = record->first_arg + record->argc;
        ASSERT(arg <= log->arg_end);
        ASSERT((record->first_arg & (log->arg_size - 1)) + record->argc <= log->arg_size);
        if (serial == log->record_begin) continue;
        const struct stream_record *before = record_at(log, serial - 1);
        ASSERT(before->fed_ns <= record->fed_ns);
        ASSERT(serial <= log->history_begin ||
               before->end_offset + (int64_t)record->resp_bytes <= record->end_offset);
    }
}
