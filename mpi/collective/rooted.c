// SPDX-License-Identifier: BSD-3-Clause
// Collectives with a root.
#include "collective.h"

struct asked ask_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return (struct asked){.name = "bcast",
                          .operation = TOPOLOOM_BROADCAST,
                          .comm = comm,
                          .op = MPI_OP_NULL,
                          .root = root,
                          .output = {.buffer = buffer, .count = count, .type = datatype}};
}

int topoloom_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    const struct asked asked = ask_bcast(buffer, count, datatype, root, comm);
    return run_blocking(&asked);
}

int topoloom_ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    topoloom_request* request) {
    const struct asked asked = ask_bcast(buffer, count, datatype, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                        MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = ask_bcast(buffer, count, datatype, root, comm);
    return make_persistent(&asked, request);
}

struct asked ask_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                        int root, MPI_Comm comm) {
    return (struct asked){.name = "reduce",
                          .operation = TOPOLOOM_REDUCE,
                          .comm = comm,
                          .op = op,
                          .root = root,
                          .input = {.buffer = sendbuf, .count = count, .type = datatype},
                          .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}

int topoloom_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm) {
    const struct asked asked = ask_reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    return run_blocking(&asked);
}

int topoloom_ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                     int root, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = ask_reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         int root, MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = ask_reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    return make_persistent(&asked, request);
}

struct asked ask_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return (struct asked){
        .name = "gather",
        .operation = TOPOLOOM_GATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .root = root,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .by_rank = true}};
}

int topoloom_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const struct asked asked =
        ask_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return run_blocking(&asked);
}

int topoloom_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked =
        ask_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         topoloom_request* request) {
    (void)info;
    const struct asked asked =
        ask_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return make_persistent(&asked, request);
}

static struct asked gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm) {
    return (struct asked){
        .name = "gatherv",
        .operation = TOPOLOOM_GATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .root = root,
        .vector = true,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {
            .buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype, .by_rank = true}};
}

int topoloom_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm) {
    const struct asked asked =
        gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
    return run_blocking(&asked);
}

int topoloom_igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, topoloom_request* request) {
    const struct asked asked =
        gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                          MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked =
        gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
    return make_persistent(&asked, request);
}

struct asked ask_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return (struct asked){.name = "scatter",
                          .operation = TOPOLOOM_SCATTER,
                          .comm = comm,
                          .op = MPI_OP_NULL,
                          .root = root,
                          .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .by_rank = true},
                          .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
}

int topoloom_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const struct asked asked =
        ask_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return run_blocking(&asked);
}

int topoloom_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked =
        ask_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                          topoloom_request* request) {
    (void)info;
    const struct asked asked =
        ask_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return make_persistent(&asked, request);
}

static struct asked scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int root, MPI_Comm comm) {
    return (struct asked){.name = "scatterv",
                          .operation = TOPOLOOM_SCATTER,
                          .comm = comm,
                          .op = MPI_OP_NULL,
                          .root = root,
                          .vector = true,
                          .input = {.buffer = sendbuf,
                                    .counts = sendcounts,
                                    .displs = displs,
                                    .type = sendtype,
                                    .by_rank = true},
                          .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
}

int topoloom_scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const struct asked asked =
        scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return run_blocking(&asked);
}

int topoloom_iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       topoloom_request* request) {
    const struct asked asked =
        scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                           MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                           int root, MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked =
        scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return make_persistent(&asked, request);
}
