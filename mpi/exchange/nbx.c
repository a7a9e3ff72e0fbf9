// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking consensus (Hoefler, Siebert, Lumsdaine, PPoPP 2010, algorithm 2): who knows that all it has sent is
// received enters a barrier, and receives until everybody is there.
#include <sched.h>

#include "exchange.h"

static int receive_if_any(struct exchange* exchange, bool* received) {
    int found = 0;
    MPI_Status probed;
    int status = PMPI_Iprobe(MPI_ANY_SOURCE, exchange->straight_tag, exchange->state->own, &found, &probed);
    *received = found;
    if (status == MPI_SUCCESS && found) status = receive_probed(exchange, &probed);
    return status;
}

/// Receives meanwhile.
static int test_all(struct exchange* exchange, int count, MPI_Request* requests) {
    int status = MPI_SUCCESS, done = 0;
    while (status == MPI_SUCCESS && !done) {
        bool received = false;
        status = receive_if_any(exchange, &received);
        if (status == MPI_SUCCESS && !received) {
            status = PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
            if (!done) sched_yield();
        }
    }
    return status;
}

int exchange_by_nbx(struct exchange* exchange) {
    int status = start_sends(exchange, -1, true);
    if (status == MPI_SUCCESS) status = test_all(exchange, exchange->send_count, exchange->sends);
    MPI_Request barrier = MPI_REQUEST_NULL;
    if (status == MPI_SUCCESS) status = PMPI_Ibarrier(exchange->state->own, &barrier);
    return status == MPI_SUCCESS ? test_all(exchange, 1, &barrier) : status;
}
