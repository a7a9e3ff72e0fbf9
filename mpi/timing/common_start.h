// SPDX-License-Identifier: BSD-3-Clause
// Starts all ranks at one time. After a barrier, ranks would start one by one, as its last messages arrive.
#ifndef TOPOLOOM_TIMING_START_H
#define TOPOLOOM_TIMING_START_H

#include "clock.h"
#include "operations.h"

struct common_start {
    MPI_Comm comm;
    struct common_clock clock;
    double margin;  // seconds from the agreement to the start
};

/// The communicator must have no other traffic.
struct common_start make_common_start(MPI_Comm comm);
/// Synchronizes the clocks again, against drift. Collective.
void resync_clocks(struct common_start* start);

/// Waits for the start and returns its common time; `is_late`: this rank has missed it. Collective.
double wait_for_start(struct common_start* start, int* is_late);
/// Returns 0 if the time had passed.
int wait_until_common_time(const struct common_start* start, double common);
/// Seconds from the start until the last rank calls this. -1: a rank was late; the next start has a larger margin.
/// Collective.
double measure_from_start(struct common_start* start, double began, int is_late);
/// Seconds from a common start to the end of the last rank; repeats until no rank is late. Collective.
double time_collective(struct common_start* start, collective_call* call, const struct buffers* buffers);

#endif
