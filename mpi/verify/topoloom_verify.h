// SPDX-License-Identifier: BSD-3-Clause
// libtopoloom-mpi: whether ranks are where a plan puts them.
#ifndef TOPOLOOM_VERIFY_H
#define TOPOLOOM_VERIFY_H

#include <mpi.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Compares where the ranks of `comm` are with the file `plan`, which `topoloom export --to bindings` writes.
/// Collective. Rank 0 reads the file, and writes to `out` a line for each rank that is elsewhere or may run on
/// more CPUs than planned. Returns on every rank how many these are, or -1 where nothing could be compared, as
/// on an intercommunicator.
__attribute__((visibility("default"))) int topoloom_verify(MPI_Comm comm, const char* plan, FILE* out);

#ifdef __cplusplus
}
#endif

#endif
