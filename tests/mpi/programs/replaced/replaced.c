/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls blocking collectives on many communicators; each process prints its results. Usage: replaced [WHAT |
 * returned WHAT...]. WHAT is an invalid root, count, op or communicator; with `returned`, errors are
 * returned. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { length = 5, most = 16 };

static int world_rank;

static void print_values(const char* where, const char* what, const int* values, int count) {
    unsigned sum = 0;
    for (int i = 0; i < count; ++i) sum = 31 * sum + (unsigned)values[i];
    printf("%d %s %s %u\n", world_rank, where, what, sum);
}

/* Associative but not commutative. */
static void combine_in_order(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    const int *left = in, *right = inout;
    for (int i = 0; i < *count; ++i) {
        const int pair = left[i] / 1000 * 1000 + right[i] % 1000;
        memcpy((int*)inout + i, &pair, sizeof pair);
    }
}

static void call_all(const char* where, MPI_Comm comm) {
    int rank, ranks, mine[most * length], all[most * length], counts[most], places[most], sizes[most],
        starts[most];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; ++r) {
        counts[r] = r % length, places[r] = r * length;
        sizes[r] = rank % length, starts[r] = (ranks - 1 - r) * length;
    }
    for (int i = 0; i < most * length; ++i) mine[i] = 1001 * (rank + 1) + i;
#define RESULT memset(all, 0, sizeof all)
#define PRINT(what) print_values(where, what, all, ranks* length)
    const int root = ranks - 1;
    MPI_Op ordered;
    MPI_Op_create(combine_in_order, 0, &ordered);
    RESULT, MPI_Barrier(comm);
    RESULT, MPI_Alltoall(mine, length, MPI_INT, all, length, MPI_INT, comm), PRINT("alltoall");
    MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, length, MPI_INT, comm), PRINT("alltoall in place");
    RESULT, MPI_Alltoallv(mine, counts, places, MPI_INT, all, sizes, starts, MPI_INT, comm);
    PRINT("alltoallv");
    RESULT, MPI_Allgather(mine, length, MPI_INT, all, length, MPI_INT, comm), PRINT("allgather");
    RESULT, MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, starts, MPI_INT, comm);
    PRINT("allgatherv");
    RESULT, MPI_Allreduce(mine, all, length, MPI_INT, MPI_SUM, comm), PRINT("allreduce");
    MPI_Allreduce(MPI_IN_PLACE, all, length, MPI_INT, ordered, comm), PRINT("allreduce in place");
    RESULT, MPI_Reduce_scatter_block(mine, all, length, MPI_INT, MPI_MAX, comm),
        PRINT("reduce_scatter_block");
    RESULT, MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, comm), PRINT("reduce_scatter");
    RESULT, MPI_Scan(mine, all, length, MPI_INT, ordered, comm), PRINT("scan");
    RESULT, MPI_Exscan(mine, all, length, MPI_INT, MPI_SUM, comm);
    if (rank > 0) PRINT("exscan");
    memcpy(all, mine, sizeof all), MPI_Bcast(all, length, MPI_INT, root, comm), PRINT("bcast");
    RESULT, MPI_Reduce(mine, all, length, MPI_INT, ordered, root, comm);
    if (rank == root) PRINT("reduce");
    /* On other ranks, arguments that only the root uses are invalid. */
    const int only = rank == root ? length : -1;
    const MPI_Datatype type = rank == root ? MPI_INT : MPI_DATATYPE_NULL;
    RESULT, MPI_Gather(mine, length, MPI_INT, all, only, type, root, comm), PRINT("gather");
    RESULT, MPI_Scatter(mine, only, type, all, length, MPI_INT, root, comm), PRINT("scatter");
    RESULT,
        MPI_Gatherv(mine, counts[rank], MPI_INT, all, rank == root ? counts : NULL, starts, type, root, comm);
    PRINT("gatherv");
    RESULT, MPI_Scatterv(mine, rank == root ? counts : NULL, places, type, all, counts[rank], MPI_INT, root,
                         comm);
    PRINT("scatterv");
    MPI_Op_free(&ordered);
}

static void call_between_groups(MPI_Comm half) {
    MPI_Comm other;
    int sum = 0, ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int last = ranks - 1, leader = world_rank % 2 == last % 2 ? last - 1 : last;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 1, &other);
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, other);
    print_values("other half", "allreduce", &sum, 1);
    MPI_Comm_free(&other);
}

/* Called by MPI_Finalize. */
static int reduce_in_finalize(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int sum = 0;
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    print_values("world", "at the end", &sum, 1);
    return MPI_SUCCESS;
}

static void make_mistake(const char* what) {
    int value = 0, sum = 0, status = MPI_SUCCESS;
    if (strcmp(what, "root") == 0) status = MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD);
    if (strcmp(what, "count") == 0) status = MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(what, "op") == 0)
        status = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
    if (strcmp(what, "communicator") == 0) status = MPI_Barrier(MPI_COMM_NULL);
    int same[2] = {0, 0};
    if (strcmp(what, "alias") == 0) status = MPI_Allreduce(same, same, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int error_class, size;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(status, &error_class);
    MPI_Error_string(error_class, text, &size);
    printf("%d %s: %s\n", world_rank, what, text);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_in_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    if (argc > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = argc > 2 ? 2 : 1; i < argc; ++i) make_mistake(argv[i]);
    if (argc < 2) {
        MPI_Comm half, again;
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
        MPI_Comm_dup(half, &again);
        call_all("world", MPI_COMM_WORLD);
        call_all("self", MPI_COMM_SELF);
        call_all("half", half);
        MPI_Comm_free(&half);
        call_all("half again", again);
        call_between_groups(again);
        MPI_Comm_free(&again);
    }
    MPI_Finalize();
    return 0;
}
