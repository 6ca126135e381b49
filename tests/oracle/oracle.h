/* oracle: a real, unmodified redis-server on a clock that the test steps (vclock.h). It listens on
 * a loopback port that nobody else has, works in a directory that is gone once it is up, and dies
 * with the process that started it, however that ends. Every call returns when the server is idle
 * again, so two runs are the same run. A server that does not answer, dies or closes a connection
 * ends the program with the server's log. Bytes are kept raw: replies are compared to the letter.
 */
#ifndef LAPSE_TESTS_ORACLE_H
#define LAPSE_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_SKIPPED 77 /* what meson takes for "skipped" */

#define ORACLE_SEED_BYTES 64
/* The server's hash seed when all bytes of its entropy are zero: the first 16 bytes of
 * HMAC-SHA256(key = 64 zero bytes, message = 8 zero bytes), as in
 *     python3 -c "import hmac; print(hmac.digest(bytes(64), bytes(8), 'sha256').hex()[:32])" */
extern const uint8_t oracle_hash_seed[16];

struct oracle;
struct oracle_link; /* one client connection */

/* A growing byte string; zero-initialise, free with oracle_bytes_release. */
struct oracle_bytes {
    char *bytes;
    size_t length, capacity;
};
void oracle_bytes_append(struct oracle_bytes *, const void *bytes, size_t length);
void oracle_bytes_release(struct oracle_bytes *);

/* The server's path: LAPSE_ORACLE_SERVER, or redis-server found on PATH. NULL: there is none. */
const char *oracle_server_path(void);

/* `arguments` ends with NULL: further directives, as on the command line. */
struct oracle *oracle_start(int64_t tick_us, const char *const *arguments);
void oracle_stop(struct oracle *);

/* The clock. */
int64_t oracle_now_us(const struct oracle *); /* virtual: 0 at the start */
int64_t oracle_turns(const struct oracle *);
int64_t oracle_reads(const struct oracle *); /* wall-clock readings so far */
void oracle_grant(struct oracle *, int64_t us);

struct oracle_link *oracle_connect(struct oracle *);
void oracle_disconnect(struct oracle *, struct oracle_link *);

/* Sends these bytes so that they arrive in one piece, reads `replies` whole replies and appends
 * them raw to `out` (NULL: dropped). */
void oracle_call(struct oracle *, struct oracle_link *, const char *bytes, size_t length,
                 uint32_t replies, struct oracle_bytes *out);

/* Sends what has no reply: returns after the turn in which it was read. */
void oracle_tell(struct oracle *, struct oracle_link *, const char *bytes, size_t length);

/* Reads what has come without being asked for, and appends it: a replica's link. */
void oracle_drain(struct oracle *, struct oracle_link *, struct oracle_bytes *out);

/* One command of words; the reply's text (a bulk string's or a line's) stays valid until the next
 * call. */
const char *oracle_ask(struct oracle *, struct oracle_link *, uint32_t argc,
                       const char *const *argv);

/* Returns when the server has read all that was sent to it by whatever way, and rests. */
void oracle_settle(struct oracle *);
int oracle_port(const struct oracle *);
/* Is a child of the server's, that writes a snapshot, still at work? One that has ended and waits
 * to be reaped is not. */
bool oracle_has_child(const struct oracle *);

/* Waits in real time, for what threads or children of the server do; a tenth of a millisecond. */
void oracle_pause(void);

#endif
