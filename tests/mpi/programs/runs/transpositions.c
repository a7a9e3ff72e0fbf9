// SPDX-License-Identifier: BSD-3-Clause
// Transposes over the rows, then over the columns, of a process grid: transpositions ROWS COLUMNS BYTES TIMES. Ranks are
// numbered row by row; a rank sends BYTES to each other rank of its row, then of its column. Rank 0 prints the seconds
// of a step.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const int rows = atoi(argv[1]), columns = atoi(argv[2]), bytes = atoi(argv[3]), times = atoi(argv[4]);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % columns, rank, &column);
    const size_t most = (size_t)bytes * (size_t)(rows > columns ? rows : columns);
    char *sent = calloc(most, 1), *received = malloc(most);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < times; ++i) {
        MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, row);
        MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, column);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("time: %.9g s\n", (MPI_Wtime() - begin) / times);
    free(sent);
    free(received);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
