// SPDX-License-Identifier: BSD-3-Clause
// Collectives on the lines of a grid.
#include "grid.h"

/// Restricts a call to the caller's line along a dimension.
static int restrict_to_line(struct arguments* arguments, const char* name, topoloom_grid grid,
                            int dimension) {
    if (dimension < 0 || dimension >= grid->dimensions)
        return raise_error(grid->comm, MPI_ERR_DIMS, name, "dimension is %d, but must be 0 to %d", dimension,
                           grid->dimensions - 1);
    arguments->name = name;
    arguments->comm = grid->comm;
    arguments->line = grid->lines[dimension];
    return MPI_SUCCESS;
}

static int run_on_line(struct arguments arguments, const char* name, topoloom_grid grid, int dimension) {
    if (grid == TOPOLOOM_GRID_NULL) return MPI_ERR_ARG;
    const int status = restrict_to_line(&arguments, name, grid, dimension);
    return status == MPI_SUCCESS ? run_blocking_call(&arguments) : status;
}

static int start_on_line(struct arguments arguments, const char* name, topoloom_grid grid, int dimension,
                         topoloom_request* request) {
    if (grid == TOPOLOOM_GRID_NULL) return MPI_ERR_ARG;
    const int status = restrict_to_line(&arguments, name, grid, dimension);
    return status == MPI_SUCCESS ? start_nonblocking_call(&arguments, request) : status;
}

int topoloom_line_bcast(void* buffer, int count, MPI_Datatype datatype, int root, topoloom_grid grid,
                        int dimension) {
    return run_on_line(describe_bcast(buffer, count, datatype, root, MPI_COMM_NULL), "line_bcast", grid,
                       dimension);
}

int topoloom_line_ibcast(void* buffer, int count, MPI_Datatype datatype, int root, topoloom_grid grid,
                         int dimension, topoloom_request* request) {
    return start_on_line(describe_bcast(buffer, count, datatype, root, MPI_COMM_NULL), "line_bcast", grid,
                         dimension, request);
}

int topoloom_line_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         int root, topoloom_grid grid, int dimension) {
    return run_on_line(describe_reduce(sendbuf, recvbuf, count, datatype, op, root, MPI_COMM_NULL),
                       "line_reduce", grid, dimension);
}

int topoloom_line_ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          int root, topoloom_grid grid, int dimension, topoloom_request* request) {
    return start_on_line(describe_reduce(sendbuf, recvbuf, count, datatype, op, root, MPI_COMM_NULL),
                         "line_reduce", grid, dimension, request);
}

int topoloom_line_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, topoloom_grid grid, int dimension) {
    return run_on_line(
        describe_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, MPI_COMM_NULL),
        "line_gather", grid, dimension);
}

int topoloom_line_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, topoloom_grid grid, int dimension,
                          topoloom_request* request) {
    return start_on_line(
        describe_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, MPI_COMM_NULL),
        "line_gather", grid, dimension, request);
}

int topoloom_line_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, topoloom_grid grid, int dimension) {
    return run_on_line(
        describe_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, MPI_COMM_NULL),
        "line_scatter", grid, dimension);
}

int topoloom_line_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, topoloom_grid grid, int dimension,
                           topoloom_request* request) {
    return start_on_line(
        describe_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, MPI_COMM_NULL),
        "line_scatter", grid, dimension, request);
}

int topoloom_line_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, topoloom_grid grid, int dimension) {
    return run_on_line(
        describe_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, MPI_COMM_NULL),
        "line_allgather", grid, dimension);
}

int topoloom_line_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, topoloom_grid grid, int dimension,
                             topoloom_request* request) {
    return start_on_line(
        describe_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, MPI_COMM_NULL),
        "line_allgather", grid, dimension, request);
}

int topoloom_line_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            topoloom_grid grid, int dimension) {
    return run_on_line(describe_allreduce(sendbuf, recvbuf, count, datatype, op, MPI_COMM_NULL),
                       "line_allreduce", grid, dimension);
}

int topoloom_line_iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                             topoloom_grid grid, int dimension, topoloom_request* request) {
    return start_on_line(describe_allreduce(sendbuf, recvbuf, count, datatype, op, MPI_COMM_NULL),
                         "line_allreduce", grid, dimension, request);
}

int topoloom_line_schedule_of(topoloom_grid grid, int dimension, const char* operation, long long bytes,
                              const char** schedule) {
    if (grid == TOPOLOOM_GRID_NULL || schedule == NULL) return MPI_ERR_ARG;
    struct arguments arguments = {0};
    const int status = restrict_to_line(&arguments, "line_schedule_of", grid, dimension);
    return status == MPI_SUCCESS
               ? find_schedule(arguments.line, arguments.name, grid->comm, operation, bytes, schedule)
               : status;
}
