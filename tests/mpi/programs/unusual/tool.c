// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool whose wrappers require state that its MPI_Init sets up. It sends its own messages, and rank
// 0 prints the number of receives at the end. With CHAINED, it calls the next definition by dlsym
// instead of the PMPI_ name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CHAINED
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#else
#define NEXT(name) (&P##name)
#endif

static long* received;

int MPI_Init(int* argc, char*** argv) {
    const int status = NEXT(MPI_Init)(argc, argv);
    received = calloc(1, sizeof *received);
    PMPI_Barrier(MPI_COMM_WORLD);
    return status;
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
    ++*received;
    return NEXT(MPI_Recv)(buffer, count, type, source, tag, comm, status);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    *received += 0;
    return NEXT(MPI_Send)(buffer, count, type, target, tag, comm);
}

int MPI_Finalize(void) {
    long all = 0;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(received, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("tool: %ld received\n", all);
    fflush(stdout);
    free(received);
    return NEXT(MPI_Finalize)();
}
