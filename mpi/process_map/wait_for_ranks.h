// SPDX-License-Identifier: BSD-3-Clause
// Waits for collectives of a preloaded library, which ranks without the library never call.
#ifndef TOPOLOOM_WAIT_FOR_RANKS_H
#define TOPOLOOM_WAIT_FOR_RANKS_H

#include "shim.h"

/// Waits for a non-blocking collective on `comm`. After 20 s, prints once that ranks may lack the library. Returns the
/// status of MPI.
int wait_for_ranks(MPI_Comm comm, const struct shim* shim, MPI_Request* request);

/// The same for a barrier of MPI_COMM_WORLD.
int wait_for_all_ranks(const struct shim* shim);

#endif
