// SPDX-License-Identifier: BSD-3-Clause
// Every rank sends 1 MiB to the rank that is `shift` higher, cyclically; rank 0 reads `shift` from the file "input", and
// the number of messages from the first argument, which is 1 by default.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20 };

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank, ranks, shift = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        FILE* input = fopen("input", "r");
        if (input == NULL || fscanf(input, "%d", &shift) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
        fclose(input);
    }
    MPI_Bcast(&shift, 1, MPI_INT, 0, MPI_COMM_WORLD);
    char *out = calloc(1, BYTES), *in = malloc(BYTES);
    for (int i = count > 1 ? atoi(words[1]) : 1; i > 0; i--)
        MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + shift) % ranks, 0, in, BYTES, MPI_BYTE,
                     (rank + ranks - shift) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
