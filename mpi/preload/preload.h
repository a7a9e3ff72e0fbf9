// SPDX-License-Identifier: BSD-3-Clause
// Shared by the wrappers for C and Fortran.
#ifndef TOPOLOOM_PRELOAD_H
#define TOPOLOOM_PRELOAD_H

#include "collective.h"
#include "shim.h"

/// Declares `next`, the next definition of an MPI function.
#define NEXT_OF(name) NEXT(name, __typeof__(&name))

// ---- comm_checks.c: communicators and sizes ------------------------------------------------------------------------
enum call_form { blocking, nonblocking, persistent };

/// A call, described equally on all processes of its communicator.
struct call_info {
    enum call_form form;
    enum topoloom_operation operation;
    int64_t bytes;  // as counted by the schedules of the operation
    MPI_Op op;      // MPI_OP_NULL = no reduction
    bool direct;    // blocks may differ, so that every library sends them directly
};
/// Whether to replace a call, because that gains time: the same answer on all processes of its communicator, so that none
/// hangs. Collective in the first blocking or persistent call of a communicator, which sets it up; local in others.
bool can_replace(MPI_Comm comm, const struct call_info* call);

enum { left_bits = 6 };
/// A hash table of communicators whose calls all stay with MPI; 0 = empty. Freed communicators are removed, because their
/// handles may be reused.
extern _Atomic(MPI_Comm) preload_left_comms[1 << left_bits];
static inline _Atomic(MPI_Comm)* get_left_slot(MPI_Comm comm) {
    return &preload_left_comms[(uintptr_t)comm * 0x9e3779b97f4a7c15 >> (64 - left_bits)];
}
/// Costs almost nothing, because it does not call MPI.
static inline bool is_left_to_mpi(MPI_Comm comm) {
    return atomic_load_explicit(get_left_slot(comm), memory_order_relaxed) == comm;
}

// ---- call_checks.c: whether to replace a call with these arguments -------------------------------------------------
bool is_intracomm(MPI_Comm comm);
bool can_replace_barrier(enum call_form form, MPI_Comm comm);
bool can_replace_alltoall(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                          const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
bool can_replace_allgather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                           const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
bool can_replace_allgatherv(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype,
                            MPI_Comm comm);
/// Reductions in which each rank contributes or receives `count` elements.
bool can_replace_reduction(enum call_form form, enum topoloom_operation operation, int count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
bool can_replace_reduce_scatter(enum call_form form, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm);
bool can_replace_bcast(enum call_form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm);
bool can_replace_reduce(enum call_form form, int count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm);
bool can_replace_gather(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
bool can_replace_scatter(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
bool can_replace_alltoallv(enum call_form form, const void* sendbuf, const int sendcounts[],
                           MPI_Datatype sendtype, const void* recvbuf, const int recvcounts[],
                           MPI_Datatype recvtype, MPI_Comm comm);
bool can_replace_gatherv(enum call_form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype, int root,
                         MPI_Comm comm);
bool can_replace_scatterv(enum call_form form, const void* sendbuf, const int sendcounts[],
                          MPI_Datatype sendtype, const void* recvbuf, int recvcount, MPI_Datatype recvtype,
                          int root, MPI_Comm comm);

#endif
