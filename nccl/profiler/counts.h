// SPDX-License-Identifier: BSD-3-Clause
// Counts operations: a table of fixed size that threads fill without a lock.
#ifndef TOPOLOOM_NCCL_COUNTS_H
#define TOPOLOOM_NCCL_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/// Strings are compared by address, because NCCL has each only once.
struct operation {
    const char* function;
    const char* datatype;
    uint64_t count;  // elements
    int32_t peer;    // the root of a collective, or the peer of a message
};

/// Counts of one kind of operation. Several entries may have the same kind; their counts add up.
struct entry {
    _Alignas(64) _Atomic uint32_t state;  // one cache line per entry
    int32_t peer;
    const char* function;
    const char* datatype;
    uint64_t count;  // of a collective; 0 for messages, whose sizes may differ
    _Atomic uint64_t calls;
    _Atomic uint64_t elements;  // sum over all messages
    uint32_t element_bytes;     // 0 = unknown datatype
};

struct counts {
    struct entry* entries;
    char (*functions)[24];  // copies: NCCL may be unloaded when they are written
    uint64_t mask;
    uint64_t limit;
    _Atomic uint64_t used;
    _Atomic uint64_t lost;
};

/// For at least `kinds` kinds of operations; -1 = no memory.
int make_counts(struct counts* counts, uint64_t kinds);
void free_counts(struct counts* counts);

/// By size and root.
void count_collective(struct counts* counts, const struct operation* collective);
/// By peer.
void count_message(struct counts* counts, const struct operation* message);

/// Whether the entry may be read.
static inline int is_filled(struct entry* entry) {
    return atomic_load_explicit(&entry->state, memory_order_acquire) == 2;
}

#endif
