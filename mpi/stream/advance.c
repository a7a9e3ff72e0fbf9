// SPDX-License-Identifier: BSD-3-Clause
// Advances streams: all of a process together, as a rank that waits in one stream may be awaited in another.
#include <sched.h>

#include "stream.h"

static int test_wave(struct stream* stream, bool* moved) {
    if (!stream->quiescence.in_wave) return MPI_SUCCESS;
    bool has_sums = false;
    const int status = advance_wave(stream, &has_sums);
    if (status != MPI_SUCCESS || !has_sums) return status;
    stream->has_ended = end_wave(&stream->quiescence, stream->wave.sums);
    *moved = true;
    return stream->has_ended ? apply_settings(stream, stream->wave.sums) : MPI_SUCCESS;
}

/// Flushes what an idle rank has. Joins a wave if the rank is done and nothing is left.
static int advance_idle(struct stream* stream) {
    if (has_undelivered(stream)) return MPI_SUCCESS;
    if (has_unsent(stream)) return flush_idle(stream);
    if (stream->quiescence.in_wave || !stream->is_done) return MPI_SUCCESS;
    struct quiescence joined = stream->quiescence;
    const struct phase_traffic* traffic = &stream->traffic;
    int64_t values[wave_value_count] = {0, 0, traffic->items, traffic->bytes, traffic->partners};
    join_wave(&joined, values);
    bool has_begun = false;
    const int status = begin_wave(stream, values, &has_begun);
    if (has_begun) stream->quiescence = joined;
    return status;
}

static int advance_once(struct stream* stream, bool polls, bool* moved) {
    bool here = false;
    int status = test_wave(stream, moved);
    if (status == MPI_SUCCESS) status = complete_sends(stream, &here);
    // The program does not know yet that this phase has ended: arrivals belong to the next one.
    if (status == MPI_SUCCESS && stream->has_ended) return flush_late(stream);
    if (status == MPI_SUCCESS) status = receive(stream, &here);
    if (status == MPI_SUCCESS) status = deliver_arrivals(stream, &here);
    if (status == MPI_SUCCESS) status = flush_late(stream);
    if (status == MPI_SUCCESS && (stream->is_done || polls) && !here) status = advance_idle(stream);
    if (status == MPI_SUCCESS) status = check_stall(stream, here);
    *moved = *moved || here;
    return status;
}

int advance(struct stream* stream, bool polls, bool* moved) {
    if (stream->is_advancing) return MPI_SUCCESS;
    stream->is_advancing = true;
    const int status = advance_once(stream, polls, moved);
    stream->is_advancing = false;
    return status;
}

int advance_all(struct stream* stream, bool polls) {
    bool moved = false;
    int status = MPI_SUCCESS;
    struct stream* one = stream->process == NULL ? NULL : stream->process->streams;
    for (; one != NULL && status == MPI_SUCCESS; one = one->next)
        status = advance(one, polls && one == stream, &moved);
#ifndef SMPI_H  // simulated ranks are one process: a yield would run other programs, for milliseconds on a busy machine
    if (!moved) sched_yield();
#endif
    return status;
}
