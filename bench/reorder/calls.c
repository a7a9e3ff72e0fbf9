// SPDX-License-Identifier: BSD-3-Clause
// Times MPI_Cart_create without reorder on one process: the overhead of our wrapper.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/// CPU time of this thread, so that other processes on the machine do not count.
static double read_thread_cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double time_rejected_grids(int calls) {  // fails at once, so that little more than the call is timed
    const int no_extents[1] = {-1}, periods[1] = {0};
    MPI_Comm made;
    const double begin = read_thread_cpu_seconds();
    for (int i = 0; i < calls; ++i) MPI_Cart_create(MPI_COMM_SELF, 1, no_extents, periods, 0, &made);
    return 1e9 * (read_thread_cpu_seconds() - begin) / calls;
}

static double time_grids(int calls) {
    const int extents[1] = {1}, periods[1] = {0};
    const double begin = read_thread_cpu_seconds();
    for (int i = 0; i < calls; ++i) {
        MPI_Comm made;
        MPI_Cart_create(MPI_COMM_SELF, 1, extents, periods, 0, &made);
        MPI_Comm_free(&made);
    }
    return 1e9 * (read_thread_cpu_seconds() - begin) / calls;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    time_grids(1000);
    printf("refused %.1f\n", time_rejected_grids(400000));
    printf("created %.1f\n", time_grids(20000));
    MPI_Finalize();
    return 0;
}
