// SPDX-License-Identifier: BSD-3-Clause
// Shared by the programs of the round trip: ranks in a grid, a common start, and the time of the end.
#ifndef TOPOLOOM_BENCH_PROBE_APP_H
#define TOPOLOOM_BENCH_PROBE_APP_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "common_start.h"

enum { most_requests = 512 };

struct app {
    int rank, ranks, columns, rows, column, row;  // row-major, as square as the number of ranks allows
    double begin;
    char *out, *in;  // message buffers
    MPI_Request requests[most_requests];
    int count;
};

static inline int neighbor(const struct app* app, int columns, int rows) {
    const int column = app->column + columns, row = app->row + rows;
    const int is_there = column >= 0 && column < app->columns && row >= 0 && row < app->rows;
    return is_there ? row * app->columns + column : MPI_PROC_NULL;
}

static inline struct app begin(int* argc, char*** argv) {
    struct app app = {.columns = 1};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &app.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &app.ranks);
    for (int c = 1; c * c <= app.ranks; ++c)
        if (app.ranks % c == 0) app.columns = c;
    app.rows = app.ranks / app.columns;
    app.column = app.rank % app.columns;
    app.row = app.rank / app.columns;
    return app;
}

/// Starts all ranks at the same time, with buffers of this number of bytes.
static inline void start(struct app* app, size_t bytes) {
    app->out = calloc(bytes + 1, 1);
    app->in = calloc(bytes + 1, 1);
    if (app->out == NULL || app->in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    app->begin = wait_for_common_start();
}

static inline void receive(struct app* app, int source, int bytes) {
    if (source == MPI_PROC_NULL) return;
    MPI_Irecv(app->in, bytes, MPI_BYTE, source, 0, MPI_COMM_WORLD, &app->requests[app->count++]);
}

static inline void send(struct app* app, int target, int bytes) {
    if (target == MPI_PROC_NULL) return;
    MPI_Isend(app->out, bytes, MPI_BYTE, target, 0, MPI_COMM_WORLD, &app->requests[app->count++]);
}

static inline void wait_for_all(struct app* app) {
    MPI_Waitall(app->count, app->requests, MPI_STATUSES_IGNORE);
    app->count = 0;
}

// By rank.
static const int sides[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};

/// Exchanges with the neighbors in the grid, which is not periodic.
static inline void exchange_halo(struct app* app, int bytes) {
    for (int side = 0; side < 4; ++side) receive(app, neighbor(app, sides[side][0], sides[side][1]), bytes);
    for (int side = 0; side < 4; ++side) send(app, neighbor(app, sides[side][0], sides[side][1]), bytes);
    wait_for_all(app);
}

/// Prints the seconds until the last rank ends.
static inline int end(struct app* app) {
    const double last = find_latest(MPI_Wtime());
    if (app->rank == 0) printf("{\"seconds\": %.12g}\n", last - app->begin);
    free(app->out);
    free(app->in);
    return MPI_Finalize();
}

#endif
