// SPDX-License-Identifier: BSD-3-Clause
// Reductions of which every rank gets a result.
#include "collective.h"

static int own_count(const int recvcounts[], MPI_Comm comm) {
    int rank = 0;
    return recvcounts != NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS ? recvcounts[rank] : 0;
}

struct asked ask_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    return (struct asked){.name = "allreduce",
                          .operation = TOPOLOOM_ALL_REDUCE,
                          .comm = comm,
                          .op = op,
                          .input = {.buffer = sendbuf, .count = count, .type = datatype},
                          .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}

int topoloom_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm) {
    const struct asked asked = ask_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    return run_blocking(&asked);
}

int topoloom_iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = ask_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = ask_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    return make_persistent(&asked, request);
}

static struct asked reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return (struct asked){
        .name = "reduce_scatter",
        .operation = TOPOLOOM_REDUCE_SCATTER,
        .comm = comm,
        .op = op,
        .vector = true,
        .input = {.buffer = sendbuf, .counts = recvcounts, .type = datatype, .by_rank = true},
        .output = {.buffer = recvbuf, .count = own_count(recvcounts, comm), .type = datatype}};
}

int topoloom_reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm) {
    const struct asked asked = reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return run_blocking(&asked);
}

int topoloom_ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                 topoloom_request* request) {
    (void)info;
    const struct asked asked = reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return make_persistent(&asked, request);
}

static struct asked reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return (struct asked){.name = "reduce_scatter_block",
                          .operation = TOPOLOOM_REDUCE_SCATTER,
                          .comm = comm,
                          .op = op,
                          .input = {.buffer = sendbuf, .count = recvcount, .type = datatype, .by_rank = true},
                          .output = {.buffer = recvbuf, .count = recvcount, .type = datatype}};
}

int topoloom_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                  MPI_Op op, MPI_Comm comm) {
    const struct asked asked = reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
    return run_blocking(&asked);
}

int topoloom_ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                       topoloom_request* request) {
    (void)info;
    const struct asked asked = reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
    return make_persistent(&asked, request);
}

static struct asked scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
    return (struct asked){.name = "scan",
                          .operation = TOPOLOOM_SCAN,
                          .comm = comm,
                          .op = op,
                          .input = {.buffer = sendbuf, .count = count, .type = datatype},
                          .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}

int topoloom_scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
    const struct asked asked = scan(sendbuf, recvbuf, count, datatype, op, comm);
    return run_blocking(&asked);
}

int topoloom_iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = scan(sendbuf, recvbuf, count, datatype, op, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = scan(sendbuf, recvbuf, count, datatype, op, comm);
    return make_persistent(&asked, request);
}

static struct asked exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    return (struct asked){.name = "exscan",
                          .operation = TOPOLOOM_EXSCAN,
                          .comm = comm,
                          .op = op,
                          .input = {.buffer = sendbuf, .count = count, .type = datatype},
                          .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}

int topoloom_exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
    const struct asked asked = exscan(sendbuf, recvbuf, count, datatype, op, comm);
    return run_blocking(&asked);
}

int topoloom_iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, topoloom_request* request) {
    const struct asked asked = exscan(sendbuf, recvbuf, count, datatype, op, comm);
    return start_nonblocking(&asked, request);
}

int topoloom_exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, topoloom_request* request) {
    (void)info;
    const struct asked asked = exscan(sendbuf, recvbuf, count, datatype, op, comm);
    return make_persistent(&asked, request);
}
