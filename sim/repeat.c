#include "repeat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"
#include "talk.h"
#include "version.h"

static bool is_this_version(const struct manifest *then) {
    return strcmp(then->version, LAPSE_VERSION) == 0;
}

void repeat_say_version(const struct manifest *then) {
    if (!is_this_version(then))
        say("that run was made by lapse %s, this is %s: its bytes may differ", then->version,
            LAPSE_VERSION);
}

char *repeat_directory(const struct manifest *then) {
    char *found =
        access(then->scenario_path, F_OK) != 0 ? paths_find_scenario(then->scenario_name) : NULL;
    char *folder = paths_folder_of(found ? found : then->scenario_path);
    free(found);
    return folder;
}

static const char *hash_now(const struct manifest *now, const char *name) {
    for (size_t i = 0; i < now->output_count; i++)
        if (strcmp(now->outputs[i].name, name) == 0) return now->outputs[i].hash;
    return NULL;
}

/* A stream that was not asked for this time is not missed. */
static bool output_is_same(const struct manifest_output *then, const struct manifest *now) {
    const char *hash = hash_now(now, then->name);
    if (!hash && strncmp(then->name, "stream", 6) == 0) return true;
    bool same = hash && strcmp(hash, then->hash) == 0;
    printf("%-8s %s  %s%s%s\n", same ? "same" : "differs", then->name, then->hash,
           same ? "" : " then, now ",
           same   ? ""
           : hash ? hash
                  : "missing");
    return same;
}

/* Says which file of prices is another one now. */
static void prices_compare(const struct manifest *then, const struct manifest *now) {
    for (size_t i = 0; i < then->server_count && i < now->server_count; i++) {
        const struct manifest_server *a = &then->servers[i], *b = &now->servers[i];
        if (a->costs_hash && b->costs_hash && strcmp(a->costs_hash, b->costs_hash) != 0)
            say("%s: %s has changed since", a->name, a->costs);
    }
}

bool repeat_is_same(const struct manifest *then, const char *folder) {
    char message[1024], *path = paths_join(folder, "run.json");
    struct manifest now;
    bool same = manifest_read(&now, path, message, sizeof(message));
    if (!same) say("%s", message);
    free(path);
    if (!same) return false;
    putchar('\n');
    for (size_t i = 0; i < then->output_count; i++)
        same = output_is_same(&then->outputs[i], &now) && same;
    if (same)
        say("the same bytes as then");
    else if (!is_this_version(then))
        say("not the same bytes: another version made them");
    else
        say("not the same bytes: a file that the scenario reads has changed, or lapse is broken");
    prices_compare(then, &now);
    manifest_release(&now);
    return same;
}
