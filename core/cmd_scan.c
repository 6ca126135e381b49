#include "command.h"

enum type_filter { TYPE_ANY, TYPE_STRING, TYPE_NONE, TYPE_OTHER };

struct scan {
    uint64_t cursor;
    int64_t count;
    enum type_filter type;
};

/* The magnitude behind an optional sign, as the C library's strtoul reads it: no digit is needed
 * when there is nothing at all, and a minus wraps around. */
static bool read_digits(const char *bytes, uint64_t *magnitude) {
    uint64_t value = 0;
    do {
        if (*bytes < '0' || *bytes > '9') return false;
        uint64_t digit = (uint64_t)(*bytes - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    } while (*++bytes != '\0');
    *magnitude = value;
    return true;
}

/* Quirk of 7.0 parseScanCursorOrReply: an empty cursor is 0 and -1 is the largest. */
static bool read_cursor(struct call *call, uint64_t *cursor) {
    uint32_t length;
    const char *bytes = call_text(call, 1, &length);
    *cursor = 0;
    if (call->argv[1].kind == ARG_NUMBER) {
        *cursor = (uint64_t)call->argv[1].number;
        return true;
    }
    if (bytes && length == 0) return true;
    bool negative = bytes && *bytes == '-';
    if (bytes && read_digits(bytes + (*bytes == '-' || *bytes == '+'), cursor)) {
        if (negative) *cursor = 0 - *cursor;
        return true;
    }
    reply_error(call, "ERR invalid cursor");
    return false;
}

static bool read_count(struct call *call, uint32_t index, int64_t *count) {
    if (!call_number(call, index, count)) return false;
    if (*count >= 1) return true;
    reply_syntax_error(call);
    return false;
}

/* Every value here is a string. "none" is the type of a key that the filter's own look-up has just
 * found expired. */
static enum type_filter type_at(const struct call *call, uint32_t index) {
    if (call_spells(call, index, "string")) return TYPE_STRING;
    if (call_spells(call, index, "none")) return TYPE_NONE;
    return TYPE_OTHER;
}

/* Core does not know how keys are spelled. */
static bool check_pattern(struct call *call, uint32_t index) {
    if (call_is(call, index, WORD_STAR)) return true;
    reply_error(call, "ERR lapse does not model SCAN MATCH");
    return false;
}

static bool read_option(struct call *call, uint32_t index, struct scan *scan) {
    bool has_value = index + 1 < call->argc;
    if (has_value && call_is(call, index, WORD_COUNT))
        return read_count(call, index + 1, &scan->count);
    if (has_value && call_is(call, index, WORD_MATCH)) return check_pattern(call, index + 1);
    if (has_value && call_is(call, index, WORD_TYPE)) {
        scan->type = type_at(call, index + 1);
        return true;
    }
    reply_syntax_error(call);
    return false;
}

static void collect(void *context, key_id key) { reply_key(context, key); }

/* Buckets are visited until count keys are together. Quirk of 7.0 scanGenericCommand: the limit of
 * ten times count is tested after the decrement, so it allows one more. */
static void walk(struct call *call, struct scan *scan) {
    uint32_t first = reply_position(call);
    uint64_t rounds_left = (uint64_t)scan->count * 10;
    do {
        scan->cursor = dict_scan(&call->db->main, scan->cursor, collect, call);
    } while (scan->cursor != 0 && rounds_left-- != 0 &&
             reply_position(call) - first < (uint64_t)scan->count);
}

/* The type filter is a look-up of its own: it deletes an expired key and counts a hit or a miss. A
 * key deleted by it is "none", and then no longer expired either, so TYPE none returns it. */
static bool passes(struct call *call, const struct scan *scan, key_id key) {
    if (scan->type != TYPE_ANY) {
        enum type_filter type = db_lookup(call->db, key, LOOKUP_READ) ? TYPE_STRING : TYPE_NONE;
        if (type != scan->type) return false;
    }
    return !db_expire_if_needed(call->db, key);
}

/* Keys of all visited buckets are together before the first is filtered, as in the server. Returns
 * how many stay. */
static int64_t filter(struct call *call, const struct scan *scan, uint32_t first) {
    uint32_t kept = first;
    struct engine *engine = call->engine;
    for (uint32_t i = first; i < engine->reply_count; i++) {
        struct reply_item item = engine->reply[i];
        if (passes(call, scan, item.key)) engine->reply[kept++] = item;
    }
    engine->reply_count = kept;
    return kept - first;
}

void cmd_scan(struct call *call) {
    struct scan scan = {.count = 10};
    if (!read_cursor(call, &scan.cursor)) return;
    for (uint32_t i = 2; i < call->argc; i += 2)
        if (!read_option(call, i, &scan)) return;
    uint32_t start = reply_position(call);
    reply_array(call, 2);
    reply_number_text(call, 0);
    reply_array(call, 0);
    walk(call, &scan);
    reply_set_length(call, start + 1, (int64_t)scan.cursor);
    reply_set_length(call, start + 2, filter(call, &scan, start + 3));
}

void cmd_randomkey(struct call *call) {
    key_id key = db_random_key(call->db);
    if (key == KEY_NONE)
        reply_nil(call);
    else
        reply_key(call, key);
}

/* Expired keys that are still there count. */
void cmd_dbsize(struct call *call) { reply_integer(call, (int64_t)dict_used(&call->db->main)); }
