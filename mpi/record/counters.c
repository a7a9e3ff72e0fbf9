// SPDX-License-Identifier: BSD-3-Clause
// Counts bytes and messages per phase, kind, peer and, in v-collectives, communicator. One hash table per phase needs
// O(peers) memory.
//
// A signal handler may read these tables at any time (crash_dump.c). So a full table is replaced by one atomic store,
// and old tables are not freed, because another thread's handler may still read them. All old tables together are
// smaller than the newest table.
#include <stdatomic.h>
#include <stdlib.h>

#include "record.h"

enum { first_capacity = 32, max_phases = 256 };

struct phase* _Atomic record_phases;
struct phase* record_phase;
static int phase_count_;
static struct counter*
    last_;  // last counter in the current table: consecutive messages often have the same peer

static uint64_t hash_key(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 32);
}

static struct counter_table* allocate_table(uint64_t capacity) {
    struct counter_table* table = calloc(1, sizeof *table + capacity * sizeof(struct counter));
    if (table != NULL) table->mask = capacity - 1;
    return table;
}

static struct counter* find_counter(struct counter_table* table, uint64_t key) {
    uint64_t i = hash_key(key) & table->mask;
    while (table->slots[i].key != 0 && table->slots[i].key != key) i = (i + 1) & table->mask;
    return &table->slots[i];
}

static struct counter_table* grow_table(const struct counter_table* old) {
    struct counter_table* table = allocate_table(2 * (old->mask + 1));
    if (table == NULL) return NULL;
    table->used = old->used;
    for (uint64_t i = 0; i <= old->mask; ++i)
        if (old->slots[i].key != 0) *find_counter(table, old->slots[i].key) = old->slots[i];
    return table;
}

void count_messages(enum transfer_kind kind, uint32_t communicator, int peer, int64_t bytes,
                    int64_t messages) {
    const uint64_t key = 1 + kind + ((uint64_t)peer << 3) + ((uint64_t)communicator << 34);
    struct counter* counter = last_;
    if (counter == NULL || counter->key != key) {
        struct counter_table* table = record_phase->counters;
        counter = find_counter(table, key);
        if (counter->key == 0) {
            if (10 * table->used >= 7 * table->mask) {
                table = grow_table(table);
                if (table == NULL) {
                    ++record_lost;
                    return;
                }
                record_phase->counters = table;
                counter = find_counter(table, key);
            }
            ++table->used;
            counter->key = key;
        }
        last_ = counter;
    }
    counter->bytes += bytes;
    counter->messages += messages;
}

/// Begins or continues a phase. Programs may pass an iteration number to MPI_Pcontrol, so at most 256 phases are
/// created: after these, the last phase continues.
void set_phase(int level) {
    for (struct phase* phase = record_phases; phase != NULL; phase = phase->next) {
        if (phase->level != level) continue;
        if (phase != record_phase) last_ = NULL;
        record_phase = phase;
        return;
    }
    if (phase_count_ == max_phases) return;
    struct phase* phase = calloc(1, sizeof *phase);
    struct counter_table* counters = allocate_table(first_capacity);
    struct collective_table* collectives =
        calloc(1, sizeof *collectives + first_capacity * sizeof(struct collective_counter));
    if (phase == NULL || counters == NULL || collectives == NULL) {
        free(phase);
        free(counters);
        free(collectives);
        return;
    }
    collectives->mask = first_capacity - 1;
    phase->level = level;
    phase->counters = counters;
    phase->collectives = collectives;
    phase->next = record_phases;
    record_phases = phase;
    record_phase = phase;
    last_ = NULL;
    ++phase_count_;
}
