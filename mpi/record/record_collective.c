// SPDX-License-Identifier: BSD-3-Clause
// Records collectives. A call is recorded by rank 0 of the communicator. In v-variants with a size per peer, each
// sender records its messages. On intercommunicators, only these v-variants are recorded; peers are the remote group.
#include "record.h"

/// Returns NULL if this rank does not record: only rank 0 does, and a group of one sends no messages.
static struct rank_group* get_recorded_group(MPI_Comm comm) {
    struct rank_group* group = get_comm_group(comm);
    if (group == NULL || group->my_rank != 0) return NULL;
    if (!group->is_inter) return group->size == 1 ? NULL : group;
    ++record_lost;
    return NULL;
}

void record_collective(enum operation operation, MPI_Comm comm, int root, int64_t count, MPI_Datatype type) {
    struct rank_group* group = get_recorded_group(comm);
    if (group != NULL)
        add_collective(operation, get_communicator(group), root,
                       operation == OP_BARRIER ? 0 : get_bytes(count, type));
}

/// Records operations with equal blocks. `buffer` contains one block; if it is MPI_IN_PLACE, the other buffer
/// determines the size.
void record_blocks(enum operation operation, MPI_Comm comm, int root, const void* buffer, int64_t count,
                   MPI_Datatype type, int64_t other_count, MPI_Datatype other_type) {
    struct rank_group* group = get_recorded_group(comm);
    if (group == NULL) return;
    const int64_t bytes = is_in_place(buffer) ? get_bytes(other_count, other_type) : get_bytes(count, type);
    add_collective(operation, get_communicator(group), root, bytes);
}

void record_total(enum operation operation, MPI_Comm comm, struct count_array counts, MPI_Datatype type) {
    struct rank_group* group = get_recorded_group(comm);
    if (group == NULL) return;
    int64_t total = 0;
    for (int i = 0; i < group->size; ++i) total += get_count(counts, i);
    add_collective(operation, get_communicator(group), -1, get_bytes(total, type));
}

void record_total_block(MPI_Comm comm, int64_t count, MPI_Datatype type) {
    struct rank_group* group = get_recorded_group(comm);
    if (group != NULL)
        add_collective(OP_REDUCE_SCATTER, get_communicator(group), -1, group->size * get_bytes(count, type));
}

static void add_direct_message(struct rank_group* group, int peer, int64_t bytes) {
    if (bytes > 0 && (group->is_inter || peer != group->my_rank))
        add_direct_transfer(group->is_inter ? NULL : get_communicator(group), to_world_rank(group, peer),
                            bytes);
}

void record_gatherv(MPI_Comm comm, int root, int64_t count, MPI_Datatype type) {
    struct rank_group* group = get_comm_group(comm);
    if (group == NULL || root < 0) return;  // MPI_ROOT or MPI_PROC_NULL: this group receives
    if (group->is_inter || group->my_rank != root) add_direct_message(group, root, get_bytes(count, type));
}

void record_scatterv(MPI_Comm comm, int root, struct count_array counts, MPI_Datatype type) {
    struct rank_group* group = get_comm_group(comm);
    if (group == NULL || root != (group->is_inter ? MPI_ROOT : group->my_rank)) return;
    for (int i = 0; i < group->size; ++i) add_direct_message(group, i, get_bytes(get_count(counts, i), type));
}

/// Records the bytes to each peer. With MPI_IN_PLACE, these equal the bytes received from the peer.
void record_alltoallv(MPI_Comm comm, const void* sendbuf, struct count_array sends, MPI_Datatype sendtype,
                      struct count_array receives, MPI_Datatype recvtype) {
    struct rank_group* group = get_comm_group(comm);
    const bool in_place = is_in_place(sendbuf);
    for (int i = 0; group != NULL && i < group->size; ++i)
        add_direct_message(group, i,
                           in_place ? get_bytes(get_count(receives, i), recvtype)
                                    : get_bytes(get_count(sends, i), sendtype));
}

void record_alltoallw(MPI_Comm comm, const void* sendbuf, struct count_array sends,
                      struct type_array sendtypes, struct count_array receives, struct type_array recvtypes) {
    struct rank_group* group = get_comm_group(comm);
    const bool in_place = is_in_place(sendbuf);
    for (int i = 0; group != NULL && i < group->size; ++i) {
        const int64_t count = get_count(in_place ? receives : sends, i);
        if (count > 0)
            add_direct_message(group, i, get_bytes(count, get_type(in_place ? recvtypes : sendtypes, i)));
    }
}
