// SPDX-License-Identifier: BSD-3-Clause
// MPI's blocking collectives. Others stay MPI's, as the program waits for them by MPI's own calls.
//
// What is wrong on its face goes to the definition behind ours, so that the error is MPI's.
#include "preload.h"

#define DEFINITION(name) NEXT(name, __typeof__(&name))

static bool is_right(const void* buffer, int count, MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (count >= 0 && type != MPI_DATATYPE_NULL);
}

static bool are_right(const void* buffer, const int counts[], MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (counts != NULL && type != MPI_DATATYPE_NULL);
}

static bool can_combine(int count, MPI_Datatype type, MPI_Op op) {
    return count >= 0 && type != MPI_DATATYPE_NULL && op != MPI_OP_NULL;
}

/// Of an intercommunicator neither roots nor counts are those of its own ranks.
static bool is_within(MPI_Comm comm) {
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

static bool moves(MPI_Comm comm, enum topoloom_operation operation, int64_t bytes) {
    const struct moved moved = {.operation = operation, .bytes = bytes, .op = MPI_OP_NULL};
    return preload_serves(comm, &moved);
}

static bool combines(MPI_Comm comm, enum topoloom_operation operation, int64_t bytes, MPI_Op op) {
    const struct moved moved = {.operation = operation, .bytes = bytes, .op = op};
    return preload_serves(comm, &moved);
}

static bool goes_straight(MPI_Comm comm, enum topoloom_operation operation) {
    const struct moved moved = {.operation = operation, .op = MPI_OP_NULL, .straight = true};
    return preload_serves(comm, &moved);
}

SHIM_EXPORT int MPI_Barrier(MPI_Comm comm) {
    DEFINITION(MPI_Barrier);
    return (!stays_mpis(comm) && moves(comm, TOPOLOOM_BARRIER, 0) ? topoloom_barrier : next)(comm);
}

SHIM_EXPORT int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Alltoall);
    const bool ours = !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
                      is_right(recvbuf, recvcount, recvtype) &&
                      moves(comm, TOPOLOOM_ALL_TO_ALL, bytes_of(recvcount, recvtype));
    return (ours ? topoloom_alltoall : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                             comm);
}

SHIM_EXPORT int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Alltoallv);
    const bool ours = !stays_mpis(comm) && are_right(sendbuf, sendcounts, sendtype) &&
                      are_right(recvbuf, recvcounts, recvtype) && goes_straight(comm, TOPOLOOM_ALL_TO_ALL);
    return (ours ? topoloom_alltoallv : next)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                              rdispls, recvtype, comm);
}

SHIM_EXPORT int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Allgather);
    const bool ours = !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
                      is_right(recvbuf, recvcount, recvtype) &&
                      moves(comm, TOPOLOOM_ALL_GATHER, bytes_of(recvcount, recvtype));
    return (ours ? topoloom_allgather : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                              comm);
}

SHIM_EXPORT int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm) {
    DEFINITION(MPI_Allgatherv);
    const bool ours = !stays_mpis(comm) && is_right(sendbuf, sendcount, sendtype) &&
                      are_right(recvbuf, recvcounts, recvtype) &&
                      moves(comm, TOPOLOOM_ALL_GATHER, mean_bytes(recvcounts, recvtype, comm));
    return (ours ? topoloom_allgatherv : next)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                               recvtype, comm);
}

SHIM_EXPORT int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    DEFINITION(MPI_Allreduce);
    const bool ours = !stays_mpis(comm) && can_combine(count, datatype, op) &&
                      combines(comm, TOPOLOOM_ALL_REDUCE, bytes_of(count, datatype), op);
    return (ours ? topoloom_allreduce : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    DEFINITION(MPI_Reduce_scatter);
    const bool ours = !stays_mpis(comm) && can_combine(0, datatype, op) && recvcounts != NULL &&
                      combines(comm, TOPOLOOM_REDUCE_SCATTER, mean_bytes(recvcounts, datatype, comm), op);
    return (ours ? topoloom_reduce_scatter : next)(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

SHIM_EXPORT int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    DEFINITION(MPI_Reduce_scatter_block);
    const bool ours = !stays_mpis(comm) && can_combine(recvcount, datatype, op) &&
                      combines(comm, TOPOLOOM_REDUCE_SCATTER, bytes_of(recvcount, datatype), op);
    return (ours ? topoloom_reduce_scatter_block : next)(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

SHIM_EXPORT int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
    DEFINITION(MPI_Scan);
    const bool ours = !stays_mpis(comm) && can_combine(count, datatype, op) &&
                      combines(comm, TOPOLOOM_SCAN, bytes_of(count, datatype), op);
    return (ours ? topoloom_scan : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    DEFINITION(MPI_Exscan);
    const bool ours = !stays_mpis(comm) && can_combine(count, datatype, op) &&
                      combines(comm, TOPOLOOM_EXSCAN, bytes_of(count, datatype), op);
    return (ours ? topoloom_exscan : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Bcast);
    bool is_root = false;
    const bool ours = !stays_mpis(comm) && has_root(comm, root, &is_root) &&
                      is_right(buffer, count, datatype) &&
                      moves(comm, TOPOLOOM_BROADCAST, bytes_of(count, datatype));
    return (ours ? topoloom_bcast : next)(buffer, count, datatype, root, comm);
}

SHIM_EXPORT int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           int root, MPI_Comm comm) {
    DEFINITION(MPI_Reduce);
    bool is_root = false;
    const bool ours = !stays_mpis(comm) && has_root(comm, root, &is_root) &&
                      can_combine(count, datatype, op) &&
                      combines(comm, TOPOLOOM_REDUCE, bytes_of(count, datatype), op);
    return (ours ? topoloom_reduce : next)(sendbuf, recvbuf, count, datatype, op, root, comm);
}

SHIM_EXPORT int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Gather);
    bool is_root = false;
    const bool ours =
        !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(sendbuf, sendcount, sendtype) &&
        (!is_root || is_right(recvbuf, recvcount, recvtype)) &&
        moves(comm, TOPOLOOM_GATHER, is_root ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype));
    return (ours ? topoloom_gather : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                           comm);
}

SHIM_EXPORT int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm) {
    DEFINITION(MPI_Gatherv);
    bool is_root = false;
    const bool ours =
        !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(sendbuf, sendcount, sendtype) &&
        (!is_root || are_right(recvbuf, recvcounts, recvtype)) && goes_straight(comm, TOPOLOOM_GATHER);
    return (ours ? topoloom_gatherv : next)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                            recvtype, root, comm);
}

SHIM_EXPORT int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Scatter);
    bool is_root = false;
    const bool ours = !stays_mpis(comm) && has_root(comm, root, &is_root) &&
                      is_right(recvbuf, recvcount, recvtype) &&
                      (!is_root || is_right(sendbuf, sendcount, sendtype)) &&
                      moves(comm, TOPOLOOM_SCATTER,
                            is_root ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype));
    return (ours ? topoloom_scatter : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                            comm);
}

SHIM_EXPORT int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int root, MPI_Comm comm) {
    DEFINITION(MPI_Scatterv);
    bool is_root = false;
    const bool ours =
        !stays_mpis(comm) && has_root(comm, root, &is_root) && is_right(recvbuf, recvcount, recvtype) &&
        (!is_root || are_right(sendbuf, sendcounts, sendtype)) && goes_straight(comm, TOPOLOOM_SCATTER);
    return (ours ? topoloom_scatterv : next)(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                             recvtype, root, comm);
}
