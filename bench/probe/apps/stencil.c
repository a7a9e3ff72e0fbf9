// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a grid repeatedly exchange with their neighbors, as in explicit methods on meshes.
// Usage: stencil BYTES TIMES
#include "app.h"

int main(int argc, char** argv) {
    struct app app = begin(&argc, &argv);
    const int bytes = atoi(argv[1]), times = atoi(argv[2]);
    start(&app, (size_t)bytes);
    for (int i = 0; i < times; ++i) exchange_halo(&app, bytes);
    return end(&app);
}
