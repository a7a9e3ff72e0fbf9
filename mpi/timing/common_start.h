// SPDX-License-Identifier: BSD-3-Clause
// Starts all ranks at the same time. After a barrier, ranks would start one after another, when its last messages
// arrive.
#ifndef TOPOLOOM_TIMING_START_H
#define TOPOLOOM_TIMING_START_H

#include "clock.h"
#include "operations.h"

struct common_start {
    MPI_Comm comm;
    struct common_clock clock;
    double margin;  // seconds between the agreement on the start and the start
};

/// Creates a common start. The communicator must have no other traffic.
struct common_start make_common_start(MPI_Comm comm);
/// Synchronizes the clocks again, to compensate drift. Collective.
void resync_clocks(struct common_start* start);

/// Waits for the start, and returns its common time. `is_late` is set if this rank has missed the start. Collective.
double wait_for_start(struct common_start* start, int* is_late);
/// Waits until a common time. Returns 0 if this time has already passed.
int wait_until_common_time(const struct common_start* start, double common);
/// Returns the seconds from the start until the last rank calls this function, or -1 if a rank was late. If
/// so, the next start has a larger margin. Collective.
double measure_from_start(struct common_start* start, double begin_time, int is_late);
/// Returns the seconds from a common start until the last rank has finished the call. Repeats the call until
/// no rank starts late. Collective.
double time_collective(struct common_start* start, collective_call* call, const struct buffers* buffers);

#endif
