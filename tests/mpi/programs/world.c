// SPDX-License-Identifier: BSD-3-Clause
// Queries each process's rank in MPI_COMM_WORLD in many ways, and prints the answers in rank order.
// The output must not depend on the numbering of the processes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { room = 4096 };

static char text[room];
static int me, size, used;

static void print_pair(const char* what, int a, int b) {
    used += snprintf(text + used, (size_t)(room - used), " %s=%d,%d", what, a, b);
}

static void print_ranks(const char* what, MPI_Comm comm) {
    int rank, count;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &count);
    print_pair(what, rank, count);
}

static void print_ranks_and_free(const char* what, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return;
    print_ranks(what, comm);
    MPI_Comm_free(&comm);
}

static void print_communicators(void) {
    MPI_Comm made;
    MPI_Group all, some;
    MPI_Request request;
    const int first[1] = {0};
    print_ranks("world", MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    print_ranks_and_free("dup", made);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    print_ranks_and_free("idup", made);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &made);
    print_ranks_and_free("split", made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, first, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    print_ranks_and_free("create", made);
    if (me > 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &made);
        print_ranks_and_free("create_group", made);
    }
    int rank;
    MPI_Group_rank(all, &rank);
    print_pair("group", rank, me);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Comm half, across, merged;
    MPI_Comm_split(MPI_COMM_WORLD, me < size / 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me < size / 2 ? size / 2 : 0, 7, &across);
    MPI_Intercomm_merge(across, me < size / 2, &merged);
    print_ranks_and_free("merged", merged);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    int same, alike;
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &same);
    MPI_Comm_compare(made, MPI_COMM_WORLD, &alike);
    print_pair("compare", same == MPI_IDENT, alike == MPI_CONGRUENT);
    MPI_Comm_free(&made);
    print_pair("handle", MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, 1);
}

static void print_topologies(void) {
    int dims[2] = {0, 0}, around[2] = {1, 0}, place[2], before, after;
    MPI_Comm made;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &made);
    MPI_Cart_coords(made, me, 2, place);
    MPI_Cart_shift(made, 0, 1, &before, &after);
    print_pair("place", place[0], place[1]);
    print_pair("shift", before, after);
    print_ranks_and_free("cart", made);
    const int next[1] = {(me + 1) % size}, last[1] = {(me + size - 1) % size}, weight[1] = {me};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, last, weight, 1, next, weight, MPI_INFO_NULL, 0, &made);
    int from = -1;
    MPI_Neighbor_alltoall(&me, 1, MPI_INT, &from, 1, MPI_INT, made);
    print_pair("neighbor", from, last[0]);
    print_ranks_and_free("graph", made);
}

static int record_copy(MPI_Comm comm, int key, void* state, void* value, void* copy, int* keep) {
    (void)comm, (void)key, (void)state;
    *(void**)copy = value;
    *keep = 1;
    return MPI_SUCCESS;
}

static void print_attributes(void) {
    int key, found, other, *tags, length;
    char name[MPI_MAX_OBJECT_NAME];
    void* value = NULL;
    MPI_Comm made;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tags, &found);
    print_pair("tags", found && *tags > 30000, 1);
    MPI_Comm_create_keyval(record_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &text[me]);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_get_attr(made, key, &value, &found);
    print_pair("copied", found, value == &text[me]);
    MPI_Comm_free(&made);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &other);
    print_pair("deleted", other, 0);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    print_pair("name", strcmp(name, "MPI_COMM_WORLD"), length);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    print_pair("refused", MPI_Send(&me, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void print_messages(const char* file) {
    MPI_Status status;
    int from = -1, sum = 0, window = -1, number = me;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 0, &from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 &status);
    print_pair("source", status.MPI_SOURCE, from);
    MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    print_pair("scan", sum, 0);
    MPI_Win win;
    MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, (me + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    print_pair("window", window, from);
    MPI_Win_free(&win);
    MPI_File out;
    if (MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &out) !=
        MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_File_write_ordered(out, &me, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(out, (MPI_Offset)(sizeof number) * me, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    print_pair("file", number, me);
    MPI_File_close(&out);
}

static int at_finalize(MPI_Comm comm, int key, void* name, void* state) {
    int rank;
    (void)comm, (void)key, (void)state;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("finalize: %s\n", (const char*)name);
    return MPI_SUCCESS;
}

/// MPI_Finalize deletes attributes of MPI_COMM_SELF first, in reverse order of creation.
static void attach_callbacks(void) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, "self");
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, "world");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, "newer self");
}

int main(int count, char** words) {
    MPI_Init(&count, &words);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);  // as a profiling tool does
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    print_communicators();
    print_topologies();
    print_attributes();
    print_messages(words[1]);
    char* all = malloc((size_t)size * room);
    MPI_Gather(text, room, MPI_CHAR, all, room, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int rank = 0; me == 0 && rank < size; ++rank) printf("%d:%s\n", rank, all + (size_t)rank * room);
    free(all);
    attach_callbacks();
    MPI_Finalize();
    return 0;
}
