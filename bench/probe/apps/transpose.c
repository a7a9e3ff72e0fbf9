// SPDX-License-Identifier: BSD-3-Clause
// Every rank repeatedly sends a block to every other rank, as in Fourier transforms.
// Usage: transpose BYTES TIMES
#include "app.h"

int main(int argc, char** argv) {
    struct app app = begin(&argc, &argv);
    const int bytes = atoi(argv[1]), times = atoi(argv[2]);
    start(&app, (size_t)app.ranks * (size_t)bytes);
    for (int i = 0; i < times; ++i)
        MPI_Alltoall(app.out, bytes, MPI_BYTE, app.in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    return end(&app);
}
