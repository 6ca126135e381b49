#include "talk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("lapse: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

enum exit_code say_unknown(const char *what, const char *word, const char *const *words) {
    const char *near = nearest_word(word, words);
    fprintf(stderr, "lapse: unknown %s '%s'", what, word);
    for (size_t i = 0; !near && words[i]; i++)
        fprintf(stderr, "%s%s", i ? ", " : "; expected one of ", words[i]);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fputc('\n', stderr);
    return EXIT_INPUT;
}

bool talk_has_colour(FILE *stream) {
    const char *refused = getenv("NO_COLOR");
    return !(refused && *refused) && isatty(fileno(stream));
}

static const char *count_print(char buffer[FIGURE_SIZE], int64_t count) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, count);
    size_t length = strlen(digits), used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > (digits[0] == '-') && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}

/* Three digits of value / unit: "5.81 s", "25.4 ms", "124 MiB". */
static const char *ratio_print(char buffer[FIGURE_SIZE], int64_t value, int64_t unit,
                               const char *name) {
    int64_t whole = value / unit;
    int64_t decimals = whole >= 100 ? 1 : whole >= 10 ? 10 : 100;
    int64_t scaled = (value * decimals + unit / 2) / unit;
    if (decimals == 1)
        snprintf(buffer, FIGURE_SIZE, "%" PRId64 " %s", scaled, name);
    else
        snprintf(buffer, FIGURE_SIZE, "%" PRId64 ".%0*" PRId64 " %s", scaled / decimals,
                 decimals == 10 ? 1 : 2, scaled % decimals, name);
    return buffer;
}

static const char *us_print(char buffer[FIGURE_SIZE], int64_t us) {
    if (us < 1000) return snprintf(buffer, FIGURE_SIZE, "%" PRId64 " us", us), buffer;
    if (us < 1000000) return ratio_print(buffer, us, 1000, "ms");
    if (us < 120000000) return ratio_print(buffer, us, 1000000, "s");
    if (us < INT64_C(7200000000)) return ratio_print(buffer, us, 60000000, "min");
    return ratio_print(buffer, us, INT64_C(3600000000), "h");
}

static const char *bytes_print(char buffer[FIGURE_SIZE], int64_t bytes) {
    if (bytes < 1024) return snprintf(buffer, FIGURE_SIZE, "%" PRId64 " B", bytes), buffer;
    if (bytes < 1 << 20) return ratio_print(buffer, bytes, 1 << 10, "KiB");
    if (bytes < 1 << 30) return ratio_print(buffer, bytes, 1 << 20, "MiB");
    return ratio_print(buffer, bytes, 1 << 30, "GiB");
}

const char *figure_print(char buffer[FIGURE_SIZE], enum figure_kind kind, int64_t milli) {
    if (milli < 0 && kind != FIGURE_COUNT) return strcpy(buffer, "never");
    switch (kind) {
    case FIGURE_MS:
        if (milli < 1000000)
            return snprintf(buffer, FIGURE_SIZE, "%" PRId64 " ms", milli / 1000), buffer;
        return us_print(buffer, milli);
    case FIGURE_US:
        return us_print(buffer, milli / 1000);
    case FIGURE_BYTES:
        return bytes_print(buffer, milli / 1000);
    case FIGURE_PERCENT:
        snprintf(buffer, FIGURE_SIZE, "%" PRId64 ".%" PRId64 " %%", milli / 1000,
                 milli % 1000 / 100);
        return buffer;
    case FIGURE_COUNT:
        break;
    }
    return count_print(buffer, milli / 1000);
}
