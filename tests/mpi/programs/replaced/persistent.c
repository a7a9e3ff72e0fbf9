// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives of MPI. Rank 0 prints how many results differ from MPI's blocking
// collectives on all ranks, and whether our library sent the messages.
// Usage: persistent single|multiple repeated STARTS | unseen STARTS | kept | truncated | wrong
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 37, most_ranks = 8, room = 2 * count * most_ranks, operations = 14 };

static atomic_int sent;
static int rank, ranks;

// Called only by the preloaded library.
int PMPI_Isend(const void* buffer, int length, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    ++sent;
    const __typeof__(&PMPI_Isend) next = (__typeof__(&PMPI_Isend))dlsym(RTLD_NEXT, "PMPI_Isend");
    return next(buffer, length, type, to, tag, comm, request);
}

int PMPI_Send_init(const void* buffer, int length, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    ++sent;
    const __typeof__(&PMPI_Send_init) next = (__typeof__(&PMPI_Send_init))dlsym(RTLD_NEXT, "PMPI_Send_init");
    return next(buffer, length, type, to, tag, comm, request);
}

/// Initializes a persistent call if a request is passed; else calls MPI's blocking function.
static int init_or_call(int operation, const int* in, int* out, MPI_Comm comm, MPI_Request* request) {
    const int root = operation % ranks;
    int counts[most_ranks], places[most_ranks];
    for (int r = 0; r < ranks; ++r) counts[r] = r % 2 ? count : count / 2, places[r] = r * (count + 1);
#define EITHER(name, ...)                                   \
    return request == NULL ? PMPI_##name(__VA_ARGS__, comm) \
                           : MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)
    switch (operation) {
        case 0:
            EITHER(Allreduce, in, out, count, MPI_INT, MPI_SUM);
        case 1:
            EITHER(Reduce, in, out, count, MPI_INT, MPI_MAX, root);
        case 2:
            EITHER(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
        case 3:
            EITHER(Reduce_scatter_block, in, out, count, MPI_INT, MPI_SUM);
        case 4:
            EITHER(Scan, in, out, count, MPI_INT, MPI_SUM);
        case 5:
            EITHER(Exscan, in, out, count, MPI_INT, MPI_SUM);
        case 6:
            EITHER(Bcast, out, count, MPI_INT, root);
        case 7:
            EITHER(Gather, in, count, MPI_INT, out, count, MPI_INT, root);
        case 8:
            EITHER(Scatter, in, count, MPI_INT, out, count, MPI_INT, root);
        case 9:
            EITHER(Allgather, in, count, MPI_INT, out, count, MPI_INT);
        case 10:
            EITHER(Allgatherv, in, counts[rank], MPI_INT, out, counts, places, MPI_INT);
        case 11:
            EITHER(Alltoall, in, count, MPI_INT, out, count, MPI_INT);
        case 12:
            EITHER(Alltoall, MPI_IN_PLACE, 0, MPI_INT, out, count, MPI_INT);
        default:
            return request == NULL ? PMPI_Barrier(comm) : MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    }
#undef EITHER
}

/// Waits with a different MPI function on each rank.
static void complete_requests(int many, MPI_Request requests[], int way) {
    int flag = 0, index = 0, done = 0, some = 0, indices[operations + 1];
    if (way == 0) MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = many; way == 1 && i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    // MPICH 5.0's MPI_Testall fails for its own persistent collectives.
    for (int i = 0; way == 2 && i < many; i += flag) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    for (int i = 0; way == 3 && i < many; ++i) MPI_Waitany(many, requests, &index, MPI_STATUS_IGNORE);
    for (; way == 4 && done < many; done += some)
        MPI_Waitsome(many, requests, &some, indices, MPI_STATUSES_IGNORE);
}

static int in[operations][room], ours[operations][room], theirs[operations][room];

static void fill_input(int start) {
    for (int o = 0; o < operations; ++o)
        for (int i = 0; i < room; ++i)
            in[o][i] = 1000 * rank + i + 7 * start, ours[o][i] = theirs[o][i] = o - i - rank * start;
}

static int count_differences(MPI_Comm comm) {
    int wrong = 0;
    for (int o = 0; o < operations; ++o) {
        init_or_call(o, in[o], theirs[o], comm, NULL);
        wrong += memcmp(ours[o], theirs[o], sizeof *ours) != 0;
    }
    return wrong;
}

/// Starts all operations repeatedly, together with a persistent message of the program.
static int repeat_starts(int starts) {
    int wrong = 0, got = 0, given = 0;
    MPI_Request all[operations + 1], send;
    for (int o = 0; o < operations; ++o) init_or_call(o, in[o], ours[o], MPI_COMM_WORLD, &all[o]);
    MPI_Recv_init(&got, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &all[operations]);
    MPI_Send_init(&given, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &send);
    for (int start = 0; start < starts; ++start) {
        fill_input(start);
        given = rank + start;
        MPI_Start(&send);
        if (start % 2) MPI_Startall(operations + 1, all);
        for (int i = 0; start % 2 == 0 && i <= operations; ++i) MPI_Start(&all[i]);
        complete_requests(operations + 1, all, (start + rank) % 5);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        wrong += count_differences(MPI_COMM_WORLD) + (got != (rank + 1) % ranks + start);
    }
    for (int i = 0; i <= operations; ++i) MPI_Request_free(&all[i]), wrong += all[i] != MPI_REQUEST_NULL;
    MPI_Request_free(&send);
    return wrong;
}

/// Rank 0 receives messages that the other ranks send after the reduction.
static int wait_without_tests(int starts) {
    int wrong = 0, own = 0, sum = 0;
    MPI_Request request;
    MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 0; start < starts; ++start) {
        own = rank + start;
        MPI_Start(&request);
        for (int r = 1; rank == 0 && r < ranks; ++r)
            MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank > 0) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        wrong += sum != ranks * (ranks - 1) / 2 + ranks * start;
    }
    MPI_Request_free(&request);
    return wrong;
}

/// Creates and frees requests together with their communicators.
static int free_requests_with_communicators(void) {
    int wrong = 0;
    fill_input(1);
    for (int time = 0; time < 5; ++time) {
        MPI_Comm comm;
        MPI_Request all[operations];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int o = 0; o < operations; ++o) init_or_call(o, in[o], ours[o], comm, &all[o]);
        for (int start = 0; start < 2; ++start) {
            fill_input(start + time);
            MPI_Startall(operations, all);
            MPI_Waitall(operations, all, MPI_STATUSES_IGNORE);
            wrong += count_differences(MPI_COMM_WORLD);
        }
        for (int o = 0; o < operations; ++o) MPI_Request_free(&all[o]);
        MPI_Comm_free(&comm);
    }
    return wrong;
}

/// The root sends more than the other ranks receive: waiting ranks get an error, and no rank hangs.
static int truncate_message(void) {
    int value[2] = {rank, rank}, status = MPI_SUCCESS, any = 0;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast_init(value, rank == 0 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    status = MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    PMPI_Allreduce(&status, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Request_free(&request);
    return any != 1;
}

/// Returns MPI's error classes for an invalid root, count and operator, combined in one number.
static int make_mistakes(void) {
    int value = 0, sum = 0, status[3], classes = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    status[0] = MPI_Bcast_init(&value, 1, MPI_INT, 99, world, MPI_INFO_NULL, &request);
    status[1] = MPI_Bcast_init(&value, -1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
    status[2] = MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_OP_NULL, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        MPI_Error_class(status[i], &status[i]);
        classes = 64 * classes + status[i];
    }
    return classes;
}

int main(int argc, char** argv) {
    int level = 0, all = 0, messages = 0, wrong = -1;
    const int wanted = strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    const char* what = argv[2];
    const int starts = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Init_thread(NULL, NULL, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "repeated") == 0) wrong = repeat_starts(starts);
    if (strcmp(what, "unseen") == 0) wrong = wait_without_tests(starts);
    if (strcmp(what, "kept") == 0) wrong = free_requests_with_communicators();
    if (strcmp(what, "truncated") == 0) wrong = truncate_message();
    if (strcmp(what, "wrong") == 0) wrong = make_mistakes();
    const int for_them = sent;
    PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&for_them, &messages, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong, %s\n", all, messages > 0 ? "ours" : "theirs");
    MPI_Finalize();
    return 0;
}
