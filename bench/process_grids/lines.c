// SPDX-License-Identifier: BSD-3-Clause
// Times collectives on all lines of a grid, dimension after dimension, in the default order and in tiles;
// writes JSON Lines.
//
// Usage: lines BYTES MACHINE all|bcast EXTENT...; MACHINE is a machine file. The first rank of each line
// has BYTES in total. MPI's collectives run on split communicators; ours run on the grid, by named schedules
// and by our choice. All ranks start at the same time of MPI's clock, which must be synchronized; a collective is timed
// until the last rank completes it.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "topoloom_grid.h"

enum { most_dimensions = 8 };

static int rank, ranks;

struct grid {
    topoloom_grid made;
    int dimensions;
    int extents[most_dimensions], coords[most_dimensions];
    MPI_Comm lines[most_dimensions];
};

/// Returns the number of this rank's line.
static int compute_line_number(const struct grid* grid, int dimension) {
    int number = 0;
    for (int d = 0; d < grid->dimensions; ++d)
        if (d != dimension) number = number * grid->extents[d] + grid->coords[d];
    return number;
}

static struct grid make_grid(int dimensions, const int extents[], const int order[], const char* schedule,
                             const char* machine) {
    struct grid grid = {.dimensions = dimensions};
    for (int d = 0; d < dimensions; ++d) grid.extents[d] = extents[d];
    char setting[512];
    snprintf(setting, sizeof setting, "machine=%s%s%s", machine,
             schedule[0] == '\0' ? "" : ",schedule=", schedule);
    setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    topoloom_grid_create(MPI_COMM_WORLD, dimensions, extents, order, &grid.made);
    topoloom_grid_coords(grid.made, rank, grid.coords);
    for (int d = 0; d < dimensions; ++d)
        MPI_Comm_split(MPI_COMM_WORLD, compute_line_number(&grid, d), grid.coords[d], &grid.lines[d]);
    return grid;
}

static void free_grid(struct grid* grid) {
    topoloom_grid_free(&grid->made);
    for (int d = 0; d < grid->dimensions; ++d) MPI_Comm_free(&grid->lines[d]);
}

enum operation { bcast, gather, scatter };

struct buffers {
    char *whole, *block;
    int bytes;
};

static void call_collective(enum operation operation, bool library, const struct grid* grid, int d,
                            const struct buffers* at) {
    const int part = at->bytes / grid->extents[d];
    const MPI_Comm line = grid->lines[d];
    if (operation == bcast) {
        if (library)
            MPI_Bcast(at->whole, at->bytes, MPI_BYTE, 0, line);
        else
            topoloom_line_bcast(at->whole, at->bytes, MPI_BYTE, 0, grid->made, d);
    } else if (operation == gather) {
        if (library)
            MPI_Gather(at->block, part, MPI_BYTE, at->whole, part, MPI_BYTE, 0, line);
        else
            topoloom_line_gather(at->block, part, MPI_BYTE, at->whole, part, MPI_BYTE, 0, grid->made, d);
    } else {
        if (library)
            MPI_Scatter(at->whole, part, MPI_BYTE, at->block, part, MPI_BYTE, 0, line);
        else
            topoloom_line_scatter(at->whole, part, MPI_BYTE, at->block, part, MPI_BYTE, 0, grid->made, d);
    }
}

static double measure_seconds(enum operation operation, bool library, const struct grid* grid,
                              const struct buffers* at) {
    const double start = wait_for_common_start();
    for (int d = 0; d < grid->dimensions; ++d) call_collective(operation, library, grid, d, at);
    return find_latest(MPI_Wtime()) - start;
}

struct way {
    const char* name;
    enum operation operation;
    bool library;
    const char* schedule;  // "" is our choice
};
static const struct way ways[] = {
    {"library bcast", bcast, true, ""},
    {"pipeline", bcast, false, "chain(segment=262144)"},
    {"pipeline", bcast, false, "chain(segment=1048576)"},
    {"binomial", bcast, false, "binomial"},
    {"our bcast", bcast, false, ""},
    {"library gather", gather, true, ""},
    {"our gather", gather, false, ""},
    {"library scatter", scatter, true, ""},
    {"our scatter", scatter, false, ""},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[1]), dimensions = argc - 4;
    const char* machine = argv[2];
    const bool all = strcmp(argv[3], "all") == 0;
    int extents[most_dimensions];
    for (int d = 0; d < dimensions; ++d) extents[d] = atoi(argv[4 + d]);
    const struct buffers at = {malloc((size_t)bytes), malloc((size_t)bytes), bytes};
    const int* const orders[] = {NULL, topoloom_tiled};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        const struct way* way = &ways[i];
        if (!all && way->operation != bcast) continue;
        double seconds[2];
        for (int tiled = 0; tiled < 2; ++tiled) {
            struct grid grid = make_grid(dimensions, extents, orders[tiled], way->schedule, machine);
            seconds[tiled] = measure_seconds(way->operation, way->library, &grid, &at);
            free_grid(&grid);
        }
        if (rank == 0)
            printf("{\"way\": \"%s\", \"default\": %.9g, \"tiled\": %.9g}\n", way->name, seconds[0],
                   seconds[1]);
        fflush(stdout);
    }
    free(at.whole);
    free(at.block);
    MPI_Finalize();
    return 0;
}
