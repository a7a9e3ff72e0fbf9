// SPDX-License-Identifier: BSD-3-Clause
// What the C and the Fortran wrappers of the preloaded part share.
#ifndef TOPOLOOM_COLLECTIVE_PRELOAD_H
#define TOPOLOOM_COLLECTIVE_PRELOAD_H

#include "collective.h"
#include "shim.h"

/// What a call moves, in the count of struct plan_key: the same for all processes of its communicator.
struct moved {
    enum topoloom_operation operation;
    int64_t bytes;
    MPI_Op op;      // MPI_OP_NULL: nothing is combined
    bool straight;  // blocks may differ, so that all go straight to where they belong, in every library
};
/// Whether a call is ours, as it gains: the same answer for all processes of its communicator, so that none waits.
/// The first call of a communicator sets it up: collective.
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

#endif
