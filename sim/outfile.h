/* outfile: output files that appear whole or not at all: written beside (NAME.partial), renamed
 * when complete. A symbolic link stays one: its target is what appears. What is there already and
 * is no regular file (a FIFO, a device) is written to as it stands: to replace it would break it
 * for everybody else. */
#ifndef LAPSE_SIM_OUTFILE_H
#define LAPSE_SIM_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
    FILE *stream;
    char *path;         /* with links followed */
    char *partial_path; /* NULL: written to directly */
};

/* Opens PATH.partial for writing, or PATH itself. False with errno set. */
bool outfile_open(struct outfile *, const char *path);

/* Does it become a regular file? Others cannot be read back, nor kept back until they are whole. */
bool outfile_is_regular(const struct outfile *);

/* Flushes, closes and renames. False with errno set; then nothing is left of it. */
bool outfile_commit(struct outfile *);

/* Closes and removes the partial file, or keeps it (an interrupted run's rows). */
void outfile_abandon(struct outfile *, bool keep);

/* Removes what outfile_commit made there, and nothing that is no regular file. */
void outfile_remove(const char *path);

/* mkdir -p. */
bool outfile_make_directory(const char *path);

/* xxh64 of a file's bytes as 16 hex digits; false with errno set. */
bool outfile_hash(const char *path, char hex[17]);

#endif
