// SPDX-License-Identifier: BSD-3-Clause
// topoloom_comm_reorder: reorders a communicator for a communication pattern.
#include "reorder.h"

int topoloom_comm_reorder(MPI_Comm comm, int count, const int peers[], const int64_t bytes[],
                          const char* options, MPI_Comm* newcomm) {
    int is_inter = 0, rank = 0;
    if (comm == MPI_COMM_NULL)
        return PMPI_Comm_dup(comm, newcomm);  // MPI_Comm_dup raises the error for MPI_COMM_NULL
    const int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status != MPI_SUCCESS) return status;
    PMPI_Comm_rank(comm, &rank);
    if (is_inter) {
        if (rank == 0) print_not_reordered("an intercommunicator has two groups");
        return PMPI_Comm_dup(comm, newcomm);
    }
    struct reorder_stats stats;
    const int better = find_better_rank(comm, count, peers, bytes, options, &stats);
    add_to_totals(&stats);
    return PMPI_Comm_split(comm, 0, better < 0 ? rank : better, newcomm);
}

int topoloom_comm_reorder_f(const MPI_Fint* comm, int count, const int peers[], const int64_t bytes[],
                            const char* options, MPI_Fint* newcomm) {
    MPI_Comm created = MPI_COMM_NULL;
    const int status = topoloom_comm_reorder(PMPI_Comm_f2c(*comm), count, peers, bytes,
                                             options[0] ? options : NULL, &created);
    *newcomm = PMPI_Comm_c2f(created);
    return status;
}
