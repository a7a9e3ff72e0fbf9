// SPDX-License-Identifier: BSD-3-Clause
// One rank at a time passes a larger count than the others; errors are returned. A correct call on
// the same communicator must then succeed. Prints per schedule and operation: calls without error,
// with truncation error, with another error, and wrong results of the correct calls.
// Usage: larger_counts COUNT SCHEDULE...
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

static int *in, *out, rank, ranks;
static MPI_Comm comm;

enum { operations = 9, forms = 4 };
static const char* const names[operations] = {"allgather", "alltoall", "bcast", "gather",        "scatter",
                                              "allreduce", "reduce",   "scan",  "reduce_scatter"};

static int call_collective(int operation, int n) {
    switch (operation) {
        case 0:
            return topoloom_allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
        case 1:
            return topoloom_alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
        case 2:
            return topoloom_bcast(in, n, MPI_INT, 0, comm);
        case 3:
            return topoloom_gather(in, n, MPI_INT, out, n, MPI_INT, 0, comm);
        case 4:
            return topoloom_scatter(in, n, MPI_INT, out, n, MPI_INT, 0, comm);
        case 5:
            return topoloom_allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
        case 6:
            return topoloom_reduce(in, out, n, MPI_INT, MPI_SUM, 0, comm);
        case 7:
            return topoloom_scan(in, out, n, MPI_INT, MPI_SUM, comm);
        default:
            return topoloom_reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm);
    }
}

static int start_collective(int operation, int n, topoloom_request* request) {
    switch (operation) {
        case 0:
            return topoloom_iallgather(in, n, MPI_INT, out, n, MPI_INT, comm, request);
        case 1:
            return topoloom_ialltoall(in, n, MPI_INT, out, n, MPI_INT, comm, request);
        case 2:
            return topoloom_ibcast(in, n, MPI_INT, 0, comm, request);
        case 3:
            return topoloom_igather(in, n, MPI_INT, out, n, MPI_INT, 0, comm, request);
        case 4:
            return topoloom_iscatter(in, n, MPI_INT, out, n, MPI_INT, 0, comm, request);
        case 5:
            return topoloom_iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, request);
        case 6:
            return topoloom_ireduce(in, out, n, MPI_INT, MPI_SUM, 0, comm, request);
        case 7:
            return topoloom_iscan(in, out, n, MPI_INT, MPI_SUM, comm, request);
        default:
            return topoloom_ireduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm, request);
    }
}

static int init_collective(int operation, int n, topoloom_request* request) {
    const MPI_Info none = MPI_INFO_NULL;
    switch (operation) {
        case 0:
            return topoloom_allgather_init(in, n, MPI_INT, out, n, MPI_INT, comm, none, request);
        case 1:
            return topoloom_alltoall_init(in, n, MPI_INT, out, n, MPI_INT, comm, none, request);
        case 2:
            return topoloom_bcast_init(in, n, MPI_INT, 0, comm, none, request);
        case 3:
            return topoloom_gather_init(in, n, MPI_INT, out, n, MPI_INT, 0, comm, none, request);
        case 4:
            return topoloom_scatter_init(in, n, MPI_INT, out, n, MPI_INT, 0, comm, none, request);
        case 5:
            return topoloom_allreduce_init(in, out, n, MPI_INT, MPI_SUM, comm, none, request);
        case 6:
            return topoloom_reduce_init(in, out, n, MPI_INT, MPI_SUM, 0, comm, none, request);
        case 7:
            return topoloom_scan_init(in, out, n, MPI_INT, MPI_SUM, comm, none, request);
        default:
            return topoloom_reduce_scatter_block_init(in, out, n, MPI_INT, MPI_SUM, comm, none, request);
    }
}

static int wait_for_request(topoloom_request* request, int tests) {
    for (int done = 0; tests && !done;) {
        const int status = topoloom_test(request, &done, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS) return status;
    }
    return tests ? MPI_SUCCESS : topoloom_wait(request, MPI_STATUS_IGNORE);
}

/// Starts the request twice, because the first error must not block the second start; returns the
/// first error.
static int call_persistent_collective(int operation, int n) {
    topoloom_request request;
    int first = init_collective(operation, n, &request);
    if (first != MPI_SUCCESS) return first;
    for (int i = 0; i < 2; ++i) {
        int status = topoloom_start(&request);
        if (status == MPI_SUCCESS) status = topoloom_wait(&request, MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS) first = status;
    }
    topoloom_request_free(&request);
    return first;
}

static int call_in_form(int form, int operation, int n) {
    topoloom_request request;
    if (form == 0) return call_collective(operation, n);
    if (form == 3) return call_persistent_collective(operation, n);
    const int status = start_collective(operation, n, &request);
    return status == MPI_SUCCESS ? wait_for_request(&request, form == 1) : status;
}

static int has_wrong_sum(int n) {
    for (int i = 0; i < n; ++i) in[i] = rank + i;
    topoloom_allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; ++i)
        if (out[i] != ranks * (ranks - 1) / 2 + ranks * i) return 1;
    return 0;
}

static void make_mistakes(int operation, const char* schedule, int n) {
    int seen[4] = {0}, all[4];
    for (int form = 0; form < forms; ++form) {
        for (int larger = 0; larger < ranks; ++larger) {
            int error_class = MPI_SUCCESS;
            MPI_Error_class(call_in_form(form, operation, rank == larger ? 2 * n : n), &error_class);
            ++seen[error_class == MPI_SUCCESS ? 0 : error_class == MPI_ERR_TRUNCATE ? 1 : 2];
            seen[3] += has_wrong_sum(n);
        }
    }
    MPI_Reduce(seen, all, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %s %d %d %d %d\n", schedule, names[operation], all[0], all[1], all[2], all[3]);
    fflush(stdout);
}

static void set_schedule(const char* schedule, int n) {
    char setting[200];
    snprintf(setting, sizeof setting, "schedule=%s", schedule);
    setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int operation = 0; operation < operations; ++operation) {
        const char* found = "";
        topoloom_schedule_of(comm, names[operation], n, &found);
        if (strcmp(found, schedule) == 0) make_mistakes(operation, schedule, n);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    // For a failed request, MPICH has no communicator and calls the error handler of
    // MPI_COMM_WORLD.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int n = atoi(argv[1]);
    in = calloc((size_t)(2 * n * ranks), sizeof *in);
    out = calloc((size_t)(2 * n * ranks), sizeof *out);
    for (int i = 2; i < argc; ++i) set_schedule(argv[i], n);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
