/* backlog: offset and history of the stream, and the memory of the shared replication buffer (7.0
 * replication.c; engine facts 7.2), or, before 7.0, of a ring and of each replica's own copy. One
 * list of blocks serves the backlog and every replica; each holds a reference to the block it still
 * needs. Only sizes are kept here, the bytes are the sink's business. Offsets count from 1:
 * master_repl_offset bytes were fed. Invariants: repl_buffer_bytes is the sum over blocks of usable
 * + 24; histlen is what the kept blocks hold. */
#ifndef LAPSE_CORE_BACKLOG_H
#define LAPSE_CORE_BACKLOG_H

#include "base.h"
#include "memory.h"
#include "reply_queue.h"

#define REPLICAS_MAX 16

/* How a generation keeps the stream. */
struct backlog_policy {
    uint32_t block_share; /* a block is at most the backlog's size divided by this, 16 KiB at least;
                             0: as large as a write, which 7.0.0 to 7.0.9 let it be (redis issue
                             11666) */
    bool is_private; /* before 7.0: the backlog is a ring of exactly its size, there whole from the
                        start, and each replica has its own copy of what it has not been sent
                        (reply_queue.h) */
};

struct repl_block {
    int64_t offset;      /* of its first byte */
    uint64_t size_bytes; /* payload it can hold */
    uint64_t used_bytes;
    uint64_t booked_bytes; /* usable size of block and list node */
    uint32_t references;
};

struct backlog_reader { /* a replica */
    bool attached;
    bool reading;             /* holds a reference */
    uint64_t block;           /* serial number of the block it needs next */
    int64_t sent_offset;      /* bytes up to here have left for its socket */
    struct reply_queue queue; /* where copies are private */
};

struct backlog {
    struct memory *memory;
    const struct backlog_policy *policy; /* backlog_init's is 7.0.15's */
    struct repl_block *blocks; /* ring of capacity block_capacity, serial numbers first_block.. */
    uint64_t block_capacity;
    uint64_t first_block;
    uint64_t block_count;
    uint64_t size_bytes; /* repl-backlog-size */
    int64_t master_repl_offset;
    uint64_t histlen_bytes;
    uint64_t repl_buffer_bytes;
    bool active;
    bool holds;          /* the backlog references the head block */
    uint64_t ring_bytes; /* where it is private: as booked; 0: not there yet */
    struct backlog_reader readers[REPLICAS_MAX];
    /* Told after a block was added and the readers have their references, when the server looks at
     * its replicas' output limits; before 7.0 after every word that is fed. May be NULL. */
    void (*grown)(void *context);
    void *context;
};

void backlog_init(struct backlog *, struct memory *, uint64_t size_bytes);
void backlog_release(struct backlog *);
void backlog_activate(struct backlog *); /* when the first replica attaches */

/* CONFIG SET repl-backlog-size. A private ring starts anew: it forgets its history. */
void backlog_resize(struct backlog *, uint64_t size_bytes);

/* Appends one RESP token run of `bytes`: fills the tail, then at most one new block per call and
 * remainder. */
void backlog_feed(struct backlog *, uint64_t bytes);

/* A replica in sync at the present offset; returns its slot, or -1 if there is none left. */
int backlog_attach(struct backlog *);

/* The same for a reader (of none so far) that its owner has chosen: it wants the next byte that is
 * fed. */
void backlog_attach_next(struct backlog *, int reader);

/* It wants the byte at `offset` next, from backlog_first_offset to one past the last: its reference
 * goes to the block that holds the byte (7.0 addReplyReplicationBacklog). */
void backlog_attach_at(struct backlog *, int reader, int64_t offset);
void backlog_detach(struct backlog *, int reader);

/* Drops all history: nothing may be attached. Not active from then on; the next byte that is fed
 * to an active one comes after `offset`. */
void backlog_forget(struct backlog *, int64_t offset);

/* The replica's socket took everything up to `offset`. */
void backlog_sent(struct backlog *, int reader, int64_t offset);

/* Drops blocks that nobody needs beyond size_bytes, at most `blocks_max` of them. */
void backlog_trim(struct backlog *, uint32_t blocks_max);

/* What the reader holds as client-output-buffer-limit counts it: whole blocks from the one it needs
 * to the last, each with 64 bytes of header and list node (7.0 getClientOutputBufferMemoryUsage;
 * engine facts 7.8); before 7.0 its own queue. */
uint64_t backlog_reader_memory(const struct backlog *, int reader);

/* Bytes not yet sent to that reader. */
uint64_t backlog_pending_bytes(const struct backlog *, int reader);
int64_t backlog_first_offset(const struct backlog *);
void backlog_check(const struct backlog *);

#endif
