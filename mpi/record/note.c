// SPDX-License-Identifier: BSD-3-Clause
// What point-to-point and neighborhood calls send.
#include "record.h"

int64_t count_at(struct counts counts, int i) {
    return counts.small ? counts.small[i] : (int64_t)counts.large[i];
}

MPI_Datatype type_at(struct types types, int i) {
    return types.c ? types.c[i] : MPI_Type_f2c(types.fortran[i]);
}

int64_t bytes_of(int64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size > 0 ? count * (int64_t)size : 0;
}

bool in_place(const void* buffer) {
    return buffer == MPI_IN_PLACE || (buffer != NULL && buffer == fortran_in_place());
}

void note_send(MPI_Comm comm, int dest, int64_t count, MPI_Datatype type) {
    if (dest == MPI_PROC_NULL) return;
    struct group* group = group_of_comm(comm);
    if (group != NULL) post(KIND_SEND, world_rank(group, dest), bytes_of(count, type));
}

void note_partitioned(MPI_Comm comm, int dest, int64_t partitions, int64_t count, MPI_Datatype type) {
    note_send(comm, dest, partitions * count, type);
}

static struct group* with_neighbors(MPI_Comm comm) {
    struct group* group = group_of_comm(comm);
    if (group != NULL) neighbors_find(group, comm);
    return group;
}

void note_neighbors(MPI_Comm comm, int64_t count, MPI_Datatype type) {
    const struct group* group = with_neighbors(comm);
    const int64_t bytes = bytes_of(count, type);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0) post(KIND_NEIGHBOR, group->neighbors[i], bytes);
}

void note_neighbors_v(MPI_Comm comm, struct counts counts, MPI_Datatype type) {
    const struct group* group = with_neighbors(comm);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0)
            post(KIND_NEIGHBOR, group->neighbors[i], bytes_of(count_at(counts, i), type));
}

void note_neighbors_w(MPI_Comm comm, struct counts counts, struct types types) {
    const struct group* group = with_neighbors(comm);
    for (int i = 0; group != NULL && i < group->neighbor_count; ++i)
        if (group->neighbors[i] >= 0)
            post(KIND_NEIGHBOR, group->neighbors[i], bytes_of(count_at(counts, i), type_at(types, i)));
}
