// SPDX-License-Identifier: BSD-3-Clause
// Translates ranks of any communicator or window to ranks of MPI_COMM_WORLD. Each translated rank is cached.
//
// MPI may reuse the handle of a freed communicator. The delete callback of an attribute reports that a communicator is
// freed, whatever the language of the code that frees it.
#include <stdlib.h>

#include "record.h"

enum { bucket_count = 256 };

static struct rank_group* buckets_[bucket_count];
static struct rank_group* last_;
static int comm_key_ = MPI_KEYVAL_INVALID, win_key_ = MPI_KEYVAL_INVALID;

static struct rank_group** get_bucket(uintptr_t handle) {
    return &buckets_[((uint64_t)handle * 0x9E3779B97F4A7C15u) >> 56];
}

static void free_group(struct rank_group* group) {
    if (!group->is_world) PMPI_Group_free(&group->mpi_group);
    free(group->peers);
    free(group->worlds);
    free(group->neighbors);
    free(group);
}

// Only sets a flag; find_group removes the group later. Locking could deadlock: MPI may hold a lock during this
// callback, while another thread holds ours and waits for MPI's.
static int mark_comm_group_freed(MPI_Comm comm, int key, void* group, void* extra_state) {
    (void)comm, (void)key, (void)extra_state;
    ((struct rank_group*)group)->is_freed = true;
    return MPI_SUCCESS;
}

static int mark_win_group_freed(MPI_Win win, int key, void* group, void* extra_state) {
    (void)win, (void)key, (void)extra_state;
    ((struct rank_group*)group)->is_freed = true;
    return MPI_SUCCESS;
}

void create_group_keyvals(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mark_comm_group_freed, &comm_key_, NULL);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, mark_win_group_freed, &win_key_, NULL);
}

static struct rank_group* find_group(uintptr_t handle, bool is_window) {
    if (last_ != NULL && last_->handle == handle && last_->is_window == is_window && !last_->is_freed)
        return last_;
    for (struct rank_group** link = get_bucket(handle); *link != NULL;) {
        struct rank_group* group = *link;
        if (group->is_freed) {
            if (last_ == group) last_ = NULL;
            *link = group->next;
            free_group(group);
        } else if (group->handle == handle && group->is_window == is_window) {
            return last_ = group;
        } else {
            link = &group->next;
        }
    }
    return NULL;
}

static struct rank_group* add_group(const struct rank_group* values) {
    struct rank_group* group = malloc(sizeof *group);
    if (group == NULL) return NULL;
    *group = *values;
    group->neighbor_count = -1;
    group->next = *get_bucket(group->handle);
    *get_bucket(group->handle) = group;
    return last_ = group;
}

struct rank_group* get_comm_group(MPI_Comm comm) {
    struct rank_group* group = find_group((uintptr_t)comm, false);
    if (group != NULL) return group;
    struct rank_group values = {.handle = (uintptr_t)comm, .is_world = comm == MPI_COMM_WORLD};
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    values.is_inter = is_inter != 0;
    PMPI_Comm_rank(comm, &values.my_rank);
    if (values.is_world)
        values.mpi_group = record_world_group;
    else if (values.is_inter)
        PMPI_Comm_remote_group(comm, &values.mpi_group);
    else
        PMPI_Comm_group(comm, &values.mpi_group);
    PMPI_Group_size(values.mpi_group, &values.size);
    group = add_group(&values);
    if (group != NULL) PMPI_Comm_set_attr(comm, comm_key_, group);
    return group;
}

struct rank_group* get_win_group(MPI_Win win) {
    struct rank_group* group = find_group((uintptr_t)win, true);
    if (group != NULL) return group;
    struct rank_group values = {.handle = (uintptr_t)win, .is_window = true};
    PMPI_Win_get_group(win, &values.mpi_group);
    PMPI_Group_size(values.mpi_group, &values.size);
    PMPI_Group_rank(values.mpi_group, &values.my_rank);
    group = add_group(&values);
    if (group != NULL) PMPI_Win_set_attr(win, win_key_, group);
    return group;
}

static uint32_t find_cache_slot(const struct rank_group* group, int rank) {
    uint32_t i = ((uint32_t)rank * 0x9E3779B9u >> 7) & group->peer_mask;
    while (group->peers[i] >= 0 && group->peers[i] != rank) i = (i + 1) & group->peer_mask;
    return i;
}

static bool grow_rank_cache(struct rank_group* group) {
    struct rank_group old = *group;
    const uint32_t capacity = old.peers == NULL ? 16 : 2 * (old.peer_mask + 1);
    group->peers = malloc(capacity * sizeof *group->peers);
    group->worlds = malloc(capacity * sizeof *group->worlds);
    if (group->peers == NULL || group->worlds == NULL) {
        free(group->peers);
        free(group->worlds);
        *group = old;
        return false;
    }
    group->peer_mask = capacity - 1;
    for (uint32_t i = 0; i < capacity; ++i) group->peers[i] = -1;
    for (uint32_t i = 0; old.peers != NULL && i <= old.peer_mask; ++i) {
        if (old.peers[i] < 0) continue;
        const uint32_t slot = find_cache_slot(group, old.peers[i]);
        group->peers[slot] = old.peers[i];
        group->worlds[slot] = old.worlds[i];
    }
    free(old.peers);
    free(old.worlds);
    return true;
}

int to_world_rank(struct rank_group* group, int rank) {
    if (rank < 0 || rank >= group->size) return -1;
    if (group->is_world) return rank;
    if ((group->peers == NULL || 2 * group->peer_used > group->peer_mask) && !grow_rank_cache(group))
        return -1;
    const uint32_t slot = find_cache_slot(group, rank);
    if (group->peers[slot] != rank) {
        int world = MPI_UNDEFINED;
        PMPI_Group_translate_ranks(group->mpi_group, 1, &rank, record_world_group, &world);
        group->peers[slot] = rank;
        group->worlds[slot] = world == MPI_UNDEFINED ? -1 : world;
        ++group->peer_used;
    }
    return group->worlds[slot];
}
