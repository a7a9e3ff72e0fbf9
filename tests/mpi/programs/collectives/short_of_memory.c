// SPDX-License-Identifier: BSD-3-Clause
// Sets communicators up repeatedly; each time, rank 1 runs out of memory later. All ranks abandon
// the communicator, or none does.
// Usage: short_of_memory FIRST. FIRST: allocations that succeed for the first communicator; if 0,
// its errors are fatal.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_collective.h>

#include "library_memory.h"

static long left = -1;  // allocations that succeed; if negative, all

static bool may_allocate(void) {
    if (left > 0) --left;
    return left != 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm first;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    topoloom_barrier(first);  // the first call allocates the state of the process
    MPI_Comm_free(&first);
    record_library_spans();
    long failures = 0, given_up = 0, disagreements = 0;
    int is_short = 1;
    for (long succeed = argc > 1 ? atol(argv[1]) : 0; is_short; succeed += 1 + succeed / 16) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (succeed > 0) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        const char* schedule;
        left = rank == 1 ? succeed + 1 : -1;
        topoloom_schedule_of(comm, "barrier", 0, &schedule);
        is_short = left == 0;
        left = -1;
        const int status = topoloom_barrier(comm) == MPI_SUCCESS;
        int least, most;
        MPI_Bcast(&is_short, 1, MPI_INT, 1, MPI_COMM_WORLD);
        MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        failures += is_short;
        given_up += !most;
        disagreements += least != most;
        MPI_Comm_free(&comm);
    }
    if (rank == 0)
        printf("%ld failures, %ld given up, %ld disagreements\n", failures, given_up, disagreements);
    MPI_Finalize();
    return 0;
}
