// SPDX-License-Identifier: BSD-3-Clause
// Nanoseconds per call of each blocking collective, by PMPI (MPI) and by MPI_ (preloaded library), in
// alternating batches. Prints lines: operation, bytes, MPI's time, our time. Times are those of the slowest
// rank in the best batch.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_bytes = 65536, batches = 150, warming = 20000 };

static char *from, *to;
static int counts[64], places[64];

#define BOTH(name, ...) (ours ? MPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__))
#define WORLD MPI_COMM_WORLD

static void call_collective(int operation, int ours, int bytes) {
    const int count = bytes / 8;
    switch (operation) {
        case 0:
            BOTH(Barrier, WORLD);
            break;
        case 1:
            BOTH(Bcast, from, bytes, MPI_CHAR, 0, WORLD);
            break;
        case 2:
            BOTH(Reduce, from, to, count, MPI_DOUBLE, MPI_SUM, 0, WORLD);
            break;
        case 3:
            BOTH(Allreduce, from, to, count, MPI_DOUBLE, MPI_SUM, WORLD);
            break;
        case 4:
            BOTH(Scan, from, to, count, MPI_DOUBLE, MPI_SUM, WORLD);
            break;
        case 5:
            BOTH(Exscan, from, to, count, MPI_DOUBLE, MPI_SUM, WORLD);
            break;
        case 6:
            BOTH(Reduce_scatter_block, from, to, count, MPI_DOUBLE, MPI_SUM, WORLD);
            break;
        case 7:
            BOTH(Gather, from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, 0, WORLD);
            break;
        case 8:
            BOTH(Scatter, from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, 0, WORLD);
            break;
        case 9:
            BOTH(Allgather, from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, WORLD);
            break;
        case 10:
            BOTH(Alltoall, from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, WORLD);
            break;
        case 11:
            BOTH(Allgatherv, from, bytes, MPI_CHAR, to, counts, places, MPI_CHAR, WORLD);
            break;
        default:
            BOTH(Alltoallv, from, counts, places, MPI_CHAR, to, counts, places, MPI_CHAR, WORLD);
    }
}

static const char* const names[] = {
    "barrier", "bcast",   "reduce",    "allreduce", "scan",       "exscan",   "reduce_scatter_block",
    "gather",  "scatter", "allgather", "alltoall",  "allgatherv", "alltoallv"};
enum { operations = sizeof names / sizeof *names };

static void measure(int operation, int bytes, int rank) {
    const int calls = bytes < 4096 ? 100 : 20;
    double best[2] = {1, 1}, slowest[2];
    for (int i = 0; i < 2 * batches; ++i) {
        PMPI_Barrier(WORLD);
        const double start = MPI_Wtime();
        for (int k = 0; k < calls; ++k) call_collective(operation, i % 2, bytes);
        const double mean = (MPI_Wtime() - start) / calls;
        if (mean < best[i % 2]) best[i % 2] = mean;
    }
    PMPI_Reduce(best, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, WORLD);
    if (rank == 0) printf("%s %d %.1f %.1f\n", names[operation], bytes, 1e9 * slowest[0], 1e9 * slowest[1]);
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    from = calloc((size_t)ranks, most_bytes);
    to = calloc((size_t)ranks, most_bytes);
    for (int i = 0; i < warming; ++i) PMPI_Barrier(WORLD);
    for (int operation = 0; operation < operations; ++operation) {
        for (int bytes = 8; bytes <= most_bytes; bytes *= 8) {
            for (int r = 0; r < ranks; ++r) {
                counts[r] = bytes;
                places[r] = r * bytes;
            }
            measure(operation, bytes, rank);
            if (operation == 0) break;
        }
    }
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
