// SPDX-License-Identifier: BSD-3-Clause
// Ranks of any communicator or window as ranks of MPI_COMM_WORLD, through groups, remembered peer by peer.
//
// A handle may be reused once its communicator is freed. An attribute with a delete callback notifies us,
// whoever frees it and from whichever language.
#include <stdlib.h>

#include "record.h"

enum { bucket_count = 256 };

static struct group* buckets_[bucket_count];
static struct group* last_;
static int comm_key_ = MPI_KEYVAL_INVALID, win_key_ = MPI_KEYVAL_INVALID;

static struct group** bucket(uintptr_t handle) {
    return &buckets_[((uint64_t)handle * 0x9E3779B97F4A7C15u) >> 56];
}

static void destroy(struct group* group) {
    if (!group->is_world) PMPI_Group_free(&group->mpi_group);
    free(group->peers);
    free(group->worlds);
    free(group->neighbors);
    free(group);
}

// MPI may hold a lock of its own while it calls us here, and another thread may hold ours and wait for MPI's.
// So only a mark is left; `known` takes the group away.
static int comm_is_freed(MPI_Comm comm, int key, void* group, void* state) {
    (void)comm, (void)key, (void)state;
    ((struct group*)group)->is_freed = true;
    return MPI_SUCCESS;
}

static int win_is_freed(MPI_Win win, int key, void* group, void* state) {
    (void)win, (void)key, (void)state;
    ((struct group*)group)->is_freed = true;
    return MPI_SUCCESS;
}

void groups_start(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_is_freed, &comm_key_, NULL);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_is_freed, &win_key_, NULL);
}

static struct group* known(uintptr_t handle, bool is_window) {
    if (last_ != NULL && last_->handle == handle && last_->is_window == is_window && !last_->is_freed)
        return last_;
    for (struct group** link = bucket(handle); *link != NULL;) {
        struct group* group = *link;
        if (group->is_freed) {
            if (last_ == group) last_ = NULL;
            *link = group->next;
            destroy(group);
        } else if (group->handle == handle && group->is_window == is_window) {
            return last_ = group;
        } else {
            link = &group->next;
        }
    }
    return NULL;
}

static struct group* added(const struct group* made) {
    struct group* group = malloc(sizeof *group);
    if (group == NULL) return NULL;
    *group = *made;
    group->neighbor_count = -1;
    group->next = *bucket(group->handle);
    *bucket(group->handle) = group;
    return last_ = group;
}

struct group* group_of_comm(MPI_Comm comm) {
    struct group* group = known((uintptr_t)comm, false);
    if (group != NULL) return group;
    struct group made = {.handle = (uintptr_t)comm, .is_world = comm == MPI_COMM_WORLD};
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    made.is_inter = is_inter != 0;
    PMPI_Comm_rank(comm, &made.my_rank);
    if (made.is_world)
        made.mpi_group = record_world_group;
    else if (made.is_inter)
        PMPI_Comm_remote_group(comm, &made.mpi_group);
    else
        PMPI_Comm_group(comm, &made.mpi_group);
    PMPI_Group_size(made.mpi_group, &made.size);
    group = added(&made);
    if (group != NULL) PMPI_Comm_set_attr(comm, comm_key_, group);
    return group;
}

struct group* group_of_win(MPI_Win win) {
    struct group* group = known((uintptr_t)win, true);
    if (group != NULL) return group;
    struct group made = {.handle = (uintptr_t)win, .is_window = true};
    PMPI_Win_get_group(win, &made.mpi_group);
    PMPI_Group_size(made.mpi_group, &made.size);
    PMPI_Group_rank(made.mpi_group, &made.my_rank);
    group = added(&made);
    if (group != NULL) PMPI_Win_set_attr(win, win_key_, group);
    return group;
}

static uint32_t slot_of(const struct group* group, int rank) {
    uint32_t i = ((uint32_t)rank * 0x9E3779B9u >> 7) & group->peer_mask;
    while (group->peers[i] >= 0 && group->peers[i] != rank) i = (i + 1) & group->peer_mask;
    return i;
}

static bool grow(struct group* group) {
    struct group old = *group;
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
        const uint32_t slot = slot_of(group, old.peers[i]);
        group->peers[slot] = old.peers[i];
        group->worlds[slot] = old.worlds[i];
    }
    free(old.peers);
    free(old.worlds);
    return true;
}

int world_rank(struct group* group, int rank) {
    if (rank < 0 || rank >= group->size) return -1;
    if (group->is_world) return rank;
    if ((group->peers == NULL || 2 * group->peer_used > group->peer_mask) && !grow(group)) return -1;
    const uint32_t slot = slot_of(group, rank);
    if (group->peers[slot] != rank) {
        int world = MPI_UNDEFINED;
        PMPI_Group_translate_ranks(group->mpi_group, 1, &rank, record_world_group, &world);
        group->peers[slot] = rank;
        group->worlds[slot] = world == MPI_UNDEFINED ? -1 : world;
        ++group->peer_used;
    }
    return group->worlds[slot];
}
