/* recording_files: the files of one run while they are written. All are closed whole and renamed
 * together at the end, run.json last, so that a folder never mixes two runs. */
#ifndef LAPSE_SIM_RECORDING_FILES_H
#define LAPSE_SIM_RECORDING_FILES_H

#include "manifest.h"
#include "outfile.h"

enum recording_file {
    RECORDING_TRACE,
    RECORDING_SUMMARY,
    RECORDING_REPLIES,
    RECORDING_STREAM,
    RECORDING_TIMES,
    RECORDING_FILES
};

struct recording_files {
    const char *folder;
    const char *stream_path;               /* or NULL */
    struct outfile files[RECORDING_FILES]; /* stream NULL: not opened */
};

/* Makes the folder and opens trace and summary, and the stream's two files if there is a path. Says
 * what went wrong. */
bool recording_files_open(struct recording_files *, const char *folder, const char *stream_path);
/* NULL when it is not open: no stream was asked for, or no times as the stream is no regular file.
 */
FILE *recording_files_stream(struct recording_files *, enum recording_file);
/* The same for replies.txt, which is opened by the first reply. NULL with errno set. */
FILE *recording_files_replies(struct recording_files *);

/* Hashes what was written into the manifest, then makes everything appear. Says what went wrong. */
bool recording_files_commit(struct recording_files *, struct manifest *);
/* The file that could not be written, or the folder when none has failed. */
const char *recording_files_failed(const struct recording_files *);
/* keep: the finished rows of an interrupted run stay as trace.csv.partial. */
void recording_files_abandon(struct recording_files *, bool keep);

#endif
