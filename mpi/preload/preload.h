// SPDX-License-Identifier: BSD-3-Clause
// Interface shared by the C and Fortran wrappers.
#ifndef TOPOLOOM_PRELOAD_H
#define TOPOLOOM_PRELOAD_H

#include "collective.h"
#include "shim.h"

/// Declares `next`, the next definition of an MPI function.
#define NEXT_OF(name) NEXT(name, __typeof__(&name))

// ---- comm_checks.c: communicators and sizes ------------------------------------------------------------------------
enum call_form { blocking, nonblocking, persistent, call_form_count };
/// The functions in wrapped_calls.h.
enum wrapped_call {
#define ALL_FORMS(Name, name, parameters, arguments, condition) wrapped_##name,
#define BLOCKING_ONLY ALL_FORMS
#include "wrapped_calls.h"
    wrapped_call_count
};

/// Description of a call that is equal on all processes of its communicator.
struct call_info {
    enum call_form form;
    enum topoloom_operation operation;
    int64_t bytes;  // message size as defined by the operation's schedules
    MPI_Op op;      // MPI_OP_NULL = no reduction
    bool direct;    // block sizes may differ, so that every library sends blocks directly
};
/// Whether to replace a call because our schedule is faster. The result is equal on all processes of the communicator,
/// so that no process hangs. Collective in the first blocking or persistent call on a communicator, which sets it up;
/// otherwise local.
bool can_replace(MPI_Comm comm, const struct call_info* call);

// ---- excluded_comms.c: communicators whose calls are never replaced ------------------------------------------------
struct comm_record;
enum { excluded_bits = 6 };
/// Hash table of communicators whose calls are never replaced; 0 = empty. Freed communicators are removed, because MPI
/// may reuse their handles.
extern _Atomic(MPI_Comm) preload_excluded_comms[1 << excluded_bits];
/// The records with which calls on these communicators are counted; NULL: they are not counted.
extern _Atomic(struct comm_record*) preload_excluded_records[1 << excluded_bits];
/// Adds a communicator; another one with the same hash is removed.
void exclude_comm(MPI_Comm comm, struct comm_record* record);
void include_comm(MPI_Comm comm);
static inline _Atomic(MPI_Comm)* get_excluded_slot(MPI_Comm comm) {
    return &preload_excluded_comms[(uintptr_t)comm * 0x9e3779b97f4a7c15 >> (64 - excluded_bits)];
}
/// Whether no calls on the communicator are replaced. Fast: calls no MPI function.
static inline bool is_excluded_comm(MPI_Comm comm) {
    return atomic_load_explicit(get_excluded_slot(comm), memory_order_relaxed) == comm;
}

// ---- call_counters.c: counts for the summary --------------------------------------------------------------------------
void count_excluded_call(struct comm_record* record, enum wrapped_call call, enum call_form form);
/// As is_excluded_comm, but also counts the call.
static inline bool is_excluded_call(MPI_Comm comm, enum wrapped_call call, enum call_form form) {
    if (!is_excluded_comm(comm)) return false;
    struct comm_record* record = atomic_load_explicit(
        &preload_excluded_records[get_excluded_slot(comm) - preload_excluded_comms], memory_order_relaxed);
    if (record != NULL) count_excluded_call(record, call, form);
    return true;
}
/// Counts a call that is left to MPI. Returns is_replaced.
bool count_decision(bool is_replaced, enum wrapped_call call, enum call_form form);
/// Returns the time at the start of a replaced call; 0 if it is not counted.
double get_start_time(void);
/// Counts a replaced call that returned `status`. Returns the status.
int count_replaced_call(int status, enum wrapped_call call, enum call_form form, double start);

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
/// For reductions in which each rank contributes or receives `count` elements.
bool can_replace_reduction(enum call_form form, enum topoloom_operation operation, const void* sendbuf,
                           void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
bool can_replace_reduce_scatter(enum call_form form, const void* sendbuf, void* recvbuf,
                                const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
bool can_replace_bcast(enum call_form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm);
bool can_replace_reduce(enum call_form form, const void* sendbuf, void* recvbuf, int count,
                        MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
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
