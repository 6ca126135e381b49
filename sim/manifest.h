/* manifest: run.json, all that is needed to make a run's bytes again: the program's version, the
 * scenario as it was, variant, seed, and the hash of every output. Keys stand in a fixed order; no
 * date, no machine. The manifest owns its strings. */
#ifndef LAPSE_SIM_MANIFEST_H
#define LAPSE_SIM_MANIFEST_H

#include "base.h"

struct manifest_output {
    char *name; /* within the run's folder */
    char hash[17];
};

struct manifest_server {
    char *name, *engine, *version, *allocator, *costs;
    char *costs_hash; /* of the file of prices; NULL: they are built in */
};

struct manifest {
    char *version; /* of lapse */
    char *scenario_name;
    char *scenario_path; /* as it was given */
    char *scenario_text;
    size_t scenario_length;
    char *variant; /* or NULL */
    uint64_t seed;
    uint64_t events;
    struct manifest_server *servers;
    size_t server_count;
    struct manifest_output *outputs;
    size_t output_count;
};

/* Copies what it is given. */
void manifest_init(struct manifest *, const char *name, const char *path, const char *text,
                   size_t length, const char *variant, uint64_t seed);
void manifest_add_server(struct manifest *, const char *name, const char *engine,
                         const char *version, const char *allocator, const char *costs,
                         const char *costs_hash);
void manifest_add_output(struct manifest *, const char *name, const char hash[17]);
void manifest_release(struct manifest *);

/* The text as JSON with a newline at its end; free it. */
char *manifest_print(const struct manifest *);

/* False with a message: not JSON, a key that is missing or of the wrong type, or a scenario whose
 * text does not have the hash that stands beside it. */
bool manifest_parse(struct manifest *, const char *json, size_t length, const char *path,
                    char *message, size_t size);
bool manifest_read(struct manifest *, const char *path, char *message, size_t size);

/* xxh64 of bytes as 16 hex digits. */
void manifest_hash(const char *bytes, size_t length, char hex[17]);

#endif
