#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons((uint16_t)port)};
}

static void make_ready(int fd) {
    int yes = 1;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void pair_proxy_mend(struct pair_proxy *p) {
    struct sockaddr_in at = loopback(p->port);
    socklen_t size = sizeof at;
    int yes = 1;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(p->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(p->listener, (struct sockaddr *)&at, size) != 0 || listen(p->listener, 4) != 0)
        abort();
    getsockname(p->listener, (struct sockaddr *)&at, &size);
    p->port = ntohs(at.sin_port);
    p->is_frozen = false;
}

void pair_proxy_open(struct pair_proxy *p, int master_port) {
    *p = (struct pair_proxy){.to = {-1, -1}, .master_port = master_port};
    pair_proxy_mend(p);
}

static void hang_up(struct pair_proxy *p) {
    for (int i = 0; i < 2; i++) {
        if (p->to[i] >= 0) close(p->to[i]);
        p->to[i] = -1;
    }
}

void pair_proxy_freeze(struct pair_proxy *p) {
    if (p->listener >= 0) close(p->listener);
    p->listener = -1;
    p->is_frozen = true;
}

void pair_proxy_cut(struct pair_proxy *p) {
    pair_proxy_freeze(p); /* first: a replica calls again as soon as it is hung up on */
    hang_up(p);
}

static bool answer(struct pair_proxy *p) {
    struct sockaddr_in at = loopback(p->master_port);
    int caller = p->listener < 0 || p->to[0] >= 0 ? -1 : accept(p->listener, NULL, NULL);
    if (caller < 0) return false;
    p->to[0] = caller;
    p->to[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(p->to[1], (struct sockaddr *)&at, sizeof at) != 0) abort();
    make_ready(p->to[0]);
    make_ready(p->to[1]);
    return true;
}

/* A replica that came back sends its ACKs by Nagle's algorithm, each when the one before is known
 * to have arrived, which the kernel would tell it only 40 real ms later. What cannot be written at
 * once waits in the reader's own buffer: it is only peeked at. */
static bool forward(struct pair_proxy *p, int from) {
    static char chunk[1 << 16];
    int yes = 1;
    if (p->to[from] < 0) return false;
    setsockopt(p->to[from], IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
    ssize_t got = recv(p->to[from], chunk, sizeof chunk, MSG_PEEK);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        hang_up(p);
        return true;
    }
    ssize_t sent = got < 0 ? -1 : send(p->to[!from], chunk, (size_t)got, MSG_NOSIGNAL);
    if (sent > 0 && recv(p->to[from], chunk, (size_t)sent, 0) != sent) abort();
    return sent > 0;
}

bool pair_proxy_pump(struct pair_proxy *p, bool back) {
    if (p->is_frozen) return false;
    bool moved = answer(p);
    while ((back && forward(p, 0)) || forward(p, 1)) moved = true;
    return moved;
}
