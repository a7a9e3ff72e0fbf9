// SPDX-License-Identifier: BSD-3-Clause
// Kills one rank while the others are inside a collective of MPI or of Topoloom. The killed rank logs its
// calls to a file, because launchers may lose its output.
// Usage: killed_rank mpi|ours FILE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <topoloom_collective.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, in = 1, out = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int ours = strcmp(argv[1], "ours") == 0;
    for (int i = 0; i < 3; ++i) {
        if (i == 2 && rank == ranks - 1) raise(SIGKILL);
        const int status = ours ? topoloom_allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                                : MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank != ranks - 1) continue;
        FILE* file = fopen(argv[2], "a");
        fprintf(file, "call %d: %s\n", i, status == MPI_SUCCESS ? "done" : "an error");
        fclose(file);
    }
    MPI_Abort(MPI_COMM_WORLD, 3);
}
