// SPDX-License-Identifier: BSD-3-Clause
// Counts collectives by (operation, communicator, root, bytes). Stores the members of each communicator once.
#include <stdatomic.h>
#include <stdlib.h>

#include "record.h"

struct communicator* _Atomic record_communicators;

static uint64_t combine_hash(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x100000001B3u;
    return hash ^ (hash >> 29);
}

static uint64_t hash_members(int size, const int* members, int start, int stride) {
    uint64_t id = 0xCBF29CE484222325u;
    for (int i = 0; i < size; ++i)
        id = combine_hash(id, (uint64_t)(members ? members[i] : start + i * stride));
    id &= INT64_MAX;  // ids are written as signed words, and must be positive
    return id == 0 ? 1 : id;
}

static bool is_strided(const int* members, int size) {
    for (int i = 2; i < size; ++i)
        if (members[i] - members[i - 1] != members[1] - members[0]) return false;
    return true;
}

/// Returns the world ranks of all members of `group` in allocated memory; NULL = memory exhausted.
static int* list_world_ranks(const struct rank_group* group) {
    const size_t size = (size_t)group->size;
    int* members = malloc(2 * size * sizeof *members);
    if (members == NULL) return NULL;
    int* ranks = members + size;
    for (int i = 0; i < group->size; ++i) ranks[i] = i;
    if (PMPI_Group_translate_ranks(group->mpi_group, group->size, ranks, record_world_group, members) ==
        MPI_SUCCESS)
        return members;
    free(members);
    return NULL;
}

/// Returns a new communicator with the members of `group`; NULL = memory exhausted.
static struct communicator* make_communicator(const struct rank_group* group) {
    struct communicator* communicator = calloc(1, sizeof *communicator);
    if (communicator == NULL) return NULL;
    communicator->size = group->size;
    communicator->stride = 1;
    if (!group->is_world) {
        int* members = list_world_ranks(group);
        if (members == NULL) {
            free(communicator);
            return NULL;
        }
        if (is_strided(members, group->size)) {
            communicator->start = members[0];
            communicator->stride = group->size > 1 ? members[1] - members[0] : 1;
            free(members);
        } else {
            communicator->members = members;
        }
    }
    communicator->id =
        hash_members(communicator->size, communicator->members, communicator->start, communicator->stride);
    return communicator;
}

const struct communicator* get_communicator(struct rank_group* group) {
    if (group->communicator != NULL) return group->communicator;
    struct communicator* communicator = make_communicator(group);
    if (communicator == NULL) return NULL;
    const struct communicator* newest = record_communicators;
    for (const struct communicator* known = newest; known != NULL; known = known->next) {
        if (known->id != communicator->id) continue;
        free(communicator->members);
        free(communicator);
        return group->communicator = known;
    }
    communicator->is_listed = group->my_rank == 0;
    if (!communicator->is_listed) {
        free(communicator->members);
        communicator->members = NULL;
    }
    communicator->number = newest == NULL ? 1 : newest->number + 1;
    communicator->next = record_communicators;
    record_communicators = communicator;
    return group->communicator = communicator;
}

static struct collective_counter* find_collective_counter(struct collective_table* table,
                                                          const struct collective_counter* key) {
    uint64_t i = combine_hash(combine_hash(key->communicator, (uint64_t)key->bytes),
                              (uint64_t)key->operation * 0x9E3779B97F4A7C15u + (uint64_t)key->root) &
                 table->mask;
    for (;; i = (i + 1) & table->mask) {
        struct collective_counter* counter = &table->slots[i];
        if (counter->count == 0) return counter;
        if (counter->communicator == key->communicator && counter->bytes == key->bytes &&
            counter->operation == key->operation && counter->root == key->root)
            return counter;
    }
}

static struct collective_table* grow_table(const struct collective_table* old) {
    const uint64_t capacity = 2 * (old->mask + 1);
    struct collective_table* table = calloc(1, sizeof *table + capacity * sizeof(struct collective_counter));
    if (table == NULL) return NULL;
    table->mask = capacity - 1;
    table->used = old->used;
    for (uint64_t i = 0; i <= old->mask; ++i)
        if (old->slots[i].count != 0) *find_collective_counter(table, &old->slots[i]) = old->slots[i];
    return table;
}

void count_collective(enum operation operation, uint64_t communicator, int root, int64_t bytes) {
    const struct collective_counter key = {communicator, bytes, 1, (int32_t)operation, root};
    struct collective_table* table = record_phase->collectives;
    struct collective_counter* counter = find_collective_counter(table, &key);
    if (counter->count != 0) {
        ++counter->count;
        return;
    }
    if (10 * table->used >= 7 * table->mask) {
        table = grow_table(table);
        if (table == NULL) {
            ++record_lost;
            return;
        }
        record_phase->collectives = table;
        counter = find_collective_counter(table, &key);
    }
    ++table->used;
    *counter = key;
}
