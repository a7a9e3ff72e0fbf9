// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking consensus (Hoefler, Siebert, Lumsdaine, PPoPP 2010, algorithm 2): when all its messages have been
// received, a rank enters a barrier, and continues to receive until all ranks have entered.
#include <sched.h>

#include "exchange.h"

static int receive_available_part(struct exchange* exchange, bool* received) {
    int found = 0;
    MPI_Status probed;
    int status =
        PMPI_Iprobe(MPI_ANY_SOURCE, exchange->direct_tag, exchange->state->duplicate, &found, &probed);
    *received = found;
    if (status == MPI_SUCCESS && found) status = receive_probed_part(exchange, &probed);
    return status;
}

static int finish_sends(struct exchange* exchange) {
    int status = MPI_SUCCESS, done = 0;
    while (status == MPI_SUCCESS && !done) {
        bool received = false;
        status = receive_available_part(exchange, &received);
        if (status != MPI_SUCCESS || received) continue;
        status = PMPI_Testall(exchange->send_count, exchange->sends, &done, MPI_STATUSES_IGNORE);
        if (status == MPI_SUCCESS && !done && !drive_active_calls(exchange->state->process)) sched_yield();
    }
    return status;
}

static int finish_barrier(struct exchange* exchange) {
    topoloom_request barrier = TOPOLOOM_REQUEST_NULL;
    int status = topoloom_ibarrier(exchange->comm, &barrier), done = 0;
    while (status == MPI_SUCCESS && !done) {
        bool received = false;
        status = receive_available_part(exchange, &received);
        if (status != MPI_SUCCESS || received) continue;
        status = topoloom_test(&barrier, &done, MPI_STATUS_IGNORE);
        if (!done) sched_yield();
    }
    return status;
}

int exchange_by_nbx(struct exchange* exchange) {
    int status = start_sends(exchange, -1, true);
    if (status == MPI_SUCCESS) status = finish_sends(exchange);
    return status == MPI_SUCCESS ? finish_barrier(exchange) : status;
}
