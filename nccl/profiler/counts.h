// SPDX-License-Identifier: BSD-3-Clause
// Counts operations in a hash table of fixed size, which threads update without a lock.
#ifndef TOPOLOOM_NCCL_COUNTS_H
#define TOPOLOOM_NCCL_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/// An operation. Strings are compared by address, because NCCL stores each string once.
struct operation {
    const char* function;
    const char* datatype;
    uint64_t count;  // elements
    int32_t peer;    // root of a collective, or peer of a message
};

/// Counter for one kind of operation. A kind may have several entries, whose counts must be added.
struct count_entry {
    _Alignas(64) _Atomic uint32_t state;  // aligned, so that each entry has its own cache line
    int32_t peer;
    const char* function;
    const char* datatype;
    uint64_t count;  // elements of a collective; 0 for messages, whose sizes may differ
    _Atomic uint64_t calls;
    _Atomic uint64_t elements;  // number of elements in all messages
    uint32_t element_bytes;     // 0 = unknown datatype
};

struct operation_counts {
    struct count_entry* entries;
    char (*functions)[24];  // copies of function names: NCCL may be unloaded before they are written
    uint64_t mask;
    uint64_t limit;
    _Atomic uint64_t used;
    _Atomic uint64_t lost;
};

/// Allocates a table for at least `kinds` kinds of operations. Returns -1 if memory is exhausted.
int make_counts(struct operation_counts* counts, uint64_t kinds);
void free_counts(struct operation_counts* counts);

/// Counts a collective; its size and root are part of its kind.
void count_collective(struct operation_counts* counts, const struct operation* collective);
/// By peer.
void count_message(struct operation_counts* counts, const struct operation* message);

/// Whether the entry is complete and can be read.
static inline int is_filled(struct count_entry* entry) {
    return atomic_load_explicit(&entry->state, memory_order_acquire) == 2;
}

#endif
