#include "gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outfile.h"
#include "paths.h"
#include "talk.h"

#define TAIL_BYTES 16

bool gnuplot_is_there(void) { return paths_has_program("gnuplot"); }

/* Appends NAME='value'; with quotes doubled, as gnuplot reads them. */
static char *assignment_append(char *at, const char *name, const char *value) {
    at += sprintf(at, "%s='", name);
    for (; *value; value++) {
        if (*value == '\'') *at++ = '\'';
        *at++ = *value;
    }
    return at + sprintf(at, "'; ");
}

/* No output: gnuplot writes to its stdout, as it does not say when a disk is full. */
static char *assignments(const struct gnuplot_order *o) {
    size_t size =
        2 * (strlen(o->plots) + strlen(o->folder) + strlen(o->name) + strlen(o->terminal)) + 128;
    char *text = malloc(size), *at = text;
    ASSERT(text);
    at = assignment_append(at, "plots", o->plots);
    at = assignment_append(at, "folder", o->folder);
    at = assignment_append(at, "name", o->name);
    at = assignment_append(at, "terminal", o->terminal);
    assignment_append(at, "output", "");
    return text;
}

/* -d: the defaults, not the user's start-up file. C.UTF-8: figures and letters alike everywhere. */
static _Noreturn void child_become(const char *variables, const char *script, int out) {
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("GNUTERM");
    if (dup2(out, STDOUT_FILENO) >= 0)
        execlp("gnuplot", "gnuplot", "-d", "-e", variables, script, (char *)NULL);
    _exit(127);
}

/* Starts gnuplot; what it draws is read from *picture. 0: said. */
static pid_t child_start(const char *variables, const char *script, FILE **picture) {
    int ends[2];
    bool piped = pipe(ends) == 0;
    pid_t child = piped ? fork() : -1;
    if (child == 0) {
        close(ends[0]);
        child_become(variables, script, ends[1]);
    }
    if (child < 0) say("gnuplot: %s", strerror(errno));
    if (piped) close(ends[1]);
    *picture = child > 0 ? fdopen(ends[0], "rb") : NULL;
    if (piped && !*picture) close(ends[0]);
    return child > 0 ? child : 0;
}

static bool child_end(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The last bytes of a picture, which say whether it is whole. */
struct tail {
    char bytes[TAIL_BYTES];
};

static void tail_follow(struct tail *tail, const char *bytes, size_t length) {
    size_t take = length < TAIL_BYTES ? length : TAIL_BYTES;
    memmove(tail->bytes, tail->bytes + take, TAIL_BYTES - take);
    memcpy(tail->bytes + TAIL_BYTES - take, bytes + length - take, take);
}

static bool tail_is_an_end(const struct tail *tail, const char *terminal) {
    static const char svg[] = "</svg>", png[] = "IEND\xae\x42\x60\x82";
    bool is_png = strcmp(terminal, "png") == 0;
    size_t length = TAIL_BYTES, mark = is_png ? sizeof(png) - 1 : sizeof(svg) - 1;
    while (!is_png && length > mark && strchr("\r\n", tail->bytes[length - 1])) length--;
    return memcmp(tail->bytes + length - mark, is_png ? png : svg, mark) == 0;
}

static void picture_copy(FILE *picture, FILE *out, struct tail *tail) {
    char buffer[1 << 14];
    for (size_t got; !ferror(out) && (got = fread(buffer, 1, sizeof(buffer), picture)) > 0;) {
        tail_follow(tail, buffer, got);
        fwrite(buffer, 1, got, out);
    }
}

/* Draws into the open file. False: said, or the file's stream has the error. */
static bool draw_into(const struct gnuplot_order *order, struct outfile *file) {
    struct tail tail = {{0}};
    FILE *picture;
    char *variables = assignments(order), *script = paths_join(order->plots, order->script);
    pid_t child = child_start(variables, script, &picture);
    if (picture) {
        picture_copy(picture, file->stream, &tail);
        fclose(picture); /* a gnuplot that still writes ends here */
    }
    bool drawn = child && child_end(child) && tail_is_an_end(&tail, order->terminal);
    if (child && !drawn && !ferror(file->stream))
        say("%s: gnuplot could not draw with %s", order->output, script);
    free(variables), free(script);
    return drawn || ferror(file->stream);
}

bool gnuplot_draw(const struct gnuplot_order *order) {
    struct outfile file;
    bool opened = outfile_open(&file, order->output);
    if (opened && !draw_into(order, &file)) {
        outfile_abandon(&file, false);
        return false;
    }
    bool done = opened && outfile_commit(&file);
    if (!done) say("%s: %s", order->output, strerror(errno));
    return done;
}
