/* A replica of both sides: to the server a client that speaks PSYNC and keeps the bytes that come,
 * to the engine a slot whose stream the sink prints. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "support.h"
#include "tally.h"

#define SYNC_STEP_US  INT64_C(100000)
#define SYNC_STEPS    20
#define SYNC_ROUNDS   100
#define SNAPSHOT_WAIT 300000 /* tenths of a millisecond */
#define STREAM_WAIT   50000  /* the same, that bytes may be on their way */
#define EOF_MARK      40 /* "$EOF:" and so many characters begin the snapshot; they end it too */

/* The snapshot, of an empty data set, has arrived whole. */
static bool has_snapshot(const struct oracle_bytes *b) {
    const char *begin = b->length ? strstr(b->bytes, "$EOF:") : NULL;
    size_t left = begin ? b->length - (size_t)(begin - b->bytes) : 0;
    return left > 5 + 2 * EOF_MARK + 2 &&
           memcmp(b->bytes + b->length - EOF_MARK, begin + 5, EOF_MARK) == 0;
}

static bool is_online(struct lockstep *ls) {
    static const char *const info[] = {"INFO", "replication"};
    return strstr(oracle_ask(ls->oracle, ls->asker.link, 2, info), "state=online") != NULL;
}

/* The server's child writes and ends in its own real time, and a cron notices its end. Virtual time
 * goes on in rounds of one length, so that all but a slow machine see the same moment after. */
static void wait_for_snapshot(struct lockstep *ls) {
    struct oracle_bytes snapshot = {0};
    bool online = false;
    for (int i = 0; i < SNAPSHOT_WAIT && !has_snapshot(&snapshot); i++) {
        oracle_pause();
        oracle_drain(ls->oracle, ls->replica, &snapshot);
    }
    for (int round = 0; round < SYNC_ROUNDS && !online; round++) {
        for (int step = 0; step < SYNC_STEPS; step++) {
            for (int pause = 0; pause < 5; pause++) oracle_pause();
            lockstep_grant(ls, SYNC_STEP_US);
        }
        online = is_online(ls);
    }
    if (!online) lockstep_fail(ls, "the replica does not come online");
    oracle_bytes_release(&snapshot);
}

static void send_ack(struct lockstep *ls) {
    char text[96], digits[24];
    int64_t offset = engine_stats(ls->engine).master_repl_offset;
    int length = snprintf(digits, sizeof digits, "%lld", (long long)offset);
    length = snprintf(text, sizeof text, "*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$%d\r\n%s\r\n",
                      length, digits);
    oracle_tell(ls->oracle, ls->replica, text, (size_t)length);
    lockstep_turn_begin(ls, oracle_now_us(ls->oracle));
    engine_replica_acked(ls->engine, ls->replica_slot, offset);
    lockstep_turn_end(ls);
}

/* The server takes REPLCONF for a command and reads the clock at its beginning and end; to the
 * engine an ACK is news, not a command. */
void lockstep_ack(struct lockstep *ls) {
    send_ack(ls);
    ls->server_base.server[FIGURE_clock_reads] += 2;
    ls->server_base.server[FIGURE_commands]++;
}

/* The snapshot may come in one piece with the line that announces it, which is no RESP any more. */
void lockstep_attach_replica(struct lockstep *ls) {
    static const char psync[] = "PSYNC ? -1\r\n", *const capa[] = {"REPLCONF", "capa", "eof"};
    ls->replica = oracle_connect(ls->oracle);
    oracle_ask(ls->oracle, ls->replica, 3, capa);
    oracle_tell(ls->oracle, ls->replica, psync, strlen(psync));
    ls->replica_slot = engine_replica_attach(ls->engine);
    wait_for_snapshot(ls);
    send_ack(ls); /* lets the stream go */
    lockstep_rebase(ls);
}

/* A byte may still be under way when the server is idle already. */
static void receive_stream(struct lockstep *ls) {
    for (int i = 0; i < STREAM_WAIT; i++) {
        oracle_drain(ls->oracle, ls->replica, &ls->server_stream);
        if (ls->server_stream.length >= ls->engine_stream.length) return;
        oracle_pause();
    }
}

static void show_streams(const struct lockstep *ls) {
    const struct oracle_bytes *a = &ls->server_stream, *b = &ls->engine_stream;
    size_t at = 0, command = 0;
    for (; at < a->length && at < b->length && a->bytes[at] == b->bytes[at]; at++)
        if (a->bytes[at] == '*') command = at;
    fprintf(stderr, "server's stream, from byte %zu on:\n%.300s\nengine's:\n%.300s\n", command,
            a->length ? a->bytes + command : "", b->length ? b->bytes + command : "");
}

void lockstep_compare_stream(struct lockstep *ls) {
    receive_stream(ls);
    bool equal =
        ls->server_stream.length == ls->engine_stream.length &&
        (ls->engine_stream.length == 0 ||
         memcmp(ls->server_stream.bytes, ls->engine_stream.bytes, ls->engine_stream.length) == 0);
    tally_add(TALLY_BYTES, (int64_t)ls->server_stream.length);
    if (!equal) show_streams(ls);
    if (!equal) lockstep_fail(ls, "streams differ");
    ls->server_stream.length = ls->engine_stream.length = 0;
}
