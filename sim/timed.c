#include "timed.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"

/* The connection that an earlier event uses for that server and database, or a new one. */
static uint32_t timed_connect(const struct timed *timed, const struct timed *earlier) {
    for (uint32_t i = 0; i < timed->index; i++) {
        const struct timed *other = &earlier[i];
        if (other->argv && other->server == timed->server && other->config->db == timed->config->db)
            return other->engine_client;
    }
    return node_connect(timed->server, timed->config->db, 0);
}

static bool timed_parse(struct timed *timed, struct scenario_error *error) {
    struct arg argv[ARGC_MAX];
    char message[512];
    const struct node_env *env = timed->server->env;
    int argc = resp_parse_line(timed->config->text, env->names, env->texts, argv, &timed->command,
                               message, sizeof message);
    if (argc <= 0) {
        snprintf(error->message, sizeof error->message, "event '%.200s': %s", timed->config->text,
                 argc < 0 ? message : "an empty command");
        return false;
    }
    timed->argc = (uint32_t)argc;
    timed->argv = malloc(timed->argc * sizeof *argv);
    ASSERT(timed->argv);
    memcpy(timed->argv, argv, timed->argc * sizeof *argv);
    return true;
}

bool timed_init(struct timed *timed, const struct event_config *config, uint32_t index,
                struct node *server, const struct timed *earlier, struct scenario_error *error) {
    *timed = (struct timed){.config = config, .index = index, .server = server};
    if (config->kind != EVENT_COMMAND) return true;
    timed->engine_client = timed_connect(timed, earlier);
    return timed_parse(timed, error);
}

void timed_release(struct timed *timed) { free(timed->argv); }

void timed_send(const struct timed *timed, ns_t now_ns) {
    struct inbox *inbox = &timed->server->inbox;
    struct inbox_item item = {.arrival_ns = now_ns,
                              .kind = INBOX_REQUEST,
                              .source = SOURCE_TIMED,
                              .command = timed->command,
                              .argc = (uint16_t)timed->argc,
                              .engine_client = timed->engine_client,
                              .subject = timed->index};
    memcpy(inbox_reserve(inbox, timed->argc), timed->argv, timed->argc * sizeof *timed->argv);
    inbox_push(inbox, &item);
    node_notice(timed->server, now_ns);
}
