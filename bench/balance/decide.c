// SPDX-License-Identifier: BSD-3-Clause
// Times decisions one way or the other: `decide gathered|by_messages REPEATS` prints microseconds in the median, from the last
// rank's start to the last rank's end.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

static int ascending(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

static double median(MPI_Comm comm, int decide, int repeats, int rank) {
    double* times = malloc((size_t)repeats * sizeof *times);
    const topoloom_balance_options options = {.decide = decide};
    unsigned seed = (unsigned)rank + 1;
    for (int i = -1; i < repeats; ++i) {  // the first sets the communicator up
        seed = seed * 1664525U + 1013904223U;
        topoloom_plan* plan = NULL;
        MPI_Barrier(comm);
        double span[2] = {MPI_Wtime(), 0}, all[2] = {0, 0};  // simulated clocks are one
        topoloom_balance(comm, (seed >> 8) % 48, &options, &plan);
        span[1] = MPI_Wtime();
        topoloom_plan_free(&plan);
        MPI_Reduce(span, all, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
        if (i >= 0) times[i] = all[1] - all[0];
    }
    qsort(times, (size_t)repeats, sizeof *times, ascending);
    const double found = times[repeats / 2];
    free(times);
    return 1e6 * found;
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) return 2;
    const bool gathers = strcmp(argv[1], "gathered") == 0;
    const double found =
        median(MPI_COMM_WORLD, gathers ? TOPOLOOM_DECIDE_GATHERED : TOPOLOOM_DECIDE_BY_MESSAGES,
               atoi(argv[2]), rank);
    if (rank == 0) printf("%.3f\n", found);
    MPI_Finalize();
    return 0;
}
