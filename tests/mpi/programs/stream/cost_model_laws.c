// SPDX-License-Identifier: BSD-3-Clause
// Checks the cost model of phases in cases that can be computed by hand.
#include "cost_model.h"

#include <stdio.h>
#include <stdlib.h>

static void require(int is_right, const char* what) {
    if (is_right) return;
    printf("%s\n", what);
    exit(1);
}

static double compute_seconds(int ranks, int dimensions, struct network network, double per_pair,
                              double bucket, double* used) {
    int extents[max_axes];
    choose_extents(ranks, dimensions, extents);
    const struct mesh mesh = make_mesh(ranks, dimensions, extents);
    const struct traffic traffic = {per_pair * (ranks - 1), 1000, ranks - 1};
    return predict_phase_seconds(&mesh, network, traffic, bucket, used);
}

/// Returns the items per pair above which direct buckets take less time than a mesh.
static double find_crossover(int side, double alpha, double item) {
    const struct network network = {alpha, item / 1000};
    double low = 0.01, high = 1000, used = 0;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        const int is_mesh = compute_seconds(side * side, 2, network, middle, 1e9, &used) <
                            compute_seconds(side * side, 1, network, middle, 1e9, &used);
        *(is_mesh ? &low : &high) = middle;
    }
    return low;
}

int main(void) {
    double used = 0;
    const struct network network = {1e-3, 0};
    require(compute_seconds(64, 1, network, 1, 1e9, &used) > 62e-3 && used == 63,
            "63 messages go to 63 ranks");
    require(compute_seconds(64, 2, network, 1, 1e9, &used) < 15e-3 && used < 14.001,
            "14 messages go along two lines");
    // Three of five items of 1,000 B fill a bucket of 3,008 B; two items fill the next.
    require(compute_seconds(2, 1, network, 5, 3008, &used) > 1.99e-3 &&
                compute_seconds(2, 1, network, 5, 3008, &used) < 2.01e-3,
            "five items are two messages");
    // With s x s ranks, the mesh saves (s - 1)^2 messages. It sends (s - 1)^2 more items, plus s - 1 items in the last
    // bucket. Address bytes are ignored.
    for (int side = 4; side <= 32; side *= 2) {
        const double alpha = 1, item = 0.1, expected = alpha * (side - 1) / (item * side);
        const double found = find_crossover(side, alpha, item);
        require(found > 0.9 * expected && found < 1.1 * expected, "the crossover is elsewhere");
    }
    puts("the model is right");
    return 0;
}
