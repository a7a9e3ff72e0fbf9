// SPDX-License-Identifier: BSD-3-Clause
// Two ranks spawn one process; each process sends 10 bytes to the next rank of its world. Both sides enter barriers on
// the intercommunicator, and on another one that has a single process per side. Then
// both sides disconnect. The child ends as requested: finalize or exit.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    int me, size;
    char out[10] = {0}, in[10], *words[] = {argv[1], NULL};
    MPI_Comm other, pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&other);
    const int child = other != MPI_COMM_NULL;
    if (!child)
        MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Sendrecv(out, 10, MPI_BYTE, (me + 1) % size, 0, in, 10, MPI_BYTE, (me + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(other);
    MPI_Comm all;
    MPI_Intercomm_merge(other, child, &all);
    if (child || me == 0) {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, all, child ? 0 : 2, 7, &pair);
        for (int i = 0; i < 5; ++i) MPI_Barrier(pair);
        MPI_Comm_disconnect(&pair);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    if (child && strcmp(argv[1], "exit") == 0) exit(0);
    MPI_Finalize();
    return 0;
}
