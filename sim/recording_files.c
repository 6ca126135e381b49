#include "recording_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "paths.h"
#include "talk.h"

static const char *const names[RECORDING_FILES] = {"trace.csv", "summary.csv", "replies.txt",
                                                   "stream", "stream.times"};

/* Pictures of an earlier run in the same folder would show what is no longer there. */
static const char *const outdated[] = {"run.json", "replies.txt", "run.svg", "run.png", NULL};

static bool say_failed(const char *path) {
    say("%s: %s", path, strerror(errno));
    return false;
}

/* Where a file goes; the caller frees it. */
static char *path_of(const struct recording_files *f, enum recording_file which) {
    if (which < RECORDING_STREAM) return paths_join(f->folder, names[which]);
    const char *suffix = which == RECORDING_TIMES ? ".times" : "";
    size_t size = strlen(f->stream_path) + strlen(suffix) + 1;
    char *path = malloc(size);
    ASSERT(path);
    snprintf(path, size, "%s%s", f->stream_path, suffix);
    return path;
}

static bool open_one(struct recording_files *f, enum recording_file which) {
    char *path = path_of(f, which);
    bool opened = outfile_open(&f->files[which], path) || say_failed(path);
    free(path);
    return opened;
}

/* Beside a FIFO or a device nobody looks for a second file, and /dev is no place for one. */
static bool stream_open(struct recording_files *f) {
    if (!open_one(f, RECORDING_STREAM)) return false;
    return !outfile_is_regular(&f->files[RECORDING_STREAM]) || open_one(f, RECORDING_TIMES);
}

bool recording_files_open(struct recording_files *f, const char *folder, const char *stream_path) {
    *f = (struct recording_files){.folder = folder, .stream_path = stream_path};
    bool opened = outfile_make_directory(folder) || say_failed(folder);
    opened = opened && open_one(f, RECORDING_TRACE) && open_one(f, RECORDING_SUMMARY);
    if (stream_path) opened = opened && stream_open(f);
    if (!opened) recording_files_abandon(f, false);
    return opened;
}

FILE *recording_files_stream(struct recording_files *f, enum recording_file which) {
    return f->files[which].stream;
}

FILE *recording_files_replies(struct recording_files *f) {
    if (!f->files[RECORDING_REPLIES].stream && !open_one(f, RECORDING_REPLIES)) return NULL;
    return f->files[RECORDING_REPLIES].stream;
}

/* What went into a FIFO or a device has gone by: it has no hash. */
static bool hash_one(struct outfile *file, const char *name, struct manifest *manifest) {
    char hash[17];
    if (fflush(file->stream) != 0) return say_failed(file->path);
    if (!outfile_is_regular(file)) return true;
    if (!outfile_hash(file->partial_path, hash)) return say_failed(file->path);
    manifest_add_output(manifest, name, hash);
    return true;
}

static bool commit_one(struct recording_files *f, enum recording_file which) {
    char *path = path_of(f, which);
    bool done = outfile_commit(&f->files[which]) || say_failed(path);
    free(path);
    return done;
}

static bool manifest_write(const struct recording_files *f, const struct manifest *manifest) {
    struct outfile file;
    char *path = paths_join(f->folder, "run.json"), *text = manifest_print(manifest);
    bool done = outfile_open(&file, path);
    if (done) {
        fputs(text, file.stream);
        done = outfile_commit(&file);
    }
    if (!done) say_failed(path);
    free(path), free(text);
    return done;
}

static void remove_outdated(const char *folder) {
    for (size_t i = 0; outdated[i]; i++) {
        char *path = paths_join(folder, outdated[i]);
        outfile_remove(path);
        free(path);
    }
}

bool recording_files_commit(struct recording_files *f, struct manifest *manifest) {
    bool done = true;
    for (int i = 0; i < RECORDING_FILES; i++)
        if (f->files[i].stream) done = done && hash_one(&f->files[i], names[i], manifest);
    if (done) remove_outdated(f->folder);
    for (int i = 0; i < RECORDING_FILES; i++)
        if (f->files[i].stream) done = done && commit_one(f, (enum recording_file)i);
    done = done && manifest_write(f, manifest);
    if (!done) recording_files_abandon(f, false);
    return done;
}

const char *recording_files_failed(const struct recording_files *f) {
    for (int i = 0; i < RECORDING_FILES; i++)
        if (f->files[i].stream && ferror(f->files[i].stream)) return f->files[i].path;
    return f->folder;
}

void recording_files_abandon(struct recording_files *f, bool keep) {
    for (int i = 0; i < RECORDING_FILES; i++)
        outfile_abandon(&f->files[i], keep && i == RECORDING_TRACE);
}
