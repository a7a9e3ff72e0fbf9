// SPDX-License-Identifier: BSD-3-Clause
// A ring in both directions; the argument is the message length in bytes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int rank, size, bytes = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc(bytes), *in = malloc(2 * bytes);
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request requests[4];
    MPI_Irecv(in, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + bytes, bytes, MPI_BYTE, last, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, bytes, MPI_BYTE, last, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return argc == 0;
}
