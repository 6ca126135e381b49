#include "backlog.h"

#include <stdlib.h>

#define BLOCK_HEADER_BYTES 40 /* reference count, id, offset, size, used (7.0 replBufBlock) */
#define LIST_NODE_BYTES    24
#define BLOCK_BYTES_MIN    16384 /* PROTO_REPLY_CHUNK_BYTES */
#define TRIM_AFTER_FEED                                                                            \
    64 /* blocks dropped at most at one call (REPL_BACKLOG_TRIM_BLOCKS_PER_CALL) */

#define HELD_BLOCK_BYTES (BLOCK_HEADER_BYTES + LIST_NODE_BYTES) /* beside its payload */

static const struct backlog_policy usual_policy = {.block_share = 16};

void backlog_init(struct backlog *b, struct memory *memory, uint64_t size_bytes) {
    *b = (struct backlog){.memory = memory, .policy = &usual_policy, .size_bytes = size_bytes};
}

static struct repl_block *block_at(const struct backlog *b, uint64_t serial) {
    return &b->blocks[serial % b->block_capacity];
}

static uint64_t last_block(const struct backlog *b) { return b->first_block + b->block_count - 1; }

/* What the buffer takes beyond the backlog's size is the replicas', as INFO splits it
 * (mem_clients_slaves). */
static void split_classes(struct backlog *b) {
    int64_t over = 0, before = b->memory->bytes[MEMORY_REPLICA_BUFFERS];
    int64_t total = b->memory->bytes[MEMORY_BACKLOG] + before;
    for (int i = 0; i < REPLICAS_MAX; i++)
        if (b->readers[i].attached && total > (int64_t)b->size_bytes)
            over = total - (int64_t)b->size_bytes;
    if (over > before)
        memory_move(b->memory, MEMORY_BACKLOG, MEMORY_REPLICA_BUFFERS, (uint64_t)(over - before));
    if (over < before)
        memory_move(b->memory, MEMORY_REPLICA_BUFFERS, MEMORY_BACKLOG, (uint64_t)(before - over));
}

static void drop_head(struct backlog *b) {
    struct repl_block *head = block_at(b, b->first_block);
    int64_t needed = (int64_t)head->booked_bytes;
    if (b->memory->bytes[MEMORY_BACKLOG] < needed)
        memory_move(b->memory, MEMORY_REPLICA_BUFFERS, MEMORY_BACKLOG,
                    (uint64_t)(needed - b->memory->bytes[MEMORY_BACKLOG]));
    memory_give(b->memory, MEMORY_BACKLOG, head->size_bytes + BLOCK_HEADER_BYTES);
    memory_give(b->memory, MEMORY_BACKLOG, LIST_NODE_BYTES);
    b->repl_buffer_bytes -= head->size_bytes + BLOCK_HEADER_BYTES + LIST_NODE_BYTES;
    b->first_block++;
    b->block_count--;
}

/* --- before 7.0 --- */

static void private_drop_ring(struct backlog *b) {
    if (b->ring_bytes) memory_give(b->memory, MEMORY_BACKLOG, b->ring_bytes);
    b->ring_bytes = 0;
}

static void private_make_ring(struct backlog *b) {
    if (b->policy->is_private && b->active && !b->ring_bytes)
        b->ring_bytes = memory_take(b->memory, MEMORY_BACKLOG, b->size_bytes);
}

static void private_count(struct backlog *b) {
    b->repl_buffer_bytes = b->ring_bytes;
    for (int i = 0; i < REPLICAS_MAX; i++) b->repl_buffer_bytes += b->readers[i].queue.booked_bytes;
}

static void private_feed(struct backlog *b, uint64_t bytes) {
    uint64_t room = b->size_bytes - b->histlen_bytes;
    b->master_repl_offset += (int64_t)bytes;
    b->histlen_bytes += bytes < room ? bytes : room;
    for (int i = 0; i < REPLICAS_MAX; i++)
        if (b->readers[i].attached) reply_queue_put(&b->readers[i].queue, b->memory, bytes);
    private_count(b);
    if (b->grown) b->grown(b->context);
}

static void private_check(const struct backlog *b) {
    uint64_t booked = 0;
    for (int i = 0; i < REPLICAS_MAX; i++) {
        const struct backlog_reader *r = &b->readers[i];
        reply_queue_check(&r->queue);
        booked += r->queue.booked_bytes;
        ASSERT(!r->attached ||
               (int64_t)r->queue.pending_bytes == b->master_repl_offset - r->sent_offset);
    }
    ASSERT(b->histlen_bytes <= b->size_bytes && b->block_count == 0);
    ASSERT((int64_t)b->ring_bytes == b->memory->bytes[MEMORY_BACKLOG]);
    ASSERT((int64_t)booked == b->memory->bytes[MEMORY_REPLICA_BUFFERS]);
}

/* --- all --- */

void backlog_release(struct backlog *b) {
    private_drop_ring(b);
    for (int i = 0; i < REPLICAS_MAX; i++) reply_queue_drop(&b->readers[i].queue, b->memory);
    while (b->block_count > 0) drop_head(b);
    free(b->blocks);
    b->blocks = NULL;
}

void backlog_activate(struct backlog *b) {
    b->active = true;
    private_make_ring(b);
    if (b->policy->is_private) private_count(b);
}

void backlog_resize(struct backlog *b, uint64_t size_bytes) {
    bool is_same = size_bytes == b->size_bytes;
    b->size_bytes = size_bytes;
    backlog_trim(b, TRIM_AFTER_FEED);
    if (!b->policy->is_private || is_same) return;
    b->histlen_bytes = 0;
    private_drop_ring(b);
    private_make_ring(b);
    private_count(b);
}

static void grow_ring(struct backlog *b) {
    uint64_t capacity = b->block_capacity ? b->block_capacity * 2 : 64;
    struct repl_block *blocks = malloc(capacity * sizeof *blocks);
    ASSERT(blocks);
    for (uint64_t i = 0; i < b->block_count; i++)
        blocks[(b->first_block + i) % capacity] = *block_at(b, b->first_block + i);
    free(b->blocks);
    b->blocks = blocks;
    b->block_capacity = capacity;
}

/* A block as large as what remains, but at least 16 KiB and at most the generation's share of the
 * backlog (if that is more). */
static uint64_t block_request_bytes(const struct backlog *b, uint64_t remaining) {
    uint64_t least = remaining > BLOCK_BYTES_MIN ? remaining : BLOCK_BYTES_MIN;
    if (b->policy->block_share == 0) return least + BLOCK_HEADER_BYTES;
    uint64_t share = b->size_bytes / b->policy->block_share;
    uint64_t most = share > BLOCK_BYTES_MIN ? share : BLOCK_BYTES_MIN;
    return (least < most ? least : most) + BLOCK_HEADER_BYTES;
}

static struct repl_block *add_block(struct backlog *b, uint64_t remaining) {
    if (b->block_count == b->block_capacity) grow_ring(b);
    uint64_t usable = memory_take(b->memory, MEMORY_BACKLOG, block_request_bytes(b, remaining));
    uint64_t node = memory_take(b->memory, MEMORY_BACKLOG, LIST_NODE_BYTES);
    struct repl_block *block = block_at(b, b->first_block + b->block_count++);
    *block = (struct repl_block){.offset = b->master_repl_offset + 1,
                                 .size_bytes = usable - BLOCK_HEADER_BYTES,
                                 .booked_bytes = usable + node};
    b->repl_buffer_bytes += usable + LIST_NODE_BYTES;
    return block;
}

static uint64_t fill(struct backlog *b, struct repl_block *block, uint64_t bytes) {
    uint64_t room = block->size_bytes - block->used_bytes;
    uint64_t taken = bytes < room ? bytes : room;
    block->used_bytes += taken;
    b->master_repl_offset += (int64_t)taken;
    b->histlen_bytes += taken;
    return bytes - taken;
}

/* Whoever has read everything so far starts at the block that holds the first new byte. */
static void start_readers(struct backlog *b, uint64_t serial) {
    for (int i = 0; i < REPLICAS_MAX; i++) {
        struct backlog_reader *r = &b->readers[i];
        if (!r->attached || r->reading) continue;
        r->reading = true;
        r->block = serial;
        block_at(b, serial)->references++;
    }
}

static void after_new_block(struct backlog *b) {
    if (b->grown) b->grown(b->context);
    if (!b->holds) {
        b->holds = true;
        block_at(b, b->first_block)->references++;
    }
    backlog_trim(b, TRIM_AFTER_FEED);
}

void backlog_feed(struct backlog *b, uint64_t bytes) {
    if (!b->active || bytes == 0) return;
    if (b->policy->is_private) {
        private_feed(b, bytes);
        return;
    }
    uint64_t start = b->first_block + b->block_count;
    bool grown = false;
    if (b->block_count > 0) {
        struct repl_block *tail = block_at(b, last_block(b));
        if (tail->used_bytes < tail->size_bytes) start = last_block(b);
        bytes = fill(b, tail, bytes);
    }
    while (bytes > 0) {
        bytes = fill(b, add_block(b, bytes), bytes);
        grown = true;
    }
    start_readers(b, start);
    if (grown) after_new_block(b);
    split_classes(b);
}

int backlog_attach(struct backlog *b) {
    for (int i = 0; i < REPLICAS_MAX; i++) {
        if (b->readers[i].attached) continue;
        backlog_attach_next(b, i);
        return i;
    }
    return -1;
}

void backlog_attach_next(struct backlog *b, int reader) {
    ASSERT(!b->readers[reader].attached);
    b->readers[reader] =
        (struct backlog_reader){.attached = true, .sent_offset = b->master_repl_offset};
}

static void private_attach_at(struct backlog *b, struct backlog_reader *r) {
    int64_t owed = b->master_repl_offset - r->sent_offset;
    if (owed > 0) reply_queue_put(&r->queue, b->memory, (uint64_t)owed);
    private_count(b);
}

/* The first block that holds the byte or ends right before it; blocks follow each other without a
 * gap. */
static uint64_t block_for(const struct backlog *b, int64_t offset) {
    uint64_t serial = b->first_block;
    for (; serial < last_block(b); serial++) {
        const struct repl_block *block = block_at(b, serial);
        if (offset - block->offset <= (int64_t)block->used_bytes) break;
    }
    return serial;
}

void backlog_attach_at(struct backlog *b, int reader, int64_t offset) {
    struct backlog_reader *r = &b->readers[reader];
    ASSERT(offset >= backlog_first_offset(b) && offset <= b->master_repl_offset + 1);
    backlog_attach_next(b, reader);
    r->sent_offset = offset - 1;
    if (b->policy->is_private) {
        private_attach_at(b, r);
    } else if (b->block_count > 0) {
        r->reading = true;
        r->block = block_for(b, offset);
        block_at(b, r->block)->references++;
        split_classes(b);
    }
}

void backlog_forget(struct backlog *b, int64_t offset) {
    for (int i = 0; i < REPLICAS_MAX; i++) ASSERT(!b->readers[i].attached);
    private_drop_ring(b);
    while (b->block_count > 0) drop_head(b);
    b->active = b->holds = false;
    b->histlen_bytes = 0;
    b->master_repl_offset = offset;
    if (b->policy->is_private) private_count(b);
}

void backlog_detach(struct backlog *b, int reader) {
    struct backlog_reader *r = &b->readers[reader];
    if (r->reading) block_at(b, r->block)->references--;
    reply_queue_drop(&r->queue, b->memory);
    *r = (struct backlog_reader){.attached = false};
    if (b->policy->is_private) {
        private_count(b);
        return;
    }
    backlog_trim(b, TRIM_AFTER_FEED);
    split_classes(b);
}

static int64_t block_end(const struct repl_block *block) {
    return block->offset + (int64_t)block->used_bytes - 1;
}

/* A reader that is through with a block moves to the next; with the last one it stays. */
void backlog_sent(struct backlog *b, int reader, int64_t offset) {
    struct backlog_reader *r = &b->readers[reader];
    ASSERT(r->attached && offset >= r->sent_offset && offset <= b->master_repl_offset);
    if (b->policy->is_private) {
        reply_queue_take(&r->queue, b->memory, (uint64_t)(offset - r->sent_offset));
        r->sent_offset = offset;
        private_count(b);
        return;
    }
    r->sent_offset = offset;
    while (r->reading && r->block < last_block(b) && block_end(block_at(b, r->block)) <= offset) {
        block_at(b, r->block++)->references--;
        block_at(b, r->block)->references++;
        backlog_trim(b, TRIM_AFTER_FEED);
    }
    split_classes(b);
}

/* The head goes only if the backlog alone refers to it and what remains is still longer than the
 * backlog's size: "at least its size", and far more while a slow replica holds the head. */
void backlog_trim(struct backlog *b, uint32_t blocks_max) {
    while (blocks_max-- > 0 && b->histlen_bytes > b->size_bytes && b->block_count > 1) {
        struct repl_block *head = block_at(b, b->first_block);
        if (head->references != 1 || !b->holds) break;
        if (b->histlen_bytes - head->size_bytes <= b->size_bytes) break;
        b->histlen_bytes -= head->used_bytes;
        drop_head(b);
        block_at(b, b->first_block)->references++;
    }
}

uint64_t backlog_reader_memory(const struct backlog *b, int reader) {
    const struct backlog_reader *r = &b->readers[reader];
    if (b->policy->is_private) return reply_queue_memory(&r->queue);
    if (!r->reading) return 0;
    const struct repl_block *last = block_at(b, last_block(b)), *held = block_at(b, r->block);
    return (uint64_t)(last->offset - held->offset) + last->size_bytes +
           HELD_BLOCK_BYTES * (last_block(b) - r->block + 1);
}

uint64_t backlog_pending_bytes(const struct backlog *b, int reader) {
    return (uint64_t)(b->master_repl_offset - b->readers[reader].sent_offset);
}

int64_t backlog_first_offset(const struct backlog *b) {
    return b->active ? b->master_repl_offset - (int64_t)b->histlen_bytes + 1 : 0;
}

static uint32_t references_to(const struct backlog *b, uint64_t serial) {
    uint32_t count = b->holds && serial == b->first_block;
    for (int i = 0; i < REPLICAS_MAX; i++)
        count += b->readers[i].reading && b->readers[i].block == serial;
    return count;
}

void backlog_check(const struct backlog *b) {
    if (b->policy->is_private) {
        private_check(b);
        return;
    }
    uint64_t used = 0, booked = 0, shown = 0;
    int64_t next = backlog_first_offset(b);
    for (uint64_t i = 0; i < b->block_count; i++) {
        const struct repl_block *block = block_at(b, b->first_block + i);
        ASSERT(block->offset == next);
        ASSERT(block->used_bytes > 0 && block->used_bytes <= block->size_bytes);
        ASSERT(block->references == references_to(b, b->first_block + i));
        ASSERT(i + 1 == b->block_count || block->used_bytes == block->size_bytes);
        next += (int64_t)block->used_bytes;
        used += block->used_bytes;
        booked += block->booked_bytes;
        shown += block->size_bytes + BLOCK_HEADER_BYTES + LIST_NODE_BYTES;
    }
    ASSERT(used == b->histlen_bytes && shown == b->repl_buffer_bytes);
    ASSERT((int64_t)booked ==
           b->memory->bytes[MEMORY_BACKLOG] + b->memory->bytes[MEMORY_REPLICA_BUFFERS]);
    ASSERT(!b->active || next == b->master_repl_offset + 1);
}
