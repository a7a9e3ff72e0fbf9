// SPDX-License-Identifier: BSD-3-Clause
// CPU time per message on the sender or receiver: LogP's overhead (Culler et al., PPoPP 1993).
#include "kinds.h"

#include <stddef.h>

/// Number of round trips of empty messages. After these, an earlier message must have arrived.
enum { trips = 2 };

static void exchange_empty_messages(const struct exchange* e, int first) {
    for (int i = 0; i < 2 * trips; ++i) {
        if ((i % 2 == 0) == first)
            MPI_Send(NULL, 0, MPI_BYTE, e->peer, tag_extra, MPI_COMM_WORLD);
        else
            MPI_Recv(NULL, 0, MPI_BYTE, e->peer, tag_extra, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

double measure_send_cpu(const struct exchange* e) {
    exchange_empty_messages(e, 1);
    const double begin = MPI_Wtime();
    MPI_Send(e->out, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

void answer_send_cpu(const struct exchange* e) {
    MPI_Irecv(e->in, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, e->requests);
    exchange_empty_messages(e, 0);
    MPI_Wait(e->requests, MPI_STATUS_IGNORE);
}

double measure_receive_cpu(const struct exchange* e) {
    exchange_empty_messages(e, 1);
    const double begin = MPI_Wtime();
    MPI_Recv(e->in, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Wtime() - begin;
}

void answer_receive_cpu(const struct exchange* e) {
    MPI_Request sent;
    MPI_Isend(e->out, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &sent);
    exchange_empty_messages(e, 0);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}
