// SPDX-License-Identifier: BSD-3-Clause
// Waits for the requests of an exchange.
#include <sched.h>

#include "exchange.h"

int wait_for_all_requests(const struct exchange* exchange, int count, MPI_Request* requests) {
    int status = MPI_SUCCESS, done = 0;
    while (status == MPI_SUCCESS && !done) {
        if (!drive_active_calls(exchange->state->process))
            return PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        status = PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done) sched_yield();
    }
    return status;
}

int wait_for_request(const struct exchange* exchange, MPI_Request* request) {
    return wait_for_all_requests(exchange, 1, request);
}
