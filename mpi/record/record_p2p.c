// SPDX-License-Identifier: BSD-3-Clause
// Records the messages of point-to-point calls and neighborhood collectives.
#include "record.h"

int64_t get_count(struct count_array counts, int i) {
    return counts.small ? counts.small[i] : (int64_t)counts.large[i];
}

MPI_Datatype get_type(struct type_array types, int i) {
    return types.c ? types.c[i] : MPI_Type_f2c(types.fortran[i]);
}

int64_t get_bytes(int64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size > 0 ? count * (int64_t)size : 0;
}

bool is_in_place(const void* buffer) {
    return buffer == MPI_IN_PLACE || (buffer != NULL && buffer == get_fortran_in_place());
}

void record_send(MPI_Comm comm, int dest, int64_t count, MPI_Datatype type) {
    if (dest == MPI_PROC_NULL) return;
    struct rank_group* group = get_comm_group(comm);
    if (group != NULL) add_transfer(KIND_SEND, to_world_rank(group, dest), get_bytes(count, type));
}

void record_partitioned(MPI_Comm comm, int dest, int64_t partitions, int64_t count, MPI_Datatype type) {
    record_send(comm, dest, partitions * count, type);
}

static struct rank_group* get_neighbor_group(MPI_Comm comm) {
    struct rank_group* group = get_comm_group(comm);
    if (group != NULL) find_neighbors(group, comm);
    return group;
}

void record_neighbors(MPI_Comm comm, int64_t count, MPI_Datatype type) {
    const struct rank_group* group = get_neighbor_group(comm);
    const int64_t bytes = get_bytes(count, type);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0) add_transfer(KIND_NEIGHBOR, group->neighbors[i], bytes);
}

void record_neighbors_v(MPI_Comm comm, struct count_array counts, MPI_Datatype type) {
    const struct rank_group* group = get_neighbor_group(comm);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0)
            add_transfer(KIND_NEIGHBOR, group->neighbors[i], get_bytes(get_count(counts, i), type));
}

void record_neighbors_w(MPI_Comm comm, struct count_array counts, struct type_array types) {
    const struct rank_group* group = get_neighbor_group(comm);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0)
            add_transfer(KIND_NEIGHBOR, group->neighbors[i],
                         get_bytes(get_count(counts, i), get_type(types, i)));
}
