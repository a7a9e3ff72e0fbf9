// SPDX-License-Identifier: BSD-3-Clause
// Round trips: S. Kumar, PhD thesis, UIUC, 2005, ch. 2; C. Karlsson, PhD thesis, CSM, 2012, A 3.1.
#include "kinds.h"

#include <stddef.h>

static void send(const struct exchange* e, int bytes, int tag) {
    MPI_Send(e->out, bytes, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD);
}

static void receive(const struct exchange* e, int bytes, int tag) {
    MPI_Recv(e->in, bytes, MPI_BYTE, e->peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

double measure_echo(const struct exchange* e) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < e->window; ++i) {
        send(e, e->bytes, tag_data);
        receive(e, e->bytes, tag_back);
    }
    return (MPI_Wtime() - begin) / (2 * e->window);
}

void answer_echo(const struct exchange* e) {
    for (int i = 0; i < e->window; ++i) {
        receive(e, e->bytes, tag_data);
        send(e, e->bytes, tag_back);
    }
}

/// Sends a message, followed by an empty one. The peer replies after both have arrived.
double measure_two_messages(const struct exchange* e) {
    receive(e, 0, tag_ready);
    const double begin = MPI_Wtime();
    // non-blocking, because the send may not complete before the receive is posted
    MPI_Isend(e->out, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, e->requests);
    send(e, 0, tag_extra);
    MPI_Wait(e->requests, MPI_STATUS_IGNORE);
    receive(e, 0, tag_back);
    return MPI_Wtime() - begin;
}

void answer_expected(const struct exchange* e) {
    MPI_Irecv(e->in, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, e->requests);
    send(e, 0, tag_ready);
    receive(e, 0, tag_extra);
    MPI_Wait(e->requests, MPI_STATUS_IGNORE);
    send(e, 0, tag_back);
}

void answer_unexpected(const struct exchange* e) {
    send(e, 0, tag_ready);
    receive(e, 0, tag_extra);
    receive(e, e->bytes, tag_data);
    send(e, 0, tag_back);
}

double measure_posted(const struct exchange* e) {
    receive(e, 0, tag_ready);
    const double begin = MPI_Wtime();
    send(e, e->bytes, tag_data);
    receive(e, 0, tag_back);
    const double seconds = MPI_Wtime() - begin;
    for (int i = 0; i < e->window; ++i) send(e, 0, tag_extra);
    return seconds;
}

void answer_posted(const struct exchange* e) {
    for (int i = 0; i < e->window; ++i)
        MPI_Irecv(NULL, 0, MPI_BYTE, e->peer, tag_extra, MPI_COMM_WORLD, &e->requests[i]);
    MPI_Irecv(e->in, e->bytes, MPI_BYTE, e->peer, tag_data, MPI_COMM_WORLD, &e->requests[e->window]);
    send(e, 0, tag_ready);
    MPI_Wait(&e->requests[e->window], MPI_STATUS_IGNORE);
    send(e, 0, tag_back);
    MPI_Waitall(e->window, e->requests, MPI_STATUSES_IGNORE);
}
