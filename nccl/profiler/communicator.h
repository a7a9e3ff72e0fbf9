// SPDX-License-Identifier: BSD-3-Clause
/// What this process did on one communicator, and where that is written.
#ifndef TOPOLOOM_NCCL_COMMUNICATOR_H
#define TOPOLOOM_NCCL_COMMUNICATOR_H

#include "table.h"

struct communicator {
    struct table table;
    _Atomic uint64_t id;  // 0 until the first event says it, before version 4
    _Atomic int rank;
    int ranks;  // 0 if nothing says it, before version 4
    int nodes;
    int device;
    int process;  // that began it; its children only have copies
    int is_written;
    struct communicator* next;
};

/// Begin a communicator; NULL, after one line on stderr, if nothing can be written or there is no memory.
struct communicator* communicator_begin(uint64_t id, int rank, int ranks, int nodes);

/// Say which communicator it is, where its beginning did not.
static inline void communicator_is(struct communicator* one, uint64_t id, int rank) {
    if (atomic_load_explicit(&one->id, memory_order_relaxed) != 0) return;
    atomic_store_explicit(&one->rank, rank, memory_order_relaxed);
    atomic_store_explicit(&one->id, id, memory_order_relaxed);
}

/// Write what was counted, and free it.
void communicator_end(struct communicator* one);

#endif
