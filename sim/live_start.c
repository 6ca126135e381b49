/* A server that is started, watched until it answers, and ended. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define START_LIMIT_NS (15 * NS_PER_S)
#define STOP_LIMIT_NS  (5 * NS_PER_S)
#define POLL_NS        (20 * NS_PER_MS)
#define ARGUMENTS_MAX  64

static bool port_is_free(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    bool is_free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_free;
}

static bool port_choose(struct live *live) {
    for (live->port = LIVE_PORT_FIRST; live->port <= LIVE_PORT_LAST; live->port++)
        if (port_is_free(live->port)) return true;
    return live_fail(live, "no free port from %d to %d", LIVE_PORT_FIRST, LIVE_PORT_LAST);
}

/* In the child: nothing of ours but the pipe's end is left to it. A program that cannot be run is
 * told through the pipe, which closes when it can. */
static _Noreturn void child_run(const struct live *live, const struct live_order *order,
                                int report_fd) {
    char port[16];
    const char *argv[ARGUMENTS_MAX] = {order->start, "--port",      port,     "--bind",
                                       "127.0.0.1",  "--save",      "",       "--appendonly",
                                       "no",         "--daemonize", "no",     "--dir",
                                       live->folder, "--loglevel",  "warning"};
    size_t count = 15;
    for (size_t i = 0; order->arguments && order->arguments[i] && count < ARGUMENTS_MAX - 1; i++)
        argv[count++] = order->arguments[i];
    snprintf(port, sizeof(port), "%d", live->port);
    setsid(); /* Ctrl-C is for us */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    execvp(order->start, (char *const *)(uintptr_t)argv);
    int error = errno;
    if (write(report_fd, &error, sizeof(error)) < 0) _exit(126);
    _exit(127);
}

static bool child_start(struct live *live, const struct live_order *order) {
    int report[2], error = 0;
    if (pipe(report) != 0) return live_fail(live, "%s", strerror(errno));
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    live->pid = fork();
    if (live->pid == 0) child_run(live, order, report[1]);
    close(report[1]);
    ssize_t got = live->pid > 0 ? read(report[0], &error, sizeof(error)) : 0;
    close(report[0]);
    if (live->pid < 0) {
        live->pid = 0;
        return live_fail(live, "%s: %s", order->start, strerror(errno));
    }
    return got <= 0 || live_fail(live, "%s: cannot be started: %s", order->start, strerror(error));
}

static bool has_ended(struct live *live) {
    int status;
    if (waitpid(live->pid, &status, WNOHANG) != live->pid) return false;
    live->pid = 0;
    return true;
}

static bool answers(const struct live *live) {
    redisContext *context = redisConnect(live->host, live->port);
    redisReply *reply = context && !context->err ? redisCommand(context, "PING") : NULL;
    bool fine = reply && reply->type == REDIS_REPLY_STATUS;
    if (reply) freeReplyObject(reply);
    if (context) redisFree(context);
    return fine;
}

bool live_start(struct live *live, const struct live_order *order) {
    snprintf(live->host, sizeof(live->host), "127.0.0.1");
    snprintf(live->folder, sizeof(live->folder), "/tmp/lapse-live-XXXXXX");
    if (!port_choose(live)) return false;
    if (!mkdtemp(live->folder)) return live_fail(live, "%s: %s", live->folder, strerror(errno));
    if (!child_start(live, order)) return false;
    for (ns_t end = live_now_ns() + START_LIMIT_NS; live_now_ns() < end; live_pause_ns(POLL_NS)) {
        if (has_ended(live)) return live_fail(live, "%s: ended at once", order->start);
        if (answers(live)) return true;
    }
    return live_fail(live, "%s: does not answer within 15 s", order->start);
}

/* A replica leaves files of its synchronisation. */
static void folder_remove(const char *folder) {
    char path[512];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (open) closedir(open);
    rmdir(folder);
}

/* Killed, as there is nothing to save; waited for, so that its port and memory are free. */
void live_stop(struct live *live) {
    if (live->pid > 0) {
        kill(live->pid, SIGKILL);
        for (ns_t end = live_now_ns() + STOP_LIMIT_NS; live_now_ns() < end && !has_ended(live);)
            live_pause_ns(POLL_NS);
    }
    live->pid = 0;
    if (live->folder[0]) folder_remove(live->folder);
    live->folder[0] = '\0';
}
