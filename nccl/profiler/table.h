// SPDX-License-Identifier: BSD-3-Clause
/// Counts of operations: a table of fixed size that any number of threads fill without a lock.
#ifndef TOPOLOOM_NCCL_TABLE_H
#define TOPOLOOM_NCCL_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/// An operation; words are compared by address, since NCCL has each once.
struct operation {
    const char* function;
    const char* datatype;
    uint64_t count;  // elements
    int32_t place;   // the root, or the peer of a message
};

/// Operations that are alike. Two entries may be of the same kind: their counts add up.
struct entry {
    _Alignas(64) _Atomic uint32_t state;  // a line of the cache per entry
    int32_t place;
    const char* function;
    const char* datatype;
    uint64_t count;  // of a collective; 0 for messages, whose sizes may all differ
    _Atomic uint64_t calls;
    _Atomic uint64_t elements;  // of all messages
    uint32_t element_bytes;     // 0 if the datatype is unknown
};

struct table {
    struct entry* entries;
    char (*functions)[24];  // beside the entries: NCCL may be gone when they are written
    uint64_t mask;
    uint64_t limit;
    _Atomic uint64_t used;
    _Atomic uint64_t lost;
};

/// Make a table for at least `kinds` kinds of operations; return 0, or -1 without memory.
int table_make(struct table* table, uint64_t kinds);
void table_free(struct table* table);

/// Count a collective, by its size and root.
void table_count(struct table* table, const struct operation* collective);
/// Count a message, by its peer.
void table_count_message(struct table* table, const struct operation* message);

/// Whether an entry has been filled, and may be read.
static inline int entry_is_filled(struct entry* entry) {
    return atomic_load_explicit(&entry->state, memory_order_acquire) == 2;
}

#endif
