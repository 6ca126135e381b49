#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "text_file.h"
#include "version.h"

static char *copy(const char *text) {
    char *made = strdup(text ? text : "");
    ASSERT(made);
    return made;
}

static void *grown(void *items, size_t count, size_t size) {
    void *larger = realloc(items, (count + 1) * size);
    ASSERT(larger);
    return larger;
}

void manifest_hash(const char *bytes, size_t length, char hex[17]) {
    snprintf(hex, 17, "%016" PRIx64, XXH64(bytes, length, 0));
}

void manifest_init(struct manifest *m, const char *name, const char *path, const char *text,
                   size_t length, const char *variant, uint64_t seed) {
    *m = (struct manifest){.version = copy(LAPSE_VERSION),
                           .scenario_name = copy(name),
                           .scenario_path = copy(path),
                           .scenario_text = malloc(length + 1),
                           .scenario_length = length,
                           .variant = variant ? copy(variant) : NULL,
                           .seed = seed};
    ASSERT(m->scenario_text);
    memcpy(m->scenario_text, text, length);
    m->scenario_text[length] = '\0';
}

void manifest_add_server(struct manifest *m, const char *name, const char *engine,
                         const char *version, const char *allocator, const char *costs,
                         const char *costs_hash) {
    m->servers = grown(m->servers, m->server_count, sizeof(*m->servers));
    m->servers[m->server_count++] = (struct manifest_server){
        copy(name),      copy(engine), copy(version),
        copy(allocator), copy(costs),  costs_hash ? copy(costs_hash) : NULL};
}

void manifest_add_output(struct manifest *m, const char *name, const char hash[17]) {
    m->outputs = grown(m->outputs, m->output_count, sizeof(*m->outputs));
    struct manifest_output *output = &m->outputs[m->output_count++];
    output->name = copy(name);
    snprintf(output->hash, sizeof(output->hash), "%s", hash);
}

void manifest_release(struct manifest *m) {
    free(m->version), free(m->scenario_name), free(m->scenario_path), free(m->scenario_text),
        free(m->variant);
    for (size_t i = 0; i < m->server_count; i++) {
        struct manifest_server *s = &m->servers[i];
        free(s->name), free(s->engine), free(s->version), free(s->allocator), free(s->costs);
        free(s->costs_hash);
    }
    for (size_t i = 0; i < m->output_count; i++) free(m->outputs[i].name);
    free(m->servers), free(m->outputs);
    *m = (struct manifest){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Seeds take 64 bits and JSON's integers here 63: written as decimal text, which every reader of
 * JSON keeps whole. */
static json_t *number_text(uint64_t number) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    return json_string(text);
}

static json_t *servers_json(const struct manifest *m) {
    json_t *array = json_array();
    for (size_t i = 0; i < m->server_count; i++) {
        const struct manifest_server *s = &m->servers[i];
        json_t *server =
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", s->name, "engine", s->engine, "version",
                      s->version, "allocator", s->allocator, "costs", s->costs);
        if (s->costs_hash) json_object_set_new(server, "costs_xxh64", json_string(s->costs_hash));
        json_array_append_new(array, server);
    }
    return array;
}

static json_t *outputs_json(const struct manifest *m) {
    json_t *object = json_object();
    for (size_t i = 0; i < m->output_count; i++)
        json_object_set_new(object, m->outputs[i].name, json_string(m->outputs[i].hash));
    return object;
}

static json_t *scenario_json(const struct manifest *m) {
    char hash[17];
    manifest_hash(m->scenario_text, m->scenario_length, hash);
    return json_pack("{s:s, s:s, s:s, s:s%}", "name", m->scenario_name, "path", m->scenario_path,
                     "xxh64", hash, "text", m->scenario_text, m->scenario_length);
}

char *manifest_print(const struct manifest *m) {
    json_t *root =
        json_pack("{s:s, s:o, s:s?, s:o, s:o, s:o, s:o}", "lapse", m->version, "scenario",
                  scenario_json(m), "variant", m->variant, "seed", number_text(m->seed), "servers",
                  servers_json(m), "events", number_text(m->events), "xxh64", outputs_json(m));
    ASSERT(root);
    char *text = json_dumps(root, JSON_INDENT(2)); /* in the order of insertion */
    json_decref(root);
    ASSERT(text);
    size_t length = strlen(text);
    text = grown(text, length + 1, 1);
    text[length] = '\n';
    text[length + 1] = '\0';
    return text;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* What a reading has found so far: the first thing that is wrong, and the place. */
struct reading {
    const char *path;
    char *message;
    size_t size;
    bool failed;
};

static void reading_fail(struct reading *r, const char *expected, const char *key) {
    if (!r->failed)
        snprintf(r->message, r->size, "%s: expected %s at '%s'", r->path, expected, key);
    r->failed = true;
}

static char *text_at(struct reading *r, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) reading_fail(r, "a string", key);
    return copy(json_string_value(value));
}

static uint64_t number_at(struct reading *r, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    char *end = NULL;
    errno = 0;
    uint64_t number = text ? strtoull(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || *text == '-')
        reading_fail(r, "a number in quotes", key);
    return number;
}

static void scenario_take(struct reading *r, const json_t *scenario, struct manifest *m) {
    m->scenario_name = text_at(r, scenario, "name");
    m->scenario_path = text_at(r, scenario, "path");
    m->scenario_text = text_at(r, scenario, "text");
    m->scenario_length = json_string_length(json_object_get(scenario, "text"));
    char hash[17], *written = text_at(r, scenario, "xxh64");
    manifest_hash(m->scenario_text, strlen(m->scenario_text), hash);
    if (strlen(m->scenario_text) != m->scenario_length || strcmp(hash, written) != 0)
        reading_fail(r, "a text whose hash is the one beside it", "scenario");
    free(written);
}

static void servers_take(struct reading *r, const json_t *array, struct manifest *m) {
    if (!json_is_array(array)) reading_fail(r, "a list", "servers");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *s = json_array_get(array, i);
        m->servers = grown(m->servers, m->server_count, sizeof(*m->servers));
        bool has_file = json_object_get(s, "costs_xxh64") != NULL;
        m->servers[m->server_count++] = (struct manifest_server){
            text_at(r, s, "name"),    text_at(r, s, "engine"),
            text_at(r, s, "version"), text_at(r, s, "allocator"),
            text_at(r, s, "costs"),   has_file ? text_at(r, s, "costs_xxh64") : NULL};
    }
}

static void outputs_take(struct reading *r, json_t *object, struct manifest *m) {
    const char *name;
    json_t *hash;
    if (!json_is_object(object)) reading_fail(r, "an object", "xxh64");
    json_object_foreach(object, name, hash) {
        const char *text = json_string_value(hash);
        if (!text || strlen(text) != 16)
            reading_fail(r, "16 hex digits", name);
        else
            manifest_add_output(m, name, text);
    }
}

static void root_take(struct reading *r, const json_t *root, struct manifest *m) {
    const json_t *variant = json_object_get(root, "variant");
    m->version = text_at(r, root, "lapse");
    scenario_take(r, json_object_get(root, "scenario"), m);
    if (!json_is_null(variant)) m->variant = text_at(r, root, "variant");
    m->seed = number_at(r, root, "seed");
    m->events = number_at(r, root, "events");
    servers_take(r, json_object_get(root, "servers"), m);
    outputs_take(r, json_object_get(root, "xxh64"), m);
}

bool manifest_parse(struct manifest *m, const char *json, size_t length, const char *path,
                    char *message, size_t size) {
    *m = (struct manifest){0};
    json_error_t error;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!root) {
        snprintf(message, size, "%s:%d:%d: %s", path, error.line, error.column, error.text);
        return false;
    }
    struct reading reading = {path, message, size, false};
    root_take(&reading, root, m);
    json_decref(root);
    if (reading.failed) manifest_release(m);
    return !reading.failed;
}

bool manifest_read(struct manifest *m, const char *path, char *message, size_t size) {
    size_t length;
    char *text = text_file_read(path, &length);
    if (!text) {
        *m = (struct manifest){0};
        snprintf(message, size, "%s: %s", path, strerror(errno));
        return false;
    }
    bool read = manifest_parse(m, text, length, path, message, size);
    free(text);
    return read;
}
