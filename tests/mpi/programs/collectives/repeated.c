// SPDX-License-Identifier: BSD-3-Clause
// Repeats an alltoall; prints its final schedule, and the seconds of the last call. Usage:
// repeated BYTES CALLS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_collective.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int bytes = atoi(argv[1]), calls = atoi(argv[2]);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm;  // in SimGrid, all ranks share the attributes of MPI_COMM_WORLD
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    char *in = calloc((size_t)ranks, (size_t)bytes), *out = calloc((size_t)ranks, (size_t)bytes);
    double begin = 0;
    for (int call = 0; call < calls; ++call) {
        if (call == calls - 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            begin = MPI_Wtime();
        }
        topoloom_alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - begin;
    const char* schedule = "";
    topoloom_schedule_of(comm, "alltoall", bytes, &schedule);
    if (rank == 0) printf("%s %.9g\n", schedule, seconds);
    MPI_Comm_free(&comm);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
