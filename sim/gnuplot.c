#include "gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paths.h"
#include "talk.h"

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

static char *assignments(const struct gnuplot_order *o, const char *output) {
    size_t size = 2 * (strlen(o->plots) + strlen(o->folder) + strlen(o->name) +
                       strlen(o->terminal) + strlen(output)) +
                  128;
    char *text = malloc(size), *at = text;
    ASSERT(text);
    at = assignment_append(at, "plots", o->plots);
    at = assignment_append(at, "folder", o->folder);
    at = assignment_append(at, "name", o->name);
    at = assignment_append(at, "terminal", o->terminal);
    assignment_append(at, "output", output);
    return text;
}

/* -d: the defaults, not the user's start-up file. C.UTF-8: figures and letters alike everywhere. */
static bool run_child(const char *variables, const char *script) {
    pid_t child = fork();
    if (child == 0) {
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("GNUTERM");
        execlp("gnuplot", "gnuplot", "-d", "-e", variables, script, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (child < 0)
        say("gnuplot: %s", strerror(errno));
    else
        say("gnuplot could not draw with %s", script);
    return false;
}

bool gnuplot_draw(const struct gnuplot_order *order) {
    size_t size = strlen(order->output) + sizeof(".partial");
    char *partial = malloc(size);
    ASSERT(partial);
    snprintf(partial, size, "%s.partial", order->output);
    char *variables = assignments(order, partial),
         *script = paths_join(order->plots, order->script);
    bool done = run_child(variables, script);
    if (done && rename(partial, order->output) != 0) {
        say("%s: %s", order->output, strerror(errno));
        done = false;
    }
    if (!done) remove(partial);
    free(variables), free(script), free(partial);
    return done;
}
