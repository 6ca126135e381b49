#include "request.h"

/* "*2\r\n": a mark, a number and a line end, which is also how each bulk string begins. */
static uint32_t prefix_bytes(uint32_t number) { return 1 + decimal_length(number) + 2; }

uint32_t request_resp_bytes(const struct arg *argv, uint32_t argc) {
    uint32_t bytes = prefix_bytes(argc);
    for (uint32_t i = 0; i < argc; i++) {
        bytes += prefix_bytes(argv[i].length) + argv[i].length + 2;
    }
    return bytes;
}
