// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of calls. Calls with invalid arguments are passed to MPI, which raises the error.
#include <limits.h>

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

static int64_t add_counts(const int counts[], MPI_Comm comm) {
    int ranks = 0;
    int64_t sum = 0;
    if (!is_intracomm(comm)) return 0;
    PMPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; ++r) sum += counts[r];
    return sum;
}

/// Returns the mean block size of all ranks in bytes, which is equal on all ranks even if their datatypes differ.
static int64_t get_mean_bytes(const int counts[], MPI_Datatype type, MPI_Comm comm) {
    int ranks = 0;
    if (!is_intracomm(comm)) return 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks == 0 ? 0 : get_bytes(add_counts(counts, comm), type) / ranks;
}

// ---- aliased buffers ---------------------------------------------------------------------------------------------
// MPI forbids equal send and receive buffers. Whether a library raises an error depends on the library and on the
// function. It is asked on a communicator of this process: a call that fails there fails with MPI before it sends a
// message, and may be left to MPI although the other ranks' calls are replaced.

static MPI_Comm get_own_comm(void) {
    struct process_state* process = NULL;
    return get_process_state(&process) == MPI_SUCCESS ? process->self : MPI_COMM_NULL;
}

static bool rejects_reduction(enum topoloom_operation operation, void* buffer, int count, MPI_Datatype type,
                              MPI_Op op) {
    const MPI_Comm own = get_own_comm();
    if (own == MPI_COMM_NULL) return false;
    switch (operation) {
        case TOPOLOOM_REDUCE:
            return PMPI_Reduce(buffer, buffer, count, type, op, 0, own) != MPI_SUCCESS;
        case TOPOLOOM_SCAN:
            return PMPI_Scan(buffer, buffer, count, type, op, own) != MPI_SUCCESS;
        case TOPOLOOM_EXSCAN:
            return PMPI_Exscan(buffer, buffer, count, type, op, own) != MPI_SUCCESS;
        case TOPOLOOM_REDUCE_SCATTER:
            return PMPI_Reduce_scatter_block(buffer, buffer, count, type, op, own) != MPI_SUCCESS;
        default:
            return PMPI_Allreduce(buffer, buffer, count, type, op, own) != MPI_SUCCESS;
    }
}

static bool is_rejected_reduction(enum topoloom_operation operation, const void* sendbuf, void* recvbuf,
                                  int64_t count, MPI_Datatype type, MPI_Op op) {
    return sendbuf == recvbuf && sendbuf != NULL && sendbuf != MPI_IN_PLACE && count > 0 &&
           count <= INT_MAX && rejects_reduction(operation, recvbuf, (int)count, type, op);
}

/// A call that moves data, in which both buffers have blocks of the same size and type.
struct movement {
    const void* sendbuf;
    const void* recvbuf;
    int sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
};

static bool rejects_movement(enum topoloom_operation operation, void* buffer, int count, MPI_Datatype type) {
    const MPI_Comm own = get_own_comm();
    if (own == MPI_COMM_NULL) return false;
    switch (operation) {
        case TOPOLOOM_GATHER:
            return PMPI_Gather(buffer, count, type, buffer, count, type, 0, own) != MPI_SUCCESS;
        case TOPOLOOM_SCATTER:
            return PMPI_Scatter(buffer, count, type, buffer, count, type, 0, own) != MPI_SUCCESS;
        case TOPOLOOM_ALLTOALL:
            return PMPI_Alltoall(buffer, count, type, buffer, count, type, own) != MPI_SUCCESS;
        default:
            return PMPI_Allgather(buffer, count, type, buffer, count, type, own) != MPI_SUCCESS;
    }
}

/// Whether MPI rejects that the rank's own block is the same in both buffers.
static bool is_rejected_movement(enum topoloom_operation operation, const struct movement* call,
                                 MPI_Comm comm) {
    if (call->sendbuf == MPI_IN_PLACE || call->recvbuf == MPI_IN_PLACE || call->sendtype != call->recvtype ||
        call->sendcount != call->recvcount || call->sendcount == 0 || !is_intracomm(comm))
        return false;
    int rank = 0;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Type_get_extent(call->sendtype, &lower, &extent);
    const MPI_Aint offset = rank * (MPI_Aint)call->sendcount * extent;
    const char *send = call->sendbuf, *receive = call->recvbuf;
    if (operation == TOPOLOOM_SCATTER) send += offset;
    if (operation == TOPOLOOM_GATHER || operation == TOPOLOOM_ALLGATHER) receive += offset;
    return send == receive && send != NULL &&
           rejects_movement(operation, (void*)receive, call->recvcount, call->recvtype);
}

// ---- decisions by operation --------------------------------------------------------------------------------------

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
    const struct movement call = {sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype};
    return is_valid_buffer(sendbuf, sendcount, sendtype) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           !is_rejected_movement(TOPOLOOM_ALLTOALL, &call, comm) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLTOALL, get_bytes(recvcount, recvtype));
}

bool can_replace_allgather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                           const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const struct movement call = {sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype};
    return is_valid_buffer(sendbuf, sendcount, sendtype) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           !is_rejected_movement(TOPOLOOM_ALLGATHER, &call, comm) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLGATHER, get_bytes(recvcount, recvtype));
}

bool can_replace_allgatherv(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype,
                            MPI_Comm comm) {
    return is_valid_buffer(sendbuf, sendcount, sendtype) && has_valid_counts(recvbuf, recvcounts, recvtype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_ALLGATHER,
                                     get_mean_bytes(recvcounts, recvtype, comm));
}

bool can_replace_reduction(enum call_form form, enum topoloom_operation operation, const void* sendbuf,
                           void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return is_valid_reduction(count, datatype, op) &&
           !is_rejected_reduction(operation, sendbuf, recvbuf, count, datatype, op) &&
           can_replace_operation(form, comm, operation, get_bytes(count, datatype), op);
}

bool can_replace_reduce_scatter(enum call_form form, const void* sendbuf, void* recvbuf,
                                const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return is_valid_reduction(0, datatype, op) && recvcounts != NULL &&
           !(sendbuf == recvbuf && is_rejected_reduction(TOPOLOOM_REDUCE_SCATTER, sendbuf, recvbuf,
                                                         add_counts(recvcounts, comm), datatype, op)) &&
           can_replace_operation(form, comm, TOPOLOOM_REDUCE_SCATTER,
                                 get_mean_bytes(recvcounts, datatype, comm), op);
}

bool can_replace_bcast(enum call_form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(buffer, count, datatype) &&
           can_replace_data_movement(form, comm, TOPOLOOM_BCAST, get_bytes(count, datatype));
}

bool can_replace_reduce(enum call_form form, const void* sendbuf, void* recvbuf, int count,
                        MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_reduction(count, datatype, op) &&
           !(is_root && is_rejected_reduction(TOPOLOOM_REDUCE, sendbuf, recvbuf, count, datatype, op)) &&
           can_replace_operation(form, comm, TOPOLOOM_REDUCE, get_bytes(count, datatype), op);
}

bool can_replace_gather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const struct movement call = {sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype};
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(sendbuf, sendcount, sendtype) &&
           (!is_root || is_valid_buffer(recvbuf, recvcount, recvtype)) &&
           !(is_root && is_rejected_movement(TOPOLOOM_GATHER, &call, comm)) &&
           can_replace_data_movement(
               form, comm, TOPOLOOM_GATHER,
               is_root ? get_bytes(recvcount, recvtype) : get_bytes(sendcount, sendtype));
}

bool can_replace_scatter(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const struct movement call = {sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype};
    bool is_root = false;
    return is_valid_root(comm, root, &is_root) && is_valid_buffer(recvbuf, recvcount, recvtype) &&
           (!is_root || is_valid_buffer(sendbuf, sendcount, sendtype)) &&
           !(is_root && is_rejected_movement(TOPOLOOM_SCATTER, &call, comm)) &&
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
