// SPDX-License-Identifier: BSD-3-Clause
// Gives each rank a clock one hour ahead of the previous rank's, and synchronizes the clocks twice.
// Prints the largest error in seconds of the host's clock.
// Usage: skewed_clocks DRIFT. The clock of rank r gains DRIFT times r seconds per second; with
// drift, a second passes after each synchronization.
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static int rank;
static double drift;

static double read_true_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Replaces the library's clock.
double PMPI_Wtime(void) { return 3600.0 * rank + (1 + drift * rank) * read_true_time(); }

#ifdef SIMULATED
// Hides MPI_WTIME_IS_GLOBAL, which is true in SimGrid.
int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
    *found = 0;
    return MPI_SUCCESS;
}
#endif

int main(int argc, char** argv) {
    struct common_clock clock = {.synced = false};
    MPI_Init(&argc, &argv);
    drift = argc > 1 ? atof(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; ++i) {
        sync_clocks(&clock, MPI_COMM_WORLD, 0);
        if (drift > 0) sleep(1);
    }
    const double now = read_true_time(), own = PMPI_Wtime(), common = to_common_time(&clock, own);
    double errors[] = {fabs(common - now), fabs(to_local_time(&clock, common) - own)}, largest[2];
    MPI_Reduce(errors, largest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%g %g\n", largest[0], largest[1]);
    return MPI_Finalize();
}
