// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { EMPTY, CLAIMED, FILLED };

int table_make(struct table* table, uint64_t kinds) {
    uint64_t size = 64;
    while (size * 3 / 4 < kinds) size *= 2;
    memset(table, 0, sizeof *table);
    table->entries = aligned_alloc(sizeof(struct entry), size * sizeof(struct entry));
    table->functions = calloc(size, sizeof *table->functions);
    if (table->entries == NULL || table->functions == NULL) {
        table_free(table);
        return -1;
    }
    memset(table->entries, 0, size * sizeof(struct entry));
    table->mask = size - 1;
    table->limit = size * 3 / 4;  // so that a search soon meets an empty entry
    return 0;
}

void table_free(struct table* table) {
    free(table->entries);
    free(table->functions);
}

/// Bits of the first number in names such as ncclFloat8e4m3 make the size.
static uint32_t element_bytes(const char* datatype) {
    // The one type that NCCL has no name for is ncclUint8; RCCL has none for its 8-bit floats either.
    if (strcmp(datatype, "Unknown") == 0) return 1;
    const char* digits = datatype + strcspn(datatype, "0123456789");
    const long bits = strtol(digits, NULL, 10);
    return bits > 0 && bits % 8 == 0 ? (uint32_t)(bits / 8) : 0;
}

static uint64_t hash(const struct operation* one) {
    uint64_t h = (uint64_t)(uintptr_t)one->function * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)(uintptr_t)one->datatype) * 0xbf58476d1ce4e5b9u;
    h = (h ^ one->count ^ h >> 29) * 0x94d049bb133111ebu;
    h = (h ^ (uint64_t)(uint32_t)one->place ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static int is_alike(const struct entry* entry, const struct operation* one) {
    return entry->count == one->count && entry->place == one->place && entry->function == one->function &&
           entry->datatype == one->datatype;
}

static void fill(struct table* table, struct entry* entry, const struct operation* one) {
    entry->place = one->place;
    entry->function = one->function;
    entry->datatype = one->datatype;
    entry->count = one->count;
    entry->element_bytes = element_bytes(one->datatype);
    char* word = table->functions[entry - table->entries];
    strncpy(word, one->function, sizeof *table->functions - 1);
    atomic_store_explicit(&entry->state, FILLED, memory_order_release);
}

/// Return the entry of an operation, a new one if need be; NULL if the table is full.
static struct entry* find(struct table* table, const struct operation* one) {
    for (uint64_t at = hash(one);; at++) {
        struct entry* entry = &table->entries[at & table->mask];
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == FILLED && is_alike(entry, one)) return entry;
        if (state != EMPTY) continue;  // Not waiting for one that is being filled makes a second of its kind.
        if (atomic_fetch_add_explicit(&table->used, 1, memory_order_relaxed) >= table->limit) {
            atomic_fetch_sub_explicit(&table->used, 1, memory_order_relaxed);
            return NULL;
        }
        if (atomic_compare_exchange_strong_explicit(&entry->state, &state, CLAIMED, memory_order_acquire,
                                                    memory_order_relaxed)) {
            fill(table, entry, one);
            return entry;
        }
        atomic_fetch_sub_explicit(&table->used, 1, memory_order_relaxed);
    }
}

void table_count(struct table* table, const struct operation* collective) {
    struct entry* entry = find(table, collective);
    _Atomic uint64_t* counter = entry ? &entry->calls : &table->lost;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void table_count_message(struct table* table, const struct operation* message) {
    const struct operation any_size = {message->function, message->datatype, 0, message->place};
    struct entry* entry = find(table, &any_size);
    _Atomic uint64_t* counter = entry ? &entry->calls : &table->lost;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    if (entry) atomic_fetch_add_explicit(&entry->elements, message->count, memory_order_relaxed);
}
