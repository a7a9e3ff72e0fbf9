// SPDX-License-Identifier: BSD-3-Clause
// The clocks of ranks beside each other: MPI_Wtime starts anywhere on each, and may run faster on one than on another.
#ifndef TOPOLOOM_TIMING_CLOCK_H
#define TOPOLOOM_TIMING_CLOCK_H

#include <mpi.h>
#include <stdbool.h>

/// How far this rank's clock is ahead of that of rank 0, in seconds. All zero before it is compared.
struct common_clock {
    double first_at, first_offset;  // of the first comparison: over the longest time drift shows best
    double at, offset;              // of the last one
    double drift;                   // seconds per second
    bool compared;
};

/// Compares clocks along a binomial tree, by the fastest of several messages there and back (Hunold and
/// Carpen-Amarie, "On the impact of synchronizing clocks and processes on benchmarking MPI collectives",
/// EuroMPI 2015). Collective; nothing else may be under way with this tag. What MPI functions return.
int compare_clocks(struct common_clock* clock, MPI_Comm comm, int tag);

/// A time of this rank's clock on that of rank 0, and the other way round.
double to_common(const struct common_clock* clock, double own);
double to_own(const struct common_clock* clock, double common);

#endif
