// SPDX-License-Identifier: BSD-3-Clause
// Allocates buckets, keeps free ones, and queues them.
#include <stdlib.h>

#include "stream.h"

static long long memory_of_bucket(const struct stream* stream) {
    return (long long)sizeof(struct bucket) + stream->payload_bytes;
}

struct bucket* allocate_bucket(struct stream* stream, int axis) {
    enum { line = 64 };
    const size_t bytes = ((size_t)memory_of_bucket(stream) + line - 1) / line * line;
    struct bucket* made = aligned_alloc(line, bytes);
    if (made == NULL) return NULL;
    made->axis = axis;
    stream->bytes += memory_of_bucket(stream);
    if (stream->bytes > stream->peak_bytes) stream->peak_bytes = stream->bytes;
    return made;
}

struct bucket* take_bucket(struct stream* stream, int axis_number, bool may_exceed) {
    struct axis* axis = &stream->axes[axis_number];
    struct bucket* taken = axis->free_buckets;
    if (taken != NULL) {
        axis->free_buckets = taken->next;
        return taken;
    }
    if (axis->bucket_count >= axis->max_buckets && !may_exceed) return NULL;
    taken = allocate_bucket(stream, axis_number);
    if (taken != NULL) ++axis->bucket_count;
    return taken;
}

void release_bucket(struct stream* stream, struct bucket* bucket) {
    struct axis* axis = &stream->axes[bucket->axis];
    if (axis->bucket_count > axis->max_buckets) {
        --axis->bucket_count;
        stream->bytes -= memory_of_bucket(stream);
        free(bucket);
        return;
    }
    bucket->next = axis->free_buckets;
    axis->free_buckets = bucket;
}

void enqueue(struct queue* queue, struct bucket* bucket) {
    bucket->next = NULL;
    if (queue->first == NULL)
        queue->first = bucket;
    else
        queue->last->next = bucket;
    queue->last = bucket;
}

struct bucket* dequeue(struct queue* queue) {
    struct bucket* first = queue->first;
    if (first != NULL) queue->first = first->next;
    return first;
}
