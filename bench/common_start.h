// SPDX-License-Identifier: BSD-3-Clause
// Ranks that start at the same time of a clock that is the same everywhere, as SimGrid's is.
#ifndef TOPOLOOM_BENCH_COMMON_START_H
#define TOPOLOOM_BENCH_COMMON_START_H

#include <mpi.h>
#include <time.h>

/// The largest of all ranks', by messages of our own: the collectives that are measured may take long.
static double latest(double seconds) {
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
        // SMPI's sleep takes virtual time; elsewhere it would end late.
#ifdef SMPI_H
        const struct timespec span = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)(1e9 * (left - (time_t)left)) + 1};
        nanosleep(&span, NULL);
#endif
    }
}

/// Waits for a time that all learn before it comes, and returns it.
static double common_start(void) {
    const double margin = 1e-3;  // s
    const double start = latest(MPI_Wtime()) + margin;
    wait_until(start);
    return start;
}

#endif
