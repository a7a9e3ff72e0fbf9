// SPDX-License-Identifier: BSD-3-Clause
// Makes blocking calls that repeat the previous one or change one argument, by both Topoloom and MPI.
// Operators and derived datatypes are recreated for each call, so that handles are reused. Prints
// the number of wrong results.
// Usage: repeated_calls SEED CALLS
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

#include "shared_random.h"

enum {
    allreduce,
    reduce,
    reduce_scatter_block,
    scan,
    exscan,
    bcast,
    allgather,
    gather,
    scatter,
    alltoall,
    barrier
};
enum { operation_count = barrier + 1, field_count = 6, max_ranks = 8, max_count = 3, max_width = 5 };
enum { buffer_length = max_ranks * max_count * max_width };

/// Arguments of a call.
struct call {
    int operation, count, width, root, commutes, in_place;
};
static const int limits[field_count] = {operation_count, max_count + 1, max_width + 1, 2, 2, 2};

/// Composes affine functions of the first two numbers; the others are added.
static void compose(void* left, void* right, int* count, MPI_Datatype* type) {
    int size = 0;
    MPI_Type_size(*type, &size);
    const int width = size / (int)sizeof(unsigned);
    for (int i = 0; i < *count; ++i) {
        const unsigned* f = (unsigned*)left + i * width;
        unsigned* g = (unsigned*)right + i * width;
        g[1] = g[0] * f[1] + g[1];
        g[0] *= f[0];
        for (int j = 2; j < width; ++j) g[j] += f[j];
    }
}

static void add_elementwise(void* left, void* right, int* count, MPI_Datatype* type) {
    int size = 0;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count * size / (int)sizeof(unsigned); ++i)
        ((unsigned*)right)[i] += ((unsigned*)left)[i];
}

#define CALL(topoloom, mpi, ...) return ours ? topoloom(__VA_ARGS__) : mpi(__VA_ARGS__)

static int call_collective(const struct call* call, bool ours, MPI_Datatype type, MPI_Op op, unsigned* in,
                           unsigned* out, MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const int count = call->count, root = call->root;
    const bool is_rooted = call->operation == reduce || call->operation == gather;
    const bool in_place = call->in_place && (!is_rooted || rank == root);
    const void* from = in_place ? MPI_IN_PLACE : in;
    void* to = call->in_place && rank == root ? MPI_IN_PLACE : out;  // of a scatter
    switch (call->operation) {
        case allreduce:
            CALL(topoloom_allreduce, MPI_Allreduce, from, out, count, type, op, comm);
        case reduce:
            CALL(topoloom_reduce, MPI_Reduce, from, out, count, type, op, root, comm);
        case reduce_scatter_block:
            CALL(topoloom_reduce_scatter_block, MPI_Reduce_scatter_block, from, out, count, type, op, comm);
        case scan:
            CALL(topoloom_scan, MPI_Scan, from, out, count, type, op, comm);
        case exscan:
            CALL(topoloom_exscan, MPI_Exscan, from, out, count, type, op, comm);
        case bcast:
            CALL(topoloom_bcast, MPI_Bcast, out, count, type, root, comm);
        case allgather:
            CALL(topoloom_allgather, MPI_Allgather, from, count, type, out, count, type, comm);
        case gather:
            CALL(topoloom_gather, MPI_Gather, from, count, type, out, count, type, root, comm);
        case scatter:
            CALL(topoloom_scatter, MPI_Scatter, in, count, type, to, count, type, root, comm);
        case alltoall:
            CALL(topoloom_alltoall, MPI_Alltoall, from, count, type, out, count, type, comm);
        default:
            CALL(topoloom_barrier, MPI_Barrier, comm);
    }
}

static void fill(unsigned numbers[buffer_length], unsigned seed) {
    for (unsigned i = 0; i < buffer_length; ++i) numbers[i] = (seed * 2654435761u + i) * 2246822519u >> 7;
}

/// Returns whether Topoloom and MPI give the same result.
static bool is_right(const struct call* call, unsigned seed, MPI_Comm comm) {
    MPI_Datatype type = call->width == 1 ? MPI_INT : MPI_2INT;
    MPI_Op op = MPI_SUM;
    if (call->width > 2) {
        MPI_Type_contiguous(call->width, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    if (call->width > 1) MPI_Op_create(call->commutes ? add_elementwise : compose, call->commutes, &op);
    unsigned in[buffer_length], ours[buffer_length], theirs[buffer_length];
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    fill(in, seed + (unsigned)rank);
    fill(ours, ~seed - (unsigned)rank);
    memcpy(theirs, ours, sizeof ours);
    bool right = call_collective(call, true, type, op, in, ours, comm) == MPI_SUCCESS &&
                 call_collective(call, false, type, op, in, theirs, comm) == MPI_SUCCESS;
    const bool is_undefined = call->operation == exscan && rank == 0;
    right = right && (is_undefined || memcmp(ours, theirs, sizeof ours) == 0);
    if (call->width > 2) MPI_Type_free(&type);
    if (call->width > 1) MPI_Op_free(&op);
    return right;
}

/// Returns whether a call without a send buffer fails after equal correct calls.
static bool is_refused(MPI_Comm comm) {
    int number = 1, sum = 0, error_class = MPI_SUCCESS;
    for (int i = 0; i < 2; ++i) topoloom_allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Error_class(topoloom_allreduce(NULL, &sum, 1, MPI_INT, MPI_SUM, comm), &error_class);
    return error_class == MPI_ERR_BUFFER;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    chance = strtoull(argv[1], NULL, 10);
    const int calls = atoi(argv[2]);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    union {
        struct call call;
        int fields[field_count];
    } next = {{allreduce, 1, 1, 0, 1, 0}};
    int wrong = 0, all = 0, rank = 0;
    for (int i = 0; i < calls; ++i) {
        if (draw(2)) {
            const size_t field = draw(field_count);
            next.fields[field] = (int)draw((uint64_t)limits[field]);
            if (next.call.width == 0) next.call.width = 1;
        }
        wrong += !is_right(&next.call, (unsigned)i, comm);
        if (draw(50) == 0) wrong += !is_refused(comm);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%d wrong\n", all);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
