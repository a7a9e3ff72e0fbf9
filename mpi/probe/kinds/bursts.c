// SPDX-License-Identifier: BSD-3-Clause
// Messages one after another, of which only the last is answered: C. Karlsson, PhD thesis, CSM, 2012, A 3.2 and 3.3.
#include "kinds.h"

#include <stddef.h>

int stride_of(int bytes) { return (bytes + 63) / 64 * 64; }

static void post(const struct exchange* e) {
    const ptrdiff_t stride = stride_of(e->bytes);
    for (int i = 0; i < e->window; ++i)
        MPI_Irecv(e->in + i * stride, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &e->requests[i]);
}

static void send_all(const struct exchange* e) {
    for (int i = 0; i < e->window; ++i)
        MPI_Isend(e->out, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &e->requests[e->window + i]);
}

static void note(const struct exchange* e, int tag) {
    MPI_Send(NULL, 0, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD);
}

static void wait_for_note(const struct exchange* e, int tag) {
    MPI_Recv(NULL, 0, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

double ask_burst(const struct exchange* e) {
    wait_for_note(e, tag_ready);
    const double begin = MPI_Wtime();
    send_all(e);
    MPI_Waitall(e->window, e->requests + e->window, MPI_STATUSES_IGNORE);
    wait_for_note(e, tag_back);
    return MPI_Wtime() - begin;
}

void answer_burst(const struct exchange* e) {
    post(e);
    note(e, tag_ready);
    MPI_Waitall(e->window, e->requests, MPI_STATUSES_IGNORE);
    note(e, tag_back);
}

double ask_both(const struct exchange* e) {
    post(e);
    wait_for_note(e, tag_ready);
    note(e, tag_go);
    const double begin = MPI_Wtime();
    send_all(e);
    MPI_Waitall(2 * e->window, e->requests, MPI_STATUSES_IGNORE);
    wait_for_note(e, tag_back);
    return MPI_Wtime() - begin;
}

void answer_both(const struct exchange* e) {
    post(e);
    note(e, tag_ready);
    wait_for_note(e, tag_go);
    send_all(e);
    MPI_Waitall(2 * e->window, e->requests, MPI_STATUSES_IGNORE);
    note(e, tag_back);
}
