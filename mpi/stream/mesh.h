// SPDX-License-Identifier: BSD-3-Clause
// Routes over a virtual mesh, from position to position. Independent of MPI, so that a test can check all pairs.
//
// A position is a number with one digit per axis; the last axis is the lowest digit. A route corrects digits from the
// last axis to axis 0 (Wesolowski et al., ICPP 2014). So a rank sends only to the ranks on its own lines, of
// which there are at most as many as the sum of the extents. The last plane across axis 0 may be incomplete:
// positions from `ranks` on are holes.
#ifndef TOPOLOOM_STREAM_MESH_H
#define TOPOLOOM_STREAM_MESH_H

#include <stdint.h>

enum { max_axes = 4 };

struct mesh {
    int ranks, axes;
    int extents[max_axes], strides[max_axes];
};

/// Chooses the smallest, nearly equal extents that hold all ranks.
static inline void choose_extents(int ranks, int dimensions, int* extents) {
    int64_t left = ranks;
    for (int a = dimensions - 1; a >= 0; --a) {
        int64_t extent = 0, power = 0;
        while (power < left) {
            ++extent;
            power = 1;
            for (int i = 0; i <= a && power < left; ++i) power *= extent;
        }
        extents[a] = (int)extent;
        left = (left + extent - 1) / extent;
    }
}

/// Removes planes and axes without ranks. With two or more ranks, the mesh then has several planes across axis 0, and
/// the first plane is complete. The extents must hold all ranks.
static inline struct mesh make_mesh(int ranks, int dimensions, const int* extents) {
    int used[max_axes], count = 0;
    int64_t stride = 1;
    for (int a = dimensions - 1; a >= 0; --a) {
        const int planes = (int)((ranks + stride - 1) / stride);
        const int extent = extents[a] < planes ? extents[a] : planes;
        if (extent == 1) continue;
        used[count++] = extent;
        stride *= extent;
    }
    if (count == 0) used[count++] = 1;
    struct mesh mesh = {.ranks = ranks, .axes = count};
    stride = 1;
    for (int a = count - 1; a >= 0; --a) {
        mesh.extents[a] = used[count - 1 - a];
        mesh.strides[a] = (int)stride;
        stride *= mesh.extents[a];
    }
    return mesh;
}

static inline int count_hops(const struct mesh* mesh) {
    int hops = 0;
    for (int a = 0; a < mesh->axes; ++a) hops += mesh->extents[a];
    return hops;
}

static inline int get_digit(const struct mesh* mesh, int position, int axis) {
    return position / mesh->strides[axis] % mesh->extents[axis];
}

/// Returns the axis of an item's next hop, or 0 if the item is at its target.
static inline int get_next_axis(const struct mesh* mesh, int position, int target) {
    int axis = mesh->axes - 1;
    while (axis > 0 && get_digit(mesh, position, axis) == get_digit(mesh, target, axis)) --axis;
    return axis;
}

/// Returns the position after a hop to a digit of an axis, or -1 if this is a hole of axis 0; no item is
/// addressed to such a hole.
///
/// Along higher axes, only hops from the incomplete plane can lead to a hole. Such a hop is redirected to a complete
/// plane, from which no later hop leads to a hole. This plane depends on the sender's position, to balance the load.
static inline int get_hop_position(const struct mesh* mesh, int position, int axis, int digit) {
    const int64_t there = position + ((int64_t)digit - get_digit(mesh, position, axis)) * mesh->strides[axis];
    if (there < mesh->ranks) return (int)there;
    if (axis == 0) return -1;
    const int plane = mesh->strides[0], complete = mesh->ranks / plane;
    return (int)(there % plane) + position % plane % complete * plane;
}

#endif
