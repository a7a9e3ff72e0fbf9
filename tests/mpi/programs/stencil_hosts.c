// SPDX-License-Identifier: BSD-3-Clause
// A ring by MPI_Cart_create with reorder=1: each process checks its neighbors, and counts those on
// other hosts. With an argument, rank 0 then aborts.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0, now = 0, away = 0, all = 0, wrong = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int periods[1] = {1};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 1, &ring);
    MPI_Comm_rank(ring, &now);
    char mine[64] = "", theirs[2][64];
    gethostname(mine, sizeof mine - 1);
    MPI_Neighbor_allgather(mine, 64, MPI_CHAR, theirs, 64, MPI_CHAR, ring);
    for (int i = 0; i < 2; ++i) away += strcmp(mine, theirs[i]) != 0;
    int met[2];
    MPI_Neighbor_allgather(&now, 1, MPI_INT, met, 1, MPI_INT, ring);
    if (met[0] != (now + size - 1) % size || met[1] != (now + 1) % size) wrong = 1;
    int sums[2] = {away, wrong}, total[2];
    MPI_Reduce(sums, total, 2, MPI_INT, MPI_SUM, 0, ring);
    if (now == 0) printf("%s\nbetween hosts %d\n", total[1] ? "wrong" : "checked", total[0]);
    if (argc > 1) {
        if (now == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        pause();  // in MPICH 5, MPI_Abort returns before the launcher ends the job
    }
    MPI_Finalize();
    return 0;
}
