// SPDX-License-Identifier: BSD-3-Clause
// Buckets, and how items are written to them: an address where the next hop is not the last, a length where items have
// one of their own, and the item.
#include <stdlib.h>

#include "stream.h"

static long long bucket_bytes(const struct stream* stream) {
    return (long long)sizeof(struct bucket) + stream->room;
}

struct bucket* make_bucket(struct stream* stream, int axis) {
    enum { line = 64 };
    const size_t bytes = ((size_t)bucket_bytes(stream) + line - 1) / line * line;
    struct bucket* made = aligned_alloc(line, bytes);
    if (made == NULL) return NULL;
    made->axis = axis;
    stream->bytes += bucket_bytes(stream);
    if (stream->bytes > stream->most_bytes) stream->most_bytes = stream->bytes;
    return made;
}

void drop_bucket(struct stream* stream, struct bucket* bucket) {
    struct axis* axis = &stream->axes[bucket->axis];
    if (axis->made > axis->most) {
        --axis->made;
        stream->bytes -= bucket_bytes(stream);
        free(bucket);
        return;
    }
    bucket->next = axis->idle;
    axis->idle = bucket;
}

void append(struct queue* queue, struct bucket* bucket) {
    bucket->next = NULL;
    if (queue->first == NULL)
        queue->first = bucket;
    else
        queue->last->next = bucket;
    queue->last = bucket;
}

struct bucket* take_first(struct queue* queue) {
    struct bucket* first = queue->first;
    if (first != NULL) queue->first = first->next;
    return first;
}

static struct bucket* take_bucket(struct stream* stream, int axis_number, bool more) {
    struct axis* axis = &stream->axes[axis_number];
    struct bucket* taken = axis->idle;
    if (taken != NULL) {
        axis->idle = taken->next;
        return taken;
    }
    if (axis->made >= axis->most && !more) return NULL;
    taken = make_bucket(stream, axis_number);
    if (taken != NULL) ++axis->made;
    return taken;
}

static bool has_length(const struct stream* stream) {
    return stream->front.item_bytes == TOPOLOOM_STREAM_VARIABLE;
}

static bool has_address(const struct stream* stream, int hop) { return hop >= stream->last_hops; }

int record_bytes(const struct stream* stream, int hop, int bytes) {
    const int words = has_address(stream, hop) + has_length(stream);
    return words * (int)sizeof(uint32_t) + bytes;
}

/// Sends the fullest of an axis' buckets, if none is on its way already.
static int send_one(struct stream* stream, const struct axis* axis) {
    int fullest = -1;
    ptrdiff_t most = 0;
    for (int h = axis->first_hop; h < axis->first_hop + axis->hops; ++h) {
        const struct hop* hop = &stream->hops[h];
        if (hop->in_flight > 0 || hop->full.first != NULL) return MPI_SUCCESS;
        const ptrdiff_t bytes = hop->open == NULL ? 0 : stream->front.buckets[h].at - hop->open->items;
        if (bytes <= most) continue;
        most = bytes;
        fullest = h;
    }
    return fullest < 0 ? MPI_SUCCESS : close_bucket(stream, fullest);
}

int find_room(struct stream* stream, int hop_number, int bytes, bool more, char** room) {
    topoloom_stream_bucket* bucket = &stream->front.buckets[hop_number];
    struct hop* hop = &stream->hops[hop_number];
    *room = NULL;
    if (hop->open != NULL) {
        if (bucket->end - bucket->at >= bytes) {
            *room = bucket->at;
            return MPI_SUCCESS;
        }
        const int status = close_bucket(stream, hop_number);
        if (status != MPI_SUCCESS) return status;
    }
    if (hop->full.first != NULL && !more) return MPI_SUCCESS;
    struct bucket* taken = take_bucket(stream, hop->axis, more);
    if (taken == NULL) {
        if (more) return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_push", "there is no memory");
        return send_one(stream, &stream->axes[hop->axis]);
    }
    taken->hop = hop_number;
    hop->open = taken;
    // Items of one size leave nothing at the end, so that a comparison of addresses finds a full bucket.
    const int fitting = has_length(stream) ? stream->room : stream->room / bytes * bytes;
    *bucket = (topoloom_stream_bucket){taken->items, taken->items + fitting};
    *room = bucket->at;
    return MPI_SUCCESS;
}

void write_record(struct stream* stream, int hop, char* room, const void* item, int bytes, uint32_t address) {
    const uint32_t length = (uint32_t)bytes;
    if (has_address(stream, hop)) {
        memcpy(room, &address, sizeof address);
        room += sizeof address;
    }
    if (has_length(stream)) {
        memcpy(room, &length, sizeof length);
        room += sizeof length;
    }
    if (bytes > 0) memcpy(room, item, (size_t)bytes);
    stream->front.buckets[hop].at = room + bytes;
}
