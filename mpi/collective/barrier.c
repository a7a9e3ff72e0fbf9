// SPDX-License-Identifier: BSD-3-Clause
// The barrier.
#include "collective.h"

static struct asked barrier(MPI_Comm comm) {
    return (struct asked){.name = "barrier", .operation = TOPOLOOM_BARRIER, .comm = comm, .op = MPI_OP_NULL};
}

int topoloom_barrier(MPI_Comm comm) {
    const struct asked asked = barrier(comm);
    return run_blocking(&asked);
}

int topoloom_ibarrier(MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = barrier(comm);
    return start_nonblocking(&asked, request);
}

int topoloom_barrier_init(MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = barrier(comm);
    return make_persistent(&asked, request);
}
