// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a 3x4 grid exchange 100 + source * 10 + target bytes with MPI_Alltoallv in rows, numbered from right to left,
// and in columns, each on two communicators with the same members, and send to the next rank.
#include <mpi.h>

enum { rows = 3, columns = 4, most = 4, longest = 300 };
static char sent_[most * longest], received_[most * longest];

static void exchange(int color, int key, int first, int step) {
    MPI_Comm line;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &line);
    int rank, size, world;
    MPI_Comm_rank(line, &rank);
    MPI_Comm_size(line, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    int sends[most], receives[most], offsets[most];
    for (int i = 0; i < size; ++i) {
        const int other = first + i * step;
        sends[i] = 100 + 10 * world + other;
        receives[i] = 100 + 10 * other + world;
        offsets[i] = i * longest;
    }
    MPI_Alltoallv(sent_, sends, offsets, MPI_CHAR, received_, receives, offsets, MPI_CHAR, line);
    MPI_Comm_free(&line);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int row = rank / columns, column = rank % columns, size = rows * columns;
    for (int i = 0; i < 2; ++i) {
        exchange(row, -column, row * columns + columns - 1, -1);
        exchange(column, row, column, columns);
        MPI_Sendrecv(sent_, 250, MPI_CHAR, (rank + 1) % size, 0, received_, 250, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
