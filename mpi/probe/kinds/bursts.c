// SPDX-License-Identifier: BSD-3-Clause
// Bursts of messages, each answered by one reply: C. Karlsson, PhD thesis, CSM, 2012, A 3.2 and 3.3.
#include "kinds.h"

#include <stddef.h>

int get_stride(int bytes) { return (bytes + 63) / 64 * 64; }

static void post_receives(const struct exchange* e) {
    const ptrdiff_t stride = get_stride(e->bytes);
    for (int i = 0; i < e->window; ++i)
        MPI_Irecv(e->in + i * stride, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &e->requests[i]);
}

static void post_sends(const struct exchange* e) {
    for (int i = 0; i < e->window; ++i)
        MPI_Isend(e->out, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &e->requests[e->window + i]);
}

static void send_signal(const struct exchange* e, int tag) {
    MPI_Send(NULL, 0, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD);
}

static void wait_for_signal(const struct exchange* e, int tag) {
    MPI_Recv(NULL, 0, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

double measure_burst(const struct exchange* e) {
    wait_for_signal(e, tag_ready);
    const double begin = MPI_Wtime();
    post_sends(e);
    MPI_Waitall(e->window, e->requests + e->window, MPI_STATUSES_IGNORE);
    wait_for_signal(e, tag_back);
    return MPI_Wtime() - begin;
}

void answer_burst(const struct exchange* e) {
    post_receives(e);
    send_signal(e, tag_ready);
    MPI_Waitall(e->window, e->requests, MPI_STATUSES_IGNORE);
    send_signal(e, tag_back);
}

double measure_bidirectional(const struct exchange* e) {
    post_receives(e);
    wait_for_signal(e, tag_ready);
    send_signal(e, tag_go);
    const double begin = MPI_Wtime();
    post_sends(e);
    MPI_Waitall(2 * e->window, e->requests, MPI_STATUSES_IGNORE);
    wait_for_signal(e, tag_back);
    return MPI_Wtime() - begin;
}

void answer_bidirectional(const struct exchange* e) {
    post_receives(e);
    send_signal(e, tag_ready);
    wait_for_signal(e, tag_go);
    post_sends(e);
    MPI_Waitall(2 * e->window, e->requests, MPI_STATUSES_IGNORE);
    send_signal(e, tag_back);
}
