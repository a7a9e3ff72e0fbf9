// SPDX-License-Identifier: BSD-3-Clause
// Re-maps MPI_COMM_WORLD and prints the old rank of each new rank, or the number of ranks with an
// error.
//
// Usage: remap_ranks fatal|return vector RANK...    a vector, only rank 0's is significant
//        remap_ranks fatal|return order [OPTIONS]   options, only rank 0's are significant
// A receive with MPI_ANY_SOURCE is pending, and must not match the library's messages.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_mpi.h>

static int remap_communicator(int argc, char** argv, int rank, MPI_Comm* made) {
    if (strcmp(argv[2], "order") == 0)
        return topoloom_comm_order(MPI_COMM_WORLD, rank == 0 ? (argc > 3 ? argv[3] : NULL) : "order=nonsense",
                                   made);
    int* ranks = malloc((size_t)argc * sizeof *ranks);
    for (int i = 3; i < argc; ++i) ranks[i - 3] = atoi(argv[i]);
    const int status = topoloom_comm_remap(MPI_COMM_WORLD, rank == 0 ? ranks : NULL, made);
    free(ranks);
    return status;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "return") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0, size = 0, got = -1, now = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request any;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    MPI_Comm made = MPI_COMM_WORLD;
    const int status = remap_communicator(argc, argv, rank, &made);
    const int next = (rank + 1) % size, mine = 1000 + rank;
    MPI_Send(&mine, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    if (got != 1000 + (rank + size - 1) % size) printf("wrong message %d at %d\n", got, rank);
    int failed = status != MPI_SUCCESS && made == MPI_COMM_NULL;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (failed > 0) {
        if (rank == 0) printf("failed %d\n", failed);
        MPI_Finalize();
        return 0;
    }
    int* old = malloc((size_t)size * sizeof *old);
    MPI_Comm_rank(made, &now);
    MPI_Gather(&rank, 1, MPI_INT, old, 1, MPI_INT, 0, made);
    if (now == 0) {
        printf("ranks");
        for (int i = 0; i < size; ++i) printf(" %d", old[i]);
        printf("\n");
    }
    free(old);
    MPI_Comm_free(&made);
    MPI_Finalize();
    return 0;
}
