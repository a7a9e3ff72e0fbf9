// SPDX-License-Identifier: BSD-3-Clause
// Allocates, reuses and queues buckets.
#include <stdlib.h>

#include "stream.h"

static long long get_bucket_memory(const struct stream* stream) {
    return (long long)sizeof(struct bucket) + stream->payload_bytes;
}

struct bucket* allocate_bucket(struct stream* stream, int axis) {
    enum { line = 64 };
    const size_t bytes = ((size_t)get_bucket_memory(stream) + line - 1) / line * line;
    struct bucket* created = aligned_alloc(line, bytes);
    if (created == NULL) return NULL;
    created->axis = axis;
    stream->bytes += get_bucket_memory(stream);
    if (stream->bytes > stream->peak_bytes) stream->peak_bytes = stream->bytes;
    return created;
}

struct bucket* acquire_bucket(struct stream* stream, int axis_number, bool may_exceed) {
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
        stream->bytes -= get_bucket_memory(stream);
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
