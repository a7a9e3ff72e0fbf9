// SPDX-License-Identifier: BSD-3-Clause
// Sends 10 bytes around a ring, then ends as requested: finalize, abort, exit, wait [FILE TO MAKE]
// (for a signal), raise SIGNAL (in rank 1), status N.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int me, size;
    char out[10] = {0}, in[10];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(out, 10, MPI_BYTE, (me + 1) % size, 0, in, 10, MPI_BYTE, (me + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0) {
        if (me == 1) MPI_Abort(MPI_COMM_WORLD, 7);
        pause();
    }
    if (strcmp(argv[1], "exit") == 0) exit(0);
    if (strcmp(argv[1], "wait") == 0) {
        if (me == 0 && argc > 2) fclose(fopen(argv[2], "w"));
        if (me == 0) puts("waiting");
        fflush(stdout);
        for (;;) pause();
    }
    if (strcmp(argv[1], "raise") == 0) {
        if (me == 1) raise(atoi(argv[2]));
        for (;;) pause();
    }
    MPI_Finalize();
    return strcmp(argv[1], "status") == 0 ? atoi(argv[2]) : 0;
}
