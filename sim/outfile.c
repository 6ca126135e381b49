#include "outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define PARTIAL_SUFFIX ".partial"
#define BUFFER_BYTES   65536
#define PATH_BYTES     4096
#define LINKS_MAX      40 /* as the kernel's own limit */

static void paths_release(struct outfile *file) {
    free(file->path);
    free(file->partial_path);
    *file = (struct outfile){0};
}

/* ---- where it goes -------------------------------------------------------------------------- */

/* What the link `path` points to; a relative target starts from the link's folder. NULL: errno. */
static char *link_target(const char *path) {
    char target[PATH_BYTES];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0) return NULL;
    target[length] = '\0';
    const char *slash = *target == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *joined = malloc(folder + (size_t)length + 1);
    if (!joined) return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, target, (size_t)length + 1);
    return joined;
}

/* The path behind all links, whether or not something is there; NULL: errno. */
static char *links_follow(const char *path) {
    struct stat entry;
    char *at = strdup(path);
    for (int links = 0; at && lstat(at, &entry) == 0 && S_ISLNK(entry.st_mode); links++) {
        char *next = links < LINKS_MAX ? link_target(at) : NULL;
        if (links == LINKS_MAX) errno = ELOOP;
        free(at);
        at = next;
    }
    return at;
}

static bool is_other_than_regular(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && !S_ISREG(entry.st_mode);
}

static char *partial_of(const char *path) {
    size_t length = strlen(path);
    char *partial = malloc(length + sizeof(PARTIAL_SUFFIX));
    if (!partial) return NULL;
    memcpy(partial, path, length);
    memcpy(partial + length, PARTIAL_SUFFIX, sizeof(PARTIAL_SUFFIX));
    return partial;
}

/* ---- a file --------------------------------------------------------------------------------- */

bool outfile_open(struct outfile *file, const char *path) {
    *file = (struct outfile){.path = links_follow(path)};
    bool direct = file->path && is_other_than_regular(file->path);
    if (file->path && !direct) file->partial_path = partial_of(file->path);
    if (direct || file->partial_path)
        file->stream = fopen(direct ? file->path : file->partial_path, "wb");
    if (file->stream) {
        setvbuf(file->stream, NULL, _IOFBF, BUFFER_BYTES);
        return true;
    }
    int error = errno;
    paths_release(file);
    errno = error;
    return false;
}

bool outfile_is_regular(const struct outfile *file) { return file->partial_path != NULL; }

/* A stream that met an error once must not look whole, even if its last flush went through. */
static bool close_whole(FILE *stream) {
    bool whole = !ferror(stream);
    int error = errno;
    if (fclose(stream) == 0 && whole) return true;
    if (!whole) errno = error ? error : EIO;
    return false;
}

bool outfile_commit(struct outfile *file) {
    bool done = close_whole(file->stream);
    if (outfile_is_regular(file)) done = done && rename(file->partial_path, file->path) == 0;
    int error = errno;
    if (!done && outfile_is_regular(file)) remove(file->partial_path);
    paths_release(file);
    errno = error;
    return done;
}

void outfile_abandon(struct outfile *file, bool keep) {
    if (!file->stream) return;
    fclose(file->stream);
    if (!keep && outfile_is_regular(file)) remove(file->partial_path);
    paths_release(file);
}

void outfile_remove(const char *path) {
    char *target = links_follow(path);
    if (target && !is_other_than_regular(target)) remove(target);
    free(target);
}

static bool make_one(const char *path) {
    struct stat entry;
    if (mkdir(path, 0777) == 0) return true;
    if (errno != EEXIST && errno != EISDIR) return false;
    if (stat(path, &entry) == 0 && S_ISDIR(entry.st_mode)) return true;
    errno = ENOTDIR;
    return false;
}

bool outfile_make_directory(const char *path) {
    char *copy = strdup(path);
    if (!copy || !*copy) {
        free(copy);
        errno = ENOENT;
        return false;
    }
    bool made = true;
    for (char *slash = strchr(copy + 1, '/'); made && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = make_one(copy);
        *slash = '/';
    }
    made = made && make_one(copy);
    int error = errno;
    free(copy);
    errno = error;
    return made;
}

bool outfile_hash(const char *path, char hex[17]) {
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    char buffer[16384];
    XXH64_state_t *state = XXH64_createState();
    bool whole = state && XXH64_reset(state, 0) == XXH_OK;
    for (size_t got; whole && (got = fread(buffer, 1, sizeof(buffer), stream)) > 0;)
        whole = XXH64_update(state, buffer, got) == XXH_OK;
    whole = whole && !ferror(stream);
    if (whole) snprintf(hex, 17, "%016" PRIx64, XXH64_digest(state));
    int error = errno;
    XXH64_freeState(state);
    fclose(stream);
    errno = error;
    return whole;
}
