// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of MPI. Rank 0 prints how many results differ from MPI's blocking
// collectives on all ranks, and whether our library sent the messages.
// Usage: started single|multiple random CALLS | unseen CALLS COUNT | freed | alone | wrong WHAT...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../collectives/shared_random.h"

enum { most_count = 300, most_under_way = 4, operations = 16 };

static atomic_int sent;
static int rank, ranks;

/// Called only by the preloaded library.
int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    ++sent;
    const __typeof__(&PMPI_Isend) next = (__typeof__(&PMPI_Isend))dlsym(RTLD_NEXT, "PMPI_Isend");
    return next(buffer, count, type, to, tag, comm, request);
}

// ---- random concurrent calls ----------------------------------------------------------------------------------------

struct random_call {
    int operation, count, root;
    MPI_Op op;
    MPI_Datatype type;
    size_t room;
    int *in, *ours, *theirs, *counts, *places;
    MPI_Request request;
};

static struct random_call draw_call(void) {
    struct random_call call = {.operation = (int)draw(operations), .count = (int)draw(most_count)};
    if (draw(8) == 0) call.count = 0;
    call.root = (int)draw((uint64_t)ranks);
    call.op = draw(2) ? MPI_SUM : MPI_MAX;
    const int combines = call.operation < 6, has_gaps = (int)draw(3) == 0;
    MPI_Type_create_resized(MPI_INT, 0, !combines && has_gaps ? 2 * sizeof(int) : sizeof(int), &call.type);
    MPI_Type_commit(&call.type);
    if (combines) {
        MPI_Type_free(&call.type);
        call.type = MPI_INT;
    }
    call.room = 2 * ((size_t)call.count + 2) * (size_t)ranks;
    call.in = malloc(call.room * sizeof(int));
    call.ours = malloc(call.room * sizeof(int));
    call.theirs = malloc(call.room * sizeof(int));
    call.counts = malloc((size_t)ranks * sizeof(int));
    call.places = malloc((size_t)ranks * sizeof(int));
    for (size_t i = 0; i < call.room; ++i) {
        call.in[i] = 1000 * rank + (int)i;
        call.ours[i] = call.theirs[i] = -(int)i - rank;
    }
    for (int r = 0; r < ranks; ++r) {
        call.counts[r] = r % 2 ? call.count : call.count / 2;
        call.places[r] = r * (call.count + 1);
    }
    return call;
}

/// Starts a nonblocking call if a request is passed; else calls MPI's blocking function.
static int start_or_call(const struct random_call* c, int* out, MPI_Comm comm, MPI_Request* request) {
#define EITHER(name, iname, ...) \
    return request == NULL ? PMPI_##name(__VA_ARGS__, comm) : MPI_##iname(__VA_ARGS__, comm, request)
    switch (c->operation) {
        case 0:
            EITHER(Allreduce, Iallreduce, c->in, out, c->count, c->type, c->op);
        case 1:
            EITHER(Reduce, Ireduce, c->in, out, c->count, c->type, c->op, c->root);
        case 2:
            EITHER(Reduce_scatter, Ireduce_scatter, c->in, out, c->counts, c->type, c->op);
        case 3:
            EITHER(Reduce_scatter_block, Ireduce_scatter_block, c->in, out, c->count, c->type, c->op);
        case 4:
            EITHER(Scan, Iscan, c->in, out, c->count, c->type, c->op);
        case 5:
            EITHER(Exscan, Iexscan, c->in, out, c->count, c->type, c->op);
        case 6:
            EITHER(Bcast, Ibcast, out, c->count, c->type, c->root);
        case 7:
            EITHER(Gather, Igather, c->in, c->count, c->type, out, c->count, c->type, c->root);
        case 8:
            EITHER(Scatter, Iscatter, c->in, c->count, c->type, out, c->count, c->type, c->root);
        case 9:
            EITHER(Allgather, Iallgather, c->in, c->count, c->type, out, c->count, c->type);
        case 10:
            EITHER(Allgatherv, Iallgatherv, c->in, c->counts[rank], c->type, out, c->counts, c->places,
                   c->type);
        case 11:
            EITHER(Alltoall, Ialltoall, c->in, c->count, c->type, out, c->count, c->type);
        case 12:
            EITHER(Alltoall, Ialltoall, MPI_IN_PLACE, 0, c->type, out, c->count, c->type);
        case 13:
            EITHER(Allgather, Iallgather, MPI_IN_PLACE, 0, c->type, out, c->count, c->type);
        case 14:
            EITHER(Scatter, Iscatter, c->in, c->count, c->type, rank == c->root ? MPI_IN_PLACE : out,
                   c->count, c->type, c->root);
        default:
            return request == NULL ? PMPI_Barrier(comm) : MPI_Ibarrier(comm, request);
    }
#undef EITHER
}

/// Waits with a different MPI function on each rank.
static void complete_requests(int count, MPI_Request requests[], int way) {
    int flag = 0, index = 0;
    if (way == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (way == 1)
        for (int i = count; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (way == 2)
        while (!flag) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    if (way == 3)
        for (int i = 0; i < count; ++i) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    if (way == 4) {
        int done = 0, some = 0, indices[most_under_way];
        for (; done < count; done += some) MPI_Waitsome(count, requests, &some, indices, MPI_STATUSES_IGNORE);
    }
}

static int check_random_calls(int calls) {
    int wrong = 0;
    for (int made = 0; made < calls;) {
        const int count = 1 + (int)draw(most_under_way);
        struct random_call under_way[most_under_way];
        MPI_Request requests[most_under_way];
        for (int i = 0; i < count; ++i, ++made) {
            under_way[i] = draw_call();
            start_or_call(&under_way[i], under_way[i].ours, MPI_COMM_WORLD, &requests[i]);
        }
        if (draw(2)) MPI_Barrier(MPI_COMM_WORLD);
        complete_requests(count, requests, (int)((draw(5) + (uint64_t)rank) % 5));
        for (int i = 0; i < count; ++i) {
            struct random_call* one = &under_way[i];
            start_or_call(one, one->theirs, MPI_COMM_WORLD, NULL);
            wrong += memcmp(one->ours, one->theirs, one->room * sizeof(int)) != 0;
            if (one->type != MPI_INT) MPI_Type_free(&one->type);
            free(one->in), free(one->ours), free(one->theirs), free(one->counts), free(one->places);
        }
    }
    return wrong;
}

// ---- others ----------------------------------------------------------------------------------------------------------

/// The other ranks send to rank 0 after they have the sum. Rank 0 waits in MPI_Recv, so the program
/// ends only if rank 0's collective progresses there.
static int wait_without_tests(int calls, int count) {
    int wrong = 0;
    int *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    for (int call = 0; call < calls; ++call) {
        MPI_Request request;
        for (int i = 0; i < count; ++i) in[i] = rank + i + call;
        MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        for (int r = 1; rank == 0 && r < ranks; ++r)
            MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank > 0) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        for (int i = 0; i < count; ++i) wrong += out[i] != ranks * (ranks - 1) / 2 + ranks * (i + call);
    }
    free(in);
    free(out);
    return wrong;
}

/// Frees the handles that MPI allows to be freed during a call.
static int free_during_calls(void) {
    int wrong = 0;
    for (int call = 0; call < 50; ++call) {
        MPI_Comm comm;
        MPI_Datatype pair;
        MPI_Request request;
        int in[200], out[200];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        MPI_Type_vector(50, 1, 2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        for (int i = 0; i < 200; ++i) in[i] = 7 * i, out[i] = rank == 1 ? in[i] : 0;
        MPI_Ibcast(out, 1, pair, 1, comm, &request);
        MPI_Type_free(&pair);
        MPI_Comm_free(&comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 99; i += 2) wrong += out[i] != in[i];
    }
    return wrong;
}

/// Makes only non-blocking calls: none may wait for other ranks to set the communicator up.
static int make_only_nonblocking_calls(void) {
    int wrong = 0, sum = -1;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 20; ++call) {
        const int in = rank + call;
        if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        if (rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += sum != ranks * (ranks - 1) / 2 + ranks * call;
    }
    MPI_Comm_free(&comm);
    return wrong;
}

static int error_class_of(const char* what) {
    int value = 0, sum = 0, status = MPI_SUCCESS, error_class = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (strcmp(what, "root") == 0) status = MPI_Ibcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD, &request);
    if (strcmp(what, "count") == 0) status = MPI_Ibcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (strcmp(what, "op") == 0)
        status = MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD, &request);
    if (strcmp(what, "communicator") == 0) status = MPI_Ibarrier(MPI_COMM_NULL, &request);
    int same[2] = {0, 0};
    if (strcmp(what, "alias") == 0)
        status = MPI_Iallreduce(same, same, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Error_class(status, &error_class);
    return error_class;
}

int main(int argc, char** argv) {
    int level = 0, all = 0, messages = 0;
    const int wanted = strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(NULL, NULL, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    const int before = sent;
    const char* what = argv[2];
    int wrong = -1;
    if (strcmp(what, "wrong") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        wrong = 0;
        for (int i = 3; i < argc; ++i) wrong = 64 * wrong + error_class_of(argv[i]);
    }
    if (strcmp(what, "random") == 0) wrong = check_random_calls(atoi(argv[3]));
    if (strcmp(what, "unseen") == 0) wrong = wait_without_tests(atoi(argv[3]), atoi(argv[4]));
    if (strcmp(what, "freed") == 0) wrong = free_during_calls();
    if (strcmp(what, "alone") == 0) wrong = make_only_nonblocking_calls();
    const int for_them = sent - before;
    PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&for_them, &messages, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong, %s\n", all, messages > 0 ? "ours" : "theirs");
    MPI_Finalize();
    return 0;
}
