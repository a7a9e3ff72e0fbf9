// SPDX-License-Identifier: BSD-3-Clause
// A wave: ranks add up numbers towards rank 0 in a binary tree, and the sums come back. 2 (P - 1) messages, where an
// MPI's non-blocking reduction may take P (P - 1), which SMPI's does.
#include "stream.h"

/// Only a model needs more than the numbers of messages.
static int value_count(const struct stream* stream) {
    return stream->choice.is_open ? wave_values : wave_items;
}

static void note(struct wave* wave, MPI_Request request) { wave->requests[wave->request_count++] = request; }

static int send(struct stream* stream, int rank, int tag, const int64_t numbers[wave_values]) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int status =
        PMPI_Isend(numbers, value_count(stream), MPI_INT64_T, rank, tag, stream->comm, &request);
    if (status == MPI_SUCCESS) note(&stream->tree, request);
    return status;
}

static int receive_from(struct stream* stream, int rank, int tag, int64_t numbers[wave_values]) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int status =
        PMPI_Irecv(numbers, value_count(stream), MPI_INT64_T, rank, tag, stream->comm, &request);
    if (status == MPI_SUCCESS) note(&stream->tree, request);
    return status;
}

static int child_count(const struct stream* stream) {
    const int left = stream->ranks - 1 - 2 * stream->rank;
    return left < 0 ? 0 : left < most_children ? left : most_children;
}

/// Whether what the wave has sent and asked for is done.
static int test_all(struct wave* wave, bool* is_done) {
    int flag = 1;
    int status = MPI_SUCCESS;
    if (wave->request_count > 0)
        status = PMPI_Testall(wave->request_count, wave->requests, &flag, MPI_STATUSES_IGNORE);
    if (flag) wave->request_count = 0;
    *is_done = flag;
    return status;
}

int begin_wave(struct stream* stream, const int64_t numbers[wave_values], bool* begun) {
    struct wave* wave = &stream->tree;
    // The sums of the wave before may be on their way to children.
    int status = test_all(wave, begun);
    if (status != MPI_SUCCESS || !*begun) return status;
    wave->state = wave_gathers;
    for (int i = 0; i < wave_values; ++i) wave->own[i] = numbers[i];
    for (int c = 0; c < child_count(stream) && status == MPI_SUCCESS; ++c)
        status = receive_from(stream, 2 * stream->rank + 1 + c, tag_up, wave->from_children[c]);
    return status;
}

static int pass_up(struct stream* stream) {
    struct wave* wave = &stream->tree;
    for (int c = 0; c < child_count(stream); ++c)
        for (int i = 0; i < wave_values; ++i) wave->own[i] += wave->from_children[c][i];
    const int parent = (stream->rank - 1) / 2;
    wave->state = wave_waits;
    if (stream->rank == 0) {
        for (int i = 0; i < wave_values; ++i) wave->sums[i] = wave->own[i];
        choose_next(stream, wave->sums);
        return MPI_SUCCESS;
    }
    const int status = send(stream, parent, tag_up, wave->own);
    return status == MPI_SUCCESS ? receive_from(stream, parent, tag_down, wave->sums) : status;
}

int end_of_wave(struct stream* stream, bool* has_sums) {
    struct wave* wave = &stream->tree;
    bool is_done = false;
    *has_sums = false;
    int status = test_all(wave, &is_done);
    if (status == MPI_SUCCESS && is_done && wave->state == wave_gathers) {
        status = pass_up(stream);
        if (status == MPI_SUCCESS) status = test_all(wave, &is_done);
    }
    if (status != MPI_SUCCESS || !is_done) return status;
    for (int c = 0; c < child_count(stream) && status == MPI_SUCCESS; ++c)
        status = send(stream, 2 * stream->rank + 1 + c, tag_down, wave->sums);
    *has_sums = status == MPI_SUCCESS;
    return status;
}

int awaited_ranks(const struct stream* stream, int ranks[most_children]) {
    const struct wave* wave = &stream->tree;
    int count = 0;
    if (stream->quiescence.in_wave && wave->state == wave_waits) {
        ranks[0] = (stream->rank - 1) / 2;
        return 1;
    }
    for (int c = 0; c < wave->request_count; ++c) {
        int is_done = 0;
        PMPI_Request_get_status(wave->requests[c], &is_done, MPI_STATUS_IGNORE);
        if (!is_done) ranks[count++] = 2 * stream->rank + 1 + c;
    }
    return count;
}

int leave_tree(struct stream* stream) {
    struct wave* wave = &stream->tree;
    return PMPI_Waitall(wave->request_count, wave->requests, MPI_STATUSES_IGNORE);
}
