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

#endif
