// SPDX-License-Identifier: BSD-3-Clause
// libtopoloom-mpi: checks that ranks run where a plan binds them.
#ifndef TOPOLOOM_VERIFY_H
#define TOPOLOOM_VERIFY_H

#include <mpi.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Compares where the ranks of `comm` run with the file `plan`, written by `topoloom export --to bindings`.
/// Collective. Rank 0 reads the file and writes a line to `out` for each rank that is misplaced or may run on more
/// CPUs than planned. Returns their number on every rank, or -1 if nothing could be compared, as on an
/// intercommunicator.
__attribute__((visibility("default"))) int topoloom_verify(MPI_Comm comm, const char* plan, FILE* out);

#ifdef __cplusplus
}
#endif

#endif
