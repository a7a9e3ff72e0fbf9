// SPDX-License-Identifier: BSD-3-Clause
// A common start: a barrier would let ranks go one after another, as its last messages arrive.
#ifndef TOPOLOOM_TIMING_START_H
#define TOPOLOOM_TIMING_START_H

#include "clock.h"

struct start {
    MPI_Comm comm;  // of those who start
    struct common_clock clock;
    double margin;  // s in which all learn when to start
};

/// Nothing else may be under way on the communicator.
struct start make_start(MPI_Comm comm);
/// Compares the clocks again. Collective.
void compare_again(struct start* start);

/// Waits for the start, and gives it on the common clock; `came_late`: this rank has missed it.
double start_together(struct start* start, int* came_late);
/// Waits for a time of the common clock; false: it had passed.
int wait_for_common(const struct start* start, double common);
/// From the start to the end of the last rank. -1: a rank has missed the start, and next time there is more of a margin.
double end_together(struct start* start, double began, int came_late);

#endif
