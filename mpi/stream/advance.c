// SPDX-License-Identifier: BSD-3-Clause
// Advances all streams of a process together, because a rank that waits in one stream may block other ranks
// in another stream.
#include <sched.h>

#include "stream.h"

static int test_wave(struct stream* stream, bool* has_progressed) {
    if (!stream->quiescence.in_wave) return MPI_SUCCESS;
    bool has_sums = false;
    const int status = advance_wave(stream, &has_sums);
    if (status != MPI_SUCCESS || !has_sums) return status;
    stream->has_ended = end_wave(&stream->quiescence, stream->wave.sums);
    *has_progressed = true;
    return stream->has_ended ? apply_settings(stream, stream->wave.sums) : MPI_SUCCESS;
}

/// Flushes the buckets of an idle rank. Joins a wave if the rank is done and all its items are sent and delivered.
static int advance_idle_stream(struct stream* stream) {
    if (has_undelivered_items(stream)) return MPI_SUCCESS;
    if (has_unsent_items(stream)) return flush_idle_buckets(stream);
    if (stream->quiescence.in_wave || !stream->is_done) return MPI_SUCCESS;
    struct quiescence joined = stream->quiescence;
    const struct phase_traffic* traffic = &stream->traffic;
    int64_t values[wave_value_count] = {0, 0, traffic->items, traffic->bytes, traffic->destinations};
    join_wave(&joined, values);
    bool has_begun = false;
    const int status = begin_wave(stream, values, &has_begun);
    if (has_begun) stream->quiescence = joined;
    return status;
}

static int advance_stream_once(struct stream* stream, bool is_polling, bool* has_progressed) {
    bool here = false;
    int status = test_wave(stream, has_progressed);
    if (status == MPI_SUCCESS) status = complete_sends(stream, &here);
    // The end of this phase has not yet been reported to the program: later arrivals belong to the next phase.
    if (status == MPI_SUCCESS && stream->has_ended) return flush_timed_out_buckets(stream);
    if (status == MPI_SUCCESS) status = receive_buckets(stream, &here);
    if (status == MPI_SUCCESS) status = deliver_arrivals(stream, &here);
    if (status == MPI_SUCCESS) status = flush_timed_out_buckets(stream);
    if (status == MPI_SUCCESS && (stream->is_done || is_polling) && !here)
        status = advance_idle_stream(stream);
    if (status == MPI_SUCCESS) status = check_stall(stream, here);
    *has_progressed = *has_progressed || here;
    return status;
}

int advance_stream(struct stream* stream, bool is_polling, bool* has_progressed) {
    if (stream->is_advancing) return MPI_SUCCESS;
    stream->is_advancing = true;
    const int status = advance_stream_once(stream, is_polling, has_progressed);
    stream->is_advancing = false;
    return status;
}

int advance_all_streams(struct stream* stream, bool is_polling) {
    bool has_progressed = false;
    int status = MPI_SUCCESS;
    struct stream* other = stream->process == NULL ? NULL : stream->process->streams;
    for (; other != NULL && status == MPI_SUCCESS; other = other->next)
        status = advance_stream(other, is_polling && other == stream, &has_progressed);
#ifndef SMPI_H  // simulated ranks are one process: a yield would run other programs, for milliseconds on a busy machine
    if (!has_progressed) sched_yield();
#endif
    return status;
}
