/* vclock: the page that the stepped clock and its controller share. The server's side is a preload
 * library (vclock.c), the controller's is oracle.c. The controller raises `granted_us`, or writes
 * to a socket, and rings the bell (one byte down the pipe); the server's event loop then runs,
 * without sleeping, until its clock stands at `granted_us` and nothing is to be read, and says
 * `idle`. A controller that waits for idle after whatever it does sees the same run every time. */
#ifndef LAPSE_TESTS_VCLOCK_H
#define LAPSE_TESTS_VCLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#define VCLOCK_PAGE_ENV "LAPSE_VCLOCK_PAGE" /* path of the file that is mapped */
#define VCLOCK_BELL_ENV "LAPSE_VCLOCK_BELL" /* number of the pipe's read end */
#define VCLOCK_SEED_ENV "LAPSE_VCLOCK_SEED" /* path of what the server reads for /dev/urandom */

#define VCLOCK_EPOCH_US INT64_C(1700000000000000) /* wall clock at virtual time 0 */
#define VCLOCK_MONO_US  INT64_C(1000000000)       /* monotonic clock then */

struct vclock_page {
    _Atomic int64_t now_us;     /* where virtual time stands */
    _Atomic int64_t granted_us; /* how far it may go; the controller's */
    _Atomic int64_t tick_us;    /* wall time that one reading of the wall clock takes; likewise */
    _Atomic int64_t reads;      /* readings by the main thread in the turn under way */
    _Atomic int64_t reads_total;
    _Atomic int64_t turns; /* how often the poll has returned */
    _Atomic uint32_t idle; /* a futex: 1 when now_us == granted_us and there is nothing to read */
    _Atomic uint32_t
        hold; /* while 1 sockets are not looked at: what is sent arrives in one piece */
};

#endif
