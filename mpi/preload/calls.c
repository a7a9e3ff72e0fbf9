// SPDX-License-Identifier: BSD-3-Clause
// Whether a call is right on its face, and what it moves.
#include "preload.h"

static bool is_right(const void* buffer, int count, MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (count >= 0 && type != MPI_DATATYPE_NULL);
}

static bool are_right(const void* buffer, const int counts[], MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (counts != NULL && type != MPI_DATATYPE_NULL);
}

static bool can_combine(int count, MPI_Datatype type, MPI_Op op) {
    return count >= 0 && type != MPI_DATATYPE_NULL && op != MPI_OP_NULL;
}

bool is_within(MPI_Comm comm) {
    int is_inter = 1;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

/// Of a call with a root, what the root alone gives or gets is not looked at elsewhere.
static bool has_root(MPI_Comm comm, int root, bool* is_root) {
    int rank = 0, ranks = 0;
    if (!is_within(comm)) return false;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *is_root = rank == root;
    return root >= 0 && root < ranks;
}

static int64_t bytes_of(int64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return count * size;
}

/// On the average of the ranks: as ranks may count other types, of the same bytes, it is rounded in bytes.
static int64_t mean_bytes(const int counts[], MPI_Datatype type, MPI_Comm comm) {
    int ranks = 0;
    int64_t sum = 0;
    if (!is_within(comm)) return 0;
    PMPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; ++r) sum += counts[r];
    return ranks == 0 ? 0 : bytes_of(sum, type) / ranks;
}

static bool moves(enum form form, MPI_Comm comm, enum topoloom_operation operation, int64_t bytes) {
    const struct moved moved = {.form = form, .operation = operation, .bytes = bytes, .op = MPI_OP_NULL};
    return preload_serves(comm, &moved);
}

static bool combines(enum form form, MPI_Comm comm, enum topoloom_operation operation, int64_t bytes,
                     MPI_Op op) {
    const struct moved moved = {.form = form, .operation = operation, .bytes = bytes, .op = op};
    return preload_serves(comm, &moved);
}

static bool goes_straight(MPI_Comm comm, enum topoloom_operation operation) {
    const struct moved moved = {
        .form = blocking, .operation = operation, .op = MPI_OP_NULL, .straight = true};
    return preload_serves(comm, &moved);
}

bool serves_barrier(enum form form, MPI_Comm comm) {
    return !stays_mpis(comm) && moves(form, comm, TOPOLOOM_BARRIER, 0);
}

bool serves_alltoall(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                     const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
           is_right(recvbuf, recvcount, recvtype) &&
           moves(form, comm, TOPOLOOM_ALL_TO_ALL, bytes_of(recvcount, recvtype));
}

bool serves_allgather(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                      const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
           is_right(recvbuf, recvcount, recvtype) &&
           moves(form, comm, TOPOLOOM_ALL_GATHER, bytes_of(recvcount, recvtype));
}

bool serves_allgatherv(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                       const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm) {
    return !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
           are_right(recvbuf, recvcounts, recvtype) &&
           moves(form, comm, TOPOLOOM_ALL_GATHER, mean_bytes(recvcounts, recvtype, comm));
}

bool serves_combining(enum form form, enum topoloom_operation operation, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm) {
    return !stays_mpis(comm) && can_combine(count, datatype, op) &&
           combines(form, comm, operation, bytes_of(count, datatype), op);
}

bool serves_reduce_scatter(enum form form, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    return !stays_mpis(comm) && can_combine(0, datatype, op) && recvcounts != NULL &&
           combines(form, comm, TOPOLOOM_REDUCE_SCATTER, mean_bytes(recvcounts, datatype, comm), op);
}

bool serves_bcast(enum form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                  MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(buffer, count, datatype) &&
           moves(form, comm, TOPOLOOM_BROADCAST, bytes_of(count, datatype));
}

bool serves_reduce(enum form form, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && can_combine(count, datatype, op) &&
           combines(form, comm, TOPOLOOM_REDUCE, bytes_of(count, datatype), op);
}

bool serves_gather(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                   const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(sendbuf, sendcount, sendtype) &&
           (!is_root || is_right(recvbuf, recvcount, recvtype)) &&
           moves(form, comm, TOPOLOOM_GATHER,
                 is_root ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype));
}

bool serves_scatter(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                    const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(recvbuf, recvcount, recvtype) &&
           (!is_root || is_right(sendbuf, sendcount, sendtype)) &&
           moves(form, comm, TOPOLOOM_SCATTER,
                 is_root ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype));
}

bool serves_alltoallv(const void* sendbuf, const int sendcounts[], MPI_Datatype sendtype, const void* recvbuf,
                      const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm) {
    return !stays_mpis(comm) && are_right(sendbuf, sendcounts, sendtype) &&
           are_right(recvbuf, recvcounts, recvtype) && goes_straight(comm, TOPOLOOM_ALL_TO_ALL);
}

bool serves_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const void* recvbuf,
                    const int recvcounts[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(sendbuf, sendcount, sendtype) &&
           (!is_root || are_right(recvbuf, recvcounts, recvtype)) && goes_straight(comm, TOPOLOOM_GATHER);
}

bool serves_scatterv(const void* sendbuf, const int sendcounts[], MPI_Datatype sendtype, const void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(recvbuf, recvcount, recvtype) &&
           (!is_root || are_right(sendbuf, sendcounts, sendtype)) && goes_straight(comm, TOPOLOOM_SCATTER);
}
