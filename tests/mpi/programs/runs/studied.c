// SPDX-License-Identifier: BSD-3-Clause
// Messages of all kinds with known sizes: studied [--wait MILLISECONDS] [--fail]. Ranks of equal parity form a
// communicator. Rank 0 prints the seconds of the exchange.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 1 << 16 };
static char sent[most * 16], received[most * 16];

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, own, others, wait = 0, fails = 0;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--wait") == 0 && i + 1 < argc) wait = atoi(argv[i + 1]);
        fails = fails || strcmp(argv[i], "--fail") == 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &others);
    const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 0) MPI_Send(sent, 1001, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(received, 1001, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(sent, 2002, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received, 2002, MPI_CHAR, last, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(sent, 3003, MPI_CHAR, (own + 1) % others, 3, received, 3003, MPI_CHAR,
                 (own + others - 1) % others, 3, half, MPI_STATUS_IGNORE);
    MPI_Isend(sent, 4004, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Bcast(sent, 5005, MPI_CHAR, 0, half);
    MPI_Alltoall(sent, most, MPI_CHAR, received, most, MPI_CHAR, half);
    usleep(1000 * (unsigned)wait);
    const double seconds = MPI_Wtime() - begin;
    if (rank == 0) printf("time: %.9g s\n", seconds);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return fails ? 3 : 0;
}
