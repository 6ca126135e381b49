#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "profile.h"
#include "progress.h"
#include "recording_files.h"
#include "replies.h"
#include "resp.h"
#include "summary.h"
#include "text_file.h"
#include "world.h"

/* ---- loading -------------------------------------------------------------------------------- */

static char *copy(const char *text) {
    char *made = strdup(text);
    ASSERT(made);
    return made;
}

static void note_add(struct recording *r, const char *note) {
    size_t count = 0;
    while (r->notes && r->notes[count]) count++;
    r->notes = realloc(r->notes, (count + 2) * sizeof(*r->notes));
    ASSERT(r->notes);
    r->notes[count] = copy(note);
    r->notes[count + 1] = NULL;
}

static void note_print(struct recording *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note_print(struct recording *r, const char *format, ...) {
    char note[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(note, sizeof(note), format, list);
    va_end(list);
    note_add(r, note);
}

static const char **server_names(const struct scenario *scenario) {
    const char **names = calloc(scenario->server_count + 1, sizeof(*names));
    ASSERT(names);
    for (uint32_t i = 0; i < scenario->server_count; i++) names[i] = scenario->servers[i].name;
    return names;
}

static bool expectations_load(struct recording *r) {
    const struct scenario *scenario = r->scenario;
    const char **names = server_names(scenario);
    r->expectations = calloc(scenario->expectation_count + 1, sizeof(*r->expectations));
    r->results = calloc(scenario->expectation_count + 1, sizeof(*r->results));
    ASSERT(r->expectations && r->results);
    bool sound = true;
    for (uint32_t i = 0; i < scenario->expectation_count; i++) {
        const struct expectation_config *config = &scenario->expectations[i];
        char message[512];
        r->expectations[i] = expectation_parse(config->text, names, message, sizeof(message));
        if (r->expectations[i]) continue;
        say("%s:%d:%d: %s", scenario->path, config->line, config->column, message);
        sound = false;
    }
    free(names);
    return sound;
}

bool recording_load(struct recording *r, const struct recording_order *order) {
    *r = (struct recording){.order = order};
    struct scenario_error error;
    r->scenario = scenario_parse(order->text, order->length, order->path, order->directory,
                                 order->variant, &error);
    if (!r->scenario) {
        say("%s", error.message);
        return false;
    }
    if (!text_is_utf8(order->text, order->length)) { /* YAML may be UTF-16; run.json is not */
        say("%s: expected a file in UTF-8", order->path);
        return false;
    }
    if (order->has_seed) scenario_set_seed(r->scenario, order->seed);
    for (uint32_t i = 0; i < r->scenario->note_count; i++) note_add(r, r->scenario->notes[i]);
    return expectations_load(r);
}

bool recording_check_variants(const struct recording *r) {
    bool sound = true;
    for (uint32_t i = 0; sound && i < r->scenario->variant_count; i++) {
        struct recording_order order = *r->order;
        struct recording variant;
        order.variant = r->scenario->variants[i];
        sound = recording_load(&variant, &order);
        recording_release(&variant);
    }
    return sound;
}

void recording_release(struct recording *r) {
    uint32_t count = r->expectations ? r->scenario->expectation_count : 0;
    for (uint32_t i = 0; i < count; i++) expectation_destroy(r->expectations[i]);
    for (size_t i = 0; r->notes && r->notes[i]; i++) free(r->notes[i]);
    free(r->notes), free(r->expectations), free(r->results);
    if (r->scenario) scenario_destroy(r->scenario);
    *r = (struct recording){0};
}

/* ---- while it runs -------------------------------------------------------------------------- */

struct running {
    struct recording *recording;
    struct recording_files files;
    struct world *world;
    struct summary **summaries; /* by server */
    struct progress progress;
    struct resp_buffer command; /* of the stream, reused */
    uint32_t stream_server;     /* the first master */
    uint64_t error_replies;     /* to timed events */
};

#define ERROR_NOTES_MAX 10

static void summaries_create(struct running *run) {
    const struct scenario *scenario = run->recording->scenario;
    run->summaries = calloc(scenario->server_count, sizeof(struct summary *));
    ASSERT(run->summaries);
    for (uint32_t i = 0; i < scenario->server_count; i++)
        run->summaries[i] = summary_create(scenario->servers[i].name,
                                           scenario->servers[i].master < 0 ? "master" : "replica");
}

static void summaries_add(struct running *run, const struct trace_row *row) {
    const struct scenario *scenario = run->recording->scenario;
    for (uint32_t i = 0; i < scenario->server_count; i++)
        if (strcmp(row->server, scenario->servers[i].name) == 0)
            summary_add(run->summaries[i], row);
}

static bool on_row(void *context, const struct trace_row *row) {
    struct running *run = context;
    const struct recording *r = run->recording;
    summaries_add(run, row);
    for (uint32_t i = 0; i < r->scenario->expectation_count; i++)
        expectation_add_row(r->expectations[i], row);
    return trace_write_row(recording_files_stream(&run->files, RECORDING_TRACE), row);
}

/* The command as RESP text, and a line in the times beside it: when it left, and the offset after
 * it. */
static bool on_stream(void *context, uint32_t server, ns_t at_ns,
                      const struct stream_command *command) {
    struct running *run = context;
    if (server != run->stream_server) return true;
    FILE *stream = recording_files_stream(&run->files, RECORDING_STREAM);
    FILE *times = recording_files_stream(&run->files, RECORDING_TIMES);
    run->command.length = 0;
    resp_print_command(&run->command, command->request.argv, command->request.argc,
                       world_names(run->world), run->recording->scenario->texts);
    ASSERT(run->command.length == command->resp_bytes);
    fwrite(run->command.bytes, 1, run->command.length, stream);
    if (times)
        fprintf(times, "%" PRId64 ".%06" PRId64 ",%" PRId64 ",%" PRIu32 ",%u\n", at_ns / NS_PER_MS,
                at_ns % NS_PER_MS, command->end_offset, command->resp_bytes, command->db);
    return !ferror(stream) && !(times && ferror(times));
}

/* A mistake in a scenario's command would else be seen by nobody who does not read replies.txt. */
static void note_error_reply(struct running *run, const struct event_config *config,
                             const char *resp, size_t length) {
    struct recording *r = run->recording;
    const char *end = memchr(resp, '\r', length);
    if (++run->error_replies > ERROR_NOTES_MAX) return;
    note_print(r, "the event at %" PRId64 " ms, `%.200s` on %s, was answered with an error: %.*s",
               config->at_ns / NS_PER_MS, config->text, r->scenario->servers[config->server].name,
               (int)(end ? end - resp : (ptrdiff_t)length) - 1, resp + 1);
}

static bool on_event_reply(void *context, uint32_t event, ns_t at_ns, const char *resp,
                           size_t length) {
    struct running *run = context;
    const struct scenario *scenario = run->recording->scenario;
    const struct event_config *config = &scenario->events[event];
    if (length > 1 && *resp == '-') note_error_reply(run, config, resp, length);
    FILE *stream = recording_files_replies(&run->files);
    return stream && replies_write(stream, at_ns, scenario->servers[config->server].name,
                                   config->text, resp, length);
}

static bool on_interrupted(void *context, ns_t now_ns, ns_t duration_ns, uint64_t events) {
    struct running *run = context;
    (void)events;
    if (!run->recording->order->quiet) progress_running(&run->progress, now_ns, duration_ns);
    return run->recording->order->interrupted();
}

static bool on_loading(void *context, uint64_t done, uint64_t all) {
    struct running *run = context;
    if (!run->recording->order->quiet) progress_loading(&run->progress, done, all);
    return run->recording->order->interrupted();
}

static uint32_t first_master(const struct scenario *scenario) {
    uint32_t server = 0;
    while (server + 1 < scenario->server_count && scenario->servers[server].master >= 0) server++;
    return server;
}

/* ---- the end -------------------------------------------------------------------------------- */

static struct summary_row *summaries_finish(struct running *run) {
    uint32_t count = run->recording->scenario->server_count;
    struct summary_row *rows = calloc(count, sizeof(*rows));
    ASSERT(rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = summary_finish(run->summaries[i], world_request_us(run->world, i),
                                 world_expiry_lag_ms(run->world, i));
    return rows;
}

static void expectations_judge(struct running *run, const struct summary_row *rows) {
    struct recording *r = run->recording;
    uint32_t count = r->scenario->server_count;
    const struct histogram **histograms = calloc(2 * count, sizeof(*histograms));
    ASSERT(histograms);
    for (uint32_t i = 0; i < count; i++) {
        histograms[i] = world_request_us(run->world, i);
        histograms[count + i] = world_expiry_lag_ms(run->world, i);
    }
    for (uint32_t i = 0; i < r->scenario->expectation_count; i++)
        r->results[i] =
            expectation_finish(r->expectations[i], rows, count, histograms, histograms + count);
    free(histograms);
}

/* NULL: they are built in. */
static const char *prices_hash(const struct scenario *scenario, const struct price_table *prices) {
    for (uint32_t i = 0; i < scenario->profile_count; i++)
        if (&scenario->profiles[i]->prices == prices) return scenario->profiles[i]->hash;
    return NULL;
}

static void manifest_fill(const struct recording *r, struct manifest *manifest) {
    const struct recording_order *order = r->order;
    const struct scenario *scenario = r->scenario;
    manifest_init(manifest, scenario->name, order->path, order->text, order->length, order->variant,
                  scenario->seed);
    manifest->events = r->events;
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        const struct server_config *server = &scenario->servers[i];
        manifest_add_server(manifest, server->name, server->generation->name,
                            server->generation->version, server->allocator->name,
                            server->prices->name, prices_hash(scenario, server->prices));
    }
}

static bool files_finish(struct running *run, const struct summary_row *rows) {
    FILE *stream = recording_files_stream(&run->files, RECORDING_SUMMARY);
    summary_write_header(stream);
    for (uint32_t i = 0; i < run->recording->scenario->server_count; i++)
        summary_write_row(stream, &rows[i]);
    struct manifest manifest;
    manifest_fill(run->recording, &manifest);
    bool done = recording_files_commit(&run->files, &manifest);
    manifest_release(&manifest);
    return done;
}

/* What makes a run say less than its reader may think. */
/* A stream is fed for replicas, and the file holds one master's. */
static void note_stream(struct running *run) {
    const struct scenario *scenario = run->recording->scenario;
    uint32_t masters = 0, replicas = 0;
    for (uint32_t i = 0; i < scenario->server_count; i++) {
        masters += scenario->servers[i].master < 0;
        replicas += scenario->servers[i].master == (int)run->stream_server;
    }
    const char *name = scenario->servers[run->stream_server].name;
    if (replicas == 0)
        note_print(run->recording, "--stream is empty: '%s' has no replica and feeds no stream",
                   name);
    else if (masters > 1)
        note_print(run->recording, "--stream holds the stream of '%s' alone", name);
}

static void notes_finish(struct running *run, const struct summary_row *rows) {
    struct recording *r = run->recording;
    for (size_t i = 0; world_note(run->world, i); i++) note_add(r, world_note(run->world, i));
    if (r->order->stream_path) note_stream(run);
    if (run->error_replies > ERROR_NOTES_MAX)
        note_print(r, "%" PRIu64 " more errors are in replies.txt",
                   run->error_replies - ERROR_NOTES_MAX);
    bool any = false;
    for (uint32_t i = 0; i < r->scenario->server_count; i++)
        any = any || rows[i].stale_keys_peak > 0 || rows[i].expired_total > 0;
    if (!any)
        note_print(r, "no key reached its deadline within the %" PRId64 " ms of this run",
                   r->scenario->duration_ns / NS_PER_MS);
}

static enum exit_code run_finish(struct running *run) {
    struct recording *r = run->recording;
    struct summary_row *rows = summaries_finish(run);
    expectations_judge(run, rows);
    notes_finish(run, rows);
    r->events = world_event_count(run->world);
    bool written = files_finish(run, rows);
    free(rows);
    if (!written) return EXIT_OUTPUT;
    for (uint32_t i = 0; i < r->scenario->expectation_count; i++)
        if (!r->results[i].holds) return EXIT_EXPECTATION;
    return EXIT_FINE;
}

static enum exit_code run_broken_off(struct running *run, enum world_end end) {
    if (end == WORLD_OUTPUT_FAILED) {
        say("%s: %s", recording_files_failed(&run->files), strerror(errno));
        recording_files_abandon(&run->files, false);
        return EXIT_OUTPUT;
    }
    recording_files_abandon(&run->files, true);
    say("interrupted at %" PRId64 " ms of virtual time; the rows until then are in "
        "%s/trace.csv.partial",
        world_now_ns(run->world) / NS_PER_MS, run->recording->order->folder);
    return EXIT_INTERRUPTED;
}

static enum exit_code run_world(struct running *run) {
    const struct recording_order *order = run->recording->order;
    if (!recording_files_open(&run->files, order->folder, order->stream_path)) return EXIT_OUTPUT;
    trace_write_header(recording_files_stream(&run->files, RECORDING_TRACE));
    FILE *times = recording_files_stream(&run->files, RECORDING_TIMES);
    if (times) fputs("t_ms,end_offset,bytes,db\n", times);
    failure_watch(run->world, run->recording->scenario->seed);
    progress_begin_run(&run->progress);
    enum world_end end = world_run(run->world);
    progress_end(&run->progress);
    enum exit_code code = end == WORLD_DONE ? run_finish(run) : run_broken_off(run, end);
    failure_watch(NULL, 0);
    return code;
}

static enum exit_code load_broken_off(const struct scenario_error *error) {
    bool refused = *error->message != '\0';
    say("%s", refused ? error->message : "interrupted while keys were loaded; nothing was written");
    return refused ? EXIT_INPUT : EXIT_INTERRUPTED;
}

/* Into run->world; false with a message, or without one when interrupted. */
static bool world_load(struct running *run, struct scenario_error *error) {
    struct world_output output = {.context = run,
                                  .row = on_row,
                                  .stream = run->recording->order->stream_path ? on_stream : NULL,
                                  .event_reply = on_event_reply,
                                  .interrupted = on_interrupted,
                                  .loading = on_loading};
    progress_begin(&run->progress);
    run->world = world_create(run->recording->scenario, &output, error);
    if (!run->world) progress_end(&run->progress);
    return run->world != NULL;
}

enum exit_code recording_run(struct recording *r) {
    struct running run = {.recording = r, .stream_server = first_master(r->scenario)};
    struct scenario_error error;
    if (!world_load(&run, &error)) return load_broken_off(&error);
    summaries_create(&run);
    enum exit_code code = run_world(&run);
    for (uint32_t i = 0; i < r->scenario->server_count; i++) summary_destroy(run.summaries[i]);
    free(run.summaries);
    resp_buffer_release(&run.command);
    world_destroy(run.world);
    return code;
}
