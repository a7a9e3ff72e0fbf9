// SPDX-License-Identifier: BSD-3-Clause
// Counts the messages of random collectives. Usage: counted_messages SEED CASES SCHEDULE...
// Prints lines: operation, schedule, root, bytes of the call; messages and bytes sent by all ranks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

#include "shared_random.h"

static long counted[2];

/// Interposes MPI's function for calls of the library.
int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
    static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
    int size = 0;
    MPI_Type_size(type, &size);
    if (size > 0 && count > 0) ++counted[0];  // barriers between rounds send empty messages
    counted[1] += (long)count * size;
    return next(buffer, count, type, peer, tag, comm, request);
}

static const char* const names[] = {"bcast",     "reduce",    "scatter",        "gather",
                                    "allgather", "allreduce", "reduce_scatter", "alltoall"};
enum { operation_count = 8, most = 2000 };

static void call_collective(int operation, int bytes, int root, const char* in, char* out, MPI_Comm comm) {
#define VECTOR in, out, bytes, MPI_BYTE, MPI_BXOR
#define BLOCKS in, bytes, MPI_BYTE, out, bytes, MPI_BYTE
    switch (operation) {
        case 0:
            topoloom_bcast(out, bytes, MPI_BYTE, root, comm);
            break;
        case 1:
            topoloom_reduce(VECTOR, root, comm);
            break;
        case 2:
            topoloom_scatter(BLOCKS, root, comm);
            break;
        case 3:
            topoloom_gather(BLOCKS, root, comm);
            break;
        case 4:
            topoloom_allgather(BLOCKS, comm);
            break;
        case 5:
            topoloom_allreduce(VECTOR, comm);
            break;
        case 6:
            topoloom_reduce_scatter_block(VECTOR, comm);
            break;
        default:
            topoloom_alltoall(BLOCKS, comm);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    chance = strtoull(argv[1], NULL, 10);
    char *in = calloc((size_t)ranks, most), *out = calloc((size_t)ranks, most);
    for (int s = 3; s < argc; ++s) {
        char setting[200];
        snprintf(setting, sizeof setting, "schedule=%s", argv[s]);
        setenv("TOPOLOOM_COLLECTIVES", setting, 1);
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        topoloom_barrier(comm);
        for (int i = 0; i < atoi(argv[2]) * operation_count; ++i) {
            const int operation = i % operation_count, root = (int)draw((uint64_t)ranks);
            const int bytes = 1 + (int)draw(draw(2) ? 16 : most);
            const char* schedule = "";
            topoloom_schedule_of(comm, names[operation], bytes, &schedule);
            if (strncmp(schedule, argv[s], strlen(argv[s])) != 0) continue;  // not supported
            long all[2];
            counted[0] = counted[1] = 0;
            call_collective(operation, bytes, root, in, out, comm);
            const long own[2] = {counted[0], counted[1]};
            MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
            if (rank == 0)
                printf("%s %s %d %d %ld %ld\n", names[operation], schedule, root, bytes, all[0], all[1]);
        }
        MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
