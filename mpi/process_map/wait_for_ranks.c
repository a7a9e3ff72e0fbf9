// SPDX-License-Identifier: BSD-3-Clause
// Waits for the other ranks. Ranks lack a preloaded library if their program is linked statically, or if a script
// removes LD_PRELOAD. Then the others wait forever: MPI cannot withdraw from a collective, and leaving it incomplete
// would mix it up with later ones of the program.
#include "wait_for_ranks.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { seconds_to_message = 20 };

static double get_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Prints on two ranks, of which one may lack the library.
static void print_waiting(MPI_Comm comm, const struct shim* shim) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank > 1) return;
    fprintf(
        stderr,
        "topoloom: %s: waiting for ranks that probably lack the preloaded library, because their programs "
        "are linked statically or a script removes LD_PRELOAD; end the job, and start it without topoloom\n",
        shim->undone);
}

int wait_for_ranks(MPI_Comm comm, const struct shim* shim, MPI_Request* request) {
    const double start = get_seconds();
    int status = MPI_SUCCESS;
    for (int complete = 0, printed = 0; status == MPI_SUCCESS && !complete;) {
        status = PMPI_Test(request, &complete, MPI_STATUS_IGNORE);
        if (complete) break;
        sched_yield();
        if (printed || get_seconds() - start < seconds_to_message) continue;
        print_waiting(comm, shim);
        printed = 1;
    }
    return status;
}

int wait_for_all_ranks(const struct shim* shim) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    const int status = PMPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    return status == MPI_SUCCESS ? wait_for_ranks(MPI_COMM_WORLD, shim, &barrier) : status;
}
