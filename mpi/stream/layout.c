// SPDX-License-Identifier: BSD-3-Clause
// Computes the layout of the virtual mesh: its axes, and the next hop to each rank.
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

static const char* find_invalid_extent(const struct stream* stream, const topoloom_stream_options* options,
                                       int dimensions, char* reason, size_t size) {
    double positions = 1;
    for (int a = 0; a < dimensions; ++a) {
        if (options->extents[a] < 1) {
            snprintf(reason, size, "extents[%d] is %d, but must be positive", a, options->extents[a]);
            return reason;
        }
        positions *= options->extents[a];
    }
    if (positions >= stream->ranks) return NULL;
    snprintf(reason, size, "extents hold %.0f ranks, but there are %d", positions, stream->ranks);
    return reason;
}

static const char* find_invalid_order(int ranks, const int* order, char* reason, size_t size) {
    bool* seen = calloc((size_t)ranks, sizeof *seen);
    int i = 0;
    for (; seen != NULL && i < ranks && order[i] >= 0 && order[i] < ranks && !seen[order[i]]; ++i)
        seen[order[i]] = true;
    if (seen == NULL)
        snprintf(reason, size, "not enough memory");
    else if (i < ranks && order[i] >= 0 && order[i] < ranks)
        snprintf(reason, size, "order has rank %d twice", order[i]);
    else if (i < ranks)
        snprintf(reason, size, "order has rank %d, but ranks are 0 to %d", order[i], ranks - 1);
    const bool is_valid = i == ranks;
    free(seen);
    return is_valid ? NULL : reason;
}

const char* compute_mesh_layout(struct stream* stream, const topoloom_stream_options* options, char* reason,
                                size_t size) {
    const int dimensions = options->dimensions == 0 ? 1 : options->dimensions;
    if (stream->tuning.is_enabled && (options->extents != NULL || options->order != NULL)) {
        snprintf(reason, size, "extents and order cannot be combined with TOPOLOOM_STREAM_AUTO");
        return reason;
    }
    if (dimensions < 1 || dimensions > max_axes) {
        snprintf(reason, size, "dimensions is %d, but must be 1 to %d", dimensions, max_axes);
        return reason;
    }
    const char* fault = NULL;
    if (options->extents != NULL) fault = find_invalid_extent(stream, options, dimensions, reason, size);
    if (fault == NULL && options->order != NULL)
        fault = find_invalid_order(stream->ranks, options->order, reason, size);
    if (fault != NULL) return fault;
    int extents[max_axes];
    choose_extents_by_node(stream, dimensions, extents);
    set_mesh(stream, dimensions, options->extents != NULL ? options->extents : extents);
    return NULL;
}

void set_mesh(struct stream* stream, int dimensions, const int* extents) {
    stream->mesh = make_mesh(stream->ranks, dimensions, extents);
    stream->hop_count = 0;
    stream->axis_count = stream->mesh.axes;
    for (int a = 0; a < stream->axis_count; ++a) {
        stream->axes[a] = (struct axis){.first_hop = stream->hop_count, .hop_count = stream->mesh.extents[a]};
        stream->hop_count += stream->axes[a].hop_count;
    }
    stream->final_hops = stream->axes[0].hop_count;
}

/// Adds a word to an FNV-1a hash.
static uint32_t hash_word(uint32_t hash, int word) { return (hash ^ (uint32_t)word) * 16777619U; }

int hash_layout(const struct stream* stream, const int* order) {
    uint32_t hash = hash_word(2166136261U, stream->tuning.is_enabled);
    for (int a = 0; a < stream->axis_count; ++a) hash = hash_word(hash, stream->mesh.extents[a]);
    for (int i = 0; i < stream->ranks && stream->axis_count > 1; ++i)
        hash = hash_word(hash, order != NULL ? order[i] : i);
    return (int)(hash >> 1);
}

static int get_rank_at(const int* order, int position) {
    return order == NULL || position < 0 ? position : order[position];
}

void assign_hops(struct stream* stream, const int* order) {
    const struct mesh* mesh = &stream->mesh;
    if (mesh->axes == 1) {
        stream->local_hop = stream->rank;
        for (int h = 0; h < stream->hop_count; ++h) stream->hops[h] = (struct hop){.rank = h, .axis = 0};
        return;
    }
    int own = 0;
    while (get_rank_at(order, own) != stream->rank) ++own;
    for (int a = 0; a < mesh->axes; ++a) {
        for (int digit = 0; digit < mesh->extents[a]; ++digit) {
            const int rank = get_rank_at(order, get_hop_position(mesh, own, a, digit));
            stream->hops[stream->axes[a].first_hop + digit] = (struct hop){.rank = rank, .axis = a};
        }
    }
    for (int i = 0; i < stream->ranks; ++i) {
        const int axis = get_next_axis(mesh, own, i);
        const int hop = stream->axes[axis].first_hop + get_digit(mesh, i, axis);
        stream->next_hops[get_rank_at(order, i)] = (uint32_t)hop;
    }
    stream->local_hop = get_digit(mesh, own, 0);
    stream->fast.next_hops = stream->next_hops;
}
