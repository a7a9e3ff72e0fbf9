// SPDX-License-Identifier: BSD-3-Clause
// Part of libtopoloom-mpi: verifies that ranks run at their planned locations.
#ifndef TOPOLOOM_VERIFY_H
#define TOPOLOOM_VERIFY_H

#include <mpi.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Compares the locations of the ranks of `comm` with the file `plan`, written by `topoloom export --to bindings`.
/// Collective. Rank 0 reads the file, and writes a line to `out` for each rank that is misplaced or may run on more
/// CPUs than planned. Returns the number of such ranks on every rank, or -1 if no comparison was possible, such as on
/// an intercommunicator.
__attribute__((visibility("default"))) int topoloom_verify(MPI_Comm comm, const char* plan, FILE* out);

#ifdef __cplusplus
}
#endif

#endif
