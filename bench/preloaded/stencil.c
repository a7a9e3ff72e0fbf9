// SPDX-License-Identifier: BSD-3-Clause
// Seconds of an exchange with the 6 or 26 neighbors in a periodic cube of ranks: by direct messages, as in
// the neighborhood collectives of MPI libraries, and by a virtual mesh, which combines messages. Writes JSON
// Lines. Usage: stencil BYTES...
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "common_start.h"
#include "topoloom_exchange.h"

enum { most_neighbors = 26 };

static int list_neighbors(int rank, int side, int corners, int* neighbors) {
    int count = 0;
    for (int way = 0; way < 27; ++way) {
        const int step[] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1};
        const int axes = abs(step[0]) + abs(step[1]) + abs(step[2]);
        if (axes == 0 || (axes > 1 && !corners)) continue;
        int other = 0;
        for (int axis = 0, stride = 1; axis < 3; ++axis, stride *= side)
            other += (rank / stride % side + step[axis] + side) % side * stride;
        neighbors[count++] = other;
    }
    return count;
}

static double exchange_directly(int count, const int* neighbors, int bytes, const char* from, char* to) {
    MPI_Request all[2 * most_neighbors];
    const double start = wait_for_common_start();
    for (int i = 0; i < count; ++i)
        MPI_Irecv(to + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, neighbors[i], 0, MPI_COMM_WORLD, &all[i]);
    for (int i = 0; i < count; ++i)
        MPI_Isend(from, bytes, MPI_CHAR, neighbors[i], 0, MPI_COMM_WORLD, &all[count + i]);
    MPI_Waitall(2 * count, all, MPI_STATUSES_IGNORE);
    const double end = MPI_Wtime();
    return find_latest(end) - start;
}

static double exchange_by_mesh(int count, const int* neighbors, int bytes, const char* from) {
    int counts[most_neighbors], places[most_neighbors] = {0}, received, *sources, *sizes;
    char* data;
    for (int i = 0; i < count; ++i) counts[i] = bytes;
    const double start = wait_for_common_start();
    topoloom_sparse_exchange(count, neighbors, counts, from, places, MPI_BYTE, &received, &sources, &sizes,
                             &data, MPI_BYTE, MPI_COMM_WORLD);
    const double end = MPI_Wtime();
    topoloom_sparse_free(&sources, &sizes, &data);
    return find_latest(end) - start;
}

int main(int argc, char** argv) {
    int rank, ranks, side = 1, neighbors[most_neighbors];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (side * side * side < ranks) ++side;
    setenv("TOPOLOOM_COLLECTIVES", "exchange=mesh", 1);
    exchange_by_mesh(0, neighbors, 0, "");  // the first call initializes the communicator
    for (int i = 1; i < argc; ++i) {
        const int bytes = atoi(argv[i]);
        char* from = calloc((size_t)bytes, 1);
        char* to = calloc((size_t)bytes, most_neighbors);
        for (int corners = 0; corners < 2; ++corners) {
            const int count = list_neighbors(rank, side, corners, neighbors);
            const double straight = exchange_directly(count, neighbors, bytes, from, to);
            const double mesh = exchange_by_mesh(count, neighbors, bytes, from);
            if (rank > 0) continue;
            printf("{\"neighbors\": %d, \"bytes\": %d, \"straight\": %.9g, \"mesh\": %.9g}\n", count, bytes,
                   straight, mesh);
            fflush(stdout);
        }
        free(from);
        free(to);
    }
    return MPI_Finalize();
}
