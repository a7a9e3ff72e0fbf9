// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "common_start.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>
#ifdef SMPI_H
#include <smpi/smpi_helpers.h>  // its nanosleep, also where CMake compiles without SimGrid's wrapper
#endif

static const double first_margin = 1e-4, max_margin = 0.1;  // s

struct common_start make_common_start(MPI_Comm comm) {
    return (struct common_start){.comm = comm, .margin = first_margin};
}

void resync_clocks(struct common_start* start) { sync_clocks(&start->clock, start->comm, 0); }

static double get_common_time(const struct common_start* start) {
    return to_common_time(&start->clock, PMPI_Wtime());
}

static void wait_until_local_time(double local) {
    for (double left; (left = local - PMPI_Wtime()) > 0;) {
#ifdef SMPI_H  // simulated time passes only while sleeping; elsewhere, nanosleep would return late
        const struct timespec rest = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)(1e9 * (left - (time_t)left)) + 1};
        nanosleep(&rest, NULL);
#else
        sched_yield();  // yield, because ranks may share a core
#endif
    }
}

int wait_until_common_time(const struct common_start* start, double common) {
    const int in_time = get_common_time(start) <= common;
    wait_until_local_time(to_local_time(&start->clock, common));
    return in_time;
}

double wait_for_start(struct common_start* start, int* is_late) {
    const double arrived = get_common_time(start);
    double begin_time = 0;
    PMPI_Allreduce(&arrived, &begin_time, 1, MPI_DOUBLE, MPI_MAX, start->comm);
    begin_time += start->margin;
    *is_late = !wait_until_common_time(start, begin_time);
    return begin_time;
}

double measure_from_start(struct common_start* start, double begin_time, int is_late) {
    const double own_values[] = {get_common_time(start), is_late};
    double maxima[2];
    PMPI_Allreduce(own_values, maxima, 2, MPI_DOUBLE, MPI_MAX, start->comm);
    if (maxima[1] == 0 || start->margin >= max_margin) return maxima[0] - begin_time;
    start->margin *= 2;
    return -1;
}

double time_collective(struct common_start* start, collective_call* call, const struct buffers* buffers) {
    for (;;) {
        int is_late = 0;
        const double begin_time = wait_for_start(start, &is_late);
        call(buffers);
        const double seconds = measure_from_start(start, begin_time, is_late);
        if (seconds >= 0) return seconds;
    }
}
