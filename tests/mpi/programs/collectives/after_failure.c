// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 of two runs out of memory in one call; errors are returned. The next calls on rank 1 fail
// locally, because its steps would no longer match rank 0's.
// Usage: after_failure learn | exchange
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <topoloom_collective.h>
#include <topoloom_exchange.h>

#include "library_memory.h"

enum { calls = 3, most_bytes = 2000 };

static bool lacks_memory, fails_after_wait;

static bool may_allocate(void) { return !lacks_memory; }

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    const __typeof__(&PMPI_Waitall) next = (__typeof__(&PMPI_Waitall))dlsym(RTLD_NEXT, "PMPI_Waitall");
    const int status = next(count, requests, statuses);
    lacks_memory = fails_after_wait;
    return status;
}

static int allreduce_bytes(MPI_Comm comm, int bytes) {
    static char in[most_bytes], out[most_bytes];
    return topoloom_allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, comm);
}

/// Rank 0 sends rank 1 a long message, which is announced before its data are sent.
static int exchange(MPI_Comm comm, int rank) {
    static char message[most_bytes];
    const int to = 1, bytes = most_bytes;
    int count = 0, *sources = NULL, *counts = NULL;
    char* received = NULL;
    const int status = topoloom_sparse_exchange(rank == 0, &to, &bytes, message, NULL, MPI_BYTE, &count,
                                                &sources, &counts, &received, MPI_BYTE, comm);
    if (status == MPI_SUCCESS) topoloom_sparse_free(&sources, &counts, &received);
    return status;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const bool learns = strcmp(argv[1], "learn") == 0;
    int rank, failures = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    allreduce_bytes(comm, 8);
    record_library_spans();
    for (int call = 0; call < calls && rank == 1; ++call) {
        lacks_memory = learns && call == 0;
        fails_after_wait = call == 0;
        failures += (learns ? allreduce_bytes(comm, most_bytes) : exchange(comm, rank)) != MPI_SUCCESS;
        lacks_memory = fails_after_wait = false;
    }
    if (rank == 0 && !learns) exchange(comm, rank);
    if (rank == 1) printf("%d of %d calls fail\n", failures, calls);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
