// SPDX-License-Identifier: BSD-3-Clause
// Bytes that reordering allocates outside rank 0, and its number of communication calls, with 26 neighbors
// per rank.
#include <stdint.h>
#include <stdio.h>

#include "topoloom_mpi.h"

long counted_bytes, counted_calls;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0, rank = 0, peers[26];
    int64_t bytes[26];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 26; ++i) {
        peers[i] = (rank + 1 + 7 * i) % size;
        bytes[i] = 1000;
    }
    MPI_Comm better;
    topoloom_comm_reorder(MPI_COMM_WORLD, 26, peers, bytes, NULL, &better);
    long most[2], mine[2] = {rank == 0 ? 0 : counted_bytes, counted_calls};
    MPI_Reduce(mine, most, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks: %ld bytes, %ld calls\n", size, most[0], most[1]);
    MPI_Comm_free(&better);
    MPI_Finalize();
    return 0;
}
