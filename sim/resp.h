/* resp: commands, replies and INFO as the server would write them, as RESP text; and a line of
 * words as a request. */
#ifndef LAPSE_SIM_RESP_H
#define LAPSE_SIM_RESP_H

#include <stdio.h>

#include "engine.h"
#include "names.h"
#include "observe.h"

/* A growing byte string. Zero-initialise; free with resp_buffer_release. */
struct resp_buffer {
    char *bytes;
    size_t length, capacity;
};
void resp_buffer_release(struct resp_buffer *);
void resp_append(struct resp_buffer *, const char *bytes, size_t length);

/* Appends *ARGC\r\n$LEN\r\n... exactly as the server propagates it; its length equals
 * request_resp_bytes. */
void resp_print_command(struct resp_buffer *, const struct arg *argv, uint32_t argc,
                        const struct names *, const struct texts *);

/* Appends the reply in RESP. `engine` is asked for INFO and HTSTATS. */
void resp_print_reply(struct resp_buffer *, const struct reply *, const struct engine *,
                      const struct names *, const struct texts *);

/* INFO's text for a section (NULL: all): Server, Clients, Memory, Stats, Replication, Keyspace with
 * the fields the engine has, named as the server names them, \r\n line ends. */
void resp_print_info(struct resp_buffer *, const struct engine *, const char *section);

/* DEBUG HTSTATS of one db in the server's layout, as far as sizes and fill go. */
void resp_print_htstats(struct resp_buffer *, const struct engine *, uint8_t db);

/* Splits a line as redis-cli does (quotes, \xHH) and builds a request: key positions become keys
 * (interned), the rest words. Returns argc, or -1 with a message. `argv` holds up to ARGC_MAX. */
int resp_parse_line(const char *line, struct names *, struct texts *, struct arg *argv,
                    const struct command **, char *message, size_t size);

#endif
