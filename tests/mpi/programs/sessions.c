// SPDX-License-Identifier: BSD-3-Clause
// Communicates without MPI_COMM_WORLD, by an MPI 4 session.
#include <mpi.h>
#include <stdio.h>

int main(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, sum;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "here", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0) printf("sum %d\n", sum);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
