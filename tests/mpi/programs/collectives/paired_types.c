// SPDX-License-Identifier: BSD-3-Clause
// Gathers blocks of 2, 4, 4, 4, ... integers; odd ranks receive the same bytes as pairs, with other
// counts. Prints the number of wrong integers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_collective.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, wrong = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const int in_pairs = rank % 2;
    int *counts = malloc((size_t)ranks * sizeof *counts), *offsets = malloc((size_t)ranks * sizeof *offsets);
    for (int r = 0; r < ranks; ++r) {
        counts[r] = (r == 0 ? 2 : 4) / (in_pairs ? 2 : 1);
        offsets[r] = (r == 0 ? 0 : 4 * r - 2) / (in_pairs ? 2 : 1);
    }
    int own[4], *out = malloc(4 * (size_t)ranks * sizeof *out);
    for (int i = 0; i < 4; ++i) own[i] = 10 * rank + i;
    topoloom_allgatherv(own, rank == 0 ? 2 : 4, MPI_INT, out, counts, offsets, in_pairs ? pair : MPI_INT,
                        MPI_COMM_WORLD);
    for (int r = 0, at = 0; r < ranks; ++r)
        for (int i = 0; i < (r == 0 ? 2 : 4); ++i, ++at) wrong += out[at] != 10 * r + i;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", all);
    MPI_Type_free(&pair);
    free(counts);
    free(offsets);
    free(out);
    MPI_Finalize();
    return 0;
}
