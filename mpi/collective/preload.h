// SPDX-License-Identifier: BSD-3-Clause
// What the C and the Fortran wrappers of the preloaded part share.
#ifndef TOPOLOOM_COLLECTIVE_PRELOAD_H
#define TOPOLOOM_COLLECTIVE_PRELOAD_H

#include "collective.h"
#include "shim.h"

/// Whether calls on a communicator are ours: the same answer for all its processes, so that none waits.
bool preload_serves(MPI_Comm comm);

#endif
