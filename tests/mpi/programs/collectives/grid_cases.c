// SPDX-License-Identifier: BSD-3-Clause
// Runs line collectives on random grids and orders; buffers must equal those of MPI's collectives on split
// communicators.
// Usage: grid_cases SEED CASES | grid_cases tiled EXTENT... (prints the rank of each cell) |
// grid_cases wrong WHICH
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_grid.h>

#include "shared_random.h"

enum { most_dimensions = 3 };

struct grid {
    int dimensions, extents[most_dimensions];
    int rank, ranks;
    topoloom_grid made;
    int coords[most_dimensions];
    MPI_Comm lines[most_dimensions];  // MPI's
};

static void draw_extents(struct grid* grid) {
    grid->dimensions = 1 + (int)draw(most_dimensions);
    int left = grid->ranks;
    for (int d = 0; d < grid->dimensions; ++d) {
        int extent = left;
        while (d + 1 < grid->dimensions && (extent > left || left % extent != 0 || draw(2) == 0))
            extent = 1 + (int)draw((uint64_t)left);
        if (left % extent != 0) extent = left;
        grid->extents[d] = extent;
        left /= extent;
    }
    grid->extents[grid->dimensions - 1] *= left;
}

static struct grid draw_grid(MPI_Comm comm) {
    struct grid grid = {.made = TOPOLOOM_GRID_NULL};
    MPI_Comm_rank(comm, &grid.rank);
    MPI_Comm_size(comm, &grid.ranks);
    draw_extents(&grid);
    int* order = malloc((size_t)grid.ranks * sizeof *order);
    for (int i = 0; i < grid.ranks; ++i) order[i] = i;
    for (int i = grid.ranks; i > 1; --i) {
        const int other = (int)draw((uint64_t)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    if (grid.rank > 0) memset(order, 0, (size_t)grid.ranks * sizeof *order);  // only rank 0's order counts
    const int* const orders[] = {NULL, topoloom_tiled, order};
    topoloom_grid_create(comm, grid.dimensions, grid.extents, orders[draw(3)], &grid.made);
    free(order);
    topoloom_grid_coords(grid.made, grid.rank, grid.coords);
    for (int d = 0; d < grid.dimensions; ++d) {
        int color = 0;
        for (int other = 0; other < grid.dimensions; ++other)
            if (other != d) color = color * grid.extents[other] + grid.coords[other];
        MPI_Comm_split(comm, color, grid.coords[d], &grid.lines[d]);
    }
    return grid;
}

static int check_coordinates(const struct grid* grid) {
    int failures = 0;
    for (int rank = 0; rank < grid->ranks; ++rank) {
        int coords[most_dimensions], back = -1;
        topoloom_grid_coords(grid->made, rank, coords);
        topoloom_grid_rank(grid->made, coords, &back);
        failures += back != rank;
    }
    return failures;
}

static void free_grid(struct grid* grid) {
    for (int d = 0; d < grid->dimensions; ++d) MPI_Comm_free(&grid->lines[d]);
    topoloom_grid_free(&grid->made);
}

// ---- a collective --------------------------------------------------------------------------------------------------

enum operation { bcast, reduce, gather, scatter, allgather, allreduce, operation_count };

struct grid_call {
    enum operation operation;
    int dimension, root, count, by_types;
    int64_t elements;  // per buffer
    int *in, *out, *expected;
    topoloom_request request;
};

static struct grid_call draw_grid_call(const struct grid* grid) {
    struct grid_call one = {.operation = (enum operation)draw(operation_count),
                            .dimension = (int)draw((uint64_t)grid->dimensions)};
    const int extent = grid->extents[one.dimension];
    const int most[] = {0, 1, 50, 5000};
    one.root = (int)draw((uint64_t)extent);
    one.count = (int)draw((uint64_t)most[draw(4)] + 1);
    one.by_types = draw(2) == 0;
    one.elements = 3 * (int64_t)one.count * extent + 8;
    one.in = malloc((size_t)one.elements * sizeof(int));
    one.out = malloc((size_t)one.elements * sizeof(int));
    one.expected = malloc((size_t)one.elements * sizeof(int));
    for (int64_t i = 0; i < one.elements; ++i) {
        one.in[i] = (int)(i * 7 + grid->rank * 1000);
        one.out[i] = one.expected[i] = grid->rank - (int)i;
    }
    return one;
}

/// A datatype of every second integer.
static MPI_Datatype spread;

#define BLOCKS one->in, one->count, type, out, one->count, type
#define VECTOR one->in, out, one->count, MPI_INT, MPI_SUM

static void call_mpi(const struct grid* grid, const struct grid_call* one) {
    int* out = one->expected;
    const MPI_Comm line = grid->lines[one->dimension];
    const MPI_Datatype type = one->by_types ? spread : MPI_INT;
    switch (one->operation) {
        case bcast:
            MPI_Bcast(out, one->count, type, one->root, line);
            break;
        case reduce:
            MPI_Reduce(VECTOR, one->root, line);
            break;
        case gather:
            MPI_Gather(BLOCKS, one->root, line);
            break;
        case scatter:
            MPI_Scatter(BLOCKS, one->root, line);
            break;
        case allgather:
            MPI_Allgather(BLOCKS, line);
            break;
        default:
            MPI_Allreduce(VECTOR, line);
            break;
    }
}

static void run_blocking_call(const struct grid* grid, const struct grid_call* one) {
    int* out = one->out;
    const MPI_Datatype type = one->by_types ? spread : MPI_INT;
    switch (one->operation) {
        case bcast:
            topoloom_line_bcast(out, one->count, type, one->root, grid->made, one->dimension);
            break;
        case reduce:
            topoloom_line_reduce(VECTOR, one->root, grid->made, one->dimension);
            break;
        case gather:
            topoloom_line_gather(BLOCKS, one->root, grid->made, one->dimension);
            break;
        case scatter:
            topoloom_line_scatter(BLOCKS, one->root, grid->made, one->dimension);
            break;
        case allgather:
            topoloom_line_allgather(BLOCKS, grid->made, one->dimension);
            break;
        default:
            topoloom_line_allreduce(VECTOR, grid->made, one->dimension);
            break;
    }
}

static void start_call(const struct grid* grid, struct grid_call* one) {
    int* out = one->out;
    topoloom_request* request = &one->request;
    const MPI_Datatype type = one->by_types ? spread : MPI_INT;
    switch (one->operation) {
        case bcast:
            topoloom_line_ibcast(out, one->count, type, one->root, grid->made, one->dimension, request);
            break;
        case reduce:
            topoloom_line_ireduce(VECTOR, one->root, grid->made, one->dimension, request);
            break;
        case gather:
            topoloom_line_igather(BLOCKS, one->root, grid->made, one->dimension, request);
            break;
        case scatter:
            topoloom_line_iscatter(BLOCKS, one->root, grid->made, one->dimension, request);
            break;
        case allgather:
            topoloom_line_iallgather(BLOCKS, grid->made, one->dimension, request);
            break;
        default:
            topoloom_line_iallreduce(VECTOR, grid->made, one->dimension, request);
            break;
    }
}

static int differs(const struct grid_call* one) {
    return memcmp(one->out, one->expected, (size_t)one->elements * sizeof(int)) != 0;
}

static void free_grid_call(struct grid_call* one) {
    free(one->in);
    free(one->out);
    free(one->expected);
}

/// Starts several collectives along any dimensions; their messages must not interfere.
static int check_overlap(const struct grid* grid) {
    enum { some = 4 };
    struct grid_call ones[some];
    int failures = 0;
    for (int i = 0; i < some; ++i) {
        ones[i] = draw_grid_call(grid);
        start_call(grid, &ones[i]);
    }
    for (int i = some; i-- > 0;) topoloom_wait(&ones[i].request, MPI_STATUS_IGNORE);
    for (int i = 0; i < some; ++i) {
        call_mpi(grid, &ones[i]);
        failures += differs(&ones[i]);
        free_grid_call(&ones[i]);
    }
    return failures;
}

static int check_grid_call(const struct grid* grid) {
    struct grid_call one = draw_grid_call(grid);
    call_mpi(grid, &one);
    run_blocking_call(grid, &one);
    const int failures = differs(&one);
    free_grid_call(&one);
    return failures;
}

/// Broadcasts along each dimension in turn must reach all cells from the origin.
static int check_all_dimensions(const struct grid* grid) {
    int origin = 1, value = -1;
    for (int d = 0; d < grid->dimensions; ++d) origin = origin && grid->coords[d] == 0;
    if (origin) value = 4711;
    for (int d = 0; d < grid->dimensions; ++d) topoloom_line_bcast(&value, 1, MPI_INT, 0, grid->made, d);
    return value != 4711;
}

static int draw_cases(int seed, int cases) {
    chance = (uint64_t)seed;
    MPI_Datatype gap;
    MPI_Type_contiguous(1, MPI_INT, &gap);
    MPI_Type_create_resized(gap, 0, 2 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int failures = 0, rank = 0;
    for (int i = 0; i < cases; ++i) {
        struct grid grid = draw_grid(comm);
        failures += check_coordinates(&grid) + check_all_dimensions(&grid) + check_overlap(&grid);
        for (int j = 0; j < 5; ++j) failures += check_grid_call(&grid);
        free_grid(&grid);
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&gap);
    MPI_Type_free(&spread);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d failures\n", failures);
    return failures > 0;
}

// ---- other uses ----------------------------------------------------------------------------------------------------

static void print_tiled_order(int dimensions, char** words) {
    int extents[most_dimensions], cells = 1, rank = 0;
    for (int d = 0; d < dimensions; ++d) cells *= extents[d] = atoi(words[d]);
    topoloom_grid grid;
    topoloom_grid_create(MPI_COMM_WORLD, dimensions, extents, topoloom_tiled, &grid);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int cell = 0; rank == 0 && cell < cells; ++cell) {
        int coords[most_dimensions], at = -1;
        for (int d = dimensions, left = cell; d-- > 0; left /= extents[d]) coords[d] = left % extents[d];
        topoloom_grid_rank(grid, coords, &at);
        printf("%d\n", at);
    }
    topoloom_grid_free(&grid);
}

static void make_mistake(const char* which) {
    topoloom_grid grid;
    const int good[] = {1, 2}, more[] = {2, 2}, none[] = {2, 0};
    const int twice[] = {1, 1}, beyond[] = {0, 2};
    int value = 0;
    const int is_cells = strcmp(which, "cells") == 0, is_extent = strcmp(which, "extent") == 0;
    const int* order = strcmp(which, "order") == 0 ? twice : strcmp(which, "rank") == 0 ? beyond : NULL;
    topoloom_grid_create(MPI_COMM_WORLD, 2, is_cells ? more : is_extent ? none : good, order, &grid);
    if (strcmp(which, "dimension") == 0) topoloom_line_bcast(&value, 1, MPI_INT, 0, grid, 2);
    if (strcmp(which, "root") == 0) topoloom_line_bcast(&value, 1, MPI_INT, 2, grid, 1);
    if (strcmp(which, "coordinate") == 0) topoloom_grid_rank(grid, (const int[]){0, 2}, &value);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failed = 0;
    if (strcmp(argv[1], "tiled") == 0) {
        print_tiled_order(argc - 2, argv + 2);
    } else if (strcmp(argv[1], "wrong") == 0) {
        make_mistake(argv[2]);
    } else {
        failed = draw_cases(atoi(argv[1]), atoi(argv[2]));
    }
    MPI_Finalize();
    return failed;
}
