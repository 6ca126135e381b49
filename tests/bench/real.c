#define _DEFAULT_SOURCE
#include "real.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"
#include "vclock.h"

#define BATCH_BYTES 65536 /* what two sockets' buffers hold for sure */
#define STEP_US     100000
#define TICK_US     10 /* of the clock per reading: a slow cycle of 25 ms looks at 50,000 keys */
#define FIRST_PORT  7860
#define PORTS       20

static bool no_server(void) {
    if (oracle_server_path()) return false;
    fprintf(stderr, "no redis-server here: its side is left out\n");
    return true;
}

/* --- on the stepped clock --- */

struct batch {
    struct oracle *oracle;
    struct oracle_link *link;
    struct oracle_bytes bytes;
    uint32_t count;
};

static void batch_send(struct batch *b) {
    if (b->count == 0) return;
    oracle_call(b->oracle, b->link, b->bytes.bytes, b->bytes.length, b->count, NULL);
    b->bytes.length = b->count = 0;
}

static void load_keys(struct oracle *o, const struct real_storm *storm) {
    struct batch b = {.oracle = o, .link = oracle_connect(o)};
    char value[4096], line[4500];
    if (storm->value_bytes >= sizeof value) abort();
    memset(value, 'x', storm->value_bytes);
    value[storm->value_bytes] = '\0';
    for (uint32_t i = 0; i < storm->keys; i++) {
        int length = snprintf(line, sizeof line,
                              "*5\r\n$3\r\nSET\r\n$14\r\nkey:%010u\r\n$%u\r\n%s\r\n$4\r\nPXAT\r\n"
                              "$13\r\n%lld\r\n",
                              i, storm->value_bytes, value,
                              (long long)(VCLOCK_EPOCH_US / 1000 + storm->deadline_ms));
        oracle_bytes_append(&b.bytes, line, (size_t)length);
        b.count++;
        if (b.bytes.length + sizeof line > BATCH_BYTES) batch_send(&b);
    }
    batch_send(&b);
    oracle_disconnect(o, b.link);
    oracle_bytes_release(&b.bytes);
}

static void take_children(struct measured *m) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    m->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    m->peak_mib = (double)usage.ru_maxrss / 1024;
}

bool real_storm_run(const void *context, struct measured *m) {
    const struct real_storm *storm = context;
    if (no_server()) return false;
    double began_s = measure_wall_s();
    struct oracle *o = oracle_start(TICK_US, (const char *const[]){"--hz", "10", NULL});
    load_keys(o, storm);
    struct oracle_link *link = oracle_connect(o);
    for (int64_t ms = 0; ms < storm->duration_ms; ms += STEP_US / 1000) {
        oracle_grant(o, STEP_US);
        oracle_ask(o, link, 1, (const char *const[]){"INFO"});
    }
    bool empty = strcmp(oracle_ask(o, link, 1, (const char *const[]){"DBSIZE"}), "0") == 0;
    if (!empty) fprintf(stderr, "the server still holds keys at the end\n");
    oracle_disconnect(o, link);
    oracle_stop(o);
    m->wall_s = measure_wall_s() - began_s;
    take_children(m);
    return empty;
}

/* --- on its own clock --- */

static _Noreturn void become_server(int port, pid_t parent) {
    char number[16];
    snprintf(number, sizeof number, "%d", port);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !freopen("/dev/null", "w", stdout)) _exit(EXIT_FAILURE);
    execl(oracle_server_path(), "redis-server", "--port", number, "--bind", "127.0.0.1", "--save",
          "", "--dir", "/tmp", (char *)NULL);
    _exit(EXIT_FAILURE);
}

static bool port_is_free(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    if (fd >= 0) close(fd);
    return bound;
}

struct server {
    pid_t pid;
    int port;
    redisContext *link;
};

static bool server_answers(struct server *s) {
    for (int tries = 0; tries < 500; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        s->link = redisConnect("127.0.0.1", s->port);
        if (s->link && !s->link->err) return true;
        if (s->link) redisFree(s->link);
        s->link = NULL;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) return false;
    }
    return false;
}

static void server_stop(struct server *s) {
    if (s->link) redisFree(s->link);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

static bool server_start(struct server *s) {
    *s = (struct server){.port = FIRST_PORT};
    while (!port_is_free(s->port))
        if (++s->port == FIRST_PORT + PORTS) return false;
    pid_t parent = getpid();
    s->pid = fork();
    if (s->pid == 0) become_server(s->port, parent);
    if (server_answers(s)) return true;
    server_stop(s);
    return false;
}

static void server_fill(struct server *s, uint32_t keys) {
    const uint32_t batch = 1000;
    for (uint32_t i = 0; i < keys; i++) {
        redisAppendCommand(s->link, "SET key:%012u xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx PX 3600000", i);
        if (i % batch != batch - 1 && i + 1 != keys) continue;
        for (uint32_t n = 0; n < i % batch + 1; n++) {
            redisReply *reply;
            if (redisGetReply(s->link, (void **)&reply) != REDIS_OK) abort();
            freeReplyObject(reply);
        }
    }
}

static double figure_of(const char *info, const char *name) {
    const char *at = strstr(info, name);
    return at ? atof(at + strlen(name)) : 0;
}

static double server_cpu_s(struct server *s) {
    redisReply *reply = redisCommand(s->link, "INFO cpu");
    if (!reply) abort();
    double cpu_s = figure_of(reply->str, "used_cpu_sys:") + figure_of(reply->str, "used_cpu_user:");
    freeReplyObject(reply);
    return cpu_s;
}

/* Its exit code alone counts; the rate is the whole run's, with start and end. */
static bool benchmark_run(const struct server *s, const struct real_load *load,
                          const char *command) {
    char line[512];
    snprintf(line, sizeof line,
             "redis-benchmark -p %d -P 64 -c 50 -r %u -n %u --csv %s >/dev/null 2>&1", s->port,
             load->keys, load->requests, command);
    return system(line) == 0;
}

bool real_load_run(const void *context, struct measured *m) {
    const struct real_load *load = context;
    struct server s;
    if (no_server() || !server_start(&s)) return false;
    server_fill(&s, load->keys);
    double cpu_s = server_cpu_s(&s), wall_s = measure_wall_s(), requests = 0;
    bool done = true;
    for (int i = 0; i < 2 && load->commands[i]; i++) {
        done = done && benchmark_run(&s, load, load->commands[i]);
        requests += load->requests;
    }
    m->wall_s = measure_wall_s() - wall_s;
    m->cpu_s = server_cpu_s(&s) - cpu_s;
    m->notes[NOTE_RATE] = requests / m->wall_s;
    m->notes[NOTE_CPU_RATE] = requests / m->cpu_s;
    server_stop(&s);
    if (!done) fprintf(stderr, "redis-benchmark is not here or failed\n");
    return done;
}
