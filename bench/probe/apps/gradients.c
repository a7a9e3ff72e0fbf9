// SPDX-License-Identifier: BSD-3-Clause
// Repeats two steps: neighbors of a grid exchange, and all ranks reduce a number twice, as in conjugate
// gradients.
// Usage: gradients BYTES TIMES
#include "app.h"

int main(int argc, char** argv) {
    struct app app = begin(&argc, &argv);
    const int bytes = atoi(argv[1]), times = atoi(argv[2]);
    start(&app, (size_t)bytes);
    for (int i = 0; i < times; ++i) {
        exchange_halo(&app, bytes);
        for (int sums = 0; sums < 2; ++sums) {
            double own = 1, all;
            MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    return end(&app);
}
