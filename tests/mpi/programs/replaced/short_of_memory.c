// SPDX-License-Identifier: BSD-3-Clause
// With the preloaded library for collectives, rank 1 runs out of memory.
//
// Usage: short_of_memory setup | call N.
// setup: rank 1 runs out of memory later in each setup. Prints the numbers of failures, of
// communicators that all ranks abandon, and of those that only some abandon.
// call N: rank 1 runs out of memory in a call after N allocations. Prints whether the result is
// right.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../collectives/library_memory.h"

enum { most_ranks = 16 };

static long left = -1;  // allocations that succeed; if negative, all
static int rank, ranks, sent;

static bool may_allocate(void) {
    if (left > 0) --left;
    return left != 0;
}

int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    ++sent;
    const __typeof__(&PMPI_Isend) next = (__typeof__(&PMPI_Isend))dlsym(RTLD_NEXT, "PMPI_Isend");
    return next(buffer, count, type, to, tag, comm, request);
}

/// Sets a communicator up by a collective that MPI executes.
static void set_up_communicator(MPI_Comm comm) {
    int counts[most_ranks] = {0}, places[most_ranks] = {0};
    int nothing = 0;
    MPI_Alltoallv(&rank, counts, places, MPI_INT, &nothing, counts, places, MPI_INT, comm);
}

static int check_gather(MPI_Comm comm) {
    int all[most_ranks], wrong = 0;
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; ++r) wrong += all[r] != r;
    return wrong;
}

static void fail_during_setup(void) {
    long failures = 0, given_up = 0, disagreements = 0, wrong = 0;
    int is_short = 1;
    for (long succeed = 0; is_short; succeed += 1 + succeed / 8) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        left = rank == 1 ? succeed : -1;
        set_up_communicator(comm);
        is_short = left == 0;
        left = -1;
        const int before = sent;
        wrong += check_gather(comm);
        const int mine[] = {sent > before, sent == before};
        int all[2];
        PMPI_Bcast(&is_short, 1, MPI_INT, 1, MPI_COMM_WORLD);
        PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        failures += is_short;
        given_up += !all[0];
        disagreements += all[0] && all[1];
        MPI_Comm_free(&comm);
    }
    PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld failures, %ld given up, %ld disagreements, %ld wrong\n", failures, given_up,
               disagreements, wrong);
}

static void fail_during_call(long succeed) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up_communicator(comm);
    left = rank == 1 ? succeed : -1;
    fputs(check_gather(comm) ? "wrong\n" : "right\n",
          stdout);  // a single write, so that lines of ranks do not mix
    left = -1;
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    record_library_spans();
    if (argc > 2)
        fail_during_call(atol(argv[2]));
    else
        fail_during_setup();
    MPI_Finalize();
    return 0;
}
