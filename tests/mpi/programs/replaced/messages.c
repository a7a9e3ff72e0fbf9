// SPDX-License-Identifier: BSD-3-Clause
// Prints the number of messages that the preloaded library sends for some collectives; MPI's own collectives are not
// counted, because they do not call PMPI_Isend.
// Usage: messages [large: the forms with large counts]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sent;

int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    ++sent;
    const __typeof__(&PMPI_Isend) next = (__typeof__(&PMPI_Isend))dlsym(RTLD_NEXT, "PMPI_Isend");
    return next(buffer, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
    int rank = 0, sum = 0, total = 0;
    int out[64] = {0}, in[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if MPI_VERSION >= 4
    for (int i = 0; i < 3 && argc > 1; ++i) {
        MPI_Request request;
        MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Ialltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Gather_c(out, 1, MPI_INT, in, rank == 1 ? 1 : -1, MPI_INT, 1, MPI_COMM_WORLD);
    }
#endif
    for (int i = 0; i < 3 && argc < 2; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    const int before = sent;
    PMPI_Reduce(&before, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d messages, sum %d\n", total, sum);
    MPI_Finalize();
    return 0;
}
