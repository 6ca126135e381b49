#define _GNU_SOURCE
#include "oracle_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_TRIES   5 /* another process may take the port between our look and the bind */
#define LOG_SHOWN     4000
#define ARGUMENTS_MAX 64

const uint8_t oracle_hash_seed[16] = {0xf3, 0x75, 0x18, 0x0a, 0xba, 0x92, 0x88, 0x84,
                                      0x01, 0xf1, 0x91, 0x9b, 0xe4, 0xa8, 0x71, 0x5a};

/* Servers that live, to be killed when the program exits by whatever path runs its exit handlers;
 * where none runs, the kernel kills them (PR_SET_PDEATHSIG). */
#define LIVING_MAX 8
static pid_t living[LIVING_MAX];

static void kill_living(void) {
    for (int i = 0; i < LIVING_MAX; i++)
        if (living[i] > 0) kill(living[i], SIGKILL);
}

static void living_set(pid_t from, pid_t to) {
    static bool registered;
    if (!registered) atexit(kill_living);
    registered = true;
    for (int i = 0; i < LIVING_MAX; i++) {
        if (living[i] != from) continue;
        living[i] = to;
        return;
    }
}

/* --- failure --- */

static void show_log(const struct oracle *o) {
    char text[LOG_SHOWN];
    off_t end = lseek(o->log_fd, 0, SEEK_END);
    ssize_t length = pread(o->log_fd, text, sizeof text, end > LOG_SHOWN ? end - LOG_SHOWN : 0);
    if (length > 0) fprintf(stderr, "--- the server's log ---\n%.*s", (int)length, text);
}

_Noreturn void oracle_give_up(const struct oracle *o, const char *what) {
    fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
    show_log(o);
    exit(EXIT_FAILURE);
}

/* --- start --- */

const char *oracle_server_path(void) {
    static char path[4096];
    const char *given = getenv("LAPSE_ORACLE_SERVER");
    if (given) return access(given, X_OK) == 0 ? given : NULL;
    const char *from = getenv("PATH");
    while (from && *from) {
        int length = (int)strcspn(from, ":");
        snprintf(path, sizeof path, "%.*s/redis-server", length, from);
        if (access(path, X_OK) == 0) return path;
        from += length + (from[length] == ':');
    }
    return NULL;
}

static int free_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) != 0) abort();
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0) abort();
    close(fd);
    return ntohs(at.sin_port);
}

/* A file that has no name any more. `inherited`: the server opens it again by its number. */
static int nameless_file(const char *name, size_t size) {
    int fd = memfd_create(name, 0);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) abort();
    return fd;
}

static void set_number(const char *name, const char *format, int number) {
    char text[64];
    snprintf(text, sizeof text, format, number);
    setenv(name, text, 1);
}

struct birth {
    int page_fd, seed_fd, bell_fd;
    char directory[64];
    const char *const *arguments;
};

/* argv for the server: what every one is started with, then the caller's directives. */
static void fill_arguments(const char **argv, const char *port, const struct birth *birth) {
    const char *const fixed[] = {oracle_server_path(),
                                 "--port",
                                 port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--save",
                                 "",
                                 "--dir",
                                 birth->directory,
                                 "--enable-debug-command",
                                 "yes"};
    size_t argc = sizeof fixed / sizeof *fixed;
    memcpy(argv, fixed, sizeof fixed);
    for (size_t i = 0; birth->arguments[i] && i < ARGUMENTS_MAX; i++)
        argv[argc++] = birth->arguments[i];
    argv[argc] = NULL;
}

/* The child: from here to exec. It must not outlive its parent. */
static _Noreturn void become_server(const struct oracle *o, const struct birth *birth,
                                    pid_t parent) {
    char port[16];
    const char *argv[ARGUMENTS_MAX + 16];
    snprintf(port, sizeof port, "%d", o->port);
    fill_arguments(argv, port, birth);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    set_number(VCLOCK_PAGE_ENV, "/proc/self/fd/%d", birth->page_fd);
    set_number(VCLOCK_SEED_ENV, "/proc/self/fd/%d", birth->seed_fd);
    set_number(VCLOCK_BELL_ENV, "%d", birth->bell_fd);
    setenv("LD_PRELOAD", VCLOCK_LIBRARY, 1);
    dup2(o->log_fd, STDOUT_FILENO);
    dup2(o->log_fd, STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    _exit(EXIT_FAILURE);
}

void oracle_sleep_us(long us) {
    struct timespec t = {.tv_nsec = us * 1000};
    nanosleep(&t, NULL);
}

void oracle_pause(void) { oracle_sleep_us(100); }

static bool is_dead(const struct oracle *o) { return waitpid(o->pid, NULL, WNOHANG) == o->pid; }

static bool is_idle(const struct oracle *o) {
    return atomic_load(&o->page->idle) &&
           atomic_load(&o->page->now_us) == atomic_load(&o->page->granted_us);
}

/* False if the server died: its port was taken. */
static bool wait_for_birth(const struct oracle *o) {
    for (long waited_us = 0; waited_us < ORACLE_PATIENCE_S * 1000000L; waited_us += 200) {
        if (is_idle(o)) return true;
        if (is_dead(o)) return false;
        oracle_sleep_us(200);
    }
    oracle_give_up(o, "the server does not start");
}

static void spawn(struct oracle *o, struct birth *birth) {
    int ends[2];
    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) abort();
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    birth->bell_fd = ends[0];
    o->bell = ends[1];
    o->port = free_port();
    pid_t parent = getpid();
    o->pid = fork();
    if (o->pid == 0) become_server(o, birth, parent);
    living_set(0, o->pid);
    close(ends[0]);
}

static void forget_server(struct oracle *o) {
    living_set(o->pid, 0);
    close(o->bell);
}

static bool try_start(struct oracle *o, struct birth *birth) {
    spawn(o, birth);
    if (wait_for_birth(o)) return true;
    forget_server(o);
    return false;
}

static void prepare(struct oracle *o, struct birth *birth, int64_t tick_us) {
    birth->page_fd = nameless_file("page", sizeof *o->page);
    birth->seed_fd = nameless_file("seed", ORACLE_SEED_BYTES);
    o->log_fd = nameless_file("log", 0);
    o->page = mmap(NULL, sizeof *o->page, PROT_READ | PROT_WRITE, MAP_SHARED, birth->page_fd, 0);
    if (o->page == MAP_FAILED) abort();
    atomic_store(&o->page->tick_us, tick_us);
    snprintf(birth->directory, sizeof birth->directory, "/tmp/lapse-oracle-XXXXXX");
    if (!mkdtemp(birth->directory)) abort();
}

struct oracle *oracle_start(int64_t tick_us, const char *const *arguments) {
    struct oracle *o = calloc(1, sizeof *o);
    struct birth birth = {.arguments = arguments};
    if (!o) abort();
    prepare(o, &birth, tick_us);
    bool started = false;
    for (int tries = 0; !started && tries < START_TRIES; tries++) started = try_start(o, &birth);
    rmdir(birth.directory);
    close(birth.page_fd);
    close(birth.seed_fd);
    if (!started) oracle_give_up(o, "the server does not start");
    return o;
}

void oracle_stop(struct oracle *o) {
    kill(o->pid, SIGKILL);
    waitpid(o->pid, NULL, 0);
    forget_server(o);
    munmap(o->page, sizeof *o->page);
    close(o->log_fd);
    free(o);
}

/* --- the clock --- */

int64_t oracle_now_us(const struct oracle *o) { return atomic_load(&o->page->now_us); }
int64_t oracle_turns(const struct oracle *o) { return atomic_load(&o->page->turns); }
int64_t oracle_reads(const struct oracle *o) { return atomic_load(&o->page->reads_total); }

void oracle_wait_for_idle(struct oracle *o) {
    struct timespec second = {.tv_sec = 1};
    int waited_s = 0;
    while (!is_idle(o)) {
        long rc = syscall(SYS_futex, &o->page->idle, FUTEX_WAIT, 0, &second, NULL, 0);
        if (rc != 0 && errno == ETIMEDOUT && (is_dead(o) || ++waited_s == ORACLE_PATIENCE_S))
            oracle_give_up(o, "the server hangs or died");
    }
}

void oracle_ring(struct oracle *o) {
    atomic_store(&o->page->idle, 0);
    if (write(o->bell, "", 1) != 1) oracle_give_up(o, "the bell does not ring");
}

void oracle_grant(struct oracle *o, int64_t us) {
    atomic_fetch_add(&o->page->granted_us, us);
    oracle_ring(o);
    oracle_wait_for_idle(o);
}

/* --- what a peer of its own making needs --- */

int oracle_port(const struct oracle *o) { return o->port; }

/* Loopback delivers within the call that sends, so what has been sent is there when the bell rings.
 */
void oracle_settle(struct oracle *o) {
    for (int64_t turns = -1; turns != oracle_turns(o);) {
        turns = oracle_turns(o);
        oracle_ring(o);
        oracle_wait_for_idle(o);
    }
}

/* Its state in /proc/PID/stat, after the name in parentheses. */
static bool is_at_work(long pid) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *end = length ? strrchr(text, ')') : NULL;
    return end && end[2] != 'Z';
}

bool oracle_has_child(const struct oracle *o) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)o->pid, (long)o->pid);
    FILE *file = fopen(path, "r");
    if (!file) abort();
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return length > 0 && is_at_work(strtol(text, NULL, 10));
}
