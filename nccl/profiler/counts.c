// SPDX-License-Identifier: BSD-3-Clause
#include "counts.h"

#include <stdlib.h>
#include <string.h>

enum { EMPTY, CLAIMED, FILLED };

int make_counts(struct operation_counts* counts, uint64_t kinds) {
    uint64_t size = 64;
    while (size * 3 / 4 < kinds) size *= 2;
    memset(counts, 0, sizeof *counts);
    counts->entries = aligned_alloc(sizeof(struct count_entry), size * sizeof(struct count_entry));
    counts->functions = calloc(size, sizeof *counts->functions);
    if (counts->entries == NULL || counts->functions == NULL) {
        free_counts(counts);
        return -1;
    }
    memset(counts->entries, 0, size * sizeof(struct count_entry));
    counts->mask = size - 1;
    counts->limit = size * 3 / 4;  // keeps the hash table sparse, so that searches are short
    return 0;
}

void free_counts(struct operation_counts* counts) {
    free(counts->entries);
    free(counts->functions);
}

/// Reads the number of bits per element, which is the first number in a name such as ncclFloat8e4m3. Returns
/// it in bytes; 0 = unknown.
static uint32_t get_element_bytes(const char* datatype) {
    // NCCL reports "Unknown" for ncclUint8; RCCL does so for its 8-bit floats, too.
    if (strcmp(datatype, "Unknown") == 0) return 1;
    const char* digits = datatype + strcspn(datatype, "0123456789");
    const long bits = strtol(digits, NULL, 10);
    return bits > 0 && bits % 8 == 0 ? (uint32_t)(bits / 8) : 0;
}

static uint64_t hash_operation(const struct operation* operation) {
    uint64_t h = (uint64_t)(uintptr_t)operation->function * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)(uintptr_t)operation->datatype) * 0xbf58476d1ce4e5b9u;
    h = (h ^ operation->count ^ h >> 29) * 0x94d049bb133111ebu;
    h = (h ^ (uint64_t)(uint32_t)operation->peer ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static int is_same_kind(const struct count_entry* entry, const struct operation* operation) {
    return entry->count == operation->count && entry->peer == operation->peer &&
           entry->function == operation->function && entry->datatype == operation->datatype;
}

static void fill_entry(struct operation_counts* counts, struct count_entry* entry,
                       const struct operation* operation) {
    entry->peer = operation->peer;
    entry->function = operation->function;
    entry->datatype = operation->datatype;
    entry->count = operation->count;
    entry->element_bytes = get_element_bytes(operation->datatype);
    char* name = counts->functions[entry - counts->entries];
    strncpy(name, operation->function, sizeof *counts->functions - 1);
    atomic_store_explicit(&entry->state, FILLED, memory_order_release);
}

/// Finds or creates the entry of an operation. Returns NULL if the table is full.
static struct count_entry* find_entry(struct operation_counts* counts, const struct operation* operation) {
    for (uint64_t at = hash_operation(operation);; at++) {
        struct count_entry* entry = &counts->entries[at & counts->mask];
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == FILLED && is_same_kind(entry, operation)) return entry;
        if (state != EMPTY)
            continue;  // CLAIMED: skip the entry without waiting; the same kind may thus get a second entry
        if (atomic_fetch_add_explicit(&counts->used, 1, memory_order_relaxed) >= counts->limit) {
            atomic_fetch_sub_explicit(&counts->used, 1, memory_order_relaxed);
            return NULL;
        }
        if (atomic_compare_exchange_strong_explicit(&entry->state, &state, CLAIMED, memory_order_acquire,
                                                    memory_order_relaxed)) {
            fill_entry(counts, entry, operation);
            return entry;
        }
        atomic_fetch_sub_explicit(&counts->used, 1, memory_order_relaxed);
    }
}

void count_collective(struct operation_counts* counts, const struct operation* collective) {
    struct count_entry* entry = find_entry(counts, collective);
    _Atomic uint64_t* counter = entry ? &entry->calls : &counts->lost;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void count_message(struct operation_counts* counts, const struct operation* message) {
    const struct operation any_size = {message->function, message->datatype, 0, message->peer};
    struct count_entry* entry = find_entry(counts, &any_size);
    _Atomic uint64_t* counter = entry ? &entry->calls : &counts->lost;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    if (entry) atomic_fetch_add_explicit(&entry->elements, message->count, memory_order_relaxed);
}
