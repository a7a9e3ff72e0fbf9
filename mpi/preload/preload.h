// SPDX-License-Identifier: BSD-3-Clause
// What the C and the Fortran wrappers of the preloaded part share.
#ifndef TOPOLOOM_PRELOAD_H
#define TOPOLOOM_PRELOAD_H

#include "collective.h"
#include "shim.h"

/// Declares `next`, the definition of an MPI function behind ours.
#define DEFINITION(name) NEXT(name, __typeof__(&name))

// ---- served.c: communicators and sizes ---------------------------------------------------------------------------
/// Whether a call returns when it has ended, goes on by itself, or does so whenever it is started.
enum form { blocking, nonblocking, persistent };

/// What a call moves, in the count of struct plan_key: the same for all processes of its communicator.
struct moved {
    enum form form;
    enum topoloom_operation operation;
    int64_t bytes;
    MPI_Op op;      // MPI_OP_NULL: nothing is combined
    bool straight;  // blocks may differ, so that all go straight to where they belong, in every library
};
/// Whether a call is ours, as it gains: the same answer for all processes of its communicator, so that none waits.
/// The first blocking or persistent call of a communicator sets it up: collective. Others find what that has left.
bool preload_serves(MPI_Comm comm, const struct moved* moved);

enum { aside_bits = 6 };
/// Communicators of which every call stays MPI's, each where its hash says; 0, which none is: nothing is known. They are
/// forgotten when they are freed, as another may then get the handle.
extern _Atomic(MPI_Comm) preload_aside[1 << aside_bits];
static inline _Atomic(MPI_Comm)* place_aside(MPI_Comm comm) {
    return &preload_aside[(uintptr_t)comm * 0x9e3779b97f4a7c15 >> (64 - aside_bits)];
}
/// What a call that stays MPI's costs should be nothing that a program notices: it asks MPI for nothing.
static inline bool stays_mpis(MPI_Comm comm) {
    return atomic_load_explicit(place_aside(comm), memory_order_relaxed) == comm;
}

// ---- calls.c: whether a call with these arguments is ours --------------------------------------------------------
/// Of an intercommunicator neither roots nor counts are those of its own ranks.
bool is_within(MPI_Comm comm);
// What is wrong on its face goes to the definition behind ours, so that the error is MPI's.
bool serves_barrier(enum form form, MPI_Comm comm);
bool serves_alltoall(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                     const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
bool serves_allgather(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                      const void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
bool serves_allgatherv(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                       const void* recvbuf, const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm);
/// Of the operations in which each rank gives `count` elements, or gets as many.
bool serves_combining(enum form form, enum topoloom_operation operation, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm);
bool serves_reduce_scatter(enum form form, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm);
bool serves_bcast(enum form form, const void* buffer, int count, MPI_Datatype datatype, int root,
                  MPI_Comm comm);
bool serves_reduce(enum form form, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
bool serves_gather(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                   const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
bool serves_scatter(enum form form, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                    const void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
/// Blocking ones only: they gain nothing but what the user learns of them.
bool serves_alltoallv(const void* sendbuf, const int sendcounts[], MPI_Datatype sendtype, const void* recvbuf,
                      const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm);
bool serves_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const void* recvbuf,
                    const int recvcounts[], MPI_Datatype recvtype, int root, MPI_Comm comm);
bool serves_scatterv(const void* sendbuf, const int sendcounts[], MPI_Datatype sendtype, const void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

#endif
