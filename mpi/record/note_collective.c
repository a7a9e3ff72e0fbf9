// SPDX-License-Identifier: BSD-3-Clause
// What collective calls are: records, kept by rank 0 of the communicator; v-variants that say what goes to
// whom, counted by the sender. Only v-variants are recorded on intercommunicators, where their peers are the
// remote group.
#include "record.h"

/// The group if this rank keeps its records: others would keep the same, and a group of one sends nothing.
static struct group* keeper(MPI_Comm comm) {
    struct group* group = group_of_comm(comm);
    if (group == NULL || group->my_rank != 0) return NULL;
    if (!group->is_inter) return group->size == 1 ? NULL : group;
    ++record_lost;
    return NULL;
}

void note_collective(enum operation operation, MPI_Comm comm, int root, int64_t count, MPI_Datatype type) {
    struct group* group = keeper(comm);
    if (group != NULL)
        post_collective(operation, communicator_id(group), root,
                        operation == OP_BARRIER ? 0 : bytes_of(count, type));
}

/// Operations on equal blocks. The side that holds one block may be in place; the other side then says its
/// size.
void note_blocks(enum operation operation, MPI_Comm comm, int root, const void* buffer, int64_t count,
                 MPI_Datatype type, int64_t other_count, MPI_Datatype other_type) {
    struct group* group = keeper(comm);
    if (group == NULL) return;
    const int64_t bytes = in_place(buffer) ? bytes_of(other_count, other_type) : bytes_of(count, type);
    post_collective(operation, communicator_id(group), root, bytes);
}

void note_total(enum operation operation, MPI_Comm comm, struct counts counts, MPI_Datatype type) {
    struct group* group = keeper(comm);
    if (group == NULL) return;
    int64_t total = 0;
    for (int i = 0; i < group->size; ++i) total += count_at(counts, i);
    post_collective(operation, communicator_id(group), -1, bytes_of(total, type));
}

void note_total_block(MPI_Comm comm, int64_t count, MPI_Datatype type) {
    struct group* group = keeper(comm);
    if (group != NULL)
        post_collective(OP_REDUCE_SCATTER, communicator_id(group), -1, group->size * bytes_of(count, type));
}

static void direct(struct group* group, int peer, int64_t bytes) {
    if (bytes > 0 && (group->is_inter || peer != group->my_rank))
        post(KIND_DIRECT, world_rank(group, peer), bytes);
}

void note_gatherv(MPI_Comm comm, int root, int64_t count, MPI_Datatype type) {
    struct group* group = group_of_comm(comm);
    if (group == NULL || root < 0) return;  // MPI_ROOT and MPI_PROC_NULL: the side that receives
    if (group->is_inter || group->my_rank != root) direct(group, root, bytes_of(count, type));
}

void note_scatterv(MPI_Comm comm, int root, struct counts counts, MPI_Datatype type) {
    struct group* group = group_of_comm(comm);
    if (group == NULL || root != (group->is_inter ? MPI_ROOT : group->my_rank)) return;
    for (int i = 0; i < group->size; ++i) direct(group, i, bytes_of(count_at(counts, i), type));
}

/// In place, each rank sends as much to a peer as it receives from it.
void note_alltoallv(MPI_Comm comm, const void* sendbuf, struct counts sends, MPI_Datatype sendtype,
                    struct counts receives, MPI_Datatype recvtype) {
    struct group* group = group_of_comm(comm);
    const bool inside = in_place(sendbuf);
    for (int i = 0; group != NULL && i < group->size; ++i)
        direct(group, i,
               inside ? bytes_of(count_at(receives, i), recvtype) : bytes_of(count_at(sends, i), sendtype));
}

void note_alltoallw(MPI_Comm comm, const void* sendbuf, struct counts sends, struct types sendtypes,
                    struct counts receives, struct types recvtypes) {
    struct group* group = group_of_comm(comm);
    const bool inside = in_place(sendbuf);
    for (int i = 0; group != NULL && i < group->size; ++i) {
        const int64_t count = count_at(inside ? receives : sends, i);
        if (count > 0) direct(group, i, bytes_of(count, type_at(inside ? recvtypes : sendtypes, i)));
    }
}
