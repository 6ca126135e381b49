#include "reply_queue.h"

#include <stdlib.h>

#define CHUNK_BYTES        16384 /* PROTO_REPLY_CHUNK_BYTES */
#define BLOCK_HEADER_BYTES 16    /* size and used (5.0 clientReplyBlock) */
#define LIST_NODE_BYTES    24

static struct reply_block *block_at(const struct reply_queue *q, uint32_t index) {
    return &q->blocks[(q->first + index) % q->block_capacity];
}

static void grow(struct reply_queue *q) {
    uint32_t capacity = q->block_capacity ? q->block_capacity * 2 : 16;
    struct reply_block *blocks = malloc(capacity * sizeof *blocks);
    ASSERT(blocks);
    for (uint32_t i = 0; i < q->block_count; i++) blocks[i] = *block_at(q, i);
    free(q->blocks);
    q->blocks = blocks;
    q->block_capacity = capacity;
    q->first = 0;
}

static void add_block(struct reply_queue *q, struct memory *memory, uint64_t bytes) {
    uint64_t request = (bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES) + BLOCK_HEADER_BYTES;
    if (q->block_count == q->block_capacity) grow(q);
    uint64_t usable = memory_take(memory, MEMORY_REPLICA_BUFFERS, request);
    q->booked_bytes += usable + memory_take(memory, MEMORY_REPLICA_BUFFERS, LIST_NODE_BYTES);
    uint64_t size = usable - BLOCK_HEADER_BYTES;
    q->reply_bytes += size;
    *block_at(q, q->block_count++) = (struct reply_block){.size_bytes = size, .used_bytes = bytes};
}

static void drop_head(struct reply_queue *q, struct memory *memory) {
    uint64_t size = block_at(q, 0)->size_bytes;
    q->booked_bytes -= memory_give(memory, MEMORY_REPLICA_BUFFERS, size + BLOCK_HEADER_BYTES);
    q->booked_bytes -= memory_give(memory, MEMORY_REPLICA_BUFFERS, LIST_NODE_BYTES);
    q->reply_bytes -= size;
    q->first = (q->first + 1) % q->block_capacity;
    q->block_count--;
    q->head_sent = 0;
}

static void put_in_list(struct reply_queue *q, struct memory *memory, uint64_t bytes) {
    if (q->block_count > 0) {
        struct reply_block *tail = block_at(q, q->block_count - 1);
        uint64_t room = tail->size_bytes - tail->used_bytes;
        uint64_t taken = bytes < room ? bytes : room;
        tail->used_bytes += taken;
        bytes -= taken;
    }
    if (bytes > 0) add_block(q, memory, bytes);
}

/* A token is never parted between the client's own buffer and the list. */
void reply_queue_put(struct reply_queue *q, struct memory *memory, uint64_t bytes) {
    q->pending_bytes += bytes;
    if (q->block_count == 0 && bytes <= CHUNK_BYTES - q->buffer_bytes)
        q->buffer_bytes += bytes;
    else
        put_in_list(q, memory, bytes);
}

/* Room in the client's own buffer comes back only when all that was in it has gone. */
static uint64_t take_from_buffer(struct reply_queue *q, uint64_t bytes) {
    uint64_t left = q->buffer_bytes - q->buffer_sent;
    uint64_t taken = bytes < left ? bytes : left;
    q->buffer_sent += taken;
    if (q->buffer_sent == q->buffer_bytes) q->buffer_bytes = q->buffer_sent = 0;
    return bytes - taken;
}

void reply_queue_take(struct reply_queue *q, struct memory *memory, uint64_t bytes) {
    ASSERT(bytes <= q->pending_bytes);
    q->pending_bytes -= bytes;
    bytes = take_from_buffer(q, bytes);
    while (bytes > 0) {
        uint64_t left = block_at(q, 0)->used_bytes - q->head_sent;
        uint64_t taken = bytes < left ? bytes : left;
        q->head_sent += taken;
        bytes -= taken;
        if (taken == left) drop_head(q, memory);
    }
}

void reply_queue_drop(struct reply_queue *q, struct memory *memory) {
    while (q->block_count > 0) drop_head(q, memory);
    free(q->blocks);
    *q = (struct reply_queue){0};
}

uint64_t reply_queue_memory(const struct reply_queue *q) {
    return q->reply_bytes + q->block_count * (uint64_t)(LIST_NODE_BYTES + BLOCK_HEADER_BYTES);
}

void reply_queue_check(const struct reply_queue *q) {
    uint64_t pending = q->buffer_bytes - q->buffer_sent, sizes = 0;
    for (uint32_t i = 0; i < q->block_count; i++) {
        const struct reply_block *block = block_at(q, i);
        ASSERT(block->used_bytes > 0 && block->used_bytes <= block->size_bytes);
        ASSERT(i + 1 == q->block_count || block->used_bytes == block->size_bytes);
        pending += block->used_bytes - (i == 0 ? q->head_sent : 0);
        sizes += block->size_bytes;
    }
    ASSERT(q->buffer_bytes <= CHUNK_BYTES && q->buffer_sent <= q->buffer_bytes);
    ASSERT(pending == q->pending_bytes && sizes == q->reply_bytes);
}
