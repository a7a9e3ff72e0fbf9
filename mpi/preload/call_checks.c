// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of calls. Calls with invalid arguments are passed to MPI, which raises the error.
#include "preload.h"

static bool is_valid_buffer(const void* buffer, int count, MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (count >= 0 && type != MPI_DATATYPE_NULL);
}

static bool has_valid_counts(const void* buffer, const int counts[], MPI_Datatype type) {
    return buffer == MPI_IN_PLACE || (counts != NULL && type != MPI_DATATYPE_NULL);
}

static bool is_valid_reduction(int count, MPI_Datatype type, MPI_Op op) {
    return count >= 0 && type != MPI_DATATYPE_NULL && op != MPI_OP_NULL;
}

bool is_intracomm(MPI_Comm comm) {
    int is_inter = 1;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

/// Whether the root is valid. Sets is_root: arguments that are significant only at the root are checked only there.
static bool is_valid_root(MPI_Comm comm, int root, bool* is_root) {
    int rank = 0, ranks = 0;
    if (!is_intracomm(comm)) return false;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *is_root = rank == root;
    return root >= 0 && root < ranks;
}

static int64_t get_bytes(int64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return count * size;
}

/// Returns the mean block size of all ranks in bytes, which is equal on all ranks even if their datatypes differ.
static int64_t get_mean_bytes(const int counts[], MPI_Datatype type, MPI_Comm comm) {
    int ranks = 0;
    int64_t sum = 0;
    if (!is_intracomm(comm)) return 0;
    PMPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; ++r) sum += counts[r];
    return ranks == 0 ? 0 : get_bytes(sum, type) / ranks;
}

static bool can_replace_operation(enum call_form form, MPI_Comm comm, enum topoloom_operation operation,
                                  int64_t bytes, MPI_Op op) {
    const struct call_info call = {.form = form, .operation = operation, .bytes = bytes, .op = op};
    return can_replace(comm, &call);
}

static bool can_replace_data_movement(enum call_form form, MPI_Comm comm, enum topoloom_operation operation,
                                      int64_t bytes) {
    return can_replace_operation(form, comm, operation, bytes, MPI_OP_NULL);
}

static bool can_replace_direct_sends(enum call_form form, MPI_Comm comm, enum topoloom_operation operation) {
    const struct call_info call = {.form = form, .operation = operation, .op = MPI_OP_NULL, .direct = true};
    return can_replace(comm, &call);
}

bool can_replace_barrier(enum call_form form, MPI_Comm comm) {
    return can_replace_data_movement(form, comm, TOPOLOOM_BARRIER, 0);
}

bool can_replace_alltoall(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                          const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return is_valid_buffer(sendbuf, sendcount, sendtype) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLTOALL, get_bytes(recvcount, recvtype));
}

bool can_replace_allgather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                           const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return is_valid_buffer(sendbuf, sendcount, sendtype) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLGATHER, get_bytes(recvcount, recvtype));
}

bool can_replace_allgatherv(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype,
                            MPI_Comm comm) {
    return is_valid_buffer(sendbuf, sendcount, sendtype) && has_valid_counts(recvbuf, recvcounts, recvtype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLGATHER,
                                     get_mean_bytes(recvcounts, recvtype, comm));
}

bool can_replace_reduction(enum call_form form, enum topoloom_operation operation, int count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return is_valid_reduction(count, datatype, op) &&
           can_replace_operation(form, comm, operation, get_bytes(count, datatype), op);
}

bool can_replace_reduce_scatter(enum call_form form, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm) {
    return is_valid_reduction(0, datatype, op) && recvcounts != NULL &&
           can_replace_operation(form, comm, TOPOLOOM_REDUCE_SCATTER,
                                 get_mean_bytes(recvcounts, datatype, comm), op);
}

bool can_replace_bcast(enum call_form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(buffer, count, datatype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_BCAST, get_bytes(count, datatype));
}

bool can_replace_reduce(enum call_form form, int count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_reduction(count, datatype, op) &&
           can_replace_operation(form, comm, TOPOLOOM_REDUCE, get_bytes(count, datatype), op);
}

bool can_replace_gather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(sendbuf, sendcount, sendtype) &&
           (!is_root || is_valid_buffer(recvbuf, recvcount, recvtype)) &&
           can_replace_data_movement(
               form, comm, TOPOLOOM_GATHER,
               is_root ? get_bytes(recvcount, recvtype) : get_bytes(sendcount, sendtype));
}

bool can_replace_scatter(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           (!is_root || is_valid_buffer(sendbuf, sendcount, sendtype)) &&
           can_replace_data_movement(
               form, comm, TOPOLOOM_SCATTER,
               is_root ? get_bytes(sendcount, sendtype) : get_bytes(recvcount, recvtype));
}

bool can_replace_alltoallv(enum call_form form, const void* sendbuf, const int sendcounts[],
                           MPI_Datatype sendtype, const void* recvbuf, const int recvcounts[],
                           MPI_Datatype recvtype, MPI_Comm comm) {
    return has_valid_counts(sendbuf, sendcounts, sendtype) &&
           has_valid_counts(recvbuf, recvcounts, recvtype) &&
           can_replace_direct_sends(form, comm, TOPOLOOM_ALLTOALL);
}

bool can_replace_gatherv(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype, int root,
                         MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(sendbuf, sendcount, sendtype) &&
           (!is_root || has_valid_counts(recvbuf, recvcounts, recvtype)) &&
           can_replace_direct_sends(form, comm, TOPOLOOM_GATHER);
}

bool can_replace_scatterv(enum call_form form, const void* sendbuf, const int sendcounts[],
                          MPI_Datatype sendtype, const void* recvbuf, int recvcount, MPI_Datatype recvtype,
                          int root, MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           (!is_root || has_valid_counts(sendbuf, sendcounts, sendtype)) &&
           can_replace_direct_sends(form, comm, TOPOLOOM_SCATTER);
}
