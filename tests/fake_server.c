#include "fake_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define LIFETIME_S 60 /* it ends by itself when its test does not */

/* A command begins with '*'; INFO with "*1\r\n$4\r\nINFO". */
static void serve(int client, const char *reply, int report_fd) {
    char bytes[4096];
    for (ssize_t got; (got = read(client, bytes, sizeof(bytes) - 1)) > 0;) {
        bytes[got] = '\0';
        if (!strstr(bytes, "INFO") && write(report_fd, "x", 1) != 1) _exit(1);
        size_t length = reply ? strlen(reply) : 0;
        if (length && write(client, reply, length) != (ssize_t)length) break;
    }
    close(client);
}

void fake_server_start(struct fake_server *server, const char *reply) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), report[2];
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(listen(listener, 4), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ck_assert_int_eq(pipe(report), 0);
    server->port = ntohs(address.sin_port);
    server->pid = fork();
    ck_assert_int_ge(server->pid, 0);
    if (server->pid == 0) {
        alarm(LIFETIME_S);
        for (;;) serve(accept(listener, NULL, NULL), reply, report[1]);
    }
    close(listener), close(report[1]);
    server->report_fd = report[0];
}

int fake_server_stop(struct fake_server *server) {
    char bytes[256];
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    ssize_t got = read(server->report_fd, bytes, sizeof(bytes));
    close(server->report_fd);
    return got > 0 ? (int)got : 0;
}
