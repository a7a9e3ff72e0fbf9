// SPDX-License-Identifier: BSD-3-Clause
// A program that asks itself whether its ranks are where a plan puts them: verify PLAN.
#include <topoloom_verify.h>

int main(int count, char** words) {
    MPI_Comm turned;
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    const int elsewhere = topoloom_verify(turned, words[1], stdout);
    if (rank == 0) printf("elsewhere %d\n", elsewhere);
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return 0;
}
