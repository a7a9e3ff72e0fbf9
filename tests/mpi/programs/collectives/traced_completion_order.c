// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 completes a bcast before a call on another communicator; the other ranks complete that
// call first.
#include <mpi.h>
#include <stdio.h>
#include <topoloom_collective.h>

int main(int argc, char** argv) {
    int rank = 0, ranks = 1, right = 1;
    MPI_Comm one, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int turn = 0; turn < 20; ++turn) {
        topoloom_request request;
        int own = rank, sum = -1, word = rank == 0 ? turn : -1;
        topoloom_iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, one, &request);
        if (rank > 0) topoloom_wait(&request, MPI_STATUS_IGNORE);
        topoloom_bcast(&word, 1, MPI_INT, 0, other);
        if (rank == 0) topoloom_wait(&request, MPI_STATUS_IGNORE);
        right = right && word == turn && sum == ranks * (ranks - 1) / 2;
    }
    int all = 0;
    MPI_Reduce(&right, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) fputs(all ? "right\n" : "wrong\n", stdout);
    MPI_Finalize();
    return 0;
}
