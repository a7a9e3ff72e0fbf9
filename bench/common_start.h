// SPDX-License-Identifier: BSD-3-Clause
// Starts ranks at the same time of a synchronized clock, such as SimGrid's.
#ifndef TOPOLOOM_BENCH_COMMON_START_H
#define TOPOLOOM_BENCH_COMMON_START_H

#include <mpi.h>
#include <time.h>

/// Returns the maximum over all ranks by point-to-point messages, because the measured collectives may be
/// slow.
static double find_latest(double seconds) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step < ranks; step *= 2) {
        double other;
        MPI_Sendrecv(&seconds, 1, MPI_DOUBLE, (rank + step) % ranks, 0, &other, 1, MPI_DOUBLE,
                     (rank + ranks - step) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (other > seconds) seconds = other;
    }
    return seconds;
}

static void wait_until(double end) {
    for (double left; (left = end - MPI_Wtime()) > 0;) {
        // SMPI's nanosleep takes virtual time; elsewhere, sleeping would end late.
#ifdef SMPI_H
        const struct timespec span = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)(1e9 * (left - (time_t)left)) + 1};
        nanosleep(&span, NULL);
#endif
    }
}

/// Waits for a common time in the future; returns that time in seconds.
static double wait_for_common_start(void) {
    const double margin = 1e-3;  // s
    const double start = find_latest(MPI_Wtime()) + margin;
    wait_until(start);
    return start;
}

#endif
