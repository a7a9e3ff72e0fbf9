// SPDX-License-Identifier: BSD-3-Clause
// Operation counts of this process per communicator.
#ifndef TOPOLOOM_NCCL_COMMUNICATOR_H
#define TOPOLOOM_NCCL_COMMUNICATOR_H

#include "counts.h"

struct communicator {
    struct operation_counts counts;
    _Atomic uint64_t id;  // communicator id; before version 4 of the interface, 0 until the first event
    _Atomic int rank;
    int ranks;  // 0 before version 4
    int nodes;
    int device;
    int process;  // process that opened the communicator; differs in forked children
    int is_written;
    struct communicator* next;
};

/// Opens a communicator. Returns NULL, after a message on stderr, if no file can be written or memory is exhausted.
struct communicator* open_communicator(uint64_t id, int rank, int ranks, int nodes);

/// Sets id and rank if they were unknown to open_communicator.
static inline void identify_communicator(struct communicator* comm, uint64_t id, int rank) {
    if (atomic_load_explicit(&comm->id, memory_order_relaxed) != 0) return;
    atomic_store_explicit(&comm->rank, rank, memory_order_relaxed);
    atomic_store_explicit(&comm->id, id, memory_order_relaxed);
}

/// Writes the counts, and frees the communicator.
void close_communicator(struct communicator* comm);

#endif
