// SPDX-License-Identifier: BSD-3-Clause
// A clock common to all ranks: MPI_Wtime has a different origin on each rank, and may drift.
#ifndef TOPOLOOM_TIMING_CLOCK_H
#define TOPOLOOM_TIMING_CLOCK_H

#include <mpi.h>
#include <stdbool.h>

/// Offset of this rank's clock from that of rank 0, in seconds. Must be initialized with zeros.
struct common_clock {
    double first_at, first_offset;  // local time and offset at the first synchronization
    double at, offset;              // local time and offset at the last synchronization
    double drift;                   // drift since the first synchronization, in seconds per second
    bool synced;
};

/// Synchronizes clocks along a binomial tree, by the fastest of several round trips (Hunold and
/// Carpen-Amarie, "On the impact of synchronizing clocks and processes on benchmarking MPI collectives",
/// EuroMPI 2015). Collective. No other message may use this tag. Returns an MPI error code.
int sync_clocks(struct common_clock* clock, MPI_Comm comm, int tag);

/// Convert between this rank's MPI_Wtime and that of rank 0.
double to_common_time(const struct common_clock* clock, double local);
double to_local_time(const struct common_clock* clock, double common);

#endif
