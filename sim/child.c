#include "child.h"

__extension__ typedef unsigned __int128 u128;

#define PORTION_BYTES (UINT64_C(16) << 10)
#define PIPE_PORTIONS 4 /* 64 KiB, as Linux makes a pipe */

void child_fork(struct child *child, struct snapshot *snapshot, const struct price_table *prices) {
    child_end(child);
    *child = (struct child){.snapshot = snapshot,
                            .number = child->number + 1,
                            .all_bytes = snapshot->rdb_bytes + SNAPSHOT_EOF_MARK_BYTES,
                            .file_ps = snapshot->count * prices->ps[COST_SAVE_KEY] +
                                       ceil_div(snapshot->rdb_bytes, BYTES_PER_KIB) *
                                           prices->ps[COST_SAVE_KIB]};
}

void child_end(struct child *child) {
    snapshot_release(child->snapshot);
    child->snapshot = NULL;
}

uint64_t child_portion_bytes(const struct child *child) {
    uint64_t left = child->all_bytes - child->read_bytes;
    return left < PORTION_BYTES ? left : PORTION_BYTES;
}

static ns_t child_portion_ns(const struct child *child) {
    u128 ps = (u128)child->file_ps * child_portion_bytes(child) / child->all_bytes;
    return (ns_t)(ps / PS_PER_NS);
}

void child_begin(struct child *child, ns_t now_ns) {
    child->begun = true;
    child->ready_ns = now_ns + child_portion_ns(child);
}

/* It is never further ahead than the pipe holds. */
bool child_read(struct child *child, ns_t now_ns) {
    child->read_bytes += child_portion_bytes(child);
    child->under_way = false;
    if (child->read_bytes == child->all_bytes) {
        child_end(child);
        return true;
    }
    ns_t portion_ns = child_portion_ns(child), earliest_ns = now_ns - PIPE_PORTIONS * portion_ns;
    if (child->ready_ns < earliest_ns) child->ready_ns = earliest_ns;
    child->ready_ns += portion_ns;
    return false;
}
