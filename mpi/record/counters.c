// SPDX-License-Identifier: BSD-3-Clause
// Bytes and messages per phase, kind and peer: one hash table a phase, O(peers) memory.
//
// A signal may arrive at any moment and its handler reads these tables (partial.c). So a table that has
// become too small is replaced by one store, and the old one is kept, since another thread's handler may
// still be reading it (the old ones together are smaller than the newest).
#include <stdatomic.h>
#include <stdlib.h>

#include "record.h"

enum { first_capacity = 32, most_phases = 256 };

struct phase* _Atomic record_phases;
struct phase* record_phase;
static int phase_count_;
static struct counter* last_;  // of the current table: consecutive messages often go to the same peer

static uint64_t hash(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 32);
}

static struct counter_table* table_new(uint64_t capacity) {
    struct counter_table* table = calloc(1, sizeof *table + capacity * sizeof(struct counter));
    if (table != NULL) table->mask = capacity - 1;
    return table;
}

static struct counter* find(struct counter_table* table, uint64_t key) {
    uint64_t i = hash(key) & table->mask;
    while (table->slots[i].key != 0 && table->slots[i].key != key) i = (i + 1) & table->mask;
    return &table->slots[i];
}

static struct counter_table* grown(const struct counter_table* old) {
    struct counter_table* table = table_new(2 * (old->mask + 1));
    if (table == NULL) return NULL;
    table->used = old->used;
    for (uint64_t i = 0; i <= old->mask; ++i)
        if (old->slots[i].key != 0) *find(table, old->slots[i].key) = old->slots[i];
    return table;
}

void counter_add(enum kind kind, int peer, int64_t bytes, int64_t messages) {
    const uint64_t key = 1 + 8 * (uint64_t)peer + kind;
    struct counter* counter = last_;
    if (counter == NULL || counter->key != key) {
        struct counter_table* table = record_phase->counters;
        counter = find(table, key);
        if (counter->key == 0) {
            if (10 * table->used >= 7 * table->mask) {
                table = grown(table);
                if (table == NULL) {
                    ++record_lost;
                    return;
                }
                record_phase->counters = table;
                counter = find(table, key);
            }
            ++table->used;
            counter->key = key;
        }
        last_ = counter;
    }
    counter->bytes += bytes;
    counter->messages += messages;
}

/// Programs that pass an iteration number to MPI_Pcontrol get the first 256 phases; later ones stay in the
/// last of them.
void phase_set(int level) {
    for (struct phase* phase = record_phases; phase != NULL; phase = phase->next) {
        if (phase->level != level) continue;
        if (phase != record_phase) last_ = NULL;
        record_phase = phase;
        return;
    }
    if (phase_count_ == most_phases) return;
    struct phase* phase = calloc(1, sizeof *phase);
    struct counter_table* counters = table_new(first_capacity);
    struct record_table* records = calloc(1, sizeof *records + first_capacity * sizeof(struct record));
    if (phase == NULL || counters == NULL || records == NULL) {
        free(phase);
        free(counters);
        free(records);
        return;
    }
    records->mask = first_capacity - 1;
    phase->level = level;
    phase->counters = counters;
    phase->records = records;
    phase->next = record_phases;
    record_phases = phase;
    record_phase = phase;
    last_ = NULL;
    ++phase_count_;
}
