/* vclock: runs an unmodified redis-server on a clock that a controller steps (vclock.h). Preloaded,
 * it answers the server's clock calls from the shared page and lets its poll return when virtual
 * time says so.
 *
 * Wall clock = epoch + now + tick * (readings by the main thread since the poll last returned). So
 * a loop that watches the clock sees time pass by its own looking, and a turn's time vanishes at
 * its end. The monotonic clock has no ticks: timers stay on an exact grid. The file named by the
 * seed variable stands in for /dev/urandom, which fixes the hash seed, and with it the order of
 * buckets. A forked child keeps the clock but moves nothing on the page. */
#undef _FILE_OFFSET_BITS /* it would make fopen and fopen64 one symbol; both are wanted here */
#define _GNU_SOURCE
#include "vclock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FIXED_PID 4242 /* the server mixes its pid into the seeds of its other generators */

static struct vclock_page *page;
static int bell = -1;
static int watch = -1; /* an epoll of the server's own epoll and the bell */
static int watched_epfd = -1;
static _Thread_local int counts_reads; /* the main thread of the server itself */

static int (*real_epoll_wait)(int, struct epoll_event *, int, int);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static FILE *(*real_fopen)(const char *, const char *);

/* dlsym gives an object pointer; ISO C has no cast from it to a function's. */
static void resolve(void *function, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void in_child(void) { counts_reads = 0; }

static struct vclock_page *map_page(const char *path) {
    int fd = open(path, O_RDWR);
    void *map = mmap(NULL, sizeof(struct vclock_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) abort();
    close(fd);
    return map;
}

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv(VCLOCK_PAGE_ENV), *number = getenv(VCLOCK_BELL_ENV);
    resolve(&real_epoll_wait, "epoll_wait");
    resolve(&real_clock_gettime, "clock_gettime");
    resolve(&real_fopen, "fopen");
    if (!path || !number) return;
    counts_reads = 1;
    bell = atoi(number);
    page = map_page(path);
    pthread_atfork(NULL, NULL, in_child);
}

/* --- clocks --- */

static int64_t wall_us(void) {
    int64_t reads = atomic_load(&page->reads);
    if (counts_reads) {
        atomic_store(&page->reads, ++reads);
        atomic_fetch_add(&page->reads_total, 1);
    }
    return VCLOCK_EPOCH_US + atomic_load(&page->now_us) + atomic_load(&page->tick_us) * reads;
}

static struct timespec timespec_of(int64_t us) {
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

/* Called before the constructor by whatever is set up earlier, hence the second resolve. */
int clock_gettime(clockid_t id, struct timespec *out) {
    if (!real_clock_gettime) resolve(&real_clock_gettime, "clock_gettime");
    if (!page) return real_clock_gettime(id, out);
    switch (id) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
        *out = timespec_of(VCLOCK_MONO_US + atomic_load(&page->now_us));
        return 0;
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *out = timespec_of(VCLOCK_EPOCH_US + atomic_load(&page->now_us));
        return 0;
    default:
        return real_clock_gettime(id, out);
    }
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (page)
        now = timespec_of(wall_us());
    else
        clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

/* --- entropy --- */

pid_t getpid(void) { return page ? FIXED_PID : (pid_t)syscall(SYS_getpid); }

FILE *fopen(const char *restrict path, const char *restrict mode) {
    const char *seed = getenv(VCLOCK_SEED_ENV);
    if (!real_fopen) resolve(&real_fopen, "fopen");
    return real_fopen(seed && strcmp(path, "/dev/urandom") == 0 ? seed : path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode) { return fopen(path, mode); }

/* --- the poll --- */

static void watch_add(int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) != 0) abort();
}

static void watch_open(int epfd) {
    if (watched_epfd == epfd) return;
    if (watch >= 0) close(watch);
    watch = epoll_create1(EPOLL_CLOEXEC);
    watched_epfd = epfd;
    watch_add(bell);
    watch_add(epfd);
}

static void bell_hear(void) {
    char bytes[64];
    if (read(bell, bytes, sizeof bytes) < 0) return; /* nothing rang: a socket woke us */
}

/* Says idle and sleeps until the bell rings or, unless sockets are held back, one has something. */
static void rest(void) {
    struct epoll_event event;
    struct pollfd bell_alone = {.fd = bell, .events = POLLIN};
    atomic_store(&page->idle, 1);
    syscall(SYS_futex, &page->idle, FUTEX_WAKE, 1, NULL, NULL, 0);
    real_epoll_wait(watch, &event, 1, -1);
    bell_hear();
    while (atomic_load(&page->hold)) {
        poll(&bell_alone, 1, -1);
        bell_hear();
    }
}

/* Moves virtual time towards `wake_us` as far as it may go. True once it is there. */
static int advance(int64_t wake_us) {
    int64_t granted_us = atomic_load(&page->granted_us);
    int64_t to_us = wake_us < granted_us ? wake_us : granted_us;
    if (to_us > atomic_load(&page->now_us)) {
        atomic_store(&page->idle, 0);
        atomic_store(&page->now_us, to_us);
    }
    return atomic_load(&page->now_us) >= wake_us;
}

static int wait_for_turn(int epfd, struct epoll_event *events, int max, int timeout_ms) {
    int64_t wake_us = timeout_ms < 0 ? INT64_MAX : atomic_load(&page->now_us) + timeout_ms * 1000LL;
    for (;;) {
        int ready = real_epoll_wait(epfd, events, max, 0);
        if (ready != 0 || advance(wake_us)) return ready;
        if (atomic_load(&page->now_us) == atomic_load(&page->granted_us)) rest();
    }
}

int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms) {
    if (!real_epoll_wait) resolve(&real_epoll_wait, "epoll_wait");
    if (!page || !counts_reads) return real_epoll_wait(epfd, events, max, timeout_ms);
    watch_open(epfd);
    int ready = wait_for_turn(epfd, events, max, timeout_ms);
    atomic_store(&page->idle, 0);
    atomic_store(&page->reads, 0);
    atomic_fetch_add(&page->turns, 1);
    return ready;
}
