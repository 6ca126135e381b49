#include "calibrate_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SCATTER     UINT64_C(48271) /* a prime: no range of keys has it as a factor */
#define CLEAR_BATCH 1000

uint32_t work_key(const struct work *work, uint64_t i) {
    return work->first + (uint32_t)(i * SCATTER % work->keys);
}

/* A range has at most as many keys as fit in 9 digits. */
void work_key_name(uint32_t key, char name[WORK_KEY_BYTES + 1]) {
    snprintf(name, WORK_KEY_BYTES + 1, "lapse:%010" PRIu32, key);
}

uint64_t work_cursor(uint64_t i) { return i * SCATTER & 0xffff; }

static void append(struct resp_buffer *buffer, const char *text) {
    resp_append(buffer, text, strlen(text));
}

static void append_bulk(struct resp_buffer *buffer, const char *bytes, size_t length) {
    char head[32];
    snprintf(head, sizeof(head), "$%zu\r\n", length);
    append(buffer, head);
    resp_append(buffer, bytes, length);
    append(buffer, "\r\n");
}

static void append_number(struct resp_buffer *buffer, int64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRId64, number);
    append_bulk(buffer, digits, (size_t)length);
}

static void append_fill(struct resp_buffer *buffer, size_t length) {
    static const char fill[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char head[32];
    snprintf(head, sizeof(head), "$%zu\r\n", length);
    append(buffer, head);
    for (size_t piece; length > 0; length -= piece) {
        piece = length < sizeof(fill) - 1 ? length : sizeof(fill) - 1;
        resp_append(buffer, fill, piece);
    }
    append(buffer, "\r\n");
}

static void append_key(struct resp_buffer *buffer, uint32_t key) {
    char name[WORK_KEY_BYTES + 1];
    work_key_name(key, name);
    append_bulk(buffer, name, WORK_KEY_BYTES);
}

static void append_command(struct resp_buffer *buffer, const struct work *work, uint64_t i) {
    static const char *const heads[] = {
        [WORK_PING] = "*1\r\n$4\r\nPING\r\n",  [WORK_INFO] = "*1\r\n$4\r\nINFO\r\n",
        [WORK_GET] = "*2\r\n$3\r\nGET\r\n",    [WORK_SET] = "*3\r\n$3\r\nSET\r\n",
        [WORK_SET_PX] = "*5\r\n$3\r\nSET\r\n", [WORK_SET_PXAT] = "*5\r\n$3\r\nSET\r\n",
        [WORK_DEL] = "*2\r\n$3\r\nDEL\r\n",    [WORK_SCAN] = "*4\r\n$4\r\nSCAN\r\n"};
    append(buffer, heads[work->kind]);
    if (work->kind >= WORK_GET && work->kind != WORK_SCAN) append_key(buffer, work_key(work, i));
    if (work->kind >= WORK_SET && work->kind <= WORK_SET_PXAT)
        append_fill(buffer, work->value_bytes);
    if (work->kind == WORK_SET_PX) append(buffer, "$2\r\nPX\r\n");
    if (work->kind == WORK_SET_PXAT) append(buffer, "$4\r\nPXAT\r\n");
    if (work->kind == WORK_SET_PX) append_number(buffer, WORK_FAR_MS);
    if (work->kind == WORK_SET_PXAT) append_number(buffer, work->deadline_ms);
    if (work->kind != WORK_SCAN) return;
    append_number(buffer, (int64_t)work_cursor(i));
    append(buffer, "$5\r\nCOUNT\r\n$3\r\n100\r\n");
}

bool work_run(struct live *live, const struct work *work, uint64_t from,
              bool (*interrupted)(void)) {
    struct resp_buffer buffer = {0};
    bool fine = true;
    for (uint32_t done = 0; fine && done < work->commands;) {
        uint32_t left = work->commands - done;
        uint32_t count = left < work->pipeline ? left : work->pipeline;
        buffer.length = 0;
        for (uint32_t i = 0; i < count; i++) append_command(&buffer, work, from + done + i);
        fine = live_exchange(live, buffer.bytes, buffer.length, count);
        if (interrupted()) fine = live_fail(live, "interrupted");
        done += count;
    }
    resp_buffer_release(&buffer);
    return fine;
}

/* UNLINK of many keys a command. */
static bool clear_once(struct live *live, uint32_t keys) {
    struct resp_buffer buffer = {0};
    bool fine = true;
    for (uint32_t at = 0; fine && at < keys; at += CLEAR_BATCH) {
        uint32_t count = keys - at < CLEAR_BATCH ? keys - at : CLEAR_BATCH;
        char head[48];
        snprintf(head, sizeof(head), "*%" PRIu32 "\r\n$6\r\nUNLINK\r\n", count + 1);
        buffer.length = 0;
        append(&buffer, head);
        for (uint32_t i = 0; i < count; i++) append_key(&buffer, at + i);
        fine = live_exchange(live, buffer.bytes, buffer.length, 1);
    }
    resp_buffer_release(&buffer);
    return fine;
}

/* The database was empty before: when it is not now, another try, as a connection that is closed
 * may have left work. */
bool work_clear(struct live *live, uint32_t keys) {
    for (int i = 0; i < LIVE_CLEAR_TRIES; i++) {
        if (!clear_once(live, keys)) return false;
        live_pause_ns(LIVE_CLEAR_PAUSE_NS);
        if (live_dbsize(live) == 0) return true;
    }
    return live_fail(live, "database %u is not empty", (unsigned)live->db);
}
