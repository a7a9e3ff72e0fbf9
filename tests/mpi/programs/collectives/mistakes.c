// SPDX-License-Identifier: BSD-3-Clause
// Makes mistakes, and calls that only look like mistakes, on a communicator that returns errors;
// MPI_COMM_WORLD keeps fatal errors. Prints the kind of each rank's error. At most 8 ranks.
// Usage: mistakes NAME...
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <topoloom_collective.h>

static int in[64], out[64], rank, ranks;

static int broadcast_uncommitted_type(MPI_Comm comm) {
    MPI_Datatype strided;
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    const int status = topoloom_bcast(in, 4, strided, 0, comm);
    MPI_Type_free(&strided);
    return status;
}

static int sum_pairs(MPI_Comm comm) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const int status = topoloom_allreduce(in, out, 4, pair, MPI_SUM, comm);
    MPI_Type_free(&pair);
    return status;
}

static int make_mistake(const char* name, MPI_Comm comm) {
    const int is_root = rank == 0;
    if (strcmp(name, "root") == 0) return topoloom_bcast(in, 1, MPI_INT, ranks, comm);
    if (strcmp(name, "op") == 0) return topoloom_allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm);
    if (strcmp(name, "op-of-type") == 0) return topoloom_allreduce(in, out, 1, MPI_FLOAT, MPI_BAND, comm);
    if (strcmp(name, "op-of-pairs") == 0) return sum_pairs(comm);
    if (strcmp(name, "uncommitted") == 0) return broadcast_uncommitted_type(comm);
    if (strcmp(name, "bcast-in-place") == 0) return topoloom_bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm);
    if (strcmp(name, "into-in-place") == 0)
        return topoloom_allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm);
    // The root makes no call here, so the others must not wait for it.
    if (strcmp(name, "gather-in-place") == 0)
        return is_root ? MPI_ERR_BUFFER
                       : topoloom_gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm);
    if (strcmp(name, "scatter-in-place") == 0)
        return is_root ? MPI_ERR_BUFFER
                       : topoloom_scatter(NULL, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm);
    return MPI_SUCCESS;
}

static int free_communicator_during_call(void) {
    int wrong = 0;
    for (int i = 0; i < 50; ++i) {
        MPI_Comm comm;
        topoloom_request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        in[0] = rank + i;
        topoloom_iallreduce(in, out, 1, MPI_INT, MPI_MAX, comm, &request);
        MPI_Comm_free(&comm);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
        wrong += out[0] != ranks - 1 + i;
    }
    return wrong;
}

static int use_one_buffer_twice(void) {
    for (int i = 0; i < 64; ++i) out[i] = i;
    topoloom_allreduce(out, out, 64, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < 64; ++i) wrong += out[i] != ranks * i;
    topoloom_scan(out, out, 64, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 64; ++i) wrong += out[i] != ranks * i * (rank + 1);
    return wrong;
}

static const char* name_error_class(int error_class) {
    return error_class == MPI_SUCCESS      ? "none"
           : error_class == MPI_ERR_BUFFER ? "buffer"
           : error_class == MPI_ERR_OP     ? "operator"
           : error_class == MPI_ERR_TYPE   ? "datatype"
           : error_class == MPI_ERR_ROOT   ? "root"
                                           : "another";
}

static void test_mistake(const char* name) {
    int error_class = MPI_SUCCESS, wrong = 0, classes[8];
    if (strcmp(name, "freed") == 0) {
        wrong = free_communicator_during_call();
    } else if (strcmp(name, "same") == 0) {
        wrong = use_one_buffer_twice();
    } else {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Error_class(make_mistake(name, comm), &error_class);
        MPI_Comm_free(&comm);
    }
    if (wrong > 0) error_class = MPI_ERR_OTHER;
    MPI_Gather(&error_class, 1, MPI_INT, classes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s:", name);
    for (int r = 0; r < ranks && rank == 0; ++r) printf(" %s", name_error_class(classes[r]));
    if (rank == 0) printf("\n");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; ++i) test_mistake(argv[i]);
    MPI_Finalize();
    return 0;
}
