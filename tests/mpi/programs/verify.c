// SPDX-License-Identifier: BSD-3-Clause
// A program that checks whether its ranks are where a plan puts them: verify PLAN [inter].
#include <topoloom_verify.h>

int main(int count, char** words) {
    MPI_Comm asked;
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count > 2)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &asked);
    else
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &asked);
    const int elsewhere = topoloom_verify(asked, words[1], stdout);
    if (rank == 0) printf("elsewhere %d\n", elsewhere);
    MPI_Comm_free(&asked);
    MPI_Finalize();
    return 0;
}
