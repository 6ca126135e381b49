#include "workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The jobs in progress. */
struct pool {
    worker_fn *work;
    void *context;
    struct worker_result *results;
    pid_t *children; /* by job; 0: not running */
    size_t running;
    bool stopped;
};

static bool job_start(struct pool *pool, size_t job) {
    struct worker_result *result = &pool->results[job];
    result->output = tmpfile();
    fflush(NULL); /* else a child would write the parent's buffers again */
    pid_t child = result->output ? fork() : -1;
    if (child == 0) {
        enum exit_code code = pool->work(pool->context, job, result->output);
        fflush(NULL);
        _exit((int)code);
    }
    if (child < 0) {
        say("cannot start a process: %s", strerror(errno));
        return false;
    }
    pool->children[job] = child;
    pool->running++;
    return true;
}

static enum exit_code code_of(int status) {
    if (WIFEXITED(status)) return (enum exit_code)WEXITSTATUS(status);
    return WIFSIGNALED(status) && WTERMSIG(status) == 2 ? EXIT_INTERRUPTED : EXIT_BROKEN;
}

/* Waits for any one child. */
static void job_wait(struct pool *pool, size_t count) {
    int status;
    pid_t child = waitpid(-1, &status, 0);
    for (size_t job = 0; child > 0 && job < count; job++) {
        if (pool->children[job] != child) continue;
        pool->children[job] = 0;
        pool->running--;
        pool->results[job].code = code_of(status);
        if (pool->results[job].code == EXIT_INTERRUPTED) pool->stopped = true;
        rewind(pool->results[job].output);
    }
    if (child < 0 && errno != EINTR) pool->running = 0; /* nobody left to wait for */
}

bool workers_run(size_t count, size_t at_once, worker_fn *work, void *context,
                 bool (*interrupted)(void), struct worker_result *results) {
    struct pool pool = {.work = work, .context = context, .results = results};
    pool.children = calloc(count + 1, sizeof(*pool.children));
    ASSERT(pool.children);
    bool started = true;
    for (size_t job = 0; job < count; job++)
        results[job] = (struct worker_result){.code = EXIT_INTERRUPTED};
    for (size_t next = 0; pool.running || (next < count && started && !pool.stopped);) {
        pool.stopped = pool.stopped || interrupted();
        if (next < count && started && !pool.stopped && pool.running < at_once)
            started = job_start(&pool, next++);
        else if (pool.running)
            job_wait(&pool, count);
    }
    free(pool.children);
    return started;
}

void workers_release(struct worker_result *results, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (results[i].output) fclose(results[i].output);
}
