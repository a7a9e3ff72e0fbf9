// SPDX-License-Identifier: BSD-3-Clause
// Does one collective, or several. With count_ucx.c or count_ofi.c preloaded each rank prints how many messages it has
// sent and received in each.
// Usage: one_collective OPERATION... BYTES
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void collective(const char* name, int bytes, char* in, char* out, int* counts, int* offsets) {
    const MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(name, "allgather")) MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world);
    if (!strcmp(name, "allgatherv"))
        MPI_Allgatherv(in, bytes, MPI_CHAR, out, counts, offsets, MPI_CHAR, world);
    if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, bytes, MPI_CHAR, MPI_BOR, world);
    if (!strcmp(name, "alltoall")) MPI_Alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world);
    if (!strcmp(name, "alltoallv"))
        MPI_Alltoallv(in, counts, offsets, MPI_CHAR, out, counts, offsets, MPI_CHAR, world);
    if (!strcmp(name, "barrier")) MPI_Barrier(world);
    if (!strcmp(name, "bcast")) MPI_Bcast(in, bytes, MPI_CHAR, 0, world);
    if (!strcmp(name, "exscan")) MPI_Exscan(in, out, bytes, MPI_CHAR, MPI_BOR, world);
    if (!strcmp(name, "gather")) MPI_Gather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, world);
    if (!strcmp(name, "reduce")) MPI_Reduce(in, out, bytes, MPI_CHAR, MPI_BOR, 0, world);
    if (!strcmp(name, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_BOR, world);
    if (!strcmp(name, "reduce_scatter_block"))
        MPI_Reduce_scatter_block(in, out, bytes, MPI_CHAR, MPI_BOR, world);
    if (!strcmp(name, "scan")) MPI_Scan(in, out, bytes, MPI_CHAR, MPI_BOR, world);
    if (!strcmp(name, "scatter")) MPI_Scatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, world);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[argc - 1]);
    char *in = calloc((size_t)bytes + 1, (size_t)ranks), *out = calloc((size_t)bytes + 1, (size_t)ranks);
    int *counts = calloc((size_t)ranks, sizeof *counts), *offsets = calloc((size_t)ranks, sizeof *offsets);
    for (int peer = 0; peer < ranks; ++peer) {
        counts[peer] = bytes;
        offsets[peer] = peer * bytes;
    }
    void (*counted)(long*, long*) = (void (*)(long*, long*))dlsym(RTLD_DEFAULT, "messages_counted");
    long before[2] = {0, 0}, after[2] = {0, 0};
    for (int i = 1; i < argc - 1; ++i) {
        if (counted) counted(&before[0], &before[1]);
        collective(argv[i], bytes, in, out, counts, offsets);
        if (!counted) continue;
        counted(&after[0], &after[1]);
        char line[80];
        snprintf(line, sizeof line, "%s: rank %d sent %ld received %ld\n", argv[i], rank,
                 after[0] - before[0], after[1] - before[1]);
        fputs(line, stdout);
    }
    free(in);
    free(out);
    free(counts);
    free(offsets);
    MPI_Finalize();
    return 0;
}
