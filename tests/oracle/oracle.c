#define _GNU_SOURCE
#include "oracle.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <linux/futex.h>
#include <poll.h>
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

#include "vclock.h"

#define START_TRIES   5  /* another process may take the port between our look and the bind */
#define PATIENCE_S    60 /* real seconds without an answer: the server hangs */
#define LOG_SHOWN     4000
#define ARGUMENTS_MAX 64

const uint8_t oracle_hash_seed[16] = {0xf3, 0x75, 0x18, 0x0a, 0xba, 0x92, 0x88, 0x84,
                                      0x01, 0xf1, 0x91, 0x9b, 0xe4, 0xa8, 0x71, 0x5a};

struct oracle_link {
    redisContext *context;
    struct oracle_bytes answer; /* of the last oracle_ask, decoded */
};

struct oracle {
    pid_t pid;
    int port;
    int bell;   /* the pipe's write end */
    int log_fd; /* an unlinked file: what the server prints */
    struct vclock_page *page;
};

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

static _Noreturn void give_up(const struct oracle *o, const char *what) {
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

static void sleep_us(long us) {
    struct timespec t = {.tv_nsec = us * 1000};
    nanosleep(&t, NULL);
}

void oracle_pause(void) { sleep_us(100); }

static bool is_dead(const struct oracle *o) { return waitpid(o->pid, NULL, WNOHANG) == o->pid; }

static bool is_idle(const struct oracle *o) {
    return atomic_load(&o->page->idle) &&
           atomic_load(&o->page->now_us) == atomic_load(&o->page->granted_us);
}

/* False if the server died: its port was taken. */
static bool wait_for_birth(const struct oracle *o) {
    for (long waited_us = 0; waited_us < PATIENCE_S * 1000000L; waited_us += 200) {
        if (is_idle(o)) return true;
        if (is_dead(o)) return false;
        sleep_us(200);
    }
    give_up(o, "the server does not start");
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
    if (!started) give_up(o, "the server does not start");
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

static void wait_for_idle(struct oracle *o) {
    struct timespec second = {.tv_sec = 1};
    int waited_s = 0;
    while (!is_idle(o)) {
        long rc = syscall(SYS_futex, &o->page->idle, FUTEX_WAIT, 0, &second, NULL, 0);
        if (rc != 0 && errno == ETIMEDOUT && (is_dead(o) || ++waited_s == PATIENCE_S))
            give_up(o, "the server hangs or died");
    }
}

/* Idle is taken back first: the server says it anew once it has seen what there is to see. */
static void ring(struct oracle *o) {
    atomic_store(&o->page->idle, 0);
    if (write(o->bell, "", 1) != 1) give_up(o, "the bell does not ring");
}

void oracle_grant(struct oracle *o, int64_t us) {
    atomic_fetch_add(&o->page->granted_us, us);
    ring(o);
    wait_for_idle(o);
}

/* --- connections --- */

static void wait_for_turn_after(struct oracle *o, int64_t turns) {
    for (long waited_us = 0; oracle_turns(o) == turns; waited_us += 20) {
        if (waited_us > PATIENCE_S * 1000000L) give_up(o, "the server does not turn");
        sleep_us(20);
    }
    wait_for_idle(o);
}

struct oracle_link *oracle_connect(struct oracle *o) {
    struct oracle_link *link = calloc(1, sizeof *link);
    int64_t turns = oracle_turns(o);
    if (!link) abort();
    link->context = redisConnect("127.0.0.1", o->port);
    if (!link->context || link->context->err) give_up(o, "no connection");
    wait_for_turn_after(o, turns);
    return link;
}

void oracle_disconnect(struct oracle *o, struct oracle_link *link) {
    int64_t turns = oracle_turns(o);
    redisFree(link->context);
    oracle_bytes_release(&link->answer);
    free(link);
    wait_for_turn_after(o, turns);
}

static void send_all(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(link->context->fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0) give_up(o, "sending");
        bytes += sent;
        length -= (size_t)sent;
    }
}

static size_t receive(struct oracle *o, struct oracle_link *link, char *into, size_t size) {
    struct pollfd at = {.fd = link->context->fd, .events = POLLIN};
    if (poll(&at, 1, PATIENCE_S * 1000) != 1) give_up(o, "no answer");
    ssize_t got = recv(at.fd, into, size, 0);
    if (got <= 0) give_up(o, "the server closed the connection");
    return (size_t)got;
}

/* How many whole replies the reader can give now. */
static uint32_t count_replies(struct oracle *o, redisReader *reader) {
    uint32_t count = 0;
    void *reply;
    while (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
        freeReplyObject(reply);
        count++;
    }
    if (reader->err) give_up(o, reader->errstr);
    return count;
}

void oracle_call(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length,
                 uint32_t replies, struct oracle_bytes *out) {
    char chunk[65536];
    atomic_store(&o->page->hold, 1);
    send_all(o, link, bytes, length);
    atomic_store(&o->page->hold, 0);
    ring(o);
    for (uint32_t seen = 0; seen < replies;) {
        size_t got = receive(o, link, chunk, sizeof chunk);
        redisReaderFeed(link->context->reader, chunk, got);
        seen += count_replies(o, link->context->reader);
        if (out) oracle_bytes_append(out, chunk, got);
    }
    wait_for_idle(o);
}

void oracle_tell(struct oracle *o, struct oracle_link *link, const char *bytes, size_t length) {
    int64_t turns = oracle_turns(o);
    send_all(o, link, bytes, length);
    wait_for_turn_after(o, turns);
}

void oracle_drain(struct oracle *o, struct oracle_link *link, struct oracle_bytes *out) {
    struct pollfd at = {.fd = link->context->fd, .events = POLLIN};
    char chunk[65536];
    while (poll(&at, 1, 0) == 1) {
        size_t got = receive(o, link, chunk, sizeof chunk);
        oracle_bytes_append(out, chunk, got);
    }
}

/* --- asking --- */

/* A line without its type, or a bulk string's text. */
static void decode(const struct oracle_bytes *raw, struct oracle_bytes *text) {
    const char *line_end = strstr(raw->bytes, "\r\n");
    text->length = 0;
    if (raw->bytes[0] == '$' && raw->bytes[1] != '-')
        oracle_bytes_append(text, line_end + 2, strtoul(raw->bytes + 1, NULL, 10));
    else
        oracle_bytes_append(text, raw->bytes + 1, (size_t)(line_end - raw->bytes - 1));
}

const char *oracle_ask(struct oracle *o, struct oracle_link *link, uint32_t argc,
                       const char *const *argv) {
    struct oracle_bytes raw = {0};
    char *bytes;
    long long length = redisFormatCommandArgv(&bytes, (int)argc, (const char **)argv, NULL);
    if (length < 0) abort();
    oracle_call(o, link, bytes, (size_t)length, 1, &raw);
    redisFreeCommand(bytes);
    decode(&raw, &link->answer);
    oracle_bytes_release(&raw);
    return link->answer.bytes;
}
