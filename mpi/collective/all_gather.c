// SPDX-License-Identifier: BSD-3-Clause
// All-gather, of equal blocks and of blocks that differ.
#include "collective.h"

struct asked ask_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return (struct asked){
        .name = "allgather",
        .operation = TOPOLOOM_ALL_GATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .by_rank = true}};
}

int topoloom_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const struct asked asked =
        ask_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return run_blocking(&asked);
}

int topoloom_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked =
        ask_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            topoloom_request* request) {
    (void)info;
    const struct asked asked =
        ask_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return make_persistent(&asked, request);
}

static struct asked allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm) {
    return (struct asked){
        .name = "allgatherv",
        .operation = TOPOLOOM_ALL_GATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .vector = true,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {
            .buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype, .by_rank = true}};
}

int topoloom_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    const struct asked asked =
        allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    return run_blocking(&asked);
}

int topoloom_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                         topoloom_request* request) {
    const struct asked asked =
        allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked =
        allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    return make_persistent(&asked, request);
}
