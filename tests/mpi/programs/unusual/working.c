// SPDX-License-Identifier: BSD-3-Clause
// Each rank sends around a ring, notes that in FOLDER/sent-RANK, and goes on for SECONDS.
// Usage: working FOLDER SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void send_around(int me, int size) {
    char out[10] = {0}, in[10];
    MPI_Sendrecv(out, 10, MPI_BYTE, (me + 1) % size, 0, in, 10, MPI_BYTE, (me + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int me, size;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send_around(me, size);
    snprintf(name, sizeof name, "%s/sent-%d", argv[1], me);
    fclose(fopen(name, "w"));
    for (int step = 0; step < atof(argv[2]) * 100; ++step) {
        usleep(10000);
        send_around(me, size);
    }
    MPI_Finalize();
    return 0;
}
