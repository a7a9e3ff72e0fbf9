// SPDX-License-Identifier: BSD-3-Clause
// Checks the routes of all pairs over meshes with and without holes: `mesh_laws MOST_RANKS`.
#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>

static long long routes, replaced;

static void fail(const struct mesh* mesh, const char* what) {
    printf("%d ranks, %d axes: %s\n", mesh->ranks, mesh->axes, what);
    exit(1);
}

static void check_route(const struct mesh* mesh, int source, int target) {
    int last = mesh->axes;
    for (int at = source; at != target; ++routes) {
        const int axis = get_next_axis(mesh, at, target);
        if (axis >= last) fail(mesh, "a route does not go through axes in one direction");
        const int next = get_hop_position(mesh, at, axis, get_digit(mesh, target, axis));
        if (next < 0 || next >= mesh->ranks) fail(mesh, "a hop is a hole");
        if (next == at) fail(mesh, "a rank sends to itself");
        replaced += get_digit(mesh, next, 0) != get_digit(mesh, at, 0) && axis > 0;
        at = next;
        last = axis;
    }
}

static void check_mesh(int ranks, int dimensions, const int* extents) {
    const struct mesh mesh = make_mesh(ranks, dimensions, extents);
    int64_t held = 1;
    for (int a = 0; a < mesh.axes; ++a) held *= mesh.extents[a];
    if (held < ranks || mesh.axes > dimensions) fail(&mesh, "the mesh is too small, or has too many axes");
    if (held - ranks >= mesh.strides[0]) fail(&mesh, "more than a plane is of holes");
    for (int source = 0; source < ranks; ++source)
        for (int target = 0; target < ranks; ++target) check_route(&mesh, source, target);
}

/// Random extents with room for the ranks.
static void check_chosen_extents(int ranks, int dimensions) {
    int extents[max_axes], held = 1;
    for (int a = 0; a < dimensions; ++a) held *= extents[a] = 1 + rand() % 7;
    if (held >= ranks) check_mesh(ranks, dimensions, extents);
}

int main(int argc, char** argv) {
    const int most = argc > 1 ? atoi(argv[1]) : 40;
    for (int ranks = 1; ranks <= most; ++ranks) {
        for (int dimensions = 1; dimensions <= max_axes; ++dimensions) {
            int extents[max_axes];
            choose_extents(ranks, dimensions, extents);
            check_mesh(ranks, dimensions, extents);
            for (int a = 0; a < dimensions; ++a) {
                int64_t below = 1;  // a mesh with all extents one smaller is too small
                for (int i = 0; i < dimensions; ++i) below *= extents[a] - 1;
                if (below >= ranks) {
                    printf("%d ranks, %d axes: extents are too large\n", ranks, dimensions);
                    return 1;
                }
            }
            for (int i = 0; i < 10; ++i) check_chosen_extents(ranks, dimensions);
        }
    }
    if (replaced == 0) return 1;
    printf("every route ends\n");
    return 0;
}
