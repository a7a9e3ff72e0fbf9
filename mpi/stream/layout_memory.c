// SPDX-License-Identifier: BSD-3-Clause
// Memory of a mesh: bucket sizes and counts, allocation, and the change of the mesh between two phases.
#include <stdlib.h>

#include "stream.h"

/// Default bucket size. If there are few hops, large buckets minimize the time per item. If there are many hops,
/// smaller buckets limit the total memory.
int get_default_bucket_bytes(int hops, bool has_limit) {
    enum { least = 8192, all_hops = 1 << 20 };
    const int share = all_hops / hops / least * least;
    return has_limit || share < least         ? least
           : share > max_default_bucket_bytes ? max_default_bucket_bytes
                                              : share;
}

bool allocate_layout(struct stream* stream) {
    const size_t hops = (size_t)stream->hop_count;
    const size_t sends = (size_t)stream->max_in_flight * hops;
    stream->hops = calloc(hops, sizeof *stream->hops);
    stream->sends = calloc(sends, sizeof *stream->sends);
    stream->sent_buckets = calloc(sends, sizeof(struct bucket*));
    stream->fast.buckets = calloc(hops, sizeof *stream->fast.buckets);
    if (stream->hops == NULL || stream->sends == NULL || stream->sent_buckets == NULL ||
        stream->fast.buckets == NULL)
        return false;
    if (stream->axis_count > 1) {
        stream->next_hops = calloc((size_t)stream->ranks, sizeof *stream->next_hops);
        if (stream->next_hops == NULL) return false;
    }
    if (stream->tuning.is_enabled && stream->tuning.is_destination == NULL) {
        stream->tuning.is_destination = calloc((size_t)stream->ranks, sizeof(bool));
        if (stream->tuning.is_destination == NULL) return false;
    }
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        for (int i = 0; i < axis->max_incoming; ++i) {
            axis->incoming[i].bucket = allocate_bucket(stream, a);
            if (axis->incoming[i].bucket == NULL) return false;
        }
    }
    return true;
}

static void free_queue(struct queue* queue) {
    for (struct bucket* bucket; (bucket = dequeue(queue)) != NULL;) free(bucket);
}

void free_layout(struct stream* stream) {
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        for (int i = 0; i < max_incoming_buckets; ++i) free(axis->incoming[i].bucket);
        struct queue free_buckets = {axis->free_buckets, NULL};
        free_queue(&free_buckets);
    }
    for (int h = 0; stream->hops != NULL && h < stream->hop_count; ++h) {
        free(stream->hops[h].open);
        free_queue(&stream->hops[h].full);
    }
    for (int i = 0; i < stream->send_count; ++i) free(stream->sent_buckets[i]);
    free_queue(&stream->local);
    free(stream->hops);
    free(stream->sends);
    free(stream->sent_buckets);
    free(stream->fast.buckets);
    free(stream->next_hops);
}

void divide_memory(struct stream* stream) {
    const long long buckets =
        stream->memory_bytes / ((long long)sizeof(struct bucket) + stream->payload_bytes);
    stream->max_in_flight = stream->bucket_bytes < large_bytes ? max_in_flight_small : max_in_flight_large;
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        const long long share = buckets / stream->axis_count,
                        useful = 2LL * (axis->hop_count + stream->max_in_flight);
        axis->max_incoming =
            buckets == 0 || share / 3 > max_incoming_buckets ? max_incoming_buckets : (int)(share / 3);
        if (axis->max_incoming == 0) axis->max_incoming = 1;
        const long long left = share - axis->max_incoming;
        axis->max_buckets = (int)(buckets == 0 || left > useful ? useful : left);
    }
}

long long get_min_memory(int axes, int bucket_bytes) {
    const long long head = sizeof(struct bucket) - sizeof(struct stamp);
    return 2 * axes * (head + bucket_bytes);
}

bool fits_memory(long long memory_bytes, int axes, int bucket_bytes) {
    return memory_bytes == 0 || memory_bytes >= get_min_memory(axes, bucket_bytes);
}

void enable_fast_path(struct stream* stream, const int* order) {
    assign_hops(stream, order);
    const bool is_fixed_size = stream->fast.item_bytes != TOPOLOOM_STREAM_VARIABLE;
    // Over a mesh, the cost model must count all pushes, so these cannot be inline.
    const bool is_counted = stream->tuning.is_enabled && stream->axis_count > 1;
    stream->fast.plain_hops = is_fixed_size && !is_counted ? (uint32_t)stream->final_hops : 0;
}

int change_layout(struct stream* stream, int dimensions, int bucket_bytes) {
    int extents[max_axes];
    free_layout(stream);
    stream->bytes = 0;
    stream->next_hops = NULL;
    stream->fast.next_hops = NULL;
    for (int a = 0; a < max_axes; ++a) stream->axes[a] = (struct axis){0};
    choose_extents_by_node(stream, dimensions, extents);
    set_mesh(stream, dimensions, extents);
    stream->bucket_bytes = bucket_bytes;
    stream->payload_bytes = bucket_bytes - (int)sizeof(struct stamp);
    stream->first_tag = max_axes - stream->first_tag;
    stream->next_send = 0;
    divide_memory(stream);
    if (!allocate_layout(stream))
        return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_progress",
                           "not enough memory for the mesh of the next phase");
    enable_fast_path(stream, stream->order);
    return MPI_SUCCESS;
}
