// SPDX-License-Identifier: BSD-3-Clause
// All-to-all, of equal blocks and of blocks that differ.
#include "collective.h"

static struct asked alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return (struct asked){
        .name = "alltoall",
        .operation = TOPOLOOM_ALL_TO_ALL,
        .comm = comm,
        .op = MPI_OP_NULL,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .by_rank = true},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .by_rank = true}};
}

int topoloom_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {
    const struct asked asked = alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return run_blocking(&asked);
}

int topoloom_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           topoloom_request* request) {
    (void)info;
    const struct asked asked = alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return make_persistent(&asked, request);
}

static struct asked alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return (struct asked){
        .name = "alltoallv",
        .operation = TOPOLOOM_ALL_TO_ALL,
        .comm = comm,
        .op = MPI_OP_NULL,
        .vector = true,
        .input =
            {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype, .by_rank = true},
        .output = {
            .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype, .by_rank = true}};
}

int topoloom_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                       MPI_Datatype recvtype, MPI_Comm comm) {
    const struct asked asked =
        alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    return run_blocking(&asked);
}

int topoloom_ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                        MPI_Datatype recvtype, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked =
        alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked =
        alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    return make_persistent(&asked, request);
}
