// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: MPI_Alltoallv with a fault, chosen by FAULT. With `flip`, a bit of the first element on rank 0 changes.
// With `trade`, the first and the last rank trade their first elements.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                  MPI_Comm comm) {
    const int status =
        PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    const int is_flip = strcmp(getenv("FAULT"), "flip") == 0;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    unsigned char* const bytes = recvbuf;
    if (is_flip && rank == 0) bytes[5] ^= 0x10;
    if (!is_flip && (rank == 0 || rank == ranks - 1))
        MPI_Sendrecv_replace(recvbuf, 1, recvtype, ranks - 1 - rank, 0, ranks - 1 - rank, 0, comm,
                             MPI_STATUS_IGNORE);
    return status;
}
