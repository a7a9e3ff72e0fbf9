// SPDX-License-Identifier: BSD-3-Clause
// Counts allocations of Topoloom's libraries when persistent collectives are made, started and completed, and when
// earlier blocking calls are repeated.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_collective.h>

#include "library_memory.h"

static long counted;

static bool may_allocate(void) {
    ++counted;
    return true;
}

// ---- the calls ---------------------------------------------------------------------------------------------------

enum { most_calls = 32, elements = 100, starts = 20 };
static topoloom_request requests[most_calls];
static int call_count;
static char *in, *out;
static int counts[64], places[64];

static void init_all_requests(MPI_Datatype type, MPI_Comm comm) {
#define MAKE(name, ...) topoloom_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &requests[call_count++])
#define BOTH in, elements, type, out, elements, type
    MAKE(alltoall, BOTH);
    MAKE(alltoallv, in, counts, places, type, out, counts, places, type);
    MAKE(alltoall, MPI_IN_PLACE, elements, type, out, elements, type);
    MAKE(allgather, BOTH);
    MAKE(allgatherv, in, elements, type, out, counts, places, type);
    MAKE(bcast, out, elements, type, 0);
    MAKE(gather, BOTH, 0);
    MAKE(scatter, BOTH, 0);
}

static void reduce_all(MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
#define VECTOR in, out, elements, type, op
    MAKE(allreduce, VECTOR);
    MAKE(allreduce, MPI_IN_PLACE, out, elements, type, op);
    MAKE(reduce, VECTOR, 0);
    MAKE(reduce_scatter_block, VECTOR);
    MAKE(scan, VECTOR);
    MAKE(exscan, VECTOR);
    topoloom_barrier_init(comm, MPI_INFO_NULL, &requests[call_count++]);
}

/// Alternates between two calls, so that none repeats the last call of its operation.
static void alternate_calls(int times, MPI_Comm comm) {
    for (int i = 0; i < 2 * times; ++i)
        topoloom_allreduce(in, out, i % 2 == 0 ? 1 : elements, MPI_DOUBLE, MPI_SUM, comm);
}

static void ignore_operands(void* left, void* right, int* length, MPI_Datatype* type) {
    (void)left, (void)right, (void)length, (void)type;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int r = 0; r < ranks; ++r) {
        counts[r] = elements;
        places[r] = r * elements;
    }
    in = calloc((size_t)ranks * elements, 64);
    out = calloc((size_t)ranks * elements, 64);
    MPI_Datatype gaps;
    MPI_Op op;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Op_create(ignore_operands, 1, &op);
    record_library_spans();
    counted = 0;
    init_all_requests(MPI_INT, MPI_COMM_WORLD);
    init_all_requests(gaps, MPI_COMM_WORLD);
    reduce_all(MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    reduce_all(gaps, op, MPI_COMM_WORLD);
    const long made = counted;
    counted = 0;
    for (int i = 0; i < starts; ++i) {
        for (int c = 0; c < call_count; ++c) {
            topoloom_start(&requests[c]);
            topoloom_wait(&requests[c], MPI_STATUS_IGNORE);
        }
        topoloom_startall(call_count, requests);
        topoloom_waitall(call_count, requests, MPI_STATUSES_IGNORE);
    }
    const long later = counted;
    alternate_calls(1, MPI_COMM_WORLD);
    counted = 0;
    alternate_calls(starts, MPI_COMM_WORLD);
    long own[3] = {made, later, counted}, all[3];
    MPI_Reduce(own, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld allocations when made, %ld later, %ld in blocking calls\n", all[0], all[1], all[2]);
    for (int c = 0; c < call_count; ++c) topoloom_request_free(&requests[c]);
    MPI_Type_free(&gaps);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
