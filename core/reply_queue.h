/* reply_queue: what one replica has still to be sent, where each has a copy of its own: before 7.0
 * (5.0 networking.c _addReplyToBuffer, _addReplyProtoToList and writeToClient; engine facts 7.2.9).
 * The first 16 KiB stand in the client itself and count for nothing; what finds no room there, or
 * finds blocks waiting already, goes to a list of blocks of 16 KiB, or as large as itself. Only
 * sizes are kept. Invariants: of a block that is not the last nothing is unused; `pending_bytes` is
 * what was put in and not yet taken. The queue owns its array; its modelled memory is booked under
 * MEMORY_REPLICA_BUFFERS. */
#ifndef LAPSE_CORE_REPLY_QUEUE_H
#define LAPSE_CORE_REPLY_QUEUE_H

#include "base.h"
#include "memory.h"

struct reply_block {
    uint64_t size_bytes; /* payload it can hold */
    uint64_t used_bytes;
};

struct reply_queue {
    uint64_t buffer_bytes, buffer_sent; /* in the client itself */
    struct reply_block *blocks;         /* ring of capacity block_capacity */
    uint32_t first, block_count, block_capacity;
    uint64_t head_sent; /* of the first block */
    uint64_t pending_bytes;
    uint64_t reply_bytes;  /* sizes of the blocks, as the server sums them */
    uint64_t booked_bytes; /* in the ledger */
};

/* One RESP token. */
void reply_queue_put(struct reply_queue *, struct memory *, uint64_t bytes);

/* The socket took so many of the pending bytes. */
void reply_queue_take(struct reply_queue *, struct memory *, uint64_t bytes);

/* The connection is gone. */
void reply_queue_drop(struct reply_queue *, struct memory *);

/* What client-output-buffer-limit is compared with: blocks, their headers and their list nodes
 * (5.0 getClientOutputBufferMemoryUsage). */
uint64_t reply_queue_memory(const struct reply_queue *);

void reply_queue_check(const struct reply_queue *);

#endif
