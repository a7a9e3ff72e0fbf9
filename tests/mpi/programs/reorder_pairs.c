// SPDX-License-Identifier: BSD-3-Clause
// Rank i sends to rank i + size/2: requests an order from libtopoloom-mpi. With an argument, the
// last rank's list is wrong.
#include <stdio.h>
#include <topoloom_mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0, rank = 0, now = 0, moved = 0, all = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int wrong = argc > 1 && rank == size - 1;
    const int peers[2] = {wrong ? size : (rank + size / 2) % size, MPI_PROC_NULL};
    const int64_t bytes[2] = {1000, 1};
    MPI_Comm better = MPI_COMM_NULL, grid = MPI_COMM_NULL;
    topoloom_comm_reorder(MPI_COMM_WORLD, 2, peers, bytes, "seed=2", &better);
    MPI_Comm_rank(better, &now);
    moved += now != rank;
    const int dims[2] = {2, size / 2}, periods[2] = {0, 0};
    if (argc == 1) {
        topoloom_cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
        MPI_Comm_free(&grid);
    }
    MPI_Reduce(&moved, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("moved %d\n", all);
    MPI_Comm_free(&better);
    MPI_Finalize();
    return 0;
}
