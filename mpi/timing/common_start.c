// SPDX-License-Identifier: BSD-3-Clause
// Agrees on a time to start, waits for it, and finds who was last.
#define _GNU_SOURCE
#include "common_start.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>
#ifdef SMPI_H
#include <smpi/smpi_helpers.h>  // its nanosleep, also where CMake compiles without SimGrid's wrapper
#endif

static const double first_margin = 1e-4, most_margin = 0.1;  // s

struct start make_start(MPI_Comm comm) { return (struct start){.comm = comm, .margin = first_margin}; }

void compare_again(struct start* start) { compare_clocks(&start->clock, start->comm, 0); }

static double now(const struct start* start) { return to_common(&start->clock, PMPI_Wtime()); }

static void wait_until(double own) {
    for (double left; (left = own - PMPI_Wtime()) > 0;) {
#ifdef SMPI_H  // where sleeping takes simulated time; elsewhere it would end late
        const struct timespec span = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)(1e9 * (left - (time_t)left)) + 1};
        nanosleep(&span, NULL);
#else
        sched_yield();  // ranks may share a core
#endif
    }
}

int wait_for_common(const struct start* start, double common) {
    const int in_time = now(start) <= common;
    wait_until(to_own(&start->clock, common));
    return in_time;
}

double start_together(struct start* start, int* came_late) {
    const double arrived = now(start);
    double began = 0;
    PMPI_Allreduce(&arrived, &began, 1, MPI_DOUBLE, MPI_MAX, start->comm);
    began += start->margin;
    *came_late = !wait_for_common(start, began);
    return began;
}

double end_together(struct start* start, double began, int came_late) {
    const double own[] = {now(start), came_late};
    double most[2];
    PMPI_Allreduce(own, most, 2, MPI_DOUBLE, MPI_MAX, start->comm);
    if (most[1] == 0 || start->margin >= most_margin) return most[0] - began;
    start->margin *= 2;
    return -1;
}
