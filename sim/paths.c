#include "paths.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

#define SUFFIX      ".yaml"
#define FOLDERS_MAX 4
#define PATH_BYTES  4096

static char *copy(const char *text) {
    char *made = strdup(text);
    ASSERT(made);
    return made;
}

char *paths_join(const char *folder, const char *name) {
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    ASSERT(path);
    bool slash = *folder && folder[strlen(folder) - 1] == '/';
    snprintf(path, length, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

char *paths_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return copy(".");
    char *folder = copy(path);
    folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

bool paths_is_folder(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

static bool is_file(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && !S_ISDIR(entry.st_mode);
}

char *paths_component(const char *name) {
    char *component = copy(*name ? name : "_");
    for (char *c = component; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._+-", *c)) *c = '_';
    if (*component == '.') *component = '_';
    return component;
}

/* The folder `up` levels above that of the running executable, followed by `tail`; or NULL. Levels
 * are taken off the name, so that a message shows the path as a person would write it. */
static char *above_executable(int up, const char *tail) {
    char path[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0) return NULL;
    path[length] = '\0';
    for (; up >= 0; up--) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = '\0';
    }
    return *tail ? paths_join(path, tail) : copy(path);
}

/* The data folders in the order of search; returns how many. */
static size_t data_folders(char *folders[FOLDERS_MAX]) {
    size_t count = 0;
    const char *given = getenv("LAPSE_DATA");
    if (given && *given) folders[count++] = copy(given);
    char *installed = above_executable(1, "share/lapse"), *built = above_executable(2, "");
    if (installed) folders[count++] = installed;
    if (built) folders[count++] = built; /* build/sim/lapse */
    folders[count++] = copy(LAPSE_DATADIR);
    return count;
}

static void folders_free(char **folders, size_t count) {
    for (size_t i = 0; i < count; i++) free(folders[i]);
}

/* FOLDER/scenarios/NAME.yaml if it is there. */
static char *scenario_in(const char *folder, const char *name) {
    char file[PATH_BYTES];
    snprintf(file, sizeof(file), "scenarios/%s" SUFFIX, name);
    char *path = paths_join(folder, file);
    if (is_file(path)) return path;
    free(path);
    return NULL;
}

static bool is_bare(const char *argument) {
    const char *dot = strrchr(argument, '.');
    return !strchr(argument, '/') && !(dot && strcmp(dot, SUFFIX) == 0);
}

char *paths_find_scenario(const char *argument) {
    if (!is_bare(argument)) return is_file(argument) ? copy(argument) : NULL;
    char *folders[FOLDERS_MAX];
    size_t count = data_folders(folders);
    char *found = scenario_in(".", argument);
    for (size_t i = 0; !found && i < count; i++) found = scenario_in(folders[i], argument);
    folders_free(folders, count);
    if (!found && is_file(argument)) return copy(argument);
    if (found && strncmp(found, "./", 2) == 0) memmove(found, found + 2, strlen(found) - 1);
    return found;
}

/* Names found so far; `items` ends with NULL. */
struct list {
    char **items;
    size_t count;
};

static void list_add(struct list *list, char *name) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], name) != 0) continue;
        free(name);
        return;
    }
    list->items = realloc(list->items, (list->count + 2) * sizeof(*list->items));
    ASSERT(list->items);
    list->items[list->count++] = name;
    list->items[list->count] = NULL;
}

static void list_add_folder(struct list *list, const char *folder) {
    char *path = paths_join(folder, "scenarios");
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0) continue;
        char *name = copy(entry->d_name);
        name[length - suffix] = '\0';
        list_add(list, name);
    }
    if (directory) closedir(directory);
    free(path);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **paths_list_scenarios(void) {
    struct list list = {calloc(1, sizeof(char *)), 0};
    ASSERT(list.items);
    char *folders[FOLDERS_MAX];
    size_t count = data_folders(folders);
    list_add_folder(&list, ".");
    for (size_t i = 0; i < count; i++) list_add_folder(&list, folders[i]);
    folders_free(folders, count);
    qsort(list.items, list.count, sizeof(*list.items), by_name);
    return list.items;
}

void paths_list_free(char **names) {
    for (size_t i = 0; names[i]; i++) free(names[i]);
    free(names);
}

char *paths_find_plots(void) {
    char *folders[FOLDERS_MAX], *found = NULL;
    size_t count = data_folders(folders);
    for (size_t i = 0; !found && i < count; i++) {
        char *script = paths_join(folders[i], "plots/run.gp");
        if (is_file(script)) found = paths_folder_of(script);
        free(script);
    }
    folders_free(folders, count);
    return found;
}

bool paths_has_program(const char *name) {
    const char *path = getenv("PATH");
    char *list = copy(path ? path : ""), *rest = NULL;
    bool found = false;
    for (char *folder = strtok_r(list, ":", &rest); folder && !found;
         folder = strtok_r(NULL, ":", &rest)) {
        char *file = paths_join(folder, name);
        found = access(file, X_OK) == 0;
        free(file);
    }
    free(list);
    return found;
}
