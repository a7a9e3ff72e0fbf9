// SPDX-License-Identifier: BSD-3-Clause
// Checks whether its ranks are where a plan puts them: verify PLAN [inter].
#include <topoloom_verify.h>

int main(int count, char** words) {
    MPI_Comm comm;
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count > 2)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    const int elsewhere = topoloom_verify(comm, words[1], stdout);
    if (rank == 0) printf("elsewhere %d\n", elsewhere);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
