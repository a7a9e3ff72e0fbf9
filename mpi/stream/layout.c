// SPDX-License-Identifier: BSD-3-Clause
// Lays the virtual mesh along the ranks: what buckets there are, and by which one each rank is reached.
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

static const char* find_extent_fault(const struct stream* stream, const topoloom_stream_options* options,
                                     int dimensions, char* why, size_t size) {
    double held = 1;
    for (int a = 0; a < dimensions; ++a) {
        if (options->extents[a] < 1) {
            snprintf(why, size, "an extent of %d is not positive", options->extents[a]);
            return why;
        }
        held *= options->extents[a];
    }
    if (held >= stream->ranks) return NULL;
    snprintf(why, size, "extents hold %.0f ranks, and there are %d", held, stream->ranks);
    return why;
}

static const char* find_order_fault(int ranks, const int* order, char* why, size_t size) {
    bool* seen = calloc((size_t)ranks, sizeof *seen);
    int i = 0;
    for (; seen != NULL && i < ranks && order[i] >= 0 && order[i] < ranks && !seen[order[i]]; ++i)
        seen[order[i]] = true;
    if (seen == NULL)
        snprintf(why, size, "there is no memory");
    else if (i < ranks && order[i] >= 0 && order[i] < ranks)
        snprintf(why, size, "order has rank %d twice", order[i]);
    else if (i < ranks)
        snprintf(why, size, "order has rank %d, which is none of the ranks 0 to %d", order[i], ranks - 1);
    const bool right = i == ranks;
    free(seen);
    return right ? NULL : why;
}

const char* lay_out(struct stream* stream, const topoloom_stream_options* options, char* why, size_t size) {
    const int dimensions = options->dimensions == 0 ? 1 : options->dimensions;
    if (stream->choice.is_open && (options->extents != NULL || options->order != NULL)) {
        snprintf(why, size, "extents and order need a number of dimensions, not TOPOLOOM_STREAM_AUTO");
        return why;
    }
    if (dimensions < 1 || dimensions > most_axes) {
        snprintf(why, size, "a mesh of %d dimensions; it has 1 to %d", dimensions, most_axes);
        return why;
    }
    const char* fault = NULL;
    if (options->extents != NULL) fault = find_extent_fault(stream, options, dimensions, why, size);
    if (fault == NULL && options->order != NULL)
        fault = find_order_fault(stream->ranks, options->order, why, size);
    if (fault != NULL) return fault;
    int extents[most_axes];
    extents_along(stream, dimensions, extents);
    lay_axes(stream, dimensions, options->extents != NULL ? options->extents : extents);
    return NULL;
}

void lay_axes(struct stream* stream, int dimensions, const int* extents) {
    stream->mesh = make_mesh(stream->ranks, dimensions, extents);
    stream->hop_count = 0;
    stream->axis_count = stream->mesh.axes;
    for (int a = 0; a < stream->axis_count; ++a) {
        stream->axes[a] = (struct axis){.first_hop = stream->hop_count, .hops = stream->mesh.extents[a]};
        stream->hop_count += stream->axes[a].hops;
    }
    stream->last_hops = stream->axes[0].hops;
}

/// Fowler, Noll and Vo's, word by word.
static uint32_t hash_on(uint32_t hash, int word) { return (hash ^ (uint32_t)word) * 16777619U; }

int layout_hash(const struct stream* stream, const int* order) {
    uint32_t hash = hash_on(2166136261U, stream->choice.is_open);
    for (int a = 0; a < stream->axis_count; ++a) hash = hash_on(hash, stream->mesh.extents[a]);
    for (int i = 0; i < stream->ranks && stream->axis_count > 1; ++i)
        hash = hash_on(hash, order != NULL ? order[i] : i);
    return (int)(hash >> 1);
}

static int rank_at(const int* order, int position) {
    return order == NULL || position < 0 ? position : order[position];
}

static void name_direct(struct stream* stream) {
    stream->own_hop = stream->rank;
    for (int h = 0; h < stream->hop_count; ++h) stream->hops[h] = (struct hop){.rank = h, .axis = 0};
}

void name_hops(struct stream* stream, const int* order) {
    const struct mesh* mesh = &stream->mesh;
    if (mesh->axes == 1) {
        name_direct(stream);
        return;
    }
    int own = 0;
    while (rank_at(order, own) != stream->rank) ++own;
    for (int a = 0; a < mesh->axes; ++a) {
        for (int digit = 0; digit < mesh->extents[a]; ++digit) {
            const int rank = rank_at(order, position_of_hop(mesh, own, a, digit));
            stream->hops[stream->axes[a].first_hop + digit] = (struct hop){.rank = rank, .axis = a};
        }
    }
    for (int i = 0; i < stream->ranks; ++i) {
        const int axis = next_axis(mesh, own, i);
        const int hop = stream->axes[axis].first_hop + digit_of(mesh, i, axis);
        stream->next_hops[rank_at(order, i)] = (uint32_t)hop;
    }
    stream->own_hop = digit_of(mesh, own, 0);
    stream->front.hops = stream->next_hops;
}
