// SPDX-License-Identifier: BSD-3-Clause
// A wave: a non-blocking allreduce along a binary tree rooted at rank 0. It takes 2 (P - 1) messages, whereas
// MPI_Iallreduce may take P (P - 1), as in SMPI.
#include "stream.h"

/// Number of values to sum. Only the cost model needs more values than the numbers of messages.
static int get_value_count(const struct stream* stream) {
    return stream->tuning.is_enabled ? wave_value_count : wave_items;
}

static int send_values(struct stream* stream, int rank, int tag, const int64_t* values) {
    struct wave* wave = &stream->wave;
    const int status = PMPI_Isend(values, get_value_count(stream), MPI_INT64_T, rank, tag, stream->comm,
                                  &wave->requests[wave->request_count]);
    wave->request_count += status == MPI_SUCCESS;
    return status;
}

static int receive_values(struct stream* stream, int rank, int tag, int64_t* values) {
    struct wave* wave = &stream->wave;
    const int status = PMPI_Irecv(values, get_value_count(stream), MPI_INT64_T, rank, tag, stream->comm,
                                  &wave->requests[wave->request_count]);
    wave->request_count += status == MPI_SUCCESS;
    return status;
}

static int count_children(const struct stream* stream) {
    const int left = stream->ranks - 1 - 2 * stream->rank;
    return left < 0 ? 0 : left < max_children ? left : max_children;
}
static int test_requests(struct wave* wave, bool* is_done) {
    int flag = 1;
    int status = MPI_SUCCESS;
    if (wave->request_count > 0)
        status = PMPI_Testall(wave->request_count, wave->requests, &flag, MPI_STATUSES_IGNORE);
    if (flag) wave->request_count = 0;
    *is_done = flag;
    return status;
}

int begin_wave(struct stream* stream, const int64_t values[wave_value_count], bool* has_begun) {
    struct wave* wave = &stream->wave;
    // The sums of the previous wave may still be in flight to the children.
    int status = test_requests(wave, has_begun);
    if (status != MPI_SUCCESS || !*has_begun) return status;
    wave->state = wave_gathering;
    for (int i = 0; i < wave_value_count; ++i) wave->own[i] = values[i];
    for (int c = 0; c < count_children(stream) && status == MPI_SUCCESS; ++c)
        status = receive_values(stream, 2 * stream->rank + 1 + c, tag_up, wave->from_children[c]);
    return status;
}

static int send_sums_to_parent(struct stream* stream) {
    struct wave* wave = &stream->wave;
    for (int c = 0; c < count_children(stream); ++c)
        for (int i = 0; i < wave_value_count; ++i) wave->own[i] += wave->from_children[c][i];
    const int parent = (stream->rank - 1) / 2;
    wave->state = wave_waiting;
    if (stream->rank == 0) {
        for (int i = 0; i < wave_value_count; ++i) wave->sums[i] = wave->own[i];
        choose_settings(stream, wave->sums);
        return MPI_SUCCESS;
    }
    const int status = send_values(stream, parent, tag_up, wave->own);
    return status == MPI_SUCCESS ? receive_values(stream, parent, tag_down, wave->sums) : status;
}

int advance_wave(struct stream* stream, bool* has_sums) {
    struct wave* wave = &stream->wave;
    bool is_done = false;
    *has_sums = false;
    int status = test_requests(wave, &is_done);
    if (status == MPI_SUCCESS && is_done && wave->state == wave_gathering) {
        status = send_sums_to_parent(stream);
        if (status == MPI_SUCCESS) status = test_requests(wave, &is_done);
    }
    if (status != MPI_SUCCESS || !is_done) return status;
    for (int c = 0; c < count_children(stream) && status == MPI_SUCCESS; ++c)
        status = send_values(stream, 2 * stream->rank + 1 + c, tag_down, wave->sums);
    *has_sums = status == MPI_SUCCESS;
    return status;
}

int list_awaited_ranks(const struct stream* stream, int ranks[max_children]) {
    const struct wave* wave = &stream->wave;
    int count = 0;
    if (stream->quiescence.in_wave && wave->state == wave_waiting) {
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

int finish_wave(struct stream* stream) {
    struct wave* wave = &stream->wave;
    return PMPI_Waitall(wave->request_count, wave->requests, MPI_STATUSES_IGNORE);
}
