// SPDX-License-Identifier: BSD-3-Clause
// Sends buckets with synchronous sends, which complete when the receiver has posted a receive. So messages to
// a sleeping receiver occupy the bounded memory of their senders, not the memory of MPI.
#include "cost_model.h"
#include "stream.h"

static int send_bucket(struct stream* stream, struct bucket* bucket) {
    struct hop* hop = &stream->hops[bucket->hop];
    bucket->stamp = count_sent(&stream->quiescence);
    const int bytes = (int)sizeof bucket->stamp + bucket->bytes;
    const int status = PMPI_Issend(&bucket->stamp, bytes, MPI_BYTE, hop->rank, stream->first_tag + hop->axis,
                                   stream->comm, &stream->sends[stream->send_count]);
    if (status != MPI_SUCCESS) return status;
    stream->sent_buckets[stream->send_count++] = bucket;
    ++hop->in_flight;
    return MPI_SUCCESS;
}

int close_bucket(struct stream* stream, int number) {
    struct hop* hop = &stream->hops[number];
    struct bucket* bucket = hop->open;
    bucket->bytes = (int)get_filled_bytes(stream, number);
    bucket->delivered = 0;
    hop->open = NULL;
    stream->fast.buckets[number] = (topoloom_stream_bucket){NULL, NULL};
    if (number == stream->local_hop)
        enqueue(&stream->local, bucket);
    else if (hop->in_flight < stream->max_in_flight && hop->full.first == NULL)
        return send_bucket(stream, bucket);
    else
        enqueue(&hop->full, bucket);
    return MPI_SUCCESS;
}

ptrdiff_t get_filled_bytes(const struct stream* stream, int hop) {
    const struct bucket* open = stream->hops[hop].open;
    return open == NULL ? 0 : stream->fast.buckets[hop].next - open->items;
}

int flush_all_buckets(struct stream* stream) {
    int status = MPI_SUCCESS;
    for (int hop = 0; hop < stream->hop_count && status == MPI_SUCCESS; ++hop)
        if (get_filled_bytes(stream, hop) > 0) status = close_bucket(stream, hop);
    return status;
}

int flush_idle_buckets(struct stream* stream) {
    enum { checks_per_timeout = 100 };
    int status = MPI_SUCCESS;
    // The last axis carries only this rank's own items, and a rank that is done adds none.
    const struct axis* last = &stream->axes[stream->axis_count - 1];
    for (int h = last->first_hop; h < last->first_hop + last->hop_count; ++h)
        if (stream->is_done && status == MPI_SUCCESS && get_filled_bytes(stream, h) > 0)
            status = close_bucket(stream, h);
    const double now = PMPI_Wtime();
    struct idle_flush* before = &stream->idle_flush;
    if (status != MPI_SUCCESS || now < before->next_check) return status;
    long long filled = 0;
    for (int h = 0; h < stream->hop_count; ++h) filled += get_filled_bytes(stream, h);
    const bool is_unchanged = before->sent == stream->quiescence.sent && before->filled_bytes == filled;
    double wait = stream->flush_timeout / checks_per_timeout;
    if (stream->is_done) wait = min_of_two(wait, done_idle_seconds);
    *before = (struct idle_flush){now + wait, stream->quiescence.sent, filled};
    return is_unchanged ? flush_all_buckets(stream) : MPI_SUCCESS;
}

int flush_timed_out_buckets(struct stream* stream) {
    const double now = PMPI_Wtime();
    if (now < stream->next_flush_check) return MPI_SUCCESS;
    stream->next_flush_check = now + stream->flush_timeout / 2;
    int status = MPI_SUCCESS;
    for (int h = 0; h < stream->hop_count && status == MPI_SUCCESS; ++h) {
        struct hop* hop = &stream->hops[h];
        const bool is_late = get_filled_bytes(stream, h) > 0 && hop->last_checked == hop->open;
        hop->last_checked = hop->open;
        if (is_late) status = close_bucket(stream, h);
    }
    return status;
}

/// Releases the bucket of a complete send, and sends the next bucket to the same hop.
static int complete_send(struct stream* stream, int number) {
    struct bucket* bucket = stream->sent_buckets[number];
    struct hop* hop = &stream->hops[bucket->hop];
    const int last = --stream->send_count;
    stream->sends[number] = stream->sends[last];
    stream->sent_buckets[number] = stream->sent_buckets[last];
    --hop->in_flight;
    release_bucket(stream, bucket);
    struct bucket* waiting = dequeue(&hop->full);
    return waiting != NULL ? send_bucket(stream, waiting) : MPI_SUCCESS;
}

/// Tests many requests per call, because in each call MPI polls for messages.
int complete_sends(struct stream* stream, bool* has_progressed) {
    enum { max_tested = 64, max_calls = 16 };
    int status = MPI_SUCCESS;
    for (int calls = 0; calls < max_calls && stream->send_count > 0; ++calls) {
        if (stream->next_send >= stream->send_count) stream->next_send = 0;
        const int first = stream->next_send, left = stream->send_count - first;
        const int tested = left < max_tested ? left : max_tested;
        int index = MPI_UNDEFINED, is_complete = 0;
        status = PMPI_Testany(tested, &stream->sends[first], &index, &is_complete, MPI_STATUS_IGNORE);
        if (status == MPI_SUCCESS && !is_complete) {
            stream->next_send += tested;
            break;
        }
        *has_progressed = true;
        if (status == MPI_SUCCESS) status = complete_send(stream, first + index);
        if (status != MPI_SUCCESS) break;
    }
    return status;
}

bool has_unsent_items(const struct stream* stream) {
    if (stream->send_count > 0 || stream->local.first != NULL) return true;
    for (int h = 0; h < stream->hop_count; ++h)
        if (get_filled_bytes(stream, h) > 0) return true;  // full buckets wait for sends in flight
    return false;
}
