// SPDX-License-Identifier: BSD-3-Clause
// Sends buckets. Synchronous messages: a bucket is free when its receiver has asked for it, so that what a sleeping
// receiver has not taken is in the senders' bounded memory, and not in MPI's.
#include "stream.h"

static int start(struct stream* stream, struct bucket* bucket) {
    struct hop* hop = &stream->hops[bucket->hop];
    bucket->stamp = count_sent(&stream->quiescence);
    const int bytes = (int)sizeof bucket->stamp + bucket->bytes;
    const int status = PMPI_Issend(&bucket->stamp, bytes, MPI_BYTE, hop->rank, stream->first_tag + hop->axis,
                                   stream->comm, &stream->flights[stream->flight_count]);
    if (status != MPI_SUCCESS) return status;
    stream->flown[stream->flight_count++] = bucket;
    ++hop->in_flight;
    return MPI_SUCCESS;
}

int close_bucket(struct stream* stream, int number) {
    struct hop* hop = &stream->hops[number];
    topoloom_stream_bucket* front = &stream->front.buckets[number];
    struct bucket* bucket = hop->open;
    bucket->bytes = (int)(front->at - bucket->items);
    bucket->delivered = 0;
    hop->open = NULL;
    *front = (topoloom_stream_bucket){NULL, NULL};
    if (number == stream->own_hop) {
        append(&stream->own, bucket);
        return MPI_SUCCESS;
    }
    if (hop->in_flight < stream->most_in_flight && hop->full.first == NULL) return start(stream, bucket);
    append(&hop->full, bucket);
    return MPI_SUCCESS;
}

bool is_filled(const struct stream* stream, int hop) {
    const struct bucket* open = stream->hops[hop].open;
    return open != NULL && stream->front.buckets[hop].at > open->items;
}

int close_all(struct stream* stream) {
    int status = MPI_SUCCESS;
    for (int hop = 0; hop < stream->hop_count && status == MPI_SUCCESS; ++hop)
        if (is_filled(stream, hop)) status = close_bucket(stream, hop);
    return status;
}

int close_idle(struct stream* stream) {
    enum { looks = 100 };           // in a timeout
    const double most_lull = 1e-5;  // of a rank that is done: about what a message takes
    int status = MPI_SUCCESS;
    // Nobody else adds to what goes along the last axis.
    const struct axis* last = &stream->axes[stream->axis_count - 1];
    for (int h = last->first_hop; h < last->first_hop + last->hops; ++h)
        if (stream->is_done && status == MPI_SUCCESS && is_filled(stream, h))
            status = close_bucket(stream, h);
    const double now = PMPI_Wtime();
    struct lull* lull = &stream->lull;
    if (status != MPI_SUCCESS || now < lull->look_at) return status;
    long long filled = 0;
    for (int h = 0; h < stream->hop_count; ++h)
        if (is_filled(stream, h)) filled += stream->front.buckets[h].at - stream->hops[h].open->items;
    const bool is_lull = lull->sent == stream->quiescence.sent && lull->filled == filled;
    const double wait = stream->timeout / looks;
    const bool is_short = stream->is_done && wait > most_lull;
    *lull = (struct lull){now + (is_short ? most_lull : wait), stream->quiescence.sent, filled};
    return is_lull ? close_all(stream) : MPI_SUCCESS;
}

int close_late(struct stream* stream) {
    const double now = PMPI_Wtime();
    if (now < stream->look_at) return MPI_SUCCESS;
    stream->look_at = now + stream->timeout / 2;
    int status = MPI_SUCCESS;
    for (int h = 0; h < stream->hop_count && status == MPI_SUCCESS; ++h) {
        struct hop* hop = &stream->hops[h];
        const bool is_late = is_filled(stream, h) && hop->seen == hop->open;
        hop->seen = hop->open;
        if (is_late) status = close_bucket(stream, h);
    }
    return status;
}

/// What has waited for it takes its place.
static int end_flight(struct stream* stream, int number) {
    struct bucket* bucket = stream->flown[number];
    struct hop* hop = &stream->hops[bucket->hop];
    const int last = --stream->flight_count;
    stream->flights[number] = stream->flights[last];
    stream->flown[number] = stream->flown[last];
    --hop->in_flight;
    drop_bucket(stream, bucket);
    struct bucket* waiting = take_first(&hop->full);
    return waiting != NULL ? start(stream, waiting) : MPI_SUCCESS;
}

/// One call asks for many: each makes MPI look for messages, and takes time.
int complete_sends(struct stream* stream, bool* moved) {
    enum { most_asked = 64, most_calls = 16 };
    int status = MPI_SUCCESS;
    for (int calls = 0; calls < most_calls && stream->flight_count > 0; ++calls) {
        if (stream->next_flight >= stream->flight_count) stream->next_flight = 0;
        const int first = stream->next_flight, left = stream->flight_count - first;
        const int asked = left < most_asked ? left : most_asked;
        int index = MPI_UNDEFINED, sent = 0;
        status = PMPI_Testany(asked, &stream->flights[first], &index, &sent, MPI_STATUS_IGNORE);
        if (status == MPI_SUCCESS && !sent) {
            stream->next_flight += asked;
            break;
        }
        *moved = true;
        if (status == MPI_SUCCESS) status = end_flight(stream, first + index);
        if (status != MPI_SUCCESS) break;
    }
    return status;
}

bool has_unsent(const struct stream* stream) {
    if (stream->flight_count > 0 || stream->own.first != NULL) return true;
    for (int h = 0; h < stream->hop_count; ++h)
        if (is_filled(stream, h)) return true;  // full ones wait for those in flight
    return false;
}
