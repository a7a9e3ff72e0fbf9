// SPDX-License-Identifier: BSD-3-Clause
// Times a binomial scatter on MPI_COMM_WORLD re-mapped in several orders; writes JSON Lines.
//
// Usage: scatter BYTES CHANNELS ORDER..., orders as for topoloom_comm_order. All ranks start at the same time
// of MPI's clock, which must be synchronized; a scatter is timed until the last rank completes it. `setup`
// is the time to create the communicator.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "common_start.h"
#include "topoloom_collective.h"
#include "topoloom_mpi.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[1]);
    char* in = malloc((size_t)bytes * (size_t)ranks);
    char* out = malloc((size_t)bytes);
    setenv("TOPOLOOM_COLLECTIVES", "schedule=binomial", 1);
    for (int order = 3; order < argc; ++order) {
        char options[256];
        snprintf(options, sizeof options, "order=%s,channels=%s", argv[order], argv[2]);
        MPI_Comm comm;
        const double setup_start = wait_for_common_start();
        topoloom_comm_order(MPI_COMM_WORLD, options, &comm);
        const double setup = find_latest(MPI_Wtime()) - setup_start;
        topoloom_scatter(in, 1, MPI_BYTE, out, 1, MPI_BYTE, 0, comm);  // initializes the communicator
        const double start = wait_for_common_start();
        topoloom_scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
        const double seconds = find_latest(MPI_Wtime()) - start;
        if (rank == 0)
            printf("{\"order\": \"%s\", \"seconds\": %.9g, \"setup\": %.9g}\n", argv[order], seconds, setup);
        fflush(stdout);
        MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
